"""Score a candidate by a rubric: one call, an overall score and one for each criterion."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from polyjudge.errors import UnreadableReplyError
from polyjudge.providers import Provider
from polyjudge.records import Outcome, Reply, Rubric, RubricCriterion
from polyjudge.rubrics import (
    PromptRenderer,
    answer_schema,
    check_rubric,
    load_rubric,
    rubric_fingerprint,
)

from . import scoring
from .asking import Asker, Question, Reading
from .judged_text import ReplyContext, judged_texts
from .reading import JudgeJson, read_reply
from .verdicts import read_verdict


class RubricJudge:
    """Asks a model to score a candidate by criteria of one's own on a scale of 0 to 100, or by a whole rubric.

    Args:
        criteria: What to score; or a `Rubric`, which brings its own scale, wording and flags.
        model: An alias such as "opus", or "provider/model". With `provider` it is handed over as it is.
        system: System prompt.
        cache_db: SQLite file, or URL of PostgreSQL, that keeps every reply; no question is paid for twice.
        prompt_template: The prompt, with the places {criteria} {candidate} {context} {subscores_schema}.
        provider: Who answers, instead of the provider that the model's name stands for.
        max_tokens: Most tokens of a reply; None leaves it to the provider.
    """

    score = scoring.score
    score_batch = scoring.score_batch
    score_sync = scoring.score_sync
    score_batch_sync = scoring.score_batch_sync

    def __init__(
        self,
        criteria: Sequence[RubricCriterion] | Rubric,
        model: str = "opus",
        system: str = "",
        cache_db: Path | str | None = None,
        prompt_template: str = "",
        provider: Provider | None = None,
        max_tokens: int | None = None,
    ) -> None:
        self.rubric = _rubric(criteria, prompt_template)
        check_rubric(self.rubric)
        self.model = model
        self.fingerprint = rubric_fingerprint(self.rubric)
        self._schema = answer_schema(self.rubric)
        self._renderer = PromptRenderer(self.rubric)
        names = [criterion.name for criterion in self.rubric.criteria]
        flags = [flag.name for flag in self.rubric.flags]
        overall = ["score"] if self.rubric.overall else []
        self._wanted = [*(overall or ["subscores"]), *flags]
        self._on_lines = [*(overall or names), *flags]
        self._also = [*names, "reason"]
        self._asker = Asker(model, system=system, cache_db=cache_db, provider=provider, max_tokens=max_tokens)

    async def outcome(self, candidate: str, context: Mapping[str, Any] | None = None, *, repeat: int = 0) -> Outcome:
        """Return the result for one candidate, or a failure with its reason."""
        prompt = self.build_prompt(candidate, context)
        question = Question(prompt, self._schema, self.rubric.name, self.fingerprint, repeat)
        return await self._asker.outcome(question, partial(self._read, judged=judged_texts(candidate, context)))

    async def aclose(self) -> None:
        """Close the provider's connections; the next question opens new ones."""
        await self._asker.aclose()

    def build_prompt(self, candidate: str, context: Mapping[str, Any] | None = None) -> str:
        """Return the prompt that would be sent."""
        return self._renderer.render(candidate, context)

    _build_prompt = build_prompt  # the founding document's name

    def _read(self, reply: Reply, judged: tuple[str, ...]) -> Reading:
        try:
            return read_verdict(self.rubric, self._find(reply, ReplyContext(judged, self.rubric.scale)))
        except UnreadableReplyError:
            raise
        except ValueError as error:
            raise UnreadableReplyError(str(error), text=reply.text) from None

    def _find(self, reply: Reply, context: ReplyContext) -> JudgeJson:
        """Return what the reply says, with subscores in an object of their own or, if need be, beside the rest."""
        read = partial(
            read_reply,
            reply.text,
            schema_enforced=reply.schema_enforced,
            cut_off=reply.finish == "length",
            context=context,
        )
        try:
            return read(self._wanted, on_lines=self._on_lines, also=self._also)
        except UnreadableReplyError:
            if self.rubric.overall:
                raise
            return read(self._on_lines, also=["reason"])


def _rubric(criteria: Sequence[RubricCriterion] | Rubric, template: str) -> Rubric:
    if not isinstance(criteria, Rubric):
        general = load_rubric("general")
        criteria = Rubric(name="custom", instruction=general.instruction, criteria=tuple(criteria), scale=general.scale)
    return replace(criteria, instruction=template) if template else criteria
