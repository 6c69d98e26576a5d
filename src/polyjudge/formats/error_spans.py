"""Error spans that people marked in a text, and the score that they add up to."""

from collections.abc import Iterable, Mapping
from typing import Any, cast

from polyjudge.rubrics.penalties import penalty_of, wmt_penalties

_OMITTED = "missing"


def mqm_score(spans: Iterable[Mapping[str, Any]]) -> float:
    """Return the score of a text: minus the sum of the penalties of its errors, which are those of WMT."""
    table = wmt_penalties()
    total = sum(penalty_of(str(span.get("category") or ""), str(span.get("severity") or ""), table) for span in spans)
    return -round(total, 9) if total else 0.0


def error_span(
    start: object, end: object, *, text: str | None, severity: object, category: object = None, inclusive: bool
) -> dict[str, Any]:
    """Return a span whose end is exclusive; one that is not in the text, such as an omission, has neither.

    `inclusive`: the given end is the last character, as in Appraise and Pearmut. `text` is the whole text.
    """
    first, last = (place if isinstance(place, int) and not isinstance(place, bool) else None for place in (start, end))
    if first is None or last is None or _OMITTED in (start, end):
        first = last = None
    elif inclusive:
        last += 1
    marked = text[first:last] if text is not None and first is not None else None
    name = "/".join(map(str, cast(list[object], category))) if isinstance(category, list) else category
    return {"start": first, "end": last, "text": marked, "severity": severity, "category": name}


def marked_span(target: str, source: str, *, severity: str, category: str) -> tuple[str, str, dict[str, Any]]:
    """Return the target and the source without the marks `<v>` and `</v>`, and the span that these mark."""
    candidate, place = _unmarked(target)
    plain, place_in_source = _unmarked(source)
    start, end = place or (None, None)
    span = error_span(start, end, text=candidate, severity=severity, category=category, inclusive=False)
    if place_in_source:
        first, last = place_in_source
        span |= {"sourceStart": first, "sourceEnd": last, "sourceText": plain[first:last]}
    return candidate, plain, span


def _unmarked(text: str) -> tuple[str, tuple[int, int] | None]:
    start = text.find("<v>")
    if start < 0:
        return text.replace("</v>", ""), None
    before, rest = text[:start], text[start + 3 :]
    inside, _, after = rest.partition("</v>")
    return before + inside + after, (start, start + len(inside))
