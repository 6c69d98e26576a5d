"""The items of a page as it loads them when they are opened: their texts, findings, and what judges say."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from polyjudge.checks.catalogue import track_record
from polyjudge.records.findings import Finding
from polyjudge.records.spans import ErrorSpan
from polyjudge.text.difference import graphemes
from polyjudge.text.display import harmless, one_line

from .span_marks import Mark, span_marks, span_notes, split_at_marks

LONGEST_TEXT = 20_000
ITEMS_IN_A_PART = 50
MOST_ITEMS = 100_000
"""A page has no more items; those that need attention come first."""
_LONGEST_NAME = 100
_LONGEST_NOTE = 600
_MOST_MARKED = 200
_SEVERITIES: Mapping[str, str] = {"fail": "critical", "warn": "major", "info": "minor"}
_RANKS: Mapping[str, int] = {"fail": 0, "warn": 1, "info": 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class PageItem:
    """One judged text with all that is known about it."""

    title: str
    status: str
    """Empty if there is neither a score nor a status."""
    source: str = ""
    output: str | None = None
    """None if it is not known."""
    reference: str = ""
    findings: Sequence[Finding] = ()
    spans: Sequence[ErrorSpan] = ()
    judges: Sequence[tuple[str, str, str]] = ()
    """Who judged, the scores, and the words."""
    raw: Sequence[tuple[str, str]] = ()
    """Replies as they were: whose, and the text."""


def items_of_a_group(total: int, groups: int) -> int:
    """Return how many items of each group a page shows; `total` are those of all groups."""
    return total if total <= MOST_ITEMS else max(ITEMS_IN_A_PART, MOST_ITEMS // max(groups, 1))


def left_out_note(shown: int, total: int) -> str:
    """Return a note on the items of a group that are not on the page; empty if all are."""
    return f"The first {shown:,} of {total:,}, those that fail first. A filter shows others." if shown < total else ""


def part_row(items: Iterable[PageItem]) -> dict[str, Any]:
    """Return items for the page; what is empty is left out.

    What checks and judges say is often the same for many items, so it is listed once, and items have its numbers.
    """
    findings, verdicts = _Numbered(), _Numbered()
    rows = [_row(item, findings, verdicts) for item in items]
    return {"items": rows, "findings": list(findings), "verdicts": list(verdicts)}


class _Numbered(dict[tuple[str, ...], int]):
    """Numbers rows in the order in which they first occur."""

    def __missing__(self, row: tuple[str, ...]) -> int:
        self[row] = number = len(self)
        return number


def _row(item: PageItem, findings: _Numbered, verdicts: _Numbered) -> dict[str, Any]:
    output = None if item.output is None else ""
    if item.output is not None and item.output.strip():
        output = marked(item.output, item.findings, item.spans)
    row: dict[str, Any] = {
        "title": item.title,
        "status": item.status,
        "source": _plain(marked_source(item.source, item.spans)) if item.source else "",
        "reference": cut(item.reference),
        "findings": [findings[_finding_row(each)] for each in item.findings[:_MOST_MARKED]],
        "spans": [[note.number, note.style, note.label, note.title, *note.more] for note in span_notes(item.spans)],
        "judges": [
            verdicts[one_line(who, _LONGEST_NAME), scores, one_line(said, _LONGEST_NOTE)]
            for who, scores, said in item.judges
        ],
        "raw": [[name, cut(text)] for name, text in item.raw if text],
    }
    shown = {name: value for name, value in row.items() if value}
    return shown if output is None else {**shown, "output": _plain(output)}


def _plain(pieces: str | list[list[Any]]) -> str | list[list[Any]]:
    """Return the text alone if nothing in it is marked."""
    return pieces[0][0] if isinstance(pieces, list) and len(pieces) == 1 and len(pieces[0]) == 1 else pieces


def marked_source(text: str, spans: Sequence[ErrorSpan]) -> list[list[Any]]:
    """Split a source into pieces; the words that a span is about are marked."""
    shown = text[:LONGEST_TEXT]
    return [*split_at_marks(shown, span_marks(spans, shown, "source")), *_rest(text)]


def _rest(text: str) -> list[list[Any]]:
    return [[f" … {len(text) - LONGEST_TEXT:,} more characters"]] if len(text) > LONGEST_TEXT else []


def _finding_row(finding: Finding) -> tuple[str, ...]:
    """Return the style, kind and message of a finding, and how often such findings are right."""
    style, kind = _SEVERITIES.get(finding.severity, "minor"), one_line(finding.kind.replace("_", " "), _LONGEST_NAME)
    return style, kind, one_line(finding.message, _LONGEST_NOTE), track_record(finding)


def marked(text: str, findings: Sequence[Finding], spans: Sequence[ErrorSpan] = ()) -> list[list[Any]]:
    """Split a text into pieces; a marked piece has its style, and the number of its span or finding at its end.

    Marks are widened to whole grapheme clusters. Spans may overlap; of other overlapping findings, the more severe or
    the first is marked. Findings are numbered after the spans.
    """
    end = min(len(text), LONGEST_TEXT)
    marks = span_marks(spans, text[:end], "output")
    first = sum(note.number > 0 for note in span_notes(spans)) + 1
    ranked = sorted(enumerate(findings[:_MOST_MARKED], start=first), key=lambda each: _RANKS.get(each[1].severity, 2))
    starts: Sequence[int] = ()
    for number, each in ranked:
        if each.start is None or each.end is None or not 0 <= each.start < min(each.end, end):
            continue
        starts = starts or _cluster_starts(text[:end])
        low = starts[bisect_right(starts, each.start) - 1]
        high = starts[min(bisect_left(starts, min(each.end, end)), len(starts) - 1)]
        if all(high <= mark.low or mark.high <= low for mark in marks):
            marks.append(Mark(low, high, _SEVERITIES.get(each.severity, "minor"), number))
    return [*split_at_marks(text[:end], marks), *_rest(text)]


def _cluster_starts(text: str) -> Sequence[int]:
    """Return where grapheme clusters start, and the end of the text."""
    if text.isascii() and "\r" not in text:  # only a carriage return is joined with the character after it
        return range(len(text) + 1)
    starts, place = [0], 0
    for cluster in graphemes(text):
        place += len(cluster)
        starts.append(place)
    return starts


def cut(text: str) -> str:
    """Return a text harmless, and cut with a note if it is very long."""
    more = f" … {len(text) - LONGEST_TEXT:,} more characters" if len(text) > LONGEST_TEXT else ""
    return harmless(text[:LONGEST_TEXT]) + more
