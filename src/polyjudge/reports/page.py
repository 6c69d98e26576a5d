"""Render a report on translations or on any run as one HTML page."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from polyjudge.files.json_lines import readable_json
from polyjudge.text.display import one_line
from polyjudge.verdicts.items import STATUSES, Status

from .blocks import fill_page, for_script
from .span_marks import SpanNote
from .wording import STATUS_MEANINGS, Span, Step, plain

_READY: tuple[Status, ...] = ("PASS",)
_OPEN: tuple[Status, ...] = ("CHECKED", "UNJUDGED", "UNRELIABLE")
_BAD: tuple[Status, ...] = ("CONFLICT", "FAIL")
STYLES: Mapping[Status | None, str] = {
    **{status: status.lower() for status in STATUSES},
    "SKIPPED": "unjudged",
    None: "scored",
}
"""The style of each status on the page."""
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
    spans: Sequence[SpanNote] = ()
    """The error spans that are marked in the texts."""
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
    compared: Sequence[tuple[str, str, str]] = ()
    """Results by another column, such as two systems: its name, the anchor of its section, and the results."""
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
    allowed: Sequence[tuple[str, str, str, str]] = ()
    """Languages that pass although an output failed: name, anchor, what was found in it, and the rule."""
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
    in_rows = {row.status for row in page.rows}
    content: dict[str, Any] = {
        "page": page,
        "statuses": [status for status in STATUSES if page.counts.get(status)],
        "groups": _bar(page.counts),
        "styles": STYLES,
        "chips": [status for status in (*_BAD[::-1], *_OPEN[::-1], *_READY, "SKIPPED") if status in in_rows],
        "details": ((place, part, for_script(readable_json(data))) for place, part, data in details),
        "headline": plain(page.sentence),
    }
    widths = {count for group in content["groups"] for count in (group["count"], *dict(group["parts"]).values())}
    style = "".join(f".segs .n{count}{{flex-grow:{count}}}" for count in sorted(widths))
    title = f"{plain(page.sentence)} {page.title}"
    return fill_page("report.html", one_line(title, 200), content, styles=("page.css", "report.css"), more_style=style)


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


def anchor(tag: str, place: int) -> str:
    """Return the anchor of a row of the map: its tag if that is safe in a link, else its number."""
    return tag if _SAFE_ANCHOR.fullmatch(tag) else f"n{place}"
