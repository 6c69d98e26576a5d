"""Labels that mark errors: what the page sends is checked, its places widened to graphemes, and the score counted."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast, get_args

from polyjudge.errors import DataError
from polyjudge.formats.columns import TableOptions
from polyjudge.formats.error_spans import mqm_score
from polyjudge.formats.row_files import named_rows_of
from polyjudge.records.codec import to_json
from polyjudge.records.spans import ErrorSpan, SpanSeverity, SpanSide, SpanState
from polyjudge.reports.span_marks import spans_of
from polyjudge.rubrics.loading import load_rubric
from polyjudge.text.quotes import whole_graphemes

from .sampling import LabelItem

HIGHEST, LOWEST_PENALISED = 100.0, -25.0
MOST_SPANS = 200
_LONGEST_WORDS = 2_000
_STATES: tuple[SpanState, ...] = ("located", "confirmed", "rejected")


def categories() -> list[str]:
    """Return the categories of errors that people choose from: those of MQM."""
    return [criterion.name for criterion in load_rubric("mqm").criteria]


def proposed_spans(path: Path, ids: Mapping[str, LabelItem], reading: TableOptions) -> dict[str, tuple[ErrorSpan, ...]]:
    """Return the spans that the results propose, by item; those that have no place or were rejected are left out."""
    found: dict[str, tuple[ErrorSpan, ...]] = {}
    for _, row in named_rows_of(path, reading):
        if isinstance(row, str) or str(row.get("id")) not in ids:
            continue
        spans = tuple(span for span in spans_of(row) if span.counts)
        if spans:
            found[str(row["id"])] = spans
    return found


def read_spans(given: object, item: LabelItem) -> tuple[ErrorSpan, ...]:
    """Return the spans that a person marked in an item; raise DataError for anything else."""
    if not isinstance(given, list) or len(cast(list[object], given)) > MOST_SPANS:
        raise DataError(f"spans must be a list of at most {MOST_SPANS} errors.")
    return tuple(_span(each, item) for each in cast(list[object], given))


def _span(given: object, item: LabelItem) -> ErrorSpan:
    if not isinstance(given, dict):
        raise DataError("A span must be a JSON object.")
    row = cast(dict[str, object], given)
    side = _one_of(row.get("side", "output"), get_args(SpanSide), "side")
    text = item.source if side == "source" else item.output
    start, end = _place(row, text)
    return ErrorSpan(
        text=text[start:end] if start is not None else "",
        severity=_one_of(row.get("severity"), get_args(SpanSeverity), "severity"),
        start=start,
        end=end,
        side=cast(SpanSide, side),
        category=_words(row, "category"),
        explanation=_words(row, "explanation"),
        correction=_words(row, "correction"),
        quote=_words(row, "quote"),
        state=_one_of(row.get("state", "located"), _STATES, "state"),
        method="given",
    )


def _place(row: Mapping[str, object], text: str) -> tuple[int | None, int | None]:
    """Return a place in code points, widened to whole graphemes."""
    start, end = row.get("start"), row.get("end")
    if start is None and end is None:
        return None, None
    if type(start) is not int or type(end) is not int or not 0 <= start < end <= len(text):
        raise DataError(f"The place of a span must be within the {len(text):,} characters of its text.")
    return whole_graphemes(text, start, end)


def _words(row: Mapping[str, object], name: str) -> str:
    given = row.get(name) or ""
    if not isinstance(given, str) or len(given) > _LONGEST_WORDS:
        raise DataError(f"The {name} of a span must be a text of at most {_LONGEST_WORDS:,} characters.")
    return given.strip()


def _one_of(given: object, known: Sequence[Any], what: str) -> Any:
    if given not in known:
        raise DataError(f"The {what} of a span must be one of {', '.join(known)}.")
    return given


def penalised(spans: Sequence[ErrorSpan]) -> float:
    """Return the score of a text by its errors: minus the penalties of MQM, but not below -25, as judges give it."""
    rows = [{"category": span.category, "severity": span.severity} for span in spans if span.state != "rejected"]
    return max(LOWEST_PENALISED, mqm_score(rows))


def read_points(given: object) -> float:
    """Return points from 0 to 100; raise DataError for anything else."""
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 <= given <= HIGHEST:
        raise DataError(f"label must be a number from 0 to {HIGHEST:g}.")
    return float(given)


def as_rows(spans: Sequence[ErrorSpan]) -> list[Any]:
    """Return spans as JSON."""
    return [to_json(span) for span in spans]
