"""Show the comparisons of several runs with one: a table over all items, and one by language."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from polyjudge.languages.table import LanguageTable
from polyjudge.records.codec import to_json
from polyjudge.records.comparison import Change, Comparison, Ruling

from .blocks import Block, Heading, Lines, Table
from .calibration import language_title
from .comparison_report import comparison_row, gate_result
from .comparison_summary import difference_text, digits_of
from .wording import counted, listed

SCHEMA_VERSION = 1
_MARKS: dict[Change, str] = {"worse": " WORSE", "better": " BETTER", "no change seen": "", "too few items": ""}


def many_blocks(comparisons: Sequence[Comparison], rulings: Sequence[Ruling], table: LanguageTable) -> Iterator[Block]:
    """Yield the answer, the runs over all languages, and the runs by language."""
    first = comparisons[0]
    yield Heading(1, f"Which is better than {first.name_before}?")
    yield Lines(tuple(_summary(comparisons, rulings)))
    yield Heading(2, "Over all languages" if first.languages else "Over all items")
    yield _overall(comparisons)
    if len(first.languages) > 1:
        yield Heading(2, "By language")
        yield Lines((f"Difference to {first.name_before}, with its 95% interval.",))
        yield _by_language(comparisons, table)


def _summary(comparisons: Sequence[Comparison], rulings: Sequence[Ruling]) -> Iterator[str]:
    words = {
        "better": [each.name_after for each in comparisons if _found(each) == "better"],
        "worse": [each.name_after for each in comparisons if _found(each) == "worse"],
    }
    for verdict, names in words.items():
        if names:
            yield f"{verdict.capitalize()} than {comparisons[0].name_before}: {listed(names)}."
    unknown = [each.name_after for each in comparisons if _found(each) not in words]
    if unknown:
        yield f"No difference is shown for {listed(unknown)}. This does not mean that they are equal."
    count, alpha = len(comparisons), comparisons[0].options.alpha
    yield f"{counted(count, 'comparison')}, each tested at {alpha:.3g}, so that all together keep their level."
    yield "To see the items that changed, compare two runs. To rank all runs, use rank."
    for each, ruling in zip(comparisons, rulings, strict=True):
        for note in each.notes:
            yield f"Note on {each.name_after}: {note}."
        if ruling.fail_on is not None or ruling.exit_code:
            yield f"{each.name_after}: {gate_result(each, ruling)}"


def _found(comparison: Comparison) -> Change:
    """Return the verdict over all languages, each with the same weight."""
    return comparison.languages_alike.verdict


def _overall(comparisons: Sequence[Comparison]) -> Table:
    header = ("Run", "Items", "Mean", "Difference", "p", "Min. detectable change", "Verdict", "Better in", "Worse in")
    rows: list[tuple[str, ...]] = []
    for each in comparisons:
        counts = Counter(row.score.verdict for row in each.languages)
        _, mean, difference, p, detectable, verdict = comparison_row(each.languages_alike, digits_of(each))
        languages = (str(counts["better"]), str(counts["worse"])) if len(each.languages) > 1 else ("–", "–")
        items = f"{each.overall.counts.paired:,}"
        rows.append((each.name_after, items, mean, difference, p, detectable, verdict, *languages))
    first = comparisons[0]
    baseline = (
        f"{first.languages_alike.before:.{digits_of(first)}f}" if first.languages_alike.before is not None else "–"
    )
    reference = (first.name_before, f"{first.overall.counts.paired:,}", baseline, *["–"] * (len(header) - 3))
    return Table(header, (reference, *rows), (1, 2, 3, 4, 5, 7, 8))


def _by_language(comparisons: Sequence[Comparison], table: LanguageTable) -> Table:
    found = [{row.language: row.score for row in each.languages} for each in comparisons]
    tags = sorted({tag for each in found for tag in each}, key=lambda tag: language_title(tag, table).casefold())
    rows: list[tuple[str, ...]] = []
    for tag in tags:
        cells: list[str] = []
        for scores, each in zip(found, comparisons, strict=True):
            score = scores.get(tag)
            cells.append("–" if score is None else f"{difference_text(score, digits_of(each))}{_MARKS[score.verdict]}")
        rows.append((language_title(tag, table), *cells))
    return Table(("Language", *(each.name_after for each in comparisons)), tuple(rows))


def many_json(comparisons: Sequence[Comparison], rulings: Sequence[Ruling]) -> dict[str, Any]:
    """Return the comparisons as one JSON object."""
    return {
        "schemaVersion": SCHEMA_VERSION,
        "exitCode": exit_code(rulings),
        "comparisons": [to_json(each) for each in comparisons],
    }


def exit_code(rulings: Sequence[Ruling]) -> int:
    """Return the exit code of several comparisons: too few verdicts take precedence."""
    return max(ruling.exit_code for ruling in rulings)
