"""The items of a page as it loads them when they are opened: their texts, findings, and what judges say."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from polyjudge.checks.catalogue import track_record
from polyjudge.records.findings import Finding
from polyjudge.text.difference import graphemes
from polyjudge.text.display import harmless, one_line

LONGEST_TEXT = 20_000
ITEMS_IN_A_PART = 50
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
    judges: Sequence[tuple[str, str, str]] = ()
    """Who judged, the scores, and the words."""
    raw: Sequence[tuple[str, str]] = ()
    """Replies as they were: whose, and the text."""


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
    output = None if item.output is None else marked(item.output, item.findings) if item.output.strip() else ""
    row: dict[str, Any] = {
        "title": item.title,
        "status": item.status,
        "source": cut(item.source),
        "reference": cut(item.reference),
        "findings": [findings[_finding_row(each)] for each in item.findings[:_MOST_MARKED]],
        "judges": [
            verdicts[one_line(who, _LONGEST_NAME), scores, one_line(said, _LONGEST_NOTE)]
            for who, scores, said in item.judges
        ],
        "raw": [[name, cut(text)] for name, text in item.raw if text],
    }
    shown = {name: value for name, value in row.items() if value}
    plain = output[0][0] if isinstance(output, list) and len(output) == 1 and len(output[0]) == 1 else output
    return shown if plain is None else {**shown, "output": plain}


def _finding_row(finding: Finding) -> tuple[str, ...]:
    """Return the style, kind and message of a finding, and how often such findings are right."""
    style, kind = _SEVERITIES.get(finding.severity, "minor"), one_line(finding.kind.replace("_", " "), _LONGEST_NAME)
    return style, kind, one_line(finding.message, _LONGEST_NOTE), track_record(finding)


def marked(text: str, findings: Sequence[Finding]) -> list[list[Any]]:
    """Split a text into pieces; a marked piece has its style and the number of its finding.

    Marks are widened to whole grapheme clusters. Of overlapping findings, the more severe or the first is marked.
    """
    end = min(len(text), LONGEST_TEXT)
    ranked = sorted(enumerate(findings[:_MOST_MARKED], start=1), key=lambda each: _RANKS.get(each[1].severity, 2))
    marks: list[tuple[int, int, int, str]] = []
    starts: Sequence[int] = ()
    for number, each in ranked:
        if each.start is None or each.end is None or not 0 <= each.start < min(each.end, end):
            continue
        starts = starts or _cluster_starts(text[:end])
        low = starts[bisect_right(starts, each.start) - 1]
        high = starts[min(bisect_left(starts, min(each.end, end)), len(starts) - 1)]
        if all(high <= other_low or other_high <= low for other_low, other_high, *_ in marks):
            marks.append((low, high, number, _SEVERITIES.get(each.severity, "minor")))
    pieces: list[list[Any]] = []
    index = 0
    for low, high, number, style in sorted(marks):
        pieces += [[harmless(text[index:low])]] if low > index else []
        pieces.append([harmless(text[low:high]), style, number])
        index = high
    if index < end or not pieces:
        pieces.append([harmless(text[index:end])])
    if len(text) > end:
        pieces.append([f" … {len(text) - end:,} more characters"])
    return pieces


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
