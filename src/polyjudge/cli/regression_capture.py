"""`polyjudge regression capture --inputs I --command C --output F`: store a translator's outputs as expected ones."""

import argparse
import sys
from contextlib import aclosing
from pathlib import Path

from polyjudge.concurrency.pool import StopToken
from polyjudge.concurrency.sync import run_sync
from polyjudge.errors import ConfigError, DataError, MissingExtraError, MissingKeyError
from polyjudge.files.atomic import write_atomically
from polyjudge.files.kinds import FileKind
from polyjudge.formats.fixtures import FixtureFile, read_fixtures
from polyjudge.records.sessions import CaseResult, Recorded
from polyjudge.suites.fixtures import captured_text
from polyjudge.suites.regression import run_cases
from polyjudge.text.display import harmless, one_line

from .options import add_force_option, at_least, check_output
from .output import print_difference
from .progress import Heartbeat, counted
from .signals import Ended, until_stopped
from .summaries import explain_skip
from .translators import OpenTranslator, add_translator_options, closed_at_end, default_concurrency, open_translator


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add = parser.add_argument
    add("--inputs", type=Path, required=True, metavar="I", help="TSV with case_id, source_lang, target_lang, text")
    add("--output", type=Path, required=True, metavar="F", help="file for the cases with the expected outputs")
    add_force_option(add)
    add("--update", action="store_true", help="show what would change in an existing file, and ask for confirmation")
    add("--yes", action="store_true", help="with --update, write without asking")
    processors = "number of texts translated at the same time; default: number of processors"
    add("--concurrency", type=at_least(1), default=default_concurrency(), metavar="N", help=processors)
    add_translator_options(parser)


def run(options: argparse.Namespace) -> int:
    """Translate every input, and write the file if all succeeded."""
    inputs = read_fixtures(options.inputs, with_expected=False)
    if not inputs.lines:
        raise ConfigError(f"--inputs {str(options.inputs)!r} is a folder. Give a TSV file.")
    if options.output.exists() and not options.update and options.output.resolve() != options.inputs.resolve():
        raise ConfigError(f"{str(options.output)!r} exists. Give --update to see what would change.")
    check_output(options.output, [], kind=FileKind.CASES, force=options.force or options.update)
    try:
        with open_translator(options) as translator:
            ended = run_sync(_translated(options, inputs, translator))
    except (MissingKeyError, MissingExtraError) as error:
        return explain_skip(error, skipped="the capture", is_required=True)
    if ended.cut_short(len(inputs.fixtures) - len(ended.result)):
        return ended.explain("nothing was written")
    return _write(options, inputs, ended.result, translator.recorded)


async def _translated(
    options: argparse.Namespace, inputs: FixtureFile, translator: OpenTranslator
) -> Ended[list[CaseResult]]:
    async def work(stop: StopToken) -> list[CaseResult]:
        cases = run_cases(
            translator.translate, inputs.fixtures, match="exact", concurrency=options.concurrency, stop=stop
        )
        async with closed_at_end(translator), aclosing(cases):
            async for result in cases:
                results.append(result)  # noqa: PERF401 - they are counted meanwhile
        return results

    results: list[CaseResult] = []
    with Heartbeat(lambda: f"{len(results)}/{len(inputs.fixtures)} texts translated"):
        return await until_stopped(work, deadline_s=None)


def _write(options: argparse.Namespace, inputs: FixtureFile, results: list[CaseResult], recorded: Recorded) -> int:
    failed = [result for result in results if result.status == "ERROR"]
    for result in failed:
        print(f"[ERROR] {harmless(result.fixture.case_id)}\n    {one_line(result.message, 400)}", file=sys.stderr)
    if failed:
        print(f"polyjudge: {len(failed)} of {len(results)} texts failed; nothing was written", file=sys.stderr)
        return 3
    outputs = {result.fixture.case_id: result.actual for result in results}
    text = captured_text(inputs, outputs, recorded)
    if options.update and options.output.exists() and not _is_confirmed(options, outputs):
        return 1
    with write_atomically(options.output, kind=FileKind.CASES, force=options.force or options.update) as file:
        file.write(text)
    print(f"{counted(len(results), 'case')}: {options.output}")
    return 0


def _is_confirmed(options: argparse.Namespace, outputs: dict[str, str]) -> bool:
    """Print what would change, and ask whether to write it."""
    try:
        before = {each.case_id: each.expected_output for each in read_fixtures(options.output).fixtures}
    except DataError as error:
        raise DataError(f"The existing file cannot be compared with the new outputs: {error}") from None
    changed = {name: output for name, output in outputs.items() if before.get(name) != output}
    for name, output in changed.items():
        print(f"[{'CHANGE' if name in before else 'NEW'}] {harmless(name)}")
        print_difference(before.get(name, ""), output)
    removed = [name for name in before if name not in outputs]
    for name in removed:
        print(f"[REMOVED] {harmless(name)}")
    print(f"{len(changed)} of {len(outputs)} expected outputs change, {len(removed)} cases are removed")
    if options.yes or not (changed or removed):
        return True
    if not sys.stdin.isatty():
        raise ConfigError("Cannot ask for confirmation without a terminal. Give --yes to write the changes.")
    print("Write them? [y/N] ", end="", flush=True)
    return sys.stdin.readline().strip().casefold() in ("y", "yes")
