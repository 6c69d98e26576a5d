"""The items of each group of a run as the page loads them, in parts."""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from polyjudge.checks.checker import TextChecker
from polyjudge.records.findings import Finding
from polyjudge.records.translation import Language
from polyjudge.text.display import one_line

from .page import Named, anchor
from .page_items import ITEMS_IN_A_PART, PageItem, items_of_a_group, left_out_note, part_row
from .run_blocks import row_title, subscores_text
from .run_rows import RunRow
from .run_summary import group_label, group_why
from .runs import Group, RunReport
from .wording import units

_LONGEST_NAME = 100
_LONGEST_NOTE = 600
_MOST_CHECKED = 10_000
"""Items on a page in which findings are marked, because checking takes long; those that need attention come first."""


def run_details(report: RunReport, groups: list[Group]) -> Iterator[tuple[int, int, Mapping[str, Any]]]:
    """Yield the items of each group in parts, within the number that the page can have."""
    checker = TextChecker(report.table)
    share = items_of_a_group(report.total.rows, len(groups))
    checked_share = _MOST_CHECKED if report.total.rows <= _MOST_CHECKED else _MOST_CHECKED // max(len(groups), 1)
    for place, group in enumerate(groups):
        named = named_group(report, group)
        known = report.table.find(group.value) if report.column == "language" else None
        most = min(share, group.tally.rows)
        rows = islice(report.rows_of(group), most)
        for part, chosen in enumerate(iter(lambda: list(islice(rows, ITEMS_IN_A_PART)), [])):  # noqa: B023
            notes = _notes(report, group, most, checked_share) if part == 0 else []
            is_checked = part * ITEMS_IN_A_PART < checked_share
            yield (
                place,
                part,
                {
                    "name": known.name if known else "",
                    "tag": named.tag,
                    "direction": named.direction,
                    "total": min(most, group.tally.rows),
                    "unit": units(2, report.unit),
                    "notes": notes,
                    **part_row(_item(report, row, known, checker if is_checked else None) for row in chosen),
                },
            )


def _notes(report: RunReport, group: Group, most: int, checked: int) -> list[str]:
    notes = [f"Why {group_label(group)}: {group_why(group, report)}"] if group.status else []
    notes += filter(None, [left_out_note(most, group.tally.rows)])
    if checked < min(most, group.tally.rows):
        notes.append(f"Findings are marked in the first {checked:,}.")
    return [one_line(note, _LONGEST_NOTE) for note in notes]


def _item(report: RunReport, row: RunRow, language: Language | None, checker: TextChecker | None) -> PageItem:
    known = language or (report.table.find(row.language) if row.language else None)
    findings: tuple[Finding, ...] = ()
    if checker and known is not None and row.output and row.source and report.kind in ("score", "translation scores"):
        findings = checker.check(row.output, known, source=row.source).problems
    judge, scores = row.provenance.model if row.provenance else "judge", subscores_text(row)
    return PageItem(
        title=row_title(row),
        status=row.status or ("SCORED" if row.score is not None else ""),
        source=row.source,
        output=row.output,
        reference=row.reference,
        findings=findings,
        spans=row.spans,
        judges=[(judge, scores, row.reason)] if scores or row.reason else [],
        raw=[("Raw reply", row.raw)],
    )


def named_group(report: RunReport, group: Group) -> Named:
    """Return the name of a group as the page shows it."""
    known = report.table.find(group.value) if group.value and report.column == "language" else None
    name = one_line(group.name, _LONGEST_NAME)
    if known is None:
        return Named(name=name, anchor=group_anchor(report, group))
    native = known.native_name if known.native_name != known.name else ""
    return Named(name=name, native=native, tag=known.tag, direction=known.direction, anchor=group_anchor(report, group))


def group_anchor(report: RunReport, group: Group) -> str:
    """Return the anchor of a group in the map."""
    return anchor(group.value, next(place for place, each in enumerate(report.groups) if each is group))
