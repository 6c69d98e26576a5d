"""`polyjudge regression run --fixtures F --command C`: run a translator on cases and compare its outputs."""

import argparse
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any

from polyjudge.concurrency.pool import StopToken, in_order
from polyjudge.concurrency.sync import run_sync
from polyjudge.errors import ConfigError, DataError, MissingExtraError, MissingKeyError
from polyjudge.files.atomic import write_atomically
from polyjudge.files.ownership import own_fields
from polyjudge.formats.fixtures import read_fixtures
from polyjudge.records.sessions import CaseResult, Fixture
from polyjudge.reports.blocks import BLOCK_FORMATS
from polyjudge.reports.regression import junit_xml, regression_blocks
from polyjudge.suites.fixtures import changes
from polyjudge.suites.regression import (
    TranslatorCommand,
    fits_one_line,
    run_cases,
    run_line_by_line,
    without_final_newline,
)
from polyjudge.text.display import harmless, one_line

from .options import add_force_option, at_least, check_output, positive
from .output import ignore_closed_pipe, print_difference, print_warning
from .progress import Heartbeat
from .signals import until_stopped
from .summaries import explain_skip
from .translators import OpenTranslator, add_translator_options, closed_at_end, default_concurrency, open_translator

_LONGEST = 400


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add = parser.add_argument
    add("--fixtures", type=Path, required=True, metavar="F", help="cases: a TSV, or a folder of TSVs and case folders")
    suites = "run only the cases of this suite; default: %(default)s"
    add("--suite", choices=["translation", "preserve", "all"], default="all", help=suites)
    match = (
        "exact: ignore only one final line break; trim: ignore leading and trailing white space; normalized: compare "
        "in NFC with single spaces"
    )
    add("--match", choices=["exact", "trim", "normalized"], default="exact", help=f"{match}; default: %(default)s")
    add("--persistent", action="store_true", help="run one process for all cases of a language pair, line by line")
    add("--repeat", type=at_least(1), default=1, metavar="N", help="run each case N times and list those that differ")
    processors = "number of texts at the same time; default: number of processors"
    add("--concurrency", type=at_least(1), default=default_concurrency(), metavar="N", help=processors)
    add("--deadline", type=positive, metavar="S", help="time limit of the whole run in seconds")
    add("--format", choices=["text", "json", "html"], default="text", help="output format; default: %(default)s")
    add("--junit", type=Path, metavar="FILE", help="also write JUnit XML to this file")
    add("--output", type=Path, metavar="FILE", help="also write the results as JSON to this file")
    add_force_option(add)
    add_translator_options(parser)


def run(options: argparse.Namespace) -> int:
    """Run the cases and print their results."""
    for path in (options.output, options.junit):
        check_output(path, [options.fixtures], force=options.force)
    file = read_fixtures(options.fixtures)
    fixtures = [each for each in file.fixtures if options.suite in ("all", each.suite)]
    if not fixtures:
        raise DataError(f"no cases of the suite {options.suite!r}. Give another --suite.", path=options.fixtures)
    if options.persistent and options.repeat > 1:
        raise ConfigError("--repeat and --persistent cannot be combined.")
    try:
        with open_translator(options) as translator:
            if options.persistent and translator.command is None:
                raise ConfigError("--persistent is for programs. Leave it out for a model or a service.")
            for change in changes(file.recorded, translator.recorded):
                print_warning(change)
            return run_sync(_run(options, fixtures, translator))
    except (MissingKeyError, MissingExtraError) as error:
        return explain_skip(error, skipped="the run", is_required=True)


async def _run(options: argparse.Namespace, fixtures: Sequence[Fixture], translator: OpenTranslator) -> int:
    results: list[CaseResult] = []

    async def work(stop: StopToken) -> None:
        command = translator.command if options.persistent else None
        known = await _run_line_by_line(options, fixtures, command, stop) if command is not None else {}

        async def translate(fixture: Fixture) -> tuple[str, int]:
            if fixture.case_id in known:
                return known[fixture.case_id].actual, known[fixture.case_id].duration_ms
            return await translator.translate(fixture)

        cases = run_cases(
            translate,
            fixtures,
            match=options.match,
            concurrency=options.concurrency,
            repeat=options.repeat,
            stop=stop,
        )
        async with closed_at_end(translator), aclosing(cases):
            async for result in cases:
                results.append(result)
                if options.format == "text":
                    with ignore_closed_pipe():
                        show_result(result)

    with Heartbeat(lambda: f"{len(results)}/{len(fixtures)} cases done"):
        ended = await until_stopped(work, deadline_s=options.deadline)
    with ignore_closed_pipe():
        _finish(options, results)
    if ended.cut_short(left := len(fixtures) - len(results)):
        return ended.explain(f"{left} of {len(fixtures)} cases were not run")
    statuses = Counter(result.status for result in results)
    return 3 if statuses["ERROR"] else 1 if statuses["FAIL"] or any(each.variants for each in results) else 0


async def _run_line_by_line(
    options: argparse.Namespace, fixtures: Sequence[Fixture], command: TranslatorCommand, stop: StopToken
) -> dict[str, CaseResult]:
    pairs: dict[tuple[str, str], list[Fixture]] = defaultdict(list)
    for fixture in fixtures:
        if fits_one_line(fixture):
            pairs[fixture.source_lang, fixture.target_lang].append(fixture)

    async def one(chosen: Sequence[Fixture]) -> dict[str, CaseResult]:
        return await run_line_by_line(command, chosen, match=options.match, warn=print_warning)

    results: dict[str, CaseResult] = {}
    async for found in in_order(one, pairs.values(), concurrency=options.concurrency, stop=stop):
        results |= found
    return results


def show_result(result: CaseResult) -> None:
    """Print the result of a case and, if it failed, the difference."""
    print(f"[{result.status}] {harmless(result.fixture.case_id)}")
    if result.status == "ERROR":
        print(f"    {one_line(result.message, _LONGEST)}")
    elif result.status == "FAIL":
        print_difference(without_final_newline(result.fixture.expected_output), result.actual)
    if result.variants:
        print(f"    {len(result.variants)} different outputs for the same text:")
        for variant in result.variants[:5]:
            print(f"      {one_line(variant, _LONGEST)}")


def _finish(options: argparse.Namespace, results: Sequence[CaseResult]) -> None:
    by_suite: dict[str, Counter[str]] = defaultdict(Counter)
    for result in results:
        by_suite[result.fixture.suite][result.status] += 1
    rows = {
        **own_fields(),
        "suites": {name: dict(counts) for name, counts in by_suite.items()},
        "cases": list(map(_row, results)),
    }
    if options.format == "json":
        print(json.dumps(rows, ensure_ascii=True, indent=1))
    elif options.format == "html":
        sys.stdout.writelines(BLOCK_FORMATS["html"](regression_blocks(results)))
    else:
        _print_counts(by_suite, sum(bool(result.variants) for result in results))
    if options.junit is not None:
        with write_atomically(options.junit, force=options.force) as file:
            file.write(junit_xml(results))
    if options.output is not None:
        with write_atomically(options.output, force=options.force) as file:
            json.dump(rows, file, ensure_ascii=True, indent=1)
    sys.stdout.flush()


def _print_counts(by_suite: Mapping[str, Counter[str]], flaky: int) -> None:
    for name, counts in by_suite.items():
        if len(by_suite) > 1:
            print(f"{name}: {_counted(counts)}")
    print(f"Summary: {_counted(sum(by_suite.values(), Counter[str]()))}")
    if flaky:
        print(f"{flaky} cases differ between repeats")


def _counted(counts: Counter[str]) -> str:
    return f"{counts['PASS']} passed, {counts['FAIL']} failed, {counts['ERROR']} errors"


def _row(result: CaseResult) -> dict[str, Any]:
    fixture = result.fixture
    return {
        "caseId": fixture.case_id,
        "suite": fixture.suite,
        "sourceLang": fixture.source_lang,
        "targetLang": fixture.target_lang,
        "status": result.status,
        "expected": fixture.expected_output,
        "actual": result.actual,
        "message": result.message,
        "durationMs": result.duration_ms,
        "variants": list(result.variants),
    }
