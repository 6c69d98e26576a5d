"""Summarise outcomes in constant memory."""

from collections import Counter
from dataclasses import dataclass

from polyjudge.records.calibration import Interval
from polyjudge.records.outcomes import Failure, JudgeResult, Outcome
from polyjudge.records.rubrics import Rubric, Scale
from polyjudge.statistics.intervals import RunningMean, wilson_interval
from polyjudge.verdicts.items import passes


@dataclass(frozen=True, slots=True)
class ScoreSummary:
    """What a run came to; what could not be judged is counted and left out of every mean and rate."""

    items: int
    """Items that were to be judged."""
    judged: int
    unjudged: int
    unjudged_by_kind: dict[str, int]
    not_reached: int
    """Items that the run did not get to."""
    mean: float | None
    interval: Interval | None
    standard_deviation: float | None
    passed: int | None
    """Results that pass by the rubric's rule, where it has one."""
    decided: int | None
    """Results that pass or fail; with scores missing, as of the judge `offline`, it cannot always be told."""
    pass_interval: Interval | None
    cached: int
    mean_spread: float | None
    """Mean distance between the highest and the lowest score of one item, where it was asked more than once."""
    flipped: float | None
    """Share of such items whose answers disagree about passing, where the rubric has a rule."""


class Tally:
    """Sums up outcomes as they come, in constant memory."""

    def __init__(self, rubric: Rubric) -> None:
        self._rubric = rubric
        self._scores = RunningMean()
        self._spreads = RunningMean()
        self._kinds: Counter[str] = Counter()
        self._passed = self._decided = self._cached = self._flipped = 0

    @property
    def judged(self) -> int:
        """Items with a verdict."""
        return self._scores.count

    @property
    def unjudged(self) -> int:
        """Items without one."""
        return self._kinds.total()

    def add(self, outcome: Outcome) -> None:
        """Take in one outcome."""
        if isinstance(outcome, Failure):
            self._kinds[outcome.kind] += 1
            return
        self._scores.add(outcome.score)
        self._cached += outcome.cached
        passed = passes(self._rubric, outcome)
        self._passed += bool(passed)
        self._decided += passed is not None
        answers = [member for member in outcome.members if isinstance(member, JudgeResult)]
        if len(answers) > 1:
            scores = [answer.score for answer in answers]
            self._spreads.add(max(scores) - min(scores))
            self._flipped += len({passes(self._rubric, answer) for answer in answers}) > 1

    def summary(self, items: int) -> ScoreSummary:
        """Return what it all came to, of so many items."""
        scores, has_rule = self._scores, self._rubric.passing is not None
        return ScoreSummary(
            items=items,
            judged=scores.count,
            unjudged=self.unjudged,
            unjudged_by_kind=dict(self._kinds.most_common()),
            not_reached=items - scores.count - self.unjudged,
            mean=scores.mean if scores.count else None,
            interval=_within(scores.interval(), self._rubric.scale),
            standard_deviation=scores.standard_deviation,
            passed=self._passed if has_rule else None,
            decided=self._decided if has_rule else None,
            pass_interval=wilson_interval(self._passed, self._decided) if has_rule else None,
            cached=self._cached,
            mean_spread=self._spreads.mean if self._spreads.count else None,
            flipped=self._flipped / self._spreads.count if self._spreads.count and has_rule else None,
        )


def _within(interval: Interval | None, scale: Scale) -> Interval | None:
    """Return an interval cut at the ends of the scale, where no mean can lie beyond."""
    if interval is None:
        return None
    return Interval(max(interval.low, scale.lowest), min(interval.high, scale.highest))
