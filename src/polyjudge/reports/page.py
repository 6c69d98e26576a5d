"""Render a report on translations or on any run as one HTML page."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from polyjudge.checks.catalogue import track_record
from polyjudge.files.json_lines import readable_json
from polyjudge.records.findings import Finding
from polyjudge.text.difference import graphemes
from polyjudge.text.display import harmless, one_line
from polyjudge.verdicts.items import STATUSES, Status

from .blocks import fill_page, for_script
from .wording import STATUS_MEANINGS, Span, Step, plain

LONGEST_TEXT = 20_000
ITEMS_IN_A_PART = 50
_LONGEST_NAME = 100
_LONGEST_NOTE = 600
_MOST_MARKED = 200
_READY: tuple[Status, ...] = ("PASS",)
_OPEN: tuple[Status, ...] = ("CHECKED", "UNJUDGED", "UNRELIABLE")
_BAD: tuple[Status, ...] = ("CONFLICT", "FAIL")
STYLES: Mapping[Status | None, str] = {
    **{status: status.lower() for status in STATUSES},
    "SKIPPED": "unjudged",
    None: "scored",
}
"""The style of each status on the page."""
_SEVERITIES: Mapping[str, str] = {"fail": "critical", "warn": "major", "info": "minor"}
_RANKS: Mapping[str, int] = {"fail": 0, "warn": 1, "info": 2}
_SAFE_ANCHOR = re.compile(r"[A-Za-z0-9_-]{1,40}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One cell of the map; its text has the same information as its colour."""

    text: str
    style: str = ""
    value: str = ""
    """The sort key; empty comes last."""
    interval: str = ""
    """Mean, interval and number, shown when the row is opened."""
    is_below_once: bool = False
    """Whether a single output is below the bar, although the language is not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """A language, or another value by which a report is grouped."""

    name: str
    native: str = ""
    tag: str = ""
    direction: str = "auto"
    anchor: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MapRow:
    """One row of the map, whose items open below it."""

    named: Named
    status: Status | None
    note: str = ""
    """The limit of the status, such as that the judge is not calibrated."""
    cells: Sequence[Cell]
    why: str
    filters: Mapping[str, str] = field(default_factory=dict[str, str])
    is_must: bool = False
    is_fine: bool = False
    """Nothing in it needs attention; on a phone it is one line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A judged text, with its language and the pieces that are marked."""

    label: str
    pieces: Sequence[Sequence[Any]]
    tag: str = ""
    direction: str = "auto"


@dataclass(frozen=True, slots=True, kw_only=True)
class Attention:
    """One language or item that does not pass, with the text that shows why."""

    named: Named
    status: Status | None
    find: str
    """What was found, in a few words."""
    rule: str
    """The counts that decided."""
    pips: str = ""
    """One character for each output: `v` passed, `x` failed, `q` disagreement, `?` no verdict."""
    texts: Sequence[Text] = ()
    notes: Sequence[Span] = ()
    """Findings and what judges say: who, and the words."""
    steps: Sequence[Step] = ()
    count: str = ""
    """The link to all its items; empty if there are none on the page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """Scores by group: one picture per dimension in each row."""

    dimensions: Sequence[str]
    axis: Any
    """The picture of the axis."""
    rows: Sequence[tuple[str, Status | None, Sequence[Any]]]
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """All that the page of a report shows; the items come last, and are read one group at a time."""

    title: str
    question: str
    sentence: Sequence[Span]
    advice: Sequence[Step]
    facts: Sequence[tuple[str, str]]
    counts: Mapping[Status, int]
    """Units by status; empty without a pass rule."""
    unit: str
    sum_note: str
    trust: Sequence[tuple[str, str, str]]
    """Each judge, how far it is reliable, and what it misses or cannot see."""
    must: Sequence[tuple[Status, str, str]] = ()
    causes: Sequence[tuple[str, Sequence[tuple[str, str]]]] = ()
    attention_note: str = ""
    attention: Sequence[Attention] = ()
    more: Sequence[tuple[str, str]] = ()
    """Further languages that do not pass: name and anchor."""
    unknown: Sequence[tuple[Status, str, str, str]] = ()
    """Statuses without a verdict: how many, which, and the command."""
    allowed: Sequence[tuple[str, str]] = ()
    """Languages that pass although an output failed, and the rule."""
    limits: Sequence[str] = ()
    group: str = "Language"
    map_note: str
    columns: Sequence[tuple[str, str]]
    """The dimensions: full and short name."""
    filters: Sequence[tuple[str, str, Sequence[str]]] = ()
    rows: Sequence[MapRow]
    chart: Chart | None = None
    sections: Sequence[tuple[str, str, Sequence[Any]]] = ()
    """Further sections: anchor, heading, and blocks or pictures."""
    warnings: Sequence[str] = ()
    terms: Sequence[tuple[str, str]] = ()
    meanings: Mapping[Status, str] = field(default_factory=lambda: STATUS_MEANINGS)


def render_page(page: Page, details: Iterable[tuple[int, int, Mapping[str, Any]]]) -> Iterator[str]:
    """Render the page; `details` are the items of each row of the map in parts, which the page loads when opened."""
    content: dict[str, Any] = {
        "page": page,
        "statuses": [status for status in STATUSES if page.counts.get(status)],
        "groups": _bar(page.counts),
        "styles": STYLES,
        "chips": [status for status in (*_BAD[::-1], *_OPEN[::-1], *_READY, "SKIPPED") if _has(page.rows, status)],
        "details": ((place, part, for_script(readable_json(data))) for place, part, data in details),
        "headline": plain(page.sentence),
    }
    widths = {count for group in content["groups"] for count in (group["count"], *dict(group["parts"]).values())}
    style = "".join(f".segs .n{count}{{flex-grow:{count}}}" for count in sorted(widths))
    title = f"{plain(page.sentence)} {page.title}"
    return fill_page("report.html", one_line(title, 200), content, styles=("page.css", "report.css"), more_style=style)


def _has(rows: Sequence[MapRow], status: Status) -> bool:
    return any(row.status == status for row in rows)


def _bar(counts: Mapping[Status, int]) -> list[dict[str, Any]]:
    """Return the three parts of the bar, each with its statuses: ready, unknown, fail; then what was skipped."""
    names: tuple[tuple[str, str, tuple[Status, ...]], ...] = (
        ("ready", "pass", _READY),
        ("unknown", "unjudged", _OPEN),
        ("fail", "fail", _BAD),
        ("skipped", "unjudged", ("SKIPPED",)),
    )
    groups: list[dict[str, Any]] = []
    for name, style, statuses in names:
        parts = [(status, counts[status]) for status in statuses if counts.get(status)]
        if parts:
            groups.append({"name": name, "style": style, "count": sum(count for _, count in parts), "parts": parts})
    return groups


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


def finding_rows(findings: Sequence[Finding]) -> list[list[Any]]:
    """Return findings for a list below a text: number, style, kind and message."""
    return [
        [number, _SEVERITIES.get(each.severity, "minor"), _kind(each), one_line(_with_record(each), _LONGEST_NOTE)]
        for number, each in enumerate(findings[:_MOST_MARKED], start=1)
    ]


def _with_record(finding: Finding) -> str:
    record = track_record(finding)
    return f"{finding.message} ({record})" if record else finding.message


def _kind(finding: Finding) -> str:
    return one_line(finding.kind.replace("_", " "), _LONGEST_NAME)


def cut(text: str) -> str:
    """Return a text harmless, and cut with a note if it is very long."""
    more = f" … {len(text) - LONGEST_TEXT:,} more characters" if len(text) > LONGEST_TEXT else ""
    return harmless(text[:LONGEST_TEXT]) + more


def anchor(tag: str, place: int) -> str:
    """Return the anchor of a row of the map: its tag if that is safe in a link, else its number."""
    return tag if _SAFE_ANCHOR.fullmatch(tag) else f"n{place}"
