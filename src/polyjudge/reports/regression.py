"""Render regression results as blocks and JUnit XML."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from xml.etree import ElementTree

from polyjudge.files.ownership import XML_COMMENT
from polyjudge.records.sessions import CaseResult
from polyjudge.text.display import one_line

from .blocks import Block, Heading, Lines, Table

_MAX_CELL = 600
_ORDER = {"ERROR": 0, "FAIL": 1, "PASS": 2}


def regression_blocks(results: Sequence[CaseResult]) -> Iterator[Block]:
    """Yield the counts by suite, then every case."""
    yield Heading(1, "Regression report")
    for suite in dict.fromkeys(result.fixture.suite for result in results):
        counts = Counter(result.status for result in results if result.fixture.suite == suite)
        message = f"{counts['PASS']} passed, {counts['FAIL']} failed, {counts['ERROR']} errors"
        yield Lines((f"{suite}: {message}",))
    ordered = sorted(results, key=lambda result: _ORDER[result.status])
    rows = tuple(
        (
            result.fixture.case_id,
            result.status,
            f"{result.fixture.source_lang} → {result.fixture.target_lang}",
            one_line(result.fixture.input_text, _MAX_CELL),
            one_line(result.fixture.expected_output, _MAX_CELL),
            one_line(result.message or result.actual, _MAX_CELL),
        )
        for result in ordered
    )
    yield Heading(2, "Cases")
    yield Table(("Case", "Status", "Languages", "Input", "Expected", "Output"), rows)


_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit_xml(results: Sequence[CaseResult]) -> str:
    """Return one test suite per kind of cases."""
    root = ElementTree.Element("testsuites", name="polyjudge regression")
    for suite in dict.fromkeys(result.fixture.suite for result in results):
        chosen = [result for result in results if result.fixture.suite == suite]
        element = ElementTree.SubElement(
            root,
            "testsuite",
            name=suite,
            tests=str(len(chosen)),
            failures=str(sum(_is_failure(result) for result in chosen)),
            errors=str(sum(result.status == "ERROR" for result in chosen)),
            time=f"{sum(result.duration_ms for result in chosen) / 1000:.3f}",
        )
        for result in chosen:
            _add_case(element, result)
    ElementTree.indent(root)
    return f"<?xml version='1.0' encoding='UTF-8'?>\n{XML_COMMENT}\n{ElementTree.tostring(root, encoding='unicode')}\n"


def _add_case(suite: ElementTree.Element, result: CaseResult) -> None:
    fixture = result.fixture
    index = f"{fixture.suite}.{fixture.source_lang}-{fixture.target_lang}"
    case = ElementTree.SubElement(
        suite,
        "testcase",
        classname=_clean(index),
        name=_clean(fixture.case_id),
        time=f"{result.duration_ms / 1000:.3f}",
    )
    if result.status == "ERROR":
        ElementTree.SubElement(case, "error", message=_clean(result.message))
    elif _is_failure(result):
        message = "unexpected output" if result.status == "FAIL" else "the output differs between runs"
        failure = ElementTree.SubElement(case, "failure", message=message)
        outputs = "\nactual:   ".join(result.variants or [result.actual])
        failure.text = _clean(f"expected: {fixture.expected_output}\nactual:   {outputs}")


def _is_failure(result: CaseResult) -> bool:
    """Return whether a case failed, or passed only in some runs."""
    return result.status == "FAIL" or (result.status == "PASS" and bool(result.variants))


def _clean(text: str) -> str:
    """Replace characters that XML does not allow."""
    return _NOT_XML.sub("\ufffd", text)
