"""What changed between two runs, for programs: JSON, JUnit XML, and GitHub's workflow commands."""

import re
from collections.abc import Callable, Iterator
from xml.etree import ElementTree

from polyjudge.files import XML_COMMENT, readable_json, to_json
from polyjudge.languages import LanguageTable
from polyjudge.records.comparison import Comparison, Ruling

from .blocks import shown
from .comparison_blocks import comparison_blocks, rule_text
from .markdown import markdown
from .plain_text import plain_text
from .trust_card import language_title

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
    from .html import html_page  # here, because its templates take a while to load

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
