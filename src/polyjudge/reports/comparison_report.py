"""The comparison of two runs as blocks, JSON, JUnit XML and workflow commands."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import get_args
from xml.etree import ElementTree

from polyjudge.files.atomic import readable_json
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

from .blocks import Block, Heading, Lines, Table, markdown, plain_text, shown
from .trust_card import language_title

VERDICTS: tuple[Change, ...] = get_args(Change)
_OF_ITEMS = {
    "worse": "Items that fell furthest",
    "better": "Items that rose furthest",
    "newly_unjudged": "Newly unjudged: a verdict before, none now",
    "newly_judged": "Newly judged",
    "missing": "No longer there",
    "added": "New items",
}
_NOT_EQUAL = (
    "“No change seen” is not “equal”: “Finds” is the smallest true change that such a run finds in four of five cases, "
    "had it been the only one; a dash where there is none such, or where no score moved at all."
)


def comparison_blocks(comparison: Comparison, ruling: Ruling, table: LanguageTable) -> Iterator[Block]:
    """Yield the verdict first, then the whole, the languages and the items."""
    digits = _digits(comparison)
    yield Heading(1, f"What changed from {comparison.before} to {comparison.after}")
    yield Lines(tuple(_summary(comparison, ruling, table)))
    yield Heading(2, "Over all")
    yield _whole(comparison, digits)
    if comparison.languages:
        yield Heading(2, "By language")
        yield _languages(comparison.languages, table, digits)
        yield Lines((_NOT_EQUAL,))
    if any(row.passes for row in comparison.languages):
        yield Heading(2, f"Share with a score of at least {comparison.options.pass_from:g}, by language")
        yield _passes(comparison.languages, table)
    for kind, title in _OF_ITEMS.items():
        items: Sequence[ItemChange] = getattr(comparison, kind)
        if items:
            yield Heading(2, _counted_title(title, len(items), getattr(comparison.overall.counts, kind)))
            yield _items(items, table)


def rule_text(fail_on: FailOn) -> str:
    """Return a rule as it is given on the command line."""
    return "regression" if fail_on.drop is None else f"drop:{fail_on.drop:g}"


def _summary(comparison: Comparison, ruling: Ruling, table: LanguageTable) -> Iterator[str]:
    whole, digits = comparison.overall, _digits(comparison)
    yield f"Over all items: {_sentence(whole.score, digits)}."
    verdicts = Counter(row.score.verdict for row in comparison.languages)
    yield f"Languages: {', '.join(f'{verdicts[name]} {name}' for name in VERDICTS if verdicts[name])}."
    for verdict in ("worse", "better"):
        named = [language_title(row.language, table) for row in comparison.languages if row.score.verdict == verdict]
        if named:
            yield f"{verdict.capitalize()} in: {', '.join(named)}."
    yield f"Items: {_counted(whole.counts)}."
    for note in comparison.notes:
        yield f"Note: {note}."
    yield _passed(ruling)


def _sentence(found: Difference, digits: int) -> str:
    if found.difference.value is None:
        return "no item has a verdict in both runs"
    if found.verdict == "too few items":
        return f"too few items to say; the difference is {found.difference.value:+.{digits}f}"
    told = f"{found.verdict}, {_figure(found, digits)}, p = {_p(found.p)}"
    if found.verdict == "no change seen" and found.detectable is not None:
        return f"{told}; a change of {found.detectable:.{digits}f} is found in four of five cases"
    return told


def _counted(counts: ItemCounts) -> str:
    told = {
        "in both": counts.paired,
        "worse": counts.worse,
        "better": counts.better,
        "newly unjudged": counts.newly_unjudged,
        "newly judged": counts.newly_judged,
        "unjudged in both": counts.unjudged,
        "no longer there": counts.missing,
        "new": counts.added,
    }
    always = ("in both", "worse", "better", "newly unjudged")
    return ", ".join(f"{number:,} {name}" for name, number in told.items() if number or name in always)


def _passed(ruling: Ruling) -> str:
    if ruling.exit_code == 3:
        return (
            f"Not enough verdicts: {ruling.unjudged_share:.1%} of the items judged before have none now, "
            f"and {ruling.max_unjudged:.1%} may."
        )
    if ruling.fail_on is None:
        return "No bar was set, so nothing fails."
    told = "Failed" if ruling.exit_code else "Passed"
    return f"{told} by the rule {rule_text(ruling.fail_on)}."


def _whole(comparison: Comparison, digits: int) -> Table:
    counts = comparison.overall.counts
    rows = [
        ("Score, each item alike", *_cells(comparison.overall.score, digits)),
        ("Score, each language alike", *_cells(comparison.languages_alike, digits)),
    ]
    if comparison.overall.passes is not None:
        rows.append(
            (f"Share of at least {comparison.options.pass_from:g}", *_cells(comparison.overall.passes, 1, percent=True))
        )
    header = (f"{counts.paired:,} items, {counts.clusters:,} clusters", "Before", "After", "Difference", "p")
    return Table((*header, "Finds", "Verdict"), tuple(rows), (1, 2, 3, 4, 5))


def _languages(rows: Sequence[LanguageChange], table: LanguageTable, digits: int) -> Table:
    body = tuple(
        (
            language_title(row.language, table),
            row.score.verdict,
            *_cells(row.score, digits)[:-1],
            *(str(number) for number in _numbers(row.counts)),
        )
        for row in _sorted(rows, table)
    )
    numbers = ("Before", "After", "Difference", "p, adjusted", "Finds", "Items", "Worse", "Better", "Newly unjudged")
    return Table(("Language", "Verdict", *numbers), body, tuple(range(2, 2 + len(numbers))))


def _numbers(counts: ItemCounts) -> tuple[int, ...]:
    return counts.paired, counts.worse, counts.better, counts.newly_unjudged


def _passes(rows: Sequence[LanguageChange], table: LanguageTable) -> Table:
    body = tuple(
        (language_title(row.language, table), *_cells(row.passes, 1, percent=True))
        for row in _sorted(rows, table)
        if row.passes is not None
    )
    header = ("Language", "Before", "After", "Difference", "p, adjusted", "Finds", "Verdict")
    return Table(header, body, (1, 2, 3, 4, 5))


def _sorted(rows: Sequence[LanguageChange], table: LanguageTable) -> list[LanguageChange]:
    return sorted(
        rows, key=lambda row: (VERDICTS.index(row.score.verdict), language_title(row.language, table).casefold())
    )


def _cells(found: Difference, digits: int, *, percent: bool = False) -> tuple[str, ...]:
    p = found.p if found.adjusted_p is None else found.adjusted_p
    before, after = (_number(each, digits, percent) for each in (found.before, found.after))
    finds = _number(found.detectable, digits, percent).replace("%", " points")
    return before, after, _figure(found, digits, percent=percent), _p(p), finds, found.verdict


def _figure(found: Difference, digits: int, *, percent: bool = False) -> str:
    """Return a difference with its interval; that of two shares is in points of a hundred."""
    figure, form = found.difference, f"+.{digits}f"
    factor, unit = (100, " points") if percent else (1, "")
    if figure.value is None:
        return "–"
    told = f"{factor * figure.value:{form}}{unit}"
    if figure.low is None or figure.high is None:
        return told
    return f"{told} [{factor * figure.low:{form}}, {factor * figure.high:{form}}]"


def _number(value: float | None, digits: int, percent: bool) -> str:
    return "–" if value is None else f"{value:.{digits}{'%' if percent else 'f'}}"


def _p(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"


def _digits(comparison: Comparison) -> int:
    """Return how many digits tell two scores apart: more on a scale from 0 to 1."""
    means = (comparison.overall.score.before, comparison.overall.score.after)
    return 2 if any(abs(mean) > 1 for mean in means if mean is not None) else 3


def _counted_title(title: str, shown: int, count: int) -> str:
    return f"{title} ({count:,})" if shown == count else f"{title} ({shown} of {count:,})"


def _items(items: Sequence[ItemChange], table: LanguageTable) -> Table:
    rows = tuple(
        (item.id, language_title(item.language, table), _plain(item.before), _plain(item.after)) for item in items
    )
    return Table(("Item", "Language", "Before", "After"), rows, (2, 3))


def _plain(value: float | None) -> str:
    return "–" if value is None else f"{value:.4g}"


SCHEMA_VERSION = 1
_NOT_XML = re.compile("[\ufffe\uffff]")
"""What a shown text may still have in it and XML cannot hold."""
_NO_VERDICT = "items judged before have a verdict now"


def comparison_json(comparison: Comparison, ruling: Ruling, _: LanguageTable) -> Iterator[str]:
    """Yield a comparison as JSON."""
    told = {
        "schemaVersion": SCHEMA_VERSION,
        "failOn": None if ruling.fail_on is None else rule_text(ruling.fail_on),
        "maxUnjudged": ruling.max_unjudged,
        "unjudgedShare": ruling.unjudged_share,
        "exitCode": ruling.exit_code,
        "alarms": [to_json(alarm) for alarm in ruling.alarms],
        **to_json(comparison),
    }
    yield readable_json(told, indent=1) + "\n"


def comparison_html(comparison: Comparison, ruling: Ruling, table: LanguageTable) -> Iterator[str]:
    """Yield a comparison as one page."""
    from .blocks import html_page  # here, because its templates take a while to load

    title = f"What changed from {comparison.before} to {comparison.after}"
    yield from html_page(title, comparison_blocks(comparison, ruling, table))


def comparison_markdown(comparison: Comparison, ruling: Ruling, table: LanguageTable) -> Iterator[str]:
    """Yield a comparison as Markdown, which is also what GitHub shows as a step's summary."""
    yield from markdown(comparison_blocks(comparison, ruling, table))


def comparison_junit(comparison: Comparison, ruling: Ruling, table: LanguageTable) -> Iterator[str]:
    """Yield a test case for each language: an alarm is a failure, too few items a skip, too few verdicts an error."""
    failing = ruling.alarms if ruling.fail_on is not None else ()
    alarms = {(alarm.language, alarm.is_overall): alarm.sentence for alarm in failing}
    root = ElementTree.Element("testsuites", name="polyjudge compare")
    suite = ElementTree.SubElement(root, "testsuite", name="polyjudge compare")
    rows = [("all items", ("", True), comparison.overall)]
    rows += [(language_title(row.language, table), (row.language, False), row) for row in comparison.languages]
    for name, key, row in rows:
        case = ElementTree.SubElement(suite, "testcase", classname="polyjudge.compare", name=_clean(name))
        if key in alarms:
            ElementTree.SubElement(case, "failure", message=_clean(alarms[key]))
        elif row.score.verdict == "too few items":
            ElementTree.SubElement(case, "skipped", message=f"too few items: {row.counts.paired}")
    case = ElementTree.SubElement(suite, "testcase", classname="polyjudge.compare", name=_NO_VERDICT)
    if ruling.exit_code == 3:
        ElementTree.SubElement(case, "error", message=f"{ruling.unjudged_share:.1%} of them have none")
    for kind, tag in {"tests": "testcase", "failures": "failure", "errors": "error", "skipped": "skipped"}.items():
        suite.set(kind, str(sum(1 for _ in suite.iter(tag))))
    ElementTree.indent(root)
    yield f"<?xml version='1.0' encoding='UTF-8'?>\n{XML_COMMENT}\n{ElementTree.tostring(root, encoding='unicode')}\n"


def workflow_commands(ruling: Ruling, table: LanguageTable) -> Iterator[str]:
    """Yield a line for each alarm that GitHub shows beside the run: an error where it fails, else a warning."""
    level = "error" if ruling.fail_on is not None else "warning"
    for alarm in ruling.alarms:
        title = "all items" if alarm.is_overall else language_title(alarm.language, table)
        yield f"::{level} title={_property(f'polyjudge compare, {title}')}::{_data(alarm.sentence)}\n"
    if ruling.exit_code == 3:
        yield f"::error title=polyjudge compare::{_data(f'{ruling.unjudged_share:.1%} lost their verdict')}\n"


def no_command(text: str) -> str:
    """Return a text in which GitHub's runner sees no command: `##[` begins one wherever it stands in a line."""
    return text.replace("##[", "## [")


def _data(text: str) -> str:
    return shown(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _clean(text: str) -> str:
    return _NOT_XML.sub("\ufffd", shown(text))


COMPARISON_FORMATS: dict[str, Callable[[Comparison, Ruling, LanguageTable], Iterator[str]]] = {
    "text": lambda comparison, ruling, table: map(no_command, plain_text(comparison_blocks(comparison, ruling, table))),
    "markdown": comparison_markdown,
    "json": comparison_json,
    "html": comparison_html,
    "junit": comparison_junit,
    "github": comparison_markdown,
}
