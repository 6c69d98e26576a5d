"""`polyjudge translation generate`: a results file from any model, or any program that reads stdin."""

import argparse
import platform
import sys
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from polyjudge.clock import utc_now
from polyjudge.concurrency.pool import StopToken
from polyjudge.concurrency.sync import run_sync
from polyjudge.errors import ConfigError, DataError, MissingExtraError, MissingKeyError, ProviderError
from polyjudge.files.json_lines import RowLog, read_json_lines
from polyjudge.files.ownership import own_fields
from polyjudge.formats.prompt_sets import PromptSet, load_prompt_set, prompt_set_names
from polyjudge.formats.translation_results import write_translation_results
from polyjudge.languages.table import LanguageTable, language_table
from polyjudge.processes import split_command
from polyjudge.providers.base import close_provider
from polyjudge.providers.models import resolve_model
from polyjudge.records.fingerprint import fingerprint
from polyjudge.records.translation import Language
from polyjudge.runs.stack import ProviderStack
from polyjudge.suites.translation_generation import (
    CommandTranslator,
    ModelTranslator,
    Order,
    Translation,
    Translator,
    assembled,
    generate,
    orders_for,
    translation_row,
)
from polyjudge.text.display import one_line

from .environment import load_environment
from .options import add_cache_options, add_call_options, add_force_option, check_output, open_access, open_cache
from .progress import ProgressShow
from .stopping import Ended, until_stopped
from .summaries import print_estimate, spent_line
from .translation_check import check_results_name


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add = parser.add_argument
    who = parser.add_mutually_exclusive_group(required=True)
    who.add_argument("--translator", metavar="NAME[/MODEL]", help="a model that translates")
    command = "a program that reads a text from stdin and writes its translation; {tag} and {language} are filled in"
    who.add_argument("--command", metavar="'PROGRAM ARGUMENT…'", help=command)
    add("--output", type=Path, required=True, metavar="FILE", help="the results, as JSON")
    add_force_option(add)
    shipped = ", ".join(prompt_set_names())
    add("--prompts", default="travel", metavar="FILE|NAME", help=f"a TOML file, or {shipped}; default: %(default)s")
    add("--languages", default="all", metavar="TAG,…", help="default: all of the table")
    add("--send", choices=["text", "prompt"], default="text", help="what a program reads; default: the text alone")
    add("--max-answer-tokens", type=int, metavar="N", help="most tokens of one translation by a model")
    add("--max-failed", type=float, default=0.2, metavar="SHARE", help="more failures are exit 3; default: %(default)s")
    add("--format", choices=["text", "json"], default="text", help="of a dry run; default: %(default)s")
    add_call_options(parser.add_argument_group("calls").add_argument)
    add_cache_options(parser.add_argument_group("cache").add_argument)


@dataclass(frozen=True, slots=True)
class _Job:
    options: argparse.Namespace
    table: LanguageTable
    languages: list[Language]
    prompts: PromptSet

    @property
    def partial(self) -> Path:
        """Where translations stand until all are there; another translator or set has another file."""
        options = self.options
        tags, sent = [each.tag for each in self.languages], [options.send, options.max_answer_tokens]
        mark = fingerprint([options.translator or options.command, self.prompts, tags, sent], 12)
        return options.output.with_name(f"{options.output.name}.{mark}.partial")


def run(options: argparse.Namespace) -> int:
    """Translate what is missing, and write the file when all is there."""
    load_environment()
    options.retry_failures = False
    _check_options(options)
    table = language_table()
    job = _Job(options, table, _languages(options.languages, table), load_prompt_set(options.prompts))
    cache = open_cache(options) if options.translator else None
    try:
        access = open_access(options, cache, utc_now())
        translator, close = _translator(job, access)
        return run_sync(_run(job, translator, access, close))
    except (MissingKeyError, MissingExtraError) as error:
        print(error.instead("generation") if isinstance(error, MissingKeyError) else error, file=sys.stderr)
        return 0
    finally:
        if cache is not None:
            run_sync(cache.aclose())


def _check_options(options: argparse.Namespace) -> None:
    if options.translator and options.command:  # the command line takes one of them, so one is from polyjudge.toml
        raise ConfigError("--translator and --command are both set; one translates")
    if not options.translator and not options.command:
        raise ConfigError("neither --translator nor --command names anybody")
    if options.max_answer_tokens is not None and options.max_answer_tokens < 1:
        raise ConfigError(f"--max-answer-tokens must be at least 1, not {options.max_answer_tokens}")
    if not 0 <= options.max_failed <= 1:
        raise ConfigError(f"--max-failed is a share between 0 and 1, not {options.max_failed}")
    if options.dry_run and options.command:
        raise ConfigError("--dry-run counts what a model would be asked; a --command can only be run")
    check_results_name(options.output)
    check_output(options.output, [], force=options.force)


def _languages(given: str, table: LanguageTable) -> list[Language]:
    if given == "all":
        return list(table)
    found = {name.strip(): table.find(name.strip()) for name in given.split(",") if name.strip()}
    unknown = [name for name, language in found.items() if language is None]
    if unknown or not found:
        raise ConfigError(f"--languages: {', '.join(unknown) or 'none'} is not in the table of languages")
    return list({language.tag: language for language in found.values() if language is not None}.values())


def _translator(job: _Job, access: ProviderStack) -> tuple[Translator, Any]:
    options = job.options
    if options.translator:
        name = resolve_model(options.translator)
        provider = access.open(name)
        translator = ModelTranslator(provider, name.model, max_tokens=options.max_answer_tokens)
        return translator, lambda: close_provider(provider)
    command = split_command(options.command)
    return CommandTranslator(
        command, timeout_s=options.timeout or 120.0, sends_instruction=options.send == "prompt"
    ), None


async def _run(job: _Job, translator: Translator, access: ProviderStack, close: Any) -> int:
    rows, failures = _kept(job), list[str]()
    left = [order for order in orders_for(job.languages, job.prompts) if order.id not in rows]
    log = _open_log(job)

    def keep(order: Order, made: Translation) -> None:
        """Keep a translation at once, also ahead of its turn."""
        if log is not None:
            rows[order.id] = translation_row(made)
            log.append({"id": order.id, **rows[order.id]})

    async def work(stop: StopToken) -> None:
        with ProgressShow(len(left), access.meter.spent, shown=log is not None, doing="translating") as progress:
            options = job.options
            making = generate(translator, left, job.prompts, concurrency=options.concurrency, stop=stop, done=keep)
            async with aclosing(making):
                async for order, made in making:
                    if isinstance(made, ProviderError):
                        failures.append(f"{order.id}: {made}")
                    progress.advance(unjudged=isinstance(made, ProviderError))

    try:
        ended = await until_stopped(work, deadline_s=job.options.deadline)
    finally:
        await _close(log, rows, close)
    if access.estimate is not None:
        print_estimate(access.estimate, len(left), job.options.format)
        return 0
    return _finish(job, ended, rows, failures, access)


def _open_log(job: _Job) -> RowLog | None:
    if job.options.dry_run:
        return None
    log = RowLog(job.partial)
    log.lock()
    return log


async def _close(log: RowLog | None, rows: dict[str, dict[str, Any]], close: Any) -> None:
    if close is not None:
        await close()
    if log is not None:
        log.close()
        if not rows:
            log.path.unlink(missing_ok=True)


def _kept(job: _Job) -> dict[str, dict[str, Any]]:
    """Return what an unfinished run left."""
    if not job.partial.exists():
        return {}
    log = RowLog(job.partial)
    log.cut_torn_row()
    log.close()
    rows = {row.pop("id", ""): row for _, row in read_json_lines(job.partial)}
    if any(not isinstance(row.get("generatedOutput"), str) for row in rows.values()):
        raise DataError("holds rows that are no translations; remove it to begin anew", path=job.partial)
    return rows


def _finish(
    job: _Job, ended: Ended[None], rows: dict[str, dict[str, Any]], failures: list[str], access: ProviderStack
) -> int:
    options, total = job.options, len(job.languages) * len(job.prompts.prompts)
    if ended.cut_short(left := total - len(rows)):
        code = ended.explain(f"{left} of {total} translations are missing")
        print("polyjudge: what was done is kept; the same command goes on from there", file=sys.stderr)
        return code
    about = {
        **own_fields(),
        "bindingUsed": options.command or "polyjudge",
        "deviceInfo": platform.platform(terse=True),
        "model": str(resolve_model(options.translator)) if options.translator else "",
        "generatedAt": utc_now(),
    }
    languages = assembled(job.languages, job.prompts, rows, job.table)
    write_translation_results(options.output, about, languages, force=options.force)
    for failure in failures[:5]:
        print(f"polyjudge: no translation of {one_line(failure, 400)}", file=sys.stderr)
    print(f"{len(rows)} of {total} translations in {len(job.languages)} languages: {options.output}")
    if options.translator:
        print(f"asked:   {spent_line(access.meter.spent)}", file=sys.stderr)
    if not failures:
        job.partial.unlink(missing_ok=True)
        return 0
    print(f"polyjudge: {len(failures)} failed; the same command tries those again", file=sys.stderr)
    return 3 if len(failures) > options.max_failed * total else 0
