"""Count the rows of a run: by status, with their scores, the worst of them, and who gave them."""

import heapq
from array import array
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from msgspec.structs import replace as with_fields

from polyjudge.records.calibration import Interval, JudgeIdentity, identity_of
from polyjudge.records.outcomes import Provenance
from polyjudge.records.rubrics import Scale
from polyjudge.records.spans import ErrorSpan
from polyjudge.statistics.intervals import RunningMean, wilson_interval
from polyjudge.text.display import one_line
from polyjudge.verdicts.items import OFFLINE, Status

from .run_rows import RunRow
from .wording import counted

_MOST_VALUES = 256
_MOST_JUDGES = 20
_LONGEST_KEPT = 2_000
_MOST_COMMENTS = 64
_LONGEST_COMMENT = 300
_FEWEST_COMMENTS = 10
_STRIKING_SHARE = 0.6
_LONGEST_SHOWN = 120
_MOST_NAMED = 3


@dataclass(frozen=True, slots=True)
class SameComment:
    """A comment that a judge gave to many items."""

    text: str
    count: int
    total: int
    """All items with a comment."""


class Comments:
    """How often a judge says the same, in constant memory: of the first comments that differ, each is counted."""

    def __init__(self) -> None:
        self._counts: dict[tuple[int, str], int] = {}
        self._total = 0

    def add(self, text: str) -> None:
        """Count a comment; an empty one is none."""
        if not text:
            return
        self._total += 1
        key = hash(text), text[:_LONGEST_COMMENT]
        if key in self._counts or len(self._counts) < _MOST_COMMENTS:
            self._counts[key] = self._counts.get(key, 0) + 1

    def update(self, other: "Comments") -> None:
        """Add the comments of another group."""
        self._total += other._total
        for key, count in other._counts.items():
            if key in self._counts or len(self._counts) < _MOST_COMMENTS:
                self._counts[key] = self._counts.get(key, 0) + count

    @property
    def striking(self) -> SameComment | None:
        """The comment of most items, if there are at least ten; None if there is none."""
        if self._total < _FEWEST_COMMENTS:
            return None
        (_, text), count = max(self._counts.items(), key=lambda entry: entry[1])
        return SameComment(text, count, self._total) if count >= _STRIKING_SHARE * self._total else None


def same_comments(whole: Comments, groups: Iterable[tuple[str, Comments]], unit: str) -> list[str]:
    """Return in sentences where a judge says the same of most items: in all of them, or else in which groups."""
    found = whole.striking
    if found is not None:
        return [f"The same comment for {_of_total(found, unit)}. Read some of them: does it look at each {unit}?"]
    named = [(name, each.striking) for name, each in groups]
    striking = [f"{_of_total(each, unit)} in {name}" for name, each in named if each is not None]
    more = f", and in {len(striking) - _MOST_NAMED:,} more languages" if len(striking) > _MOST_NAMED else ""
    return [f"The same comment for {'; '.join(striking[:_MOST_NAMED])}{more}."] if striking else []


def _of_total(found: SameComment, unit: str) -> str:
    return f"{found.count:,} of {counted(found.total, unit)}: “{one_line(found.text, _LONGEST_SHOWN).rstrip('.')}”"


class Scores:
    """The scores of a group: mean, interval and distribution, in constant memory."""

    def __init__(self) -> None:
        self.running = RunningMean()
        self.values: Counter[float] = Counter()
        """How often each value occurs; values are rounded as far as there are many."""
        self._digits = 2

    def add(self, value: float) -> None:
        """Add a score."""
        self.running.add(value)
        self.values[round(value, self._digits)] += 1
        if len(self.values) > _MOST_VALUES:
            self._digits -= 1
            rounded: Counter[float] = Counter()
            for each, count in self.values.items():
                rounded[round(each, self._digits)] += count
            self.values = rounded

    @property
    def count(self) -> int:
        """The number of scores."""
        return self.running.count

    @property
    def mean(self) -> float | None:
        """The mean; None without scores."""
        return self.running.mean if self.count else None

    def interval(self, scale: Scale | None) -> Interval | None:
        """Return the 95% interval of the mean, within the scale."""
        found = self.running.interval()
        if found is None or scale is None:
            return found
        return Interval(max(found.low, scale.lowest), min(found.high, scale.highest))


@dataclass(slots=True)
class Tally:
    """The counts of some rows of a run, and examples of them."""

    counts: Counter[Status | None] = field(default_factory=Counter[Status | None])
    """Rows by status; None are those with a score that neither passes nor fails."""
    failures: Counter[str] = field(default_factory=Counter[str])
    scores: Scores = field(default_factory=Scores)
    subscores: dict[str, Scores] = field(default_factory=dict[str, Scores])
    comments: Comments = field(default_factory=Comments)
    """What judges say of rows with a score; not what the checks say."""
    worst: "list[_Ranked]" = field(default_factory=list["_Ranked"])
    errors: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    """Error spans that count, by category and severity."""
    uncounted: Counter[str] = field(default_factory=Counter[str])
    """Error spans that do not count, by the reason."""
    positions: "tuple[array[int], array[int]]" = field(default_factory=lambda: (array("Q"), array("Q")))
    """Where the rows are stored: those that need attention, and the others."""

    @property
    def rows(self) -> int:
        """All rows."""
        return self.counts.total()

    @property
    def decided(self) -> int:
        """Rows that pass or fail; the base of the share that passes."""
        return sum(self.counts[status] for status in ("PASS", "CHECKED", "FAIL", "CONFLICT"))

    @property
    def passing(self) -> int:
        """Rows that pass, or that the checks alone found no fault in."""
        return self.counts["PASS"] + self.counts["CHECKED"]

    @property
    def pass_interval(self) -> Interval | None:
        """The 95% interval of the share that passes."""
        return wilson_interval(self.passing, self.decided)

    def add(self, row: RunRow, keep: int) -> None:
        """Count a row, and keep it if it is one of the worst."""
        self.counts[row.status] += 1
        if row.failure:
            self.failures[row.failure] += 1
        if row.score is not None:
            self.scores.add(row.score)
            if row.provenance is None or row.provenance.provider != OFFLINE:
                self.comments.add(row.reason)
        for name, value in row.subscores.items():
            self.subscores.setdefault(name, Scores()).add(value)
        self.errors.update((span.category, span.severity) for span in row.spans if span.counts)
        self.uncounted.update(_why_uncounted(span) for span in row.spans if not span.counts)
        if row.status in ("FAIL", "CONFLICT") or (row.status is None and row.score is not None):
            ranked = _Ranked(_badness(row), -self.rows, row)
            if len(self.worst) < keep:
                heapq.heappush(self.worst, _cut(ranked))
            elif ranked > self.worst[0]:
                heapq.heapreplace(self.worst, _cut(ranked))

    def worst_rows(self) -> list[RunRow]:
        """Return the worst rows, the worst first."""
        return [ranked.row for ranked in sorted(self.worst, reverse=True)]


def _why_uncounted(span: ErrorSpan) -> str:
    return span.refusal or ("without a place" if span.start is None else span.state)


@dataclass(frozen=True, slots=True, order=True)
class _Ranked:
    badness: tuple[int, float]
    order: int
    row: RunRow = field(compare=False)


def _badness(row: RunRow) -> tuple[int, float]:
    lowest = min((row.score or 0.0, *row.subscores.values())) if row.score is not None else 0.0
    return (row.status is not None, -lowest)


def _cut(ranked: _Ranked) -> _Ranked:
    """Return a row to keep in memory, with long texts cut."""
    return _Ranked(ranked.badness, ranked.order, shortened(ranked.row))


def shortened(row: RunRow) -> RunRow:
    """Return a row without its columns, and with long texts cut."""
    cut = {name: getattr(row, name)[:_LONGEST_KEPT] for name in ("reason", "raw", "source", "reference")}
    output = None if row.output is None else row.output[:_LONGEST_KEPT]
    return with_fields(row, **cut, output=output, columns={})


class Origins:
    """Who gave the outcomes of a run, when, and what the replies cost."""

    def __init__(self) -> None:
        self.cost_usd, self.cached, self.unpriced = 0.0, 0, 0
        self.first_at, self.last_at = "", ""
        self.versions: set[str] = set()
        self._judges: dict[tuple[str, ...], JudgeIdentity] = {}

    @property
    def judges(self) -> tuple[JudgeIdentity, ...]:
        """The first twenty judges."""
        return tuple(self._judges.values())

    def add(self, origin: Provenance) -> None:
        """Count an outcome."""
        self.cached += origin.cached
        self.unpriced += origin.cost_usd is None and origin.provider != OFFLINE
        self.cost_usd += origin.cost_usd or 0.0
        if origin.answered_at:
            self.first_at = min(self.first_at or origin.answered_at, origin.answered_at)
            self.last_at = max(self.last_at, origin.answered_at)
        if origin.polyjudge_version and len(self.versions) < _MOST_JUDGES:
            self.versions.add(origin.polyjudge_version)
        self.add_judge(identity_of(origin))

    def add_judge(self, judge: JudgeIdentity) -> None:
        """Add a judge, unless it is known."""
        key = (judge.provider, judge.model, judge.rubric, judge.rubric_fingerprint)
        known = self._judges.get(key)
        if known is None and len(self._judges) < _MOST_JUDGES:
            self._judges[key] = judge
        elif known is not None and judge.model_answered and not known.model_answered:
            self._judges[key] = with_fields(known, model_answered=judge.model_answered)


def judge_title(judge: JudgeIdentity) -> str:
    """Return the name of a judge."""
    return f"{judge.provider}/{judge.model}"
