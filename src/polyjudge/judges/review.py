"""Have a model review an agent's session: two scores and a verdict at the end of a text."""

import re

from polyjudge.errors import UnreadableReplyError
from polyjudge.providers.base import Provider
from polyjudge.records.fingerprint import fingerprint
from polyjudge.records.outcomes import Item, Outcome
from polyjudge.records.requests import Reply
from polyjudge.rubrics.prompts import FENCE_NOTE, fence

from . import base
from .base import Asker, Question, Reading
from .choice import read_prompt
from .review_parsing import read_review

_PLACE = re.compile(r"\{(template|transcript)\}")
_CLOSING = """End with exactly these three lines, filled in, and write nothing after them:
AGENT_SCORE: <number>/100
SYSTEM_SCORE: <number>/100
VERDICT: <PASS, FAIL_AGENT, FAIL_SYSTEM or FAIL_BOTH>"""


class ReviewJudge:
    """Asks for a review and reads its end."""

    bind = base.bind
    models = property(base.models)

    def __init__(self, model: str, provider: Provider | None = None, instruction: str | None = None) -> None:
        self.asker = Asker(model, provider=provider)
        self.fingerprint = fingerprint([_asked(instruction)], 16)

    async def judge(self, item: Item, *, repeat: int = 0) -> Outcome:  # noqa: ARG002 - asked once
        """Judge an item of a run whose candidate is the complete prompt."""
        return await self.outcome(item.candidate)

    async def outcome(self, prompt: str) -> Outcome:
        """Return the result of the review, or a failure with its reason; the whole review is in `raw`."""
        question = Question(prompt, None, "review", self.fingerprint)
        return await self.asker.outcome(question, lambda reply: _read(reply, prompt))

    async def aclose(self) -> None:
        """Close the provider's connections; the next question opens new ones."""
        await self.asker.aclose()


def review_prompt(transcript: str, *, template: str = "", instruction: str | None = None, note: str = "") -> str:
    """Return what a reviewer is asked about a session; `instruction` stands in place of the shipped one.

    All that others wrote is fenced off. An instruction without a place for the session has it after it, and one that
    does not ask for the closing lines is followed by them.
    """
    asked = _asked(instruction)
    if "{template}" not in asked and template:
        asked += "\n{template}"
    if "{transcript}" not in asked:
        asked += "\n\nThe record of the session:\n{transcript}"
    told = f"\nThe instructions that the agent was to follow:\n{fence(template)}\n" if template else ""
    values = {"template": told, "transcript": f"{note}\n{fence(transcript)}" if note else fence(transcript)}
    return f"{FENCE_NOTE}\n\n{_PLACE.sub(lambda match: values[match[1]], asked)}"


def _asked(instruction: str | None) -> str:
    asked = read_prompt("review") if instruction is None else instruction.strip()
    return asked if "AGENT_SCORE" in asked else f"{asked}\n\n{_CLOSING}"


def _read(reply: Reply, prompt: str) -> Reading:
    if reply.finish == "length":
        raise UnreadableReplyError("the review stops before its end", text=reply.text)
    review = read_review(reply.text, prompt)
    return {
        "score": min(review.agent_score, review.system_score),
        "reason": "",
        "subscores": {"agent": review.agent_score, "system": review.system_score},
        "verdict": review.verdict,
        "flags": {"derived": review.derived, "contradictory": review.contradictory},
        "rung": "review",
    }
