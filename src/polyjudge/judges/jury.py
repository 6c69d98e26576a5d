"""Ask several judges, or one judge several times, and combine the results."""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from statistics import fmean, median
from typing import Any, Literal, TypedDict

from msgspec.structs import replace

from polyjudge.concurrency.pool import together
from polyjudge.errors import ConfigError, UnusableError
from polyjudge.records.outcomes import Failure, Item, JudgeResult, Outcome, Provenance
from polyjudge.records.rubrics import Rubric, Scale
from polyjudge.records.runs import Event, Warned
from polyjudge.statistics.agreement import exact_agreement, krippendorff_alpha, mean_difference
from polyjudge.verdicts.items import with_passed

from . import base
from .asking import ProviderSource
from .base import ItemJudge, Judge, ModelAddresses, asked_fingerprint, bound, close_judge

Joint = Callable[[JudgeResult, str, Mapping[str, Any] | None], JudgeResult]
"""What a judge may offer as `joint`: the combined result of several judges of its kind, with what they found."""


class RepeatedJudge:
    """Asks each question several times; the score is the mean, and `members` contains all outcomes."""

    score = base.score
    score_batch = base.score_batch
    score_sync = base.score_sync
    score_batch_sync = base.score_batch_sync
    judge = base.judge

    def __init__(self, judge: Judge, times: int) -> None:
        if times < 1:
            raise ConfigError(f"the number of repeats must be at least 1, not {times}")
        self._judge = judge
        self.rubric: object = getattr(judge, "rubric", None)
        self.fingerprint: str = getattr(judge, "fingerprint", "")
        self.asked_fingerprint = asked_fingerprint(judge)
        self.models: ModelAddresses = getattr(judge, "models", ())
        self.repeats = times

    @property
    def joint(self) -> "Joint | None":
        """How the judge combines several of its results, beyond their scores; None if it does not."""
        return getattr(self._judge, "joint", None)

    def bind(self, source: ProviderSource) -> "RepeatedJudge":
        """Return this judge with its provider opened by a run."""
        return RepeatedJudge(bound(self._judge, source), self.repeats)

    async def outcome(self, candidate: str, context: Mapping[str, Any] | None = None, *, repeat: int = 0) -> Outcome:
        """Return the mean of all answers with a verdict; more than half must have one."""
        numbers = range(repeat * self.repeats, (repeat + 1) * self.repeats)
        answers = await together(self._judge.outcome(candidate, context, repeat=number) for number in numbers)
        found = combined(tuple(answers), quorum=self.repeats // 2 + 1)
        return with_passed(self.rubric, _joined(found, self.joint, candidate, context))

    async def aclose(self) -> None:
        """Close the judge's connections."""
        await close_judge(self._judge)


_AGGREGATES: dict[str, Callable[[Sequence[float]], float]] = {"mean": fmean, "median": median}


class Jury:
    """Asks all its members concurrently; their scores must be on the same scale.

    Members that fail are left out. With fewer than `quorum` verdicts (by default, more than half of the members) the
    outcome is a failure. The result's `members` contains all outcomes, in the order of the judges.
    """

    score = base.score
    score_batch = base.score_batch
    score_sync = base.score_sync
    score_batch_sync = base.score_batch_sync
    judge = base.judge

    def __init__(
        self, judges: Sequence[Judge], *, aggregate: Literal["mean", "median"] = "mean", quorum: int | None = None
    ) -> None:
        self.judges = tuple(judges)
        self.quorum = len(self.judges) // 2 + 1 if quorum is None else quorum
        if not self.judges:
            raise ConfigError("a jury needs at least one judge")
        if aggregate not in _AGGREGATES:
            raise ConfigError(f"the scores of a jury are combined by mean or median, not {aggregate!r}")
        if not 1 <= self.quorum <= len(self.judges):
            raise ConfigError(f"the quorum of this jury must be from 1 to {len(self.judges)}, not {self.quorum}")
        scales = {(scale.lowest, scale.highest) for scale in map(scale_of, self.judges) if scale is not None}
        if len(scales) > 1:
            ranges = " and ".join(f"{low:g} to {high:g}" for low, high in sorted(scales))
            raise ConfigError(f"the judges of a jury score on different scales: {ranges}")
        self._aggregate = _AGGREGATES[aggregate]
        first = self.judges[0]
        self.rubric: object = getattr(first, "rubric", None)
        self.fingerprint: str = getattr(first, "fingerprint", "")
        self.repeats: int = getattr(first, "repeats", 1)

    @property
    def joint(self) -> "Joint | None":
        """How the members combine their results, beyond their scores; None unless all of them do."""
        offered: list[Joint | None] = [getattr(judge, "joint", None) for judge in self.judges]
        return None if None in offered else offered[0]

    @property
    def models(self) -> ModelAddresses:
        """The members' models with their addresses."""
        return tuple(model for judge in self.judges for model in getattr(judge, "models", ()))

    def bind(self, source: ProviderSource) -> "Jury":
        """Return this jury with the providers of its members opened by a run."""
        return self.with_judges([bound(judge, source) for judge in self.judges])

    def with_judges(self, judges: Sequence[Judge]) -> "Jury":
        """Return a jury with other members, and the same aggregate and quorum."""
        jury = copy(self)
        jury.judges = tuple(judges)
        jury.repeats = getattr(judges[0], "repeats", 1)
        return jury

    async def outcome(self, candidate: str, context: Mapping[str, Any] | None = None, *, repeat: int = 0) -> Outcome:
        """Return the combined result of the members, or a failure if too few of them have a verdict."""
        members = await together(judge.outcome(candidate, context, repeat=repeat) for judge in self.judges)
        found = combined(tuple(members), self.quorum, self._aggregate)
        return with_passed(self.rubric, _joined(found, self.joint, candidate, context))

    async def aclose(self) -> None:
        """Close the members' connections."""
        for judge in self.judges:
            await close_judge(judge)


class Panel:
    """Several judges of one run: each item is judged by one of them, whose name `judge_of` returns.

    A judge that becomes unusable is not used again: its other items fail, and the caller of the run is warned. With
    `needs_judge`, the run stops when no judge is left. `done` is called with each outcome.
    """

    def __init__(
        self,
        judges: Mapping[str, ItemJudge],
        judge_of: Callable[[Item], str],
        done: Callable[[Item, Outcome], None] | None = None,
        *,
        needs_judge: bool = False,
        emit: Callable[[Event], None] = lambda _: None,
    ) -> None:
        self.judges = dict(judges)
        self._judge_of = judge_of
        self._done = done
        self._needs_judge = needs_judge
        self._emit = emit
        self._unusable = dict[str, UnusableError]()

    @property
    def models(self) -> ModelAddresses:
        """The judges' models with their addresses."""
        return tuple(model for judge in self.judges.values() for model in getattr(judge, "models", ()))

    @property
    def fingerprint(self) -> str:
        """A hash that changes with the prompts of the judges."""
        return ",".join(getattr(judge, "fingerprint", "") for judge in self.judges.values())

    def bind(self, source: ProviderSource) -> "Panel":
        """Return this panel with the providers of its judges opened by a run."""
        judges = {name: bound(judge, source) for name, judge in self.judges.items()}
        return Panel(judges, self._judge_of, self._done, needs_judge=self._needs_judge, emit=source.emit)

    async def judge(self, item: Item, *, repeat: int = 0) -> Outcome:
        """Judge an item with its own judge."""
        name = self._judge_of(item)
        if name in self._unusable:
            outcome = _unusable(name, self._unusable[name])
        else:
            try:
                outcome = await self.judges[name].judge(item, repeat=repeat)
            except UnusableError as error:
                outcome = self._drop(name, error)
        if self._done is not None:
            self._done(item, outcome)
        return outcome

    def _drop(self, name: str, error: UnusableError) -> Failure:
        """Stop using a judge; raise the error if no judge is left and one is needed."""
        is_new = name not in self._unusable
        self._unusable[name] = error
        if self._needs_judge and len(self._unusable) == len(self.judges):
            raise error
        if is_new and len(self.judges) > 1:
            self._emit(Warned(f"{name} is not asked again: {error}"))
        return _unusable(name, error)

    async def aclose(self) -> None:
        """Close the judges' connections."""
        for judge in self.judges.values():
            await close_judge(judge)


def _unusable(name: str, error: UnusableError) -> Failure:
    return Failure(str(error), model=name.partition("/")[2])


def combined(
    members: tuple[Outcome, ...], quorum: int, aggregate: Callable[[Sequence[float]], float] = fmean
) -> Outcome:
    """Combine several outcomes of one candidate; return a failure if too few of them have a verdict."""
    members = tuple(map(_checked, members))
    results = [member for member in members if isinstance(member, JudgeResult)]
    if len(results) < quorum:
        reasons = "; ".join(member.reason for member in members if isinstance(member, Failure))
        message = f"{len(results)} of {len(members)} judges gave a verdict, {quorum} are needed: {reasons}"
        return Failure(message, "no_quorum", provenance=joint_provenance(members), members=members)
    shared = [name for name in results[0].subscores if all(name in result.subscores for result in results)]
    flags = [name for name in results[0].flags if all(name in result.flags for result in results)]
    majorities = {name: _majority(["yes" if result.flags[name] else "no" for result in results]) for name in flags}
    return JudgeResult(
        score=aggregate([result.score for result in results]),
        reason="\n".join(f"{result.model}: {result.reason}" for result in results),
        subscores={name: aggregate([result.subscores[name] for result in results]) for name in shared},
        model=", ".join(dict.fromkeys(result.model for result in results)),
        duration_ms=max(result.duration_ms for result in results),
        cached=all(result.cached for result in results),
        verdict=_majority([result.verdict for result in results]),
        flags={name: majority == "yes" for name, majority in majorities.items() if majority},
        provenance=joint_provenance(members),
        members=members,
        **joint_probabilities(results),
    )


def _joined(outcome: Outcome, joint: Joint | None, candidate: str, context: Mapping[str, Any] | None) -> Outcome:
    return outcome if joint is None or isinstance(outcome, Failure) else joint(outcome, candidate, context)


class _Joint(TypedDict, total=False):
    probabilities: dict[str, float]
    other_probability: float
    expected_score: float


def joint_probabilities(members: Sequence[Outcome]) -> _Joint:
    """Return the mean probabilities and expected score of several results; nothing unless all of them have them."""
    results = [member for member in members if isinstance(member, JudgeResult)]
    if len(results) < len(members) or any(result.expected_score is None for result in results):
        return {}
    joint: _Joint = {"expected_score": fmean(result.expected_score or 0.0 for result in results)}
    if all(result.probabilities for result in results):
        names = dict.fromkeys(name for result in results for name in result.probabilities)
        joint["probabilities"] = {
            name: round(fmean(result.probabilities.get(name, 0.0) for result in results), 6) for name in names
        }
        joint["other_probability"] = round(fmean(result.other_probability or 0.0 for result in results), 6)
    return joint


def scale_of(judge: Judge) -> Scale | None:
    """Return the scale of a judge by a rubric; None for other judges."""
    rubric: object = getattr(judge, "rubric", None)
    return rubric.scale if isinstance(rubric, Rubric) else None


def _checked(member: Outcome) -> Outcome:
    """Return an outcome, or a failure if a score in it is not a finite number."""
    if isinstance(member, Failure) or all(map(math.isfinite, (member.score, *member.subscores.values()))):
        return member
    reason = f"{member.model} gave an invalid score: {member.score}"
    return Failure(reason, "unreadable", model=member.model, raw=member.raw, provenance=member.provenance)


def joint_provenance(members: Sequence[Outcome]) -> Provenance | None:
    """Return the provenance of a combined verdict: of one judge that was asked repeatedly, or of a jury."""
    known = [member.provenance for member in members if member.provenance is not None]
    if not known:
        return None
    names = list(dict.fromkeys((each.provider, each.model) for each in known))
    answered = {each.model_answered for each in known if each.model_answered}
    batches = {each.batch for each in known}
    costs = [each.cost_usd for each in known if each.cost_usd is not None]
    first = replace(
        known[0],
        attempts=sum(each.attempts for each in known),
        input_tokens=sum(each.input_tokens or 0 for each in known),
        output_tokens=sum(each.output_tokens or 0 for each in known),
        cost_usd=sum(costs) if costs else None,
        batch=batches.pop() if len(batches) == 1 else "",
        cached=all(each.cached for each in known),
    )
    if len(names) == 1:
        return replace(first, model_answered=answered.pop() if len(answered) == 1 else "")
    jury = "+".join(f"{provider}/{model}" for provider, model in names)
    return replace(first, provider="jury", base_url="", model=jury, model_answered="")


@dataclass(frozen=True, slots=True)
class JuryAgreement:
    """The agreement of a jury's members over many items; None if there is nothing to compare."""

    items: int
    """Items that at least two members judged."""
    exact: float | None
    """Share of pairs of members that gave the same verdict, or the same score."""
    mean_difference: float | None
    """Mean absolute difference between two members' scores."""
    alpha_nominal: float | None
    """Krippendorff's alpha over verdicts, or over scores as labels."""
    alpha_interval: float | None
    """Krippendorff's alpha over scores as numbers."""


def jury_agreement(outcomes: Sequence[Outcome]) -> JuryAgreement:
    """Return the agreement of a jury's members over many items; members that failed are left out."""
    juries = [[member for member in outcome.members if isinstance(member, JudgeResult)] for outcome in outcomes]
    compared = [members for members in juries if len(members) > 1]
    labels = [[member.verdict or member.score for member in members] for members in compared]
    scores = [[member.score for member in members] for members in compared]
    return JuryAgreement(
        items=len(compared),
        exact=exact_agreement(labels),
        mean_difference=mean_difference(scores),
        alpha_nominal=krippendorff_alpha(labels, "nominal"),
        alpha_interval=krippendorff_alpha(scores, "interval"),
    )


def _majority(verdicts: Sequence[str]) -> str:
    """Return the verdict of more than half, or an empty text."""
    verdict, count = Counter(verdicts).most_common(1)[0]
    return verdict if 2 * count > len(verdicts) else ""
