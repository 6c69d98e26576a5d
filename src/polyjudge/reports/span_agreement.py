"""Report how far judges find the error spans that people mark."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from polyjudge.calibration.span_agreement import SpanAgreement, SpanComparison
from polyjudge.files.ownership import own_fields
from polyjudge.formats.span_rows import SpanAnnotations
from polyjudge.languages.table import LanguageTable
from polyjudge.records.calibration import Figure
from polyjudge.records.codec import to_json
from polyjudge.verdicts.trust import figure_text

from .blocks import Block, Heading, Lines, Table
from .calibration import language_title
from .wording import counted

_SHOWN = {
    "char_precision": "Precision",
    "char_recall": "Recall",
    "char_f1": "F1",
    "char_f1_any_severity": "F1, any severity",
    "mpp_f1": "F1 of spans, partial",
    "exact_f1": "F1 of spans, exact",
    "char_f1_macro": "F1, mean of texts",
}
_DIGITS = 3


def span_agreement_blocks(
    result: SpanAgreement, read: Sequence[SpanAnnotations], table: LanguageTable, *, people: bool
) -> Iterator[Block]:
    """Yield the measures of each judge, then those of people, severities, categories and languages."""
    yield Heading(1, f"Error spans compared with {'people' if people else 'another judge'} on {result.texts} texts")
    yield Lines(tuple(_notes(result, read)))
    yield _measures("Judge", result.judges)
    if result.people:
        yield Heading(2, "Each person, compared with the others")
        yield _measures("Person", result.people)
    yield Heading(2, "By severity")
    yield _severities([*result.judges, *result.people])
    if any(each.found_by_category for each in result.judges):
        yield Heading(2, "By category: share of the marked characters that the judge finds")
        yield _by_name(result.judges, [each.found_by_category for each in result.judges], "Category")
    yield Heading(2, "F1 by language")
    yield _languages(result.judges, table)


def _notes(result: SpanAgreement, read: Sequence[SpanAnnotations]) -> Iterator[str]:
    yield "Precision, recall and F1 are by character; a character marked with another severity counts half."
    spans = sum(each.methods.total() for each in read)
    refused = {reason: sum(each.refused[reason] for each in read) for each in read for reason in each.refused}
    listed = ", ".join(f"{number:,} {reason}" for reason, number in sorted(refused.items()))
    yield f"Spans with a place: {spans:,}." + (f" Left out: {listed}." if listed else "")
    moved = {name: sum(each.methods[name] for each in read) for name in ("exact", "normalised", "fuzzy")}
    if any(moved.values()):
        by = ", ".join(f"{number:,} {name}" for name, number in moved.items() if number)
        yield f"Not at the given place, and placed by their words: {by}."
    if missing := sum(each.no_verdict for each in read):
        yield f"Without a verdict: {counted(missing, 'row')}."
    if result.judges_only or result.people_only:
        yield f"Texts of one side only: {result.judges_only:,} of judges, {result.people_only:,} of people."
    if result.repeated:
        yield f"{counted(result.repeated, 'annotation')} made again by the same annotator, of which the last counts."


def _measures(title: str, rows: Sequence[SpanComparison]) -> Table:
    body = tuple(
        (each.name, str(each.texts), *(figure_text(each.figures.get(name, Figure()), _DIGITS) for name in _SHOWN))
        for each in rows
    )
    return Table((title, "Comparisons", *_SHOWN.values()), body, tuple(range(1, len(_SHOWN) + 2)))


def _severities(rows: Sequence[SpanComparison]) -> Table:
    names = list(dict.fromkeys(name for each in rows for name in (*each.found, *each.right)))
    header = [f"{name or 'none'}: {what}" for name in names for what in ("found", "right")]
    body = tuple(
        (
            each.name,
            *(
                figure_text(figures.get(name, Figure()), _DIGITS)
                for name in names
                for figures in (each.found, each.right)
            ),
        )
        for each in rows
    )
    return Table(("Annotator", *header), body, tuple(range(1, len(header) + 1)))


def _by_name(rows: Sequence[SpanComparison], figures: Sequence[Mapping[str, Figure]], title: str) -> Table:
    names = sorted({name for each in figures for name in each})
    body = tuple((name, *(figure_text(each.get(name, Figure()), _DIGITS) for each in figures)) for name in names)
    return Table((title, *(each.name for each in rows)), body, tuple(range(1, len(rows) + 1)))


def _languages(rows: Sequence[SpanComparison], table: LanguageTable) -> Table:
    tags = sorted({tag for each in rows for tag in each.languages})
    body = tuple(
        (
            language_title(tag, table),
            *(figure_text(each.languages.get(tag, (0, {}))[1].get("char_f1", Figure()), _DIGITS) for each in rows),
        )
        for tag in tags
    )
    return Table(("Language", *(each.name for each in rows)), body, tuple(range(1, len(rows) + 1)))


def span_agreement_json(result: SpanAgreement, read: Sequence[SpanAnnotations]) -> dict[str, Any]:
    """Return all figures."""
    return {
        **own_fields(),
        "texts": result.texts,
        "judgesOnly": result.judges_only,
        "peopleOnly": result.people_only,
        "repeated": result.repeated,
        "refused": {reason: sum(each.refused[reason] for each in read) for each in read for reason in each.refused},
        "methods": {name: sum(each.methods[name] for each in read) for each in read for name in each.methods},
        "judges": [_comparison(each) for each in result.judges],
        "people": [_comparison(each) for each in result.people],
    }


def _comparison(each: SpanComparison) -> dict[str, Any]:
    return {
        "name": each.name,
        "comparisons": each.texts,
        "figures": _figures(each.figures),
        "found": _figures(each.found),
        "right": _figures(each.right),
        "foundByCategory": _figures(each.found_by_category),
        "languages": {tag: {"comparisons": n, "figures": _figures(of)} for tag, (n, of) in each.languages.items()},
    }


def _figures(figures: Mapping[str, Figure]) -> dict[str, Any]:
    return {name: to_json(each) for name, each in figures.items()}
