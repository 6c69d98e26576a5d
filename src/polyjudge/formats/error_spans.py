"""Error spans that people marked in a text, and the score that they add up to."""

import re
from collections.abc import Iterable, Mapping
from itertools import accumulate
from typing import Any, cast

from polyjudge.rubrics.penalties import penalty_of, wmt_penalties

_LOWEST_LABEL = -25.0
"""The lowest score that people give by marking errors on the labelling page."""


def mqm_score(spans: Iterable[Mapping[str, Any]], penalties: Mapping[str, float] | None = None) -> float:
    """Return the score of a text: minus the sum of the penalties of its errors, by default those of WMT."""
    total = sum(_penalty(span, penalties or wmt_penalties()) for span in spans)
    return -round(total, 9) if total else 0.0


def _penalty(span: Mapping[str, Any], penalties: Mapping[str, float]) -> float:
    if span.get("continues") is True:
        return 0.0
    return penalty_of(str(span.get("category") or ""), str(span.get("severity") or ""), penalties)


def with_penalties(row: Mapping[str, Any], penalties: Mapping[str, float]) -> Mapping[str, Any]:
    """Return a rating whose label follows from its error spans with the label by other penalties; others unchanged.

    That is one that says so, and one whose label is the sum of WMT's penalties or of the scores of its spans.
    """
    given, label = _spans_in(row), row.get("label")
    if given is None or isinstance(label, bool) or not isinstance(label, int | float):
        return row
    lowest = _LOWEST_LABEL if "labelledAt" in row else float("-inf")
    counted = [span for span in given if span.get("state") != "rejected"]
    own = [span.get("score") for span in counted]
    sums = {max(lowest, mqm_score(counted))}
    if all(isinstance(score, int | float) for score in own):
        sums.add(-round(sum(cast(list[float], own)), 9))
    if row.get("labelFrom") != "spans" and label not in sums:
        return row
    spans = [{**span, "score": _penalty(span, penalties)} for span in given]
    return {**row, "label": max(lowest, mqm_score(counted, penalties)), "labelFrom": "spans", "spans": spans}


def _spans_in(row: Mapping[str, Any]) -> list[Mapping[str, Any]] | None:
    """Return the spans of a row; None if it has no list of them."""
    given = row.get("spans")
    if not isinstance(given, list):
        return None
    return [cast(Mapping[str, Any], each) for each in cast(list[object], given) if isinstance(each, Mapping)]


def error_span(
    start: object, end: object, *, text: str | None, severity: object, category: object = None, inclusive: bool
) -> dict[str, Any]:
    """Return a span whose end is exclusive; one that is not in the text, such as an omission, has neither.

    `inclusive`: the given end is the last character, as in Appraise and Pearmut. `text` is the whole text. What was
    given for a place that no text or not this text can have is in `recordedPlace`.
    """
    first, last = (place if isinstance(place, int) and not isinstance(place, bool) else None for place in (start, end))
    if first is not None and last is not None:
        last += inclusive
        if not 0 <= first <= last <= (len(text) if text is not None else last):
            place = {"recordedPlace": [start, end]}
            return {**error_span(None, None, text=None, severity=severity, category=category, inclusive=False), **place}
    else:
        first = last = None
    marked = text[first:last] if text is not None and first is not None else None
    name = "/".join(map(str, cast(list[object], category))) if isinstance(category, list) else category
    return {"start": first, "end": last, "text": marked, "severity": severity, "category": name}


def marked_span(target: str, source: str, *, severity: str, category: str) -> tuple[str, str, list[dict[str, Any]]]:
    """Return the target and the source without the marks `<v>` and `</v>`, and the error that these mark.

    An error with several places has a span for each; those after the first continue it, and have no penalty.
    """
    candidate, places = _unmarked(target)
    plain, places_in_source = _unmarked(source)
    spans: list[dict[str, Any]] = []
    for number in range(max(1, len(places), len(places_in_source))):
        start, end = places[number] if number < len(places) else (None, None)
        span = error_span(start, end, text=candidate, severity=severity, category=category, inclusive=False)
        if number < len(places_in_source):
            first, last = places_in_source[number]
            span |= {"sourceStart": first, "sourceEnd": last, "sourceText": plain[first:last]}
        spans.append({**span, "continues": True} if number else span)
    return candidate, plain, spans


def _unmarked(text: str) -> tuple[str, list[tuple[int, int]]]:
    """Return a text without marks, and what they mark; nothing if they are not pairs of `<v>` and `</v>` in turn."""
    parts = re.split(r"(</?v>)", text)
    plain, marks = "".join(parts[::2]), parts[1::2]
    if marks != ["<v>", "</v>"] * (len(marks) // 2):
        return plain, []
    ends = list(accumulate(len(part) for part in parts[::2]))
    return plain, list(zip(ends[:-1:2], ends[1::2], strict=True))
