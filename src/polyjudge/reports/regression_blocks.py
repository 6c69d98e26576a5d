"""What became of the cases of a regression run, as blocks: the failures first."""

from collections import Counter
from collections.abc import Iterator, Sequence

from polyjudge.records import CaseResult
from polyjudge.text import one_line

from .blocks import Block, Heading, Lines, Table

_LONGEST = 600
_ORDER = {"ERROR": 0, "FAIL": 1, "PASS": 2}


def regression_blocks(results: Sequence[CaseResult]) -> Iterator[Block]:
    """Yield the counts by suite, then every case."""
    yield Heading(1, "Regression report")
    for suite in dict.fromkeys(result.fixture.suite for result in results):
        counts = Counter(result.status for result in results if result.fixture.suite == suite)
        told = f"{counts['PASS']} passed, {counts['FAIL']} failed, {counts['ERROR']} errors"
        yield Lines((f"{suite}: {told}",))
    ordered = sorted(results, key=lambda result: _ORDER[result.status])
    rows = tuple(
        (
            result.fixture.case_id,
            result.status,
            f"{result.fixture.source_lang} → {result.fixture.target_lang}",
            one_line(result.fixture.input_text, _LONGEST),
            one_line(result.fixture.expected_output, _LONGEST),
            one_line(result.message or result.actual, _LONGEST),
        )
        for result in ordered
    )
    yield Heading(2, "Cases")
    yield Table(("Case", "Status", "Languages", "Input", "Expected", "Output"), rows)
