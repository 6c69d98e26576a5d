"""Ask a judge whether a model knows a word."""

import re

from polyjudge.errors import UnreadableReplyError
from polyjudge.providers.base import Provider
from polyjudge.records.fingerprint import fingerprint
from polyjudge.records.outcomes import Item, Outcome
from polyjudge.records.requests import Reply
from polyjudge.records.vocabulary import PromptName
from polyjudge.rubrics.prompts import fence

from . import base
from .base import Asker, Question, Reading, ReplyLimit
from .word_verdicts import WordWording, read_word_verdict

WORD_PLACES = ("word", "reference_definition", "model_response", "prompt")
_PLACE = re.compile(rf"\{{({'|'.join(WORD_PLACES)})\}}")
_REPLY_LIMIT = ReplyLimit(local=512, remote=4096)


class WordJudge:
    """Asks in the words of a language whether an answer shows that a model knows a word.

    The reply is one word. `max_tokens` bounds it; without it, a local model may write 512 tokens and a vendor's 4,096.
    """

    bind = base.bind
    models = property(base.models)

    def __init__(
        self, wording: WordWording, model: str, provider: Provider | None = None, *, max_tokens: int | None = None
    ) -> None:
        self._wording = wording
        self.asker = Asker(model, provider=provider, max_tokens=max_tokens, limit=_REPLY_LIMIT)
        self.fingerprint = fingerprint([wording], 16)

    async def judge(self, item: Item, *, repeat: int = 0) -> Outcome:  # noqa: ARG002 - asked once
        """Judge an item of a run whose candidate is the complete prompt."""
        return await self.outcome(item.candidate)

    async def outcome(self, prompt: str) -> Outcome:
        """Return the verdict on what `word_prompt` has put together, or a failure with its reason."""
        question = Question(prompt, None, "vocabulary", self.fingerprint)
        return await self.asker.outcome(question, lambda reply: self._read(reply, prompt))

    async def aclose(self) -> None:
        """Close the provider's connections; the next question opens new ones."""
        await self.asker.aclose()

    def _read(self, reply: Reply, prompt: str) -> Reading:
        reading = read_word_verdict(reply.text, self._wording, prompt)
        if reading.verdict == "undetermined":
            raise UnreadableReplyError(reading.problem, text=reply.text)
        score = float(reading.verdict == "correct")
        return {"score": score, "reason": "", "verdict": reading.verdict, "rung": "first word"}


def word_prompt(wording: WordWording, name: PromptName, *, word: str, reference: str, response: str, task: str) -> str:
    """Return what a judge is asked; the model's answer is fenced off, and braces in any value are text."""
    template = wording.judge_prompt_a if name == "a" else wording.judge_prompt_b
    values = {"word": word, "reference_definition": reference, "model_response": fence(response), "prompt": task}
    return f"{wording.note}\n\n{_PLACE.sub(lambda match: values[match[1]], template)}"
