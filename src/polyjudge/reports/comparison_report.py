"""Render the comparison of two runs as blocks, JSON, JUnit XML and workflow commands."""

from collections.abc import Callable, Iterator, Sequence
from typing import get_args
from xml.etree import ElementTree

from polyjudge.files.json_lines import readable_json
from polyjudge.files.ownership import XML_COMMENT
from polyjudge.languages.table import LanguageTable
from polyjudge.records.codec import to_json
from polyjudge.records.comparison import (
    Change,
    Comparison,
    Difference,
    FailOn,
    ItemChange,
    ItemCounts,
    LanguageChange,
    Ruling,
)
from polyjudge.text.display import one_line

from .blocks import Block, Heading, Lines, Table, markdown, plain_text
from .calibration import language_title
from .comparison_summary import (
    comparison_advice,
    comparison_headline,
    comparison_limits,
    difference_text,
    digits_of,
    needed_text,
    pooled_text,
    question,
)
from .escaping import escape_command, escape_property, no_command, xml_text
from .wording import counted, plain

VERDICTS: tuple[Change, ...] = get_args(Change)
_OF_ITEMS = {
    "worse": "Items that fell most",
    "better": "Items that rose most",
    "newly_unjudged": "Newly unjudged items",
    "newly_judged": "Newly judged items",
    "missing": "Removed items",
    "added": "New items",
}


def comparison_blocks(comparison: Comparison, ruling: Ruling, table: LanguageTable) -> Iterator[Block]:
    """Yield the answer, then the totals, the languages, the items, and what the comparison cannot show."""
    yield Heading(1, question(comparison))
    yield Lines(tuple(_summary(comparison, ruling, table)))
    yield from comparison_sections(comparison, table)
    for kind in ("worse", "better"):
        items: Sequence[ItemChange] = getattr(comparison, kind)
        if items:
            yield Heading(2, _counted_title(_OF_ITEMS[kind], len(items), getattr(comparison.overall.counts, kind)))
            yield _items(items, table)
            yield from _texts(items, table)
    limits = tuple(f"{title}. {text}" for title, text in comparison_limits(comparison, table))
    if limits:
        yield Heading(2, "What this comparison cannot show")
        yield Lines(limits)


def comparison_sections(comparison: Comparison, table: LanguageTable) -> Iterator[Block]:
    """Yield the tables: over all items, by language, and the items that are in one run or have one score only."""
    digits = digits_of(comparison)
    yield Heading(2, "Overall")
    yield _overall_table(comparison, digits)
    if comparison.languages:
        yield Heading(2, "By language")
        yield _languages(comparison.languages, table, digits)
    if any(row.passes for row in comparison.languages):
        yield Heading(2, f"Share with a score of at least {comparison.options.pass_from:g}, by language")
        yield _passes(comparison.languages, table)
    for kind in ("newly_unjudged", "newly_judged", "missing", "added"):
        items: Sequence[ItemChange] = getattr(comparison, kind)
        if items:
            yield Heading(2, _counted_title(_OF_ITEMS[kind], len(items), getattr(comparison.overall.counts, kind)))
            yield _items(items, table)


def rule_text(fail_on: FailOn) -> str:
    """Return a rule as text, such as drop:0.2."""
    return "regression" if fail_on.drop is None else f"drop:{fail_on.drop:g}"


def _summary(comparison: Comparison, ruling: Ruling, table: LanguageTable) -> Iterator[str]:
    yield plain(comparison_headline(comparison))
    yield from comparison_advice(comparison, table)
    yield pooled_text(comparison) or f"All items: {_sentence(comparison.overall.score, digits_of(comparison))}."
    yield f"Items: {_counts_text(comparison.overall.counts)}."
    for note in comparison.notes:
        yield f"Note: {note}."
    yield gate_result(comparison, ruling)


def _sentence(found: Difference, digits: int) -> str:
    if found.difference.value is None:
        return "no item has a verdict in both runs"
    if found.verdict == "too few items":
        return f"too few items; the difference is {found.difference.value:+.{digits}f}"
    text = f"{found.verdict}, {difference_text(found, digits)}, p = {_p(found.p)}"
    if found.verdict == "no change seen" and found.detectable is not None:
        return f"{text}; minimum detectable change {found.detectable:.{digits}f}"
    return text


def _counts_text(counts: ItemCounts) -> str:
    text = {
        "in both": counts.paired,
        "worse": counts.worse,
        "better": counts.better,
        "newly unjudged": counts.newly_unjudged,
        "newly judged": counts.newly_judged,
        "unjudged in both": counts.unjudged,
        "removed": counts.missing,
        "new": counts.added,
    }
    always = ("in both", "worse", "better", "newly unjudged")
    return ", ".join(f"{number:,} {name}" for name, number in text.items() if number or name in always)


def undecided_text(comparison: Comparison, fail_on: FailOn) -> str:
    """Return why a rule could not be applied."""
    counts = comparison.overall.counts
    unit = "item" if counts.clusters == counts.paired else "cluster"
    needed, rule = needed_text(comparison, f"{unit}s"), f"the rule {rule_text(fail_on)} was not applied"
    return f"Too few items to decide: {counted(counts.clusters, unit)}, and {needed}; {rule}."


def gate_result(comparison: Comparison, ruling: Ruling) -> str:
    """Say whether a comparison passes, and by which rule."""
    if ruling.exit_code == 3:
        return (
            f"Not enough verdicts: {ruling.unjudged_share:.1%} of the items judged before have none now; "
            f"at most {ruling.max_unjudged:.1%} are allowed."
        )
    if ruling.fail_on is None:
        return "No pass/fail rule was given, so the comparison cannot fail."
    if ruling.is_undecided:
        return undecided_text(comparison, ruling.fail_on)
    text = "Failed" if ruling.exit_code else "Passed"
    return f"{text} by the rule {rule_text(ruling.fail_on)}."


def _overall_table(comparison: Comparison, digits: int) -> Table:
    counts = comparison.overall.counts
    rows = [
        ("Score, equal weight of items", *comparison_row(comparison.overall.score, digits)),
        ("Score, equal weight of languages", *comparison_row(comparison.languages_alike, digits)),
    ]
    if comparison.overall.passes is not None:
        rows.append(
            (
                f"Share of at least {comparison.options.pass_from:g}",
                *comparison_row(comparison.overall.passes, 1, percent=True),
            )
        )
    header = (f"{counted(counts.paired, 'item')}, {counted(counts.clusters, 'cluster')}", "A", "B", "Difference", "p")
    return Table((*header, "Min. detectable change", "Verdict"), tuple(rows), (1, 2, 3, 4, 5))


def _languages(rows: Sequence[LanguageChange], table: LanguageTable, digits: int) -> Table:
    body = tuple(
        (
            language_title(row.language, table),
            row.score.verdict,
            *comparison_row(row.score, digits)[:-1],
            *map(str, (row.counts.paired, row.counts.worse, row.counts.better, row.counts.newly_unjudged)),
        )
        for row in _sorted(rows, table)
    )
    numbers = (
        "A",
        "B",
        "Difference",
        "p, adjusted",
        "Min. detectable change",
        "Items",
        "Worse",
        "Better",
        "Newly unjudged",
    )
    return Table(("Language", "Verdict", *numbers), body, tuple(range(2, 2 + len(numbers))))


def _passes(rows: Sequence[LanguageChange], table: LanguageTable) -> Table:
    body = tuple(
        (language_title(row.language, table), *comparison_row(row.passes, 1, percent=True))
        for row in _sorted(rows, table)
        if row.passes is not None
    )
    header = ("Language", "A", "B", "Difference", "p, adjusted", "Min. detectable change", "Verdict")
    return Table(header, body, (1, 2, 3, 4, 5))


def _sorted(rows: Sequence[LanguageChange], table: LanguageTable) -> list[LanguageChange]:
    return sorted(
        rows, key=lambda row: (VERDICTS.index(row.score.verdict), language_title(row.language, table).casefold())
    )


def comparison_row(found: Difference, digits: int, *, percent: bool = False) -> tuple[str, ...]:
    """Return both means, the difference, p, the detectable change and the verdict."""
    p = found.p if found.adjusted_p is None else found.adjusted_p
    before, after = (_number(each, digits, percent) for each in (found.before, found.after))
    detectable = _number(found.detectable, digits, percent).replace("%", " points")
    return before, after, difference_text(found, digits, percent=percent), _p(p), detectable, found.verdict


def _number(value: float | None, digits: int, percent: bool) -> str:
    return "–" if value is None else f"{value:.{digits}{'%' if percent else 'f'}}"


def _p(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"


def _counted_title(title: str, shown: int, count: int) -> str:
    return f"{title} ({count:,})" if shown == count else f"{title} ({shown} of {count:,})"


def _items(items: Sequence[ItemChange], table: LanguageTable) -> Table:
    rows = tuple(
        (item.id, language_title(item.language, table), _plain(item.before), _plain(item.after)) for item in items
    )
    return Table(("Item", "Language", "A", "B"), rows, (2, 3))


def _plain(value: float | None) -> str:
    return "–" if value is None else f"{value:.4g}"


def _texts(items: Sequence[ItemChange], table: LanguageTable) -> Iterator[Block]:
    """Yield the texts of the items, if the runs contain them."""
    for item in items:
        parts = {
            "Source": item.source,
            "A": item.text_before,
            "A, reason": item.reason_before,
            "B": item.text_after,
            "B, reason": item.reason_after,
        }
        if item.text_before or item.text_after or item.reason_after:
            yield Heading(
                3, f"{item.id}, {language_title(item.language, table)}: {_plain(item.before)} → {_plain(item.after)}"
            )
            yield Lines(tuple(f"{name}: {one_line(text, _LONGEST_TEXT)}" for name, text in parts.items() if text))


_LONGEST_TEXT = 600
SCHEMA_VERSION = 1
_NO_VERDICT = "items judged before have a verdict now"


def comparison_json(comparison: Comparison, ruling: Ruling, _: LanguageTable) -> Iterator[str]:
    """Render a comparison as JSON."""
    text = {
        "schemaVersion": SCHEMA_VERSION,
        "failOn": None if ruling.fail_on is None else rule_text(ruling.fail_on),
        "maxUnjudged": ruling.max_unjudged,
        "unjudgedShare": ruling.unjudged_share,
        "exitCode": ruling.exit_code,
        "undecided": ruling.is_undecided,
        "alarms": [to_json(alarm) for alarm in ruling.alarms],
        **to_json(comparison),
    }
    yield readable_json(text, indent=1) + "\n"


def comparison_html(comparison: Comparison, ruling: Ruling, table: LanguageTable) -> Iterator[str]:
    """Render a comparison as an HTML page."""
    from .comparison_page import comparison_page  # imported late: templates are slow to load

    yield from comparison_page(comparison, ruling, table)


def comparison_markdown(comparison: Comparison, ruling: Ruling, table: LanguageTable) -> Iterator[str]:
    """Render a comparison as Markdown, also for the step summary of GitHub."""
    yield from markdown(comparison_blocks(comparison, ruling, table))


def comparison_junit(comparison: Comparison, ruling: Ruling, table: LanguageTable) -> Iterator[str]:
    """Render a test case per language: an alarm is a failure, too few items a skip, too few verdicts an error."""
    failing = ruling.alarms if ruling.fail_on is not None else ()
    alarms = {(alarm.language, alarm.is_overall): alarm.sentence for alarm in failing}
    root = ElementTree.Element("testsuites", name="polyjudge compare")
    suite = ElementTree.SubElement(root, "testsuite", name="polyjudge compare")
    rows = [("all items", ("", True), comparison.overall)]
    rows += [(language_title(row.language, table), (row.language, False), row) for row in comparison.languages]
    for name, key, row in rows:
        case = ElementTree.SubElement(suite, "testcase", classname="polyjudge.compare", name=xml_text(name))
        if key in alarms:
            ElementTree.SubElement(case, "failure", message=xml_text(alarms[key]))
        elif row.score.verdict == "too few items":
            ElementTree.SubElement(case, "skipped", message=f"too few items: {row.counts.paired}")
    case = ElementTree.SubElement(suite, "testcase", classname="polyjudge.compare", name=_NO_VERDICT)
    if ruling.exit_code == 3:
        ElementTree.SubElement(case, "error", message=f"{ruling.unjudged_share:.1%} have no verdict")
    for kind, tag in {"tests": "testcase", "failures": "failure", "errors": "error", "skipped": "skipped"}.items():
        suite.set(kind, str(sum(1 for _ in suite.iter(tag))))
    ElementTree.indent(root)
    yield f"<?xml version='1.0' encoding='UTF-8'?>\n{XML_COMMENT}\n{ElementTree.tostring(root, encoding='unicode')}\n"


def workflow_commands(comparison: Comparison, ruling: Ruling, table: LanguageTable) -> Iterator[str]:
    """Render each alarm as an annotation of GitHub: an error if it fails the gate, else a warning."""
    if ruling.is_undecided and ruling.fail_on is not None:
        yield f"::warning title=polyjudge compare::{escape_command(undecided_text(comparison, ruling.fail_on))}\n"
    level = "error" if ruling.fail_on is not None else "warning"
    for alarm in ruling.alarms:
        title = "all items" if alarm.is_overall else language_title(alarm.language, table)
        yield f"::{level} title={escape_property(f'polyjudge compare, {title}')}::{escape_command(alarm.sentence)}\n"
    if ruling.exit_code == 3:
        yield f"::error title=polyjudge compare::{escape_command(f'{ruling.unjudged_share:.1%} lost their verdict')}\n"


COMPARISON_FORMATS: dict[str, Callable[[Comparison, Ruling, LanguageTable], Iterator[str]]] = {
    "text": lambda comparison, ruling, table: map(no_command, plain_text(comparison_blocks(comparison, ruling, table))),
    "markdown": comparison_markdown,
    "json": comparison_json,
    "html": comparison_html,
    "junit": comparison_junit,
    "github": comparison_markdown,
}
