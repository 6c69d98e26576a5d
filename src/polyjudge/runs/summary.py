"""Summarise outcomes in constant memory."""

import weakref
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any

from polyjudge.errors import DataError, PolyjudgeError
from polyjudge.formats.items import read_results
from polyjudge.records.calibration import Interval
from polyjudge.records.notebook import FrameLibrary, as_html, frame_of
from polyjudge.records.outcomes import Failure, Generated, Item, JudgeResult, RunOutcome
from polyjudge.records.rubrics import Rubric, Scale
from polyjudge.records.runs import FailUnder, Gate, LanguageScores, RunStatus, ScoreSummary, Spent
from polyjudge.statistics.intervals import RunningMean, wilson_interval
from polyjudge.verdicts.items import passes
from polyjudge.verdicts.score_gate import score_gate


class _Group:
    """The scores of some items, in constant memory."""

    def __init__(self) -> None:
        self.scores = RunningMean()
        self.items = self.passed = self.decided = 0

    def add(self, outcome: RunOutcome, passed: bool | None) -> None:
        self.items += 1
        if isinstance(outcome, JudgeResult):
            self.scores.add(outcome.score)
            self.passed += bool(passed)
            self.decided += passed is not None

    def language_scores(self, rubric: Rubric | None) -> LanguageScores:
        has_rule = rubric is not None and rubric.passing is not None
        return LanguageScores(
            items=self.items,
            judged=self.scores.count,
            mean=self.scores.mean if self.scores.count else None,
            interval=_within(self.scores.interval(), rubric.scale if rubric is not None else None),
            passed=self.passed if has_rule else None,
            decided=self.decided if has_rule else None,
            pass_interval=wilson_interval(self.passed, self.decided) if has_rule else None,
        )


class Tally:
    """Sums up outcomes as they come, in memory that grows only with the number of languages."""

    def __init__(self, rubric: Rubric | None) -> None:
        self._rubric = rubric
        self._rule = rubric if rubric is not None and rubric.passing is not None else None
        self._all = _Group()
        self._languages: defaultdict[str, _Group] = defaultdict(_Group)
        self._spreads = RunningMean()
        self._kinds: Counter[str] = Counter()
        self._texts = self._cached = self._flipped = 0

    @property
    def judged(self) -> int:
        """Items with a verdict or a text."""
        return self._all.scores.count + self._texts

    @property
    def unjudged(self) -> int:
        """Items without either, other than abstentions."""
        return self._kinds.total() - self.abstained

    @property
    def abstained(self) -> int:
        """Items that a cascade leaves to people."""
        return self._kinds["abstained"]

    def add(self, outcome: RunOutcome, language: str = "") -> None:
        """Count one outcome."""
        passed = self._passes(outcome) if isinstance(outcome, JudgeResult) else None
        self._all.add(outcome, passed)
        self._languages[language].add(outcome, passed)
        if isinstance(outcome, Failure):
            self._kinds[outcome.kind] += 1
            return
        self._cached += outcome.cached
        if isinstance(outcome, Generated):
            self._texts += 1
            return
        answers = [member for member in outcome.members if isinstance(member, JudgeResult)]
        if len(answers) > 1 and not outcome.answered_by:  # the judges of a cascade are not asked for a spread
            scores = [answer.score for answer in answers]
            self._spreads.add(max(scores) - min(scores))
            self._flipped += len({self._passes(answer) for answer in answers}) > 1

    def _passes(self, result: JudgeResult) -> bool | None:
        return None if self._rule is None else passes(self._rule, result)

    def summary(self, items: int) -> ScoreSummary:
        """Return the summary of the outcomes so far, of so many items."""
        rubric = self._rubric
        found = self._all.language_scores(rubric)
        names_languages = any(self._languages)
        return ScoreSummary(
            items=items,
            judged=self.judged,
            unjudged=self.unjudged,
            unjudged_by_kind={kind: count for kind, count in self._kinds.most_common() if kind != "abstained"},
            not_reached=items - self.judged - self.unjudged - self.abstained,
            abstained=self.abstained,
            mean=found.mean,
            interval=found.interval,
            standard_deviation=self._all.scores.standard_deviation,
            passed=found.passed,
            decided=found.decided,
            pass_interval=found.pass_interval,
            cached=self._cached,
            mean_spread=self._spreads.mean if self._spreads.count else None,
            flipped=self._flipped / self._spreads.count if self._spreads.count and found.passed is not None else None,
            scale=rubric.scale if rubric is not None else None,
            languages={tag: each.language_scores(rubric) for tag, each in sorted(self._languages.items())}
            if names_languages
            else {},
        )


def _within(interval: Interval | None, scale: Scale | None) -> Interval | None:
    """Return an interval cut at the ends of the scale, beyond which no mean can be."""
    if interval is None or scale is None:
        return interval
    return Interval(max(interval.low, scale.lowest), min(interval.high, scale.highest))


@dataclass(frozen=True, slots=True)
class RunSummary:
    """How a run ended, what it found and what it spent."""

    status: RunStatus
    scores: ScoreSummary
    spent: Spent
    skipped: int = 0
    """Rows without an item."""
    stopped_by: PolyjudgeError | None = None
    """Why the run ended early, unless the caller stopped it."""
    path: Path | None = None
    """The file that holds the rows."""
    items: Iterable[Item] = ()
    broken: tuple[str, ...] = ()
    """Files of items that could not be judged, each with the reason; the others were."""
    max_unjudged: float = 0.2
    """The largest share of items without a verdict that the run may have."""
    temporary: object = None
    """Keeps the temporary file of a run without an output."""

    @property
    def mean(self) -> float | None:
        """The mean score of the judged items."""
        return self.scores.mean

    @property
    def interval(self) -> Interval | None:
        """The 95% interval of the mean."""
        return self.scores.interval

    @property
    def pass_rate(self) -> float | None:
        """The share of results that pass by the rubric's rule, among those for which it can be decided."""
        scores = self.scores
        return scores.passed / scores.decided if scores.passed is not None and scores.decided else None

    @property
    def cost_usd(self) -> float:
        """What the calls of this run cost, as far as prices are known."""
        return self.spent.cost_usd

    @property
    def failures(self) -> Mapping[str, int]:
        """How many items have no verdict, by the kind of failure."""
        return self.scores.unjudged_by_kind

    def gate(self, *, mean: float | None = None, pass_rate: float | None = None, language: float | None = None) -> Gate:
        """Return whether the run reaches a mean score, a pass rate, and in each language a pass rate (or mean)."""
        return score_gate(self.scores, FailUnder(mean=mean, pass_rate=pass_rate, language=language), self.max_unjudged)

    def outcomes(self) -> Iterator[tuple[Item, RunOutcome]]:
        """Read the stored rows again, in order, one at a time."""
        if self.path is None:
            raise DataError("the rows of this run are not stored in a file; give the run an output")
        items = iter(self.items)
        for item_id, outcome in read_results(self.path):
            item = next(items, None)
            if item is None or item.id != item_id:
                raise DataError(
                    f"the row of {item_id!r} does not match the items, which have changed since the run", path=self.path
                )
            yield item, outcome

    def to_frame(self, library: FrameLibrary | None = None) -> Any:
        """Return a pandas or polars frame with one row for each item; `library` chooses if both are installed."""
        return frame_of([_flat_row(item, outcome) for item, outcome in self.outcomes()], library)

    def _repr_html_(self) -> str:
        """Return the scores as HTML, for Jupyter."""
        cost = "" if self.spent.unpriced_calls and not self.cost_usd else f", ${self.cost_usd:.4f}"
        return as_html(self.scores, status=self.status, notes=(f"Asked: {self.spent.calls:,} calls{cost}.",))


class TemporaryFolder:
    """A folder that is removed when nothing refers to it any more."""

    def __init__(self) -> None:
        self.path = Path(mkdtemp(prefix="polyjudge-run-"))
        weakref.finalize(self, rmtree, self.path, ignore_errors=True)


def _flat_row(item: Item, outcome: RunOutcome) -> dict[str, Any]:
    row: dict[str, Any] = {"id": item.id, "language": item.language, "candidate": item.candidate}
    if isinstance(outcome, Failure):
        return {**row, "score": None, "reason": outcome.reason, "failure": outcome.kind}
    if isinstance(outcome, Generated):
        return {**row, "text": outcome.text, "failure": None, "model": outcome.model, "cached": outcome.cached}
    named = {f"subscore_{name}": value for name, value in outcome.subscores.items()}
    more = {"verdict": outcome.verdict, "model": outcome.model, "cached": outcome.cached}
    return {**row, "score": outcome.score, "reason": outcome.reason, "failure": None, **more, **named}
