"""Show error spans in their texts: marks for pages, numbered brackets for plain text, and what was said of each."""

import sys
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple, cast

from msgspec.structs import replace

from polyjudge.errors import DataError
from polyjudge.records.codec import from_json
from polyjudge.records.spans import ErrorSpan, SpanSide
from polyjudge.rubrics.penalties import SEVERITIES
from polyjudge.text.display import harmless, one_line
from polyjudge.text.quotes import locate, whole_graphemes

MOST_NOTES = 200
_LONGEST_QUOTE = 200
_LONGEST_NOTE = 600
_AROUND = 60
"""Characters on each side of a mark in a text that is too long to be shown."""
_MOST_AROUND = 25
"""Marks of such a text that are shown."""
_GAP = " … "
_OPEN, _CLOSE = "⟦", "⟧"
_RANKS: Mapping[str, int] = {"critical": 0, "major": 1, "gone": 2, "src": 2, "minor": 3}
_FOUND: Mapping[str, str] = {
    "exact": "Located exactly, not verified",
    "normalised": "Located in another spelling, not verified",
    "fuzzy": "Located with few differences, not verified",
}


class Mark(NamedTuple):
    """A place in a text, with its style and number."""

    low: int
    high: int
    style: str
    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanNote:
    """What was said of one span."""

    number: int
    """The number of its mark; 0 if it has none."""
    style: str
    label: str
    """Its severity, or why it does not count."""
    title: str
    """Its category and its words."""
    more: tuple[str, ...]
    """The explanation, the correction, and how far it was verified."""


def spans_of(row: Mapping[str, Any]) -> tuple[ErrorSpan, ...]:
    """Return the error spans in a row of people's annotations; what is not a span with a severity is left out."""
    given = row.get("spans")
    listed = cast(list[object], given) if isinstance(given, list) else []
    found = (_span_of(cast(Mapping[str, Any], each)) for each in listed[:MOST_NOTES] if isinstance(each, Mapping))
    return tuple(_placed(span, row) for span in found if span is not None)


def _placed(span: ErrorSpan, row: Mapping[str, Any]) -> ErrorSpan:
    """Return a span at the place of its words, which may differ from the one that was given."""
    text = row.get("source" if span.side == "source" else "candidate")
    if not isinstance(text, str) or span.start is None or span.end is None:
        return span
    words = text[span.start : span.end]
    if span.text in ("", words):
        return replace(span, text=words)
    found = locate(span.text, text, near=span.start)
    if found.start is None:
        return replace(span, start=None, end=None, state="proposed", refusal=found.refusal)
    return replace(span, start=found.start, end=found.end, method=found.method)


def _span_of(given: Mapping[str, Any]) -> ErrorSpan | None:
    severity = str(given.get("severity") or "").strip().casefold()
    if severity not in SEVERITIES:
        return None
    known = {name: value for name, value in given.items() if name in ErrorSpan.__struct_encode_fields__ and value}
    if "sourceStart" in given:
        place = {"start": given["sourceStart"], "end": given.get("sourceEnd"), "side": "source"}
        known |= {**place, "text": given.get("sourceText") or ""}
    elif type(given.get("start")) is not int or type(given.get("end")) is not int:
        known = {name: value for name, value in known.items() if name not in ("start", "end")}
    else:
        known["start"] = given["start"]
    try:
        return from_json(ErrorSpan, {"text": "", **known, "severity": severity})
    except DataError:
        return None


def span_marks(spans: Sequence[ErrorSpan], text: str, side: SpanSide) -> list[Mark]:
    """Return the marks of the spans of one text, widened to whole graphemes."""
    marks: list[Mark] = []
    for span, number in zip(spans, _numbers(spans), strict=True):
        if not number or span.side != side or span.start is None or span.end is None:
            continue
        if 0 <= span.start < min(span.end, len(text)):
            low, high = whole_graphemes(text, span.start, min(span.end, len(text)))
            marks.append(Mark(low, high, _style(span), number))
    return marks


def split_at_marks(text: str, marks: Sequence[Mark]) -> list[list[Any]]:
    """Split a text into pieces: alone, with the style of its mark, and with the numbers of marks that end there.

    Where marks overlap, each part has the style of the most severe of them and says that there are several.
    """
    if not marks:
        return [[harmless(text)]]
    edges = sorted({0, len(text), *(mark.low for mark in marks), *(mark.high for mark in marks)})
    opening = sorted(marks)
    active: list[Mark] = []
    pieces: list[list[Any]] = []
    place = 0
    for low, high in pairwise(edges):
        while place < len(opening) and opening[place].low <= low:
            active.append(opening[place])
            place += 1
        active = [mark for mark in active if mark.high > low]
        piece = harmless(text[low:high])
        if not active:
            pieces.append([piece])
            continue
        style = min((mark.style for mark in active), key=lambda name: _RANKS.get(name, 3))
        ending = [str(mark.number) for mark in active if mark.high == high]
        numbers = [int(ending[0]) if len(ending) == 1 else " ".join(ending)] if ending else []
        pieces.append([piece, style + (" over" if len(active) > 1 else ""), *numbers])
    return pieces


def bracketed(text: str, spans: Sequence[ErrorSpan], side: SpanSide) -> str:
    """Return a text with a numbered bracket at both ends of each span, such as `⟦1:word:1⟧`.

    A bracket of the text itself becomes an escape, so that each one shown is a mark.
    """
    return _bracketed(text, span_marks(spans, text, side), [(0, len(text))])


def marked_line(text: str, spans: Sequence[ErrorSpan], side: SpanSide, longest: int) -> str:
    """Return a text with brackets on one line; of a longer one its start and what is around each mark.

    What is left out is an ellipsis, also within a long mark. Marks beyond a limit are counted.
    """
    marks = span_marks(spans, text, side)
    whole = one_line(_bracketed(text, marks, [(0, len(text))]), sys.maxsize)
    if len(whole) <= longest:
        return whole
    if not marks:
        return one_line(whole, longest)
    shown = marks[:_MOST_AROUND]
    around = [place for mark in shown for place in _around(mark)]
    rest = longest - sum(high - low for low, high in _merged(text, around))
    places = _merged(text, [(0, max(rest, _AROUND)), *around])
    more = f" ({len(marks) - len(shown):,} more marks)" if len(marks) > len(shown) else ""
    return one_line(_bracketed(text, shown, places), sys.maxsize) + more


def _around(mark: Mark) -> list[tuple[int, int]]:
    """Return the place of a mark with what is around it; of a long one that of both of its ends."""
    low, high = mark.low - _AROUND, mark.high + _AROUND
    if mark.high - mark.low <= 3 * _AROUND:
        return [(low, high)]
    return [(low, mark.low + _AROUND), (mark.high - _AROUND, high)]


def _merged(text: str, places: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return places within the text, of whole graphemes, those that touch as one."""
    found: list[tuple[int, int]] = []
    for low, high in sorted((max(low, 0), min(high, len(text))) for low, high in places):
        first, last = whole_graphemes(text, low, high)
        if found and first <= found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], last)
        else:
            found.append((first, last))
    return found


def _bracketed(text: str, marks: Sequence[Mark], places: Sequence[tuple[int, int]]) -> str:
    """Return these places of a text with brackets, and an ellipsis for what is between them."""
    at_end: dict[int, list[Mark]] = {}
    at_start: dict[int, list[Mark]] = {}
    for mark in marks:
        at_start.setdefault(mark.low, []).append(mark)
        at_end.setdefault(mark.high, []).append(mark)
    parts: list[str] = []
    cuts = {edge for place in places for edge in place}
    edges = sorted({0, len(text), *at_start, *at_end, *cuts})
    starts = [low for low, _ in places]
    for low, high in zip(edges, [*edges[1:], len(text)], strict=True):
        closing = sorted(at_end.get(low, []), key=lambda mark: (-mark.low, mark.number))
        opening = sorted(at_start.get(low, []), key=lambda mark: (-mark.high, -mark.number))
        parts += [f":{mark.number}{_CLOSE}" for mark in closing]
        parts += [f"{_OPEN}{mark.number}:" for mark in opening]
        number = bisect_right(starts, low) - 1
        if number >= 0 and high <= places[number][1]:
            words = text[low:high]
            parts.append(words.replace(_OPEN, r"\u27e6").replace(_CLOSE, r"\u27e7") if marks else words)
        elif high > low:
            parts.append("" if parts and parts[-1] == _GAP else _GAP)
    return "".join(parts)


def span_notes(spans: Sequence[ErrorSpan]) -> list[SpanNote]:
    """Return what was said of each span: those that count in their order, then rejected ones, then refused ones."""
    notes = [_note(span, number) for span, number in zip(spans, _numbers(spans), strict=True)]
    order = sorted(range(len(notes)), key=lambda place: (_order(spans[place]), place))
    return [notes[place] for place in order[:MOST_NOTES]]


def _order(span: ErrorSpan) -> int:
    return 2 if span.refusal else 1 if span.state == "rejected" else 0


def _note(span: ErrorSpan, number: int) -> SpanNote:
    words = one_line(span.text or span.quote, _LONGEST_QUOTE)
    category = one_line(span.category, _LONGEST_QUOTE)
    where = " in the source" if span.side == "source" else ""
    title = ": ".join(filter(None, [category, f"“{words}”{where}" if words else ""])) or "error without a place"
    label = "refused" if span.refusal else "rejected" if span.state == "rejected" else span.severity
    style = "rej" if label in ("refused", "rejected") else _style(span) if span.side == "source" else span.severity
    return SpanNote(number=number, style=style, label=label, title=title, more=tuple(_more(span)))


def _more(span: ErrorSpan) -> Iterator[str]:
    if span.explanation:
        yield one_line(span.explanation, _LONGEST_NOTE)
    if span.correction:
        yield f"Should be: “{one_line(span.correction, _LONGEST_QUOTE)}”"
    if state := _state(span):
        yield state
    if span.quote and span.quote != span.text:
        yield f"The judge quoted “{one_line(span.quote, _LONGEST_QUOTE)}”"
    if span.probability is not None:
        yield f"Probability that people mark it: {span.probability:.0%}"
    if span.annotators:
        yield f"Marked by {one_line(', '.join(span.annotators), _LONGEST_QUOTE)}"


def _state(span: ErrorSpan) -> str:
    """Return how far a span was verified; empty if nothing is known."""
    if span.refusal:
        return f"Refused: {span.refusal}. It counts nothing."
    if span.state in ("rejected", "confirmed"):
        return ": ".join(filter(None, [span.state.capitalize(), one_line(span.verification, _LONGEST_NOTE)]))
    return _FOUND.get(span.method, "") if span.state == "located" else ""


def span_lines(spans: Sequence[ErrorSpan]) -> Iterator[str]:
    """Yield what was said of each span as a line of text."""
    for note in span_notes(spans):
        head = f"{_OPEN}{note.number}{_CLOSE}" if note.number else "–"
        yield f"{head} {note.label}, {note.title}{''.join(f' · {each}' for each in note.more)}"


def _numbers(spans: Sequence[ErrorSpan]) -> list[int]:
    """Return the number of each span that has a mark, and 0 for the others."""
    numbers: list[int] = []
    last = 0
    for span in spans:
        has_mark = span.counts and last < MOST_NOTES
        last += has_mark
        numbers.append(last if has_mark else 0)
    return numbers


def _style(span: ErrorSpan) -> str:
    """Return the style of a mark: that of the severity, or in the source that of an omission or of its error."""
    if span.side == "output":
        return span.severity
    return "src" if span.category.casefold().startswith("source") else "gone"
