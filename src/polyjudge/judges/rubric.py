"""Score a candidate by a rubric: one call, an overall score and one for each criterion."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, cast

from polyjudge.errors import UnreadableReplyError
from polyjudge.providers import Provider
from polyjudge.records import JudgeResult, Outcome, Reply, Rubric, RubricCriterion
from polyjudge.rubrics import (
    PromptRenderer,
    answer_schema,
    check_rubric,
    load_rubric,
    rubric_fingerprint,
    weighted_mean,
)

from . import scoring
from .asking import Asker, Question
from .numbers import read_number
from .reading import JudgeJson, read_reply

_YES_NO = {"true": True, "yes": True, "false": False, "no": False}


class RubricJudge:
    """Asks a model to score a candidate by criteria of one's own on a scale of 0 to 100, or by a whole rubric.

    Args:
        criteria: What to score; or a `Rubric`, which brings its own scale, wording and flags.
        model: An alias such as "opus", or "provider/model". With `provider` it is handed over as it is.
        system: System prompt.
        cache_db: SQLite file that keeps every reply; the same question is not paid for twice.
        prompt_template: The prompt, with the places {criteria} {candidate} {context} {subscores_schema}.
        provider: Who answers, instead of the provider that the model's name stands for.
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
        self._asker = Asker(model, system=system, cache_db=cache_db, provider=provider)

    async def outcome(self, candidate: str, context: Mapping[str, Any] | None = None, *, repeat: int = 0) -> Outcome:
        """Return the result for one candidate, or a failure with its reason."""
        prompt = self.build_prompt(candidate, context)
        question = Question(prompt, self._schema, self.rubric.name, self.fingerprint, repeat)
        return await self._asker.outcome(question, self._read)

    async def aclose(self) -> None:
        """Close the provider's connections; the next question opens new ones."""
        await self._asker.aclose()

    def build_prompt(self, candidate: str, context: Mapping[str, Any] | None = None) -> str:
        """Return the prompt that would be sent."""
        return self._renderer.render(candidate, context)

    _build_prompt = build_prompt  # the founding document's name

    def _read(self, reply: Reply) -> JudgeResult:
        try:
            return self._result(self._find(reply))
        except UnreadableReplyError:
            raise
        except ValueError as error:
            raise UnreadableReplyError(str(error), text=reply.text) from None

    def _find(self, reply: Reply) -> JudgeJson:
        """Return what the reply says, with subscores in an object of their own or, if need be, beside the rest."""
        read = partial(read_reply, reply.text, schema_enforced=reply.schema_enforced, cut_off=reply.finish == "length")
        try:
            return read(self._wanted, on_lines=self._on_lines, also=self._also)
        except UnreadableReplyError:
            if self.rubric.overall:
                raise
            return read(self._on_lines, also=["reason"])

    def _result(self, found: JudgeJson) -> JudgeResult:
        subscores = self._subscores(found)
        weighted = weighted_mean(self.rubric, subscores)
        own = self._number(found.value["score"], "score") if self.rubric.overall else weighted
        missing = [criterion.name for criterion in self.rubric.criteria if criterion.name not in subscores]
        if own is None or (missing and self.rubric.passing is not None):
            # Without all scores the pass rule cannot be applied, and that is not the candidate's fault.
            raise ValueError(f"no score for {', '.join(missing)}")
        return JudgeResult(
            score=own,
            reason=_words(found.value.get("reason")),
            subscores=subscores,
            flags={flag.name: _yes_or_no(flag.name, found.value[flag.name]) for flag in self.rubric.flags},
            weighted_score=weighted,
            rung=found.rung,
            repaired=found.repaired,
        )

    def _subscores(self, found: JudgeJson) -> dict[str, float]:
        """Return the scores of the rubric's own criteria; a judge's additions are left aside."""
        beside = found.rung == "lines" or not (self.rubric.overall or "subscores" in found.value)
        given = found.value if beside else found.value.get("subscores") or {}
        if not isinstance(given, Mapping):
            raise ValueError(f"the subscores are {given!r}, not an object")
        by_name = [(str(name).casefold(), value) for name, value in cast(Mapping[str, Any], given).items()]
        subscores: dict[str, float] = {}
        for criterion in self.rubric.criteria:
            meant = criterion.name.casefold()
            values = [self._number(value, criterion.name) for name, value in by_name if name == meant]
            if len(set(values)) > 1:
                raise ValueError(f"{criterion.name} is given twice with different values")
            if values:
                subscores[criterion.name] = values[0]
        return subscores

    def _number(self, value: object, name: str) -> float:
        try:
            return read_number(value, self.rubric.scale)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None


def _rubric(criteria: Sequence[RubricCriterion] | Rubric, template: str) -> Rubric:
    if not isinstance(criteria, Rubric):
        general = load_rubric("general")
        criteria = Rubric(name="custom", instruction=general.instruction, criteria=tuple(criteria), scale=general.scale)
    return replace(criteria, instruction=template) if template else criteria


def _yes_or_no(name: str, value: object) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.strip().casefold() in _YES_NO:
        return _YES_NO[value.strip().casefold()]
    raise ValueError(f"{name}: {value!r} is neither true nor false")


def _words(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, list):
        return "\n".join(map(str, cast(list[object], value)))
    return str(value)
