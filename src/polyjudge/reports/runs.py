"""Compute the figures of a report on any run: totals, scores, groups, failures, the worst rows and the cost.

Rows are read once and one at a time. In memory are counts, a few rows of each group, and the positions of the others,
which are on disk and only stored if the report shows all of them.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from msgspec import to_builtins
from msgspec.structs import replace as with_fields

from polyjudge.errors import ConfigError, DataError, suggestion
from polyjudge.files.spill import ScratchRows
from polyjudge.formats.rating_fields import judge_of_row
from polyjudge.languages.table import LANGUAGE, LanguageMatcher, LanguageTable
from polyjudge.records.codec import from_json
from polyjudge.records.rubrics import Scale
from polyjudge.store.trust_cards import trust_in, trust_of_cards
from polyjudge.text.display import one_line
from polyjudge.verdicts.items import OFFLINE, STATUSES, Status
from polyjudge.verdicts.translation import group_status
from polyjudge.verdicts.trust import JudgeTrust, untrusted

from .preferences import Preferences
from .run_kinds import UNITS, RunKind
from .run_rows import RunRow, RunRows, shipped_rubric
from .tallies import Origins, Tally, judge_title, shortened

WORST_SHOWN = 10
_WORST_OF_GROUP = 3
_MOST_GROUPS = 1_000
_EXAMPLES = 2
SYSTEM = "system"
"""The column that says who wrote an output; two of them are compared without being asked."""
OTHER_VALUES = "(other values)"
"""The group of all values after the first thousand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The rows with one value of a column."""

    value: str
    name: str
    """The value as it is shown: for a language, its English name."""
    status: Status | None
    tally: Tally
    is_calibrated: bool = False
    why_unreliable: str = ""

    @property
    def needs_attention(self) -> bool:
        """Whether it does not pass."""
        return self.status in ("FAIL", "CONFLICT", "UNRELIABLE", "UNJUDGED")


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which rows of a run a report is about, how they are grouped, and which of them it lists."""

    by: tuple[str, ...] = ()
    """The columns that make groups, the first one for the map; the language is added."""
    filters: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    only_failures: bool = False
    """List only rows that fail or have no verdict; the counts are those of all."""
    all_rows: bool = False
    """Store all rows on disk, for a report that lists them."""


_USUAL_COLUMN: Mapping[RunKind, str] = {"vocabulary": "model", "transcript": "provider"}
_WITH_LANGUAGE_RULE: tuple[RunKind, ...] = ("score", "translation scores")
"""Kinds of runs in which a language passes or fails; in the others, each row counts."""


_LONGEST_MESSAGE = 400


class RunReport:
    """The figures of a run."""

    def __init__(
        self,
        rows: RunRows,
        table: LanguageTable,
        *,
        timestamp: str,
        selection: Selection | None = None,
        cards: Sequence[Path] = (),
        progress: Callable[[], None] = lambda: None,
    ) -> None:
        self.kind: RunKind = rows.kind
        self.path, self.table, self.timestamp = rows.path, table, timestamp
        self.items, self.pass_from = rows.items, rows.pass_from
        self.selection = selection or Selection()
        usual = _USUAL_COLUMN.get(rows.kind, "language")
        self.columns = tuple(dict.fromkeys((usual, *self.selection.by, "language", SYSTEM)))
        """The columns that make groups."""
        self.total, self.origins = Tally(), Origins()
        self.preferences = Preferences()
        self.without_text = 0
        self.unjudged: dict[str, list[RunRow]] = {}
        """Rows without a verdict, a few of each kind."""
        self._stored, self._matcher = ScratchRows(), LanguageMatcher(table)
        tallies = self._read(rows, progress)
        self.problems, self.skipped = tuple(rows.problems), rows.skipped
        judges = [judge for judge in self.origins.judges if judge.provider != OFFLINE]
        self.trust = {judge_title(judge): trust_in(judge, cards) for judge in judges} or trust_of_cards(cards)
        self.names_language = tallies[self.columns.index("language")].keys() != {""}
        self.scale = self._scale()
        self.by_column = {
            column: tuple(sorted((self._group(column, *entry) for entry in found.items()), key=_order))
            for column, found in zip(self.columns, tallies, strict=True)
            if found.keys() != {""} and not (column == SYSTEM and len(found) == 1 and column not in self.selection.by)
        } or {self.columns[0]: (self._group(self.columns[0], "", self.total),)}
        """The groups by column; a column that no row has is left out."""
        self.column = next(iter(self.by_column))
        """The column of `groups`."""

    @property
    def groups(self) -> tuple[Group, ...]:
        """The groups of the first column: those that need attention first."""
        return self.by_column[self.column]

    @property
    def unit(self) -> str:
        """What one row is called."""
        return UNITS[self.kind]

    @property
    def has_rule(self) -> bool:
        """Whether any row passes or fails."""
        return self.total.decided > 0

    @property
    def is_by_language(self) -> bool:
        """Whether the status of languages is what the report is about."""
        named = [group for group in self.groups if group.value]
        return self.column == "language" and self._languages_pass and len(named) > 1 and self.has_rule

    @property
    def status(self) -> Status | None:
        """The status of all rows together, by the rule for a language; None if there is no such rule."""
        counts: dict[Status, int] = {status: self.total.counts[status] for status in STATUSES}
        return group_status(counts, self.total.counts[None]) if self._languages_pass and self.has_rule else None

    @property
    def group_counts(self) -> dict[Status, int]:
        """Groups by status."""
        counts = Counter(group.status for group in self.groups)
        return {status: counts[status] for status in STATUSES}

    @property
    def is_calibrated(self) -> bool:
        """Whether every group that passes has a judge that is reliable there."""
        return all(group.is_calibrated for group in self.groups if group.status == "PASS")

    def uncalibrated(self) -> list[str]:
        """Return the names of the languages with scores in which no judge is reliable."""
        groups = self.by_column.get("language") or (self._group("language", "", self.total),)
        return [group.name for group in groups if group.tally.scores.count and not group.is_calibrated]

    def selects(self, row: RunRow) -> bool:
        """Return whether the report is about a row."""
        return self._matcher.selects(self.selection.filters, partial(_value, row))

    def rows_of(self, group: Group) -> Iterator[RunRow]:
        """Yield the stored rows of a group, those that need attention first."""
        for positions in group.tally.positions[: 1 if self.selection.only_failures else 2]:
            for position in positions:
                yield from_json(RunRow, self._stored.at(position))

    def worst_rows(self) -> list[RunRow]:
        """Return the worst rows, the worst first; few of each group, so that one does not hide the others."""
        ranked = sorted((row for group in self.groups for row in group.tally.worst), reverse=True)[:WORST_SHOWN]
        chosen = {each.row.id: each for each in ranked}
        more = [each for each in self.total.worst if each.row.id not in chosen]
        missing = WORST_SHOWN - len(ranked)
        return [each.row for each in sorted((*ranked, *sorted(more, reverse=True)[:missing]), reverse=True)]

    @property
    def _languages_pass(self) -> bool:
        return self.kind in _WITH_LANGUAGE_RULE

    def _read(self, rows: RunRows, progress: Callable[[], None]) -> tuple[dict[str, Tally], ...]:
        """Count all rows, and return the counts by column and value."""
        tallies: tuple[dict[str, Tally], ...] = tuple({} for _ in self.columns)
        names = set[str]()
        for row in rows:
            if self.selection.by:
                names.update(row.columns)
            if self.selects(row):
                self._add(row, tallies)
                progress()
        if not self.total.rows:
            filters = self.selection.filters
            close = self._matcher.suggestions(filters.get(LANGUAGE, ()))
            why = f": {rows.problems[0]}" if rows.problems else f" after filtering.{close}" if filters else ""
            raise DataError(f"no rows to report on{why}", path=rows.path)
        for column, found in zip(self.columns, tallies, strict=True):
            if column in self.selection.by and found.keys() == {""} and column not in names:
                message = f"no row has the column {column!r}.{suggestion(column, names)}"
                raise ConfigError(one_line(message, _LONGEST_MESSAGE), option="by")
        return tallies

    def _add(self, row: RunRow, tallies: Sequence[dict[str, Tally]]) -> None:
        self.total.add(row, WORST_SHOWN)
        self.preferences.add(row)
        self.without_text += row.output is None
        if row.status == "UNJUDGED" and len(examples := self.unjudged.setdefault(row.failure, [])) < _EXAMPLES:
            examples.append(shortened(row))
        if row.provenance is not None:
            self.origins.add(row.provenance)
        elif (judge := judge_of_row(row.columns)) is not None:
            self.origins.add_judge(judge)
        position = self._stored.add(to_builtins(with_fields(row, columns={}))) if self.selection.all_rows else None
        for column, found in zip(self.columns, tallies, strict=True):
            value = _value(row, column)
            if value not in found and len(found) >= _MOST_GROUPS:
                value = OTHER_VALUES
            tally = found.setdefault(value, Tally())
            tally.add(row, _WORST_OF_GROUP)
            if position is not None:
                tally.positions[row.status in ("PASS", "CHECKED", "SKIPPED")].append(position)
        if position is not None:
            self.total.positions[row.status in ("PASS", "CHECKED", "SKIPPED")].append(position)

    def _scale(self) -> Scale | None:
        if self.kind == "translation scores":
            return Scale(1, 5)
        rubrics = [shipped_rubric(judge.rubric, judge.rubric_fingerprint) for judge in self.origins.judges]
        scales = [rubric.scale for rubric in rubrics if rubric is not None]
        return scales[0] if scales and len(scales) == len(rubrics) else None

    def _group(self, column: str, value: str, tally: Tally) -> Group:
        known = self.table.find(value) if value and column == "language" else None
        has_rule = column == "language" and self._languages_pass
        trust = self.trust if has_rule and value else {}
        why = untrusted(trust, list(trust), value, self.table)
        statuses: dict[Status, int] = {status: tally.counts[status] for status in STATUSES}
        return Group(
            value=value,
            name=known.name if known else value or ("no language" if column == "language" else "(none)"),
            status=group_status(statuses, tally.counts[None], unreliable=bool(why)) if has_rule else None,
            tally=tally,
            is_calibrated=column == "language"
            and any(self._word(value, each) == "reliable" for each in self.trust.values()),
            why_unreliable=why,
        )

    def _word(self, tag: str, trust: JudgeTrust) -> str:
        return trust.word(tag, self.table) if tag or self.names_language else trust.word_without_language


def _value(row: RunRow, column: str) -> str:
    own = {"language": row.language, "status": row.status or "SCORED", "failure": row.failure, "id": row.id}
    return own.get(column) or row.column(column)


_BY_ATTENTION: tuple[Status | None, ...] = (
    *("FAIL", "CONFLICT", "UNRELIABLE", "UNJUDGED", None, "CHECKED", "PASS", "SKIPPED"),
)


def _order(group: Group) -> tuple[int, float, str]:
    tally = group.tally
    share = tally.passing / tally.decided if tally.decided and group.status is None else 0.0
    return _BY_ATTENTION.index(group.status), share, group.name.casefold()
