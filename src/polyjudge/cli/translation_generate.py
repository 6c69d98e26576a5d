"""`polyjudge translation generate`: translate prompts with a model, a service over HTTP, or a program."""

import argparse
import platform
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from polyjudge.clock import utc_now
from polyjudge.errors import ConfigError, MissingExtraError, MissingKeyError
from polyjudge.files.kinds import FileKind
from polyjudge.files.ownership import own_fields
from polyjudge.formats.prompt_sets import PromptSet, load_prompt_set, prompt_set_names
from polyjudge.languages.table import LanguageTable, language_table
from polyjudge.processes import split_command
from polyjudge.providers.models import resolve_model
from polyjudge.records.fingerprint import fingerprint
from polyjudge.records.outcomes import Item
from polyjudge.records.translation import Language
from polyjudge.runs.run import Run
from polyjudge.suites.translation_generation import (
    CommandTranslator,
    ModelTranslator,
    ResultsFile,
    ServiceTranslator,
    adopt_rows,
    items_for,
)
from polyjudge.text.display import one_line

from .environment import load_environment
from .options import add_cache_options, add_call_options, add_force_option, at_least, check_output, run_options, share
from .progress import RunProgress, counted
from .signals import explain_end, stop_on_signals
from .summaries import explain_skip, show_estimate, spent_line
from .translation_check import check_results_name
from .translators import add_variable_options, http_service, refuse_variables, translator_help, translator_kind

_FAILURES_SHOWN = 5


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add = parser.add_argument
    translators = parser.add_mutually_exclusive_group(required=True)
    translators.add_argument("--translator", metavar="NAME[/MODEL]", help=translator_help())
    command = "program that reads a text from stdin and prints its translation; {tag} and {language} are filled in"
    translators.add_argument("--command", metavar="'PROGRAM ARGUMENT…'", help=command)
    add("--output", type=Path, required=True, metavar="FILE", help="file for the results, as JSON")
    add_force_option(add)
    shipped = ", ".join(prompt_set_names())
    prompts = f"prompts: a TOML file, or {shipped}; default: %(default)s"
    add("--prompts", default="travel", metavar="FILE|NAME", help=prompts)
    add("--languages", default="all", metavar="TAG,…", help="target languages; default: all known languages")
    add(
        "--source-language",
        default="en",
        metavar="TAG",
        help="language of the prompts, for translation services over HTTP",
    )
    add_variable_options(add)
    sent = "what the program reads on stdin: only the text, or the whole prompt; default: %(default)s"
    add("--send", choices=["text", "prompt"], default="text", help=sent)
    add(
        "--max-answer-tokens",
        type=at_least(1),
        metavar="N",
        help="maximum number of tokens of a translation by a model",
    )
    too_many = "exit 3 when a larger share fails; default: %(default)s"
    add("--max-failed", type=share, default=0.2, metavar="SHARE", help=too_many)
    add("--format", choices=["text", "json"], default="text", help="format of a dry run; default: %(default)s")
    add_call_options(parser.add_argument_group("calls").add_argument)
    add_cache_options(parser.add_argument_group("cache").add_argument)


def run(options: argparse.Namespace) -> int:
    """Translate what is missing, and write the file."""
    load_environment()
    options.batch, options.max_unjudged = False, options.max_failed
    _check_options(options)
    table, prompts = language_table(), load_prompt_set(options.prompts)
    languages = _languages(options.languages, table)
    items = items_for(languages, prompts)
    file = ResultsFile(options.output, languages, prompts, table, about=lambda: _about(options), force=options.force)
    try:
        run = _open_run(options, prompts, items, file, _mark_of_0_1(options, prompts, languages))
        if options.dry_run:
            return show_estimate(run, options.format, what="translations")
        return _execute(run, items, file, options)
    except (MissingKeyError, MissingExtraError) as error:
        return explain_skip(error, skipped="generation")


def _check_options(options: argparse.Namespace) -> None:
    if options.translator and options.command:  # the command line takes one of them, so one is from polyjudge.toml
        raise ConfigError("--translator and --command are both set. Give only one.")
    if not options.translator and not options.command:
        raise ConfigError("--translator or --command is empty. Give a model, a service or a program.")
    _set_kind(options)
    if options.dry_run and options.command:
        raise ConfigError("--dry-run works only with a model or a service: a program has no cost to estimate.")
    check_results_name(options.output)
    check_output(options.output, [], kind=FileKind.TRANSLATIONS, force=options.force)


def _set_kind(options: argparse.Namespace) -> None:
    """Set the kind of the translator, and refuse options of other kinds."""
    options.kind = "command" if options.command else translator_kind(options.translator)
    if options.kind == "command" and not options.command:
        options.command, options.translator = options.translator, None
    if options.kind != "http":
        refuse_variables(options)
    elif options.max_cost is not None or options.max_tokens is not None:
        raise ConfigError(
            "--max-cost and --max-tokens cannot limit a service over HTTP, whose price is not by tokens. Use "
            "--max-calls."
        )


def _languages(given: str, table: LanguageTable) -> list[Language]:
    if given == "all":
        return list(table)
    found = {name.strip(): table.find(name.strip()) for name in given.split(",") if name.strip()}
    unknown = [name for name, language in found.items() if language is None]
    if unknown or not found:
        message = f"--languages: unknown {', '.join(unknown)}.{''.join(map(table.suggestion, unknown))}"
        raise ConfigError(message if unknown else "--languages is empty.")
    return list({language.tag: language for language in found.values() if language is not None}.values())


def _translator(
    options: argparse.Namespace, prompts: PromptSet
) -> ModelTranslator | ServiceTranslator | CommandTranslator:
    if options.kind == "http":
        service = http_service(options)
        provider = service.open(timeout_s=options.timeout or 120.0, gathers=True)
        source = options.source_language
        return ServiceTranslator(provider, prompts, source=source, description_sha256=service.sha256)
    if options.translator:
        return ModelTranslator(options.translator, prompts, max_tokens=options.max_answer_tokens)
    timeout_s, sends_instruction = options.timeout or 120.0, options.send == "prompt"
    command = split_command(options.command)
    return CommandTranslator(command, timeout_s=timeout_s, sends_instruction=sends_instruction)


def _mark_of_0_1(options: argparse.Namespace, prompts: PromptSet, languages: Sequence[Language]) -> str:
    """Return the fingerprint in the name of an unfinished run's rows in version 0.1."""
    tags, sent = [each.tag for each in languages], [options.send, options.max_answer_tokens]
    return fingerprint([options.translator or options.command, prompts, tags, sent], 12)


def _open_run(
    options: argparse.Namespace, prompts: PromptSet, items: Sequence[Item], file: ResultsFile, mark: str
) -> Run:
    given = run_options(options)
    if not options.translator:
        given["cache"] = None  # the same program may give another output the next time
    run = Run(items, _translator(options, prompts), output=file, legacy_fingerprints=[mark], **given)
    if not options.dry_run:
        name = resolve_model(options.translator) if options.kind == "model" else None
        adopt_rows(options.output.with_name(f"{options.output.name}.{mark}.partial"), items, prompts, name)
    return run


def _execute(run: Run, items: Sequence[Item], file: ResultsFile, options: argparse.Namespace) -> int:
    total = len(items)
    with stop_on_signals(run) as signals, RunProgress(run.budget.spent, doing="translating") as progress:
        summary = run.execute(progress)
    made = summary.scores.judged
    if summary.status in ("stopped", "capped"):
        return explain_end(
            signals, summary.stopped_by, f"{total - made} of {total} translations are missing", file.path
        )
    for failure in file.failures[:_FAILURES_SHOWN]:
        print(f"polyjudge: failed: {one_line(failure, 400)}", file=sys.stderr)
    languages = len({item.language for item in items})
    print(f"{made} of {total} translations in {counted(languages, 'language')}: {options.output}")
    if options.translator:
        print(f"asked:   {spent_line(summary.spent)}", file=sys.stderr)
    if not file.failures:
        return 0
    if len(file.failures) > _FAILURES_SHOWN:
        print(f"polyjudge: and {len(file.failures) - _FAILURES_SHOWN} more", file=sys.stderr)
    retry = "Run the same command again to retry them." if made else "Correct the cause, then run the command again."
    print(f"polyjudge: {len(file.failures)} failed. {retry}", file=sys.stderr)
    return 3 if len(file.failures) > options.max_failed * total else 0


def _about(options: argparse.Namespace) -> dict[str, Any]:
    """Return the fields of a results file about the whole run."""
    return {
        **own_fields(),
        "bindingUsed": options.command or "polyjudge",
        "deviceInfo": platform.platform(terse=True),
        "model": _model_of(options),
        "generatedAt": utc_now(),
    }


def _model_of(options: argparse.Namespace) -> str:
    """Return the name of the model or service that translates; empty for a program."""
    if options.kind == "model":
        return str(resolve_model(options.translator))
    return Path(options.translator).stem if options.kind == "http" else ""
