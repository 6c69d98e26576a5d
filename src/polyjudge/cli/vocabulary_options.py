"""The options that the actions of `polyjudge vocabulary` share: words, models and judges."""

import argparse
import os
import sys
from pathlib import Path

from polyjudge.concurrency.sync import run_sync
from polyjudge.errors import ConfigError, DataError
from polyjudge.formats.vocabulary import read_models
from polyjudge.providers.local import local_models
from polyjudge.providers.models import model_table
from polyjudge.providers.registry import is_provider
from polyjudge.records.requests import ModelName
from polyjudge.suites.vocabulary import (
    Choice,
    Job,
    choose,
    listed,
    load_vocabulary,
    make_job,
    recorded_job,
    vocabulary_names,
)
from polyjudge.text.display import harmless

from .options import (
    Several,
    add_cache_options,
    add_call_options,
    add_force_option,
    add_judge_options,
    at_least,
    filters_of,
    judge_names,
)
from .output import print_warning
from .progress import Heartbeat

_DEFAULT_SUITE = "suite"
_USUAL_TEMPERATURE = 0.2
_USUAL_JUDGE = "gpt-5"
_WARNINGS_SHOWN = 5


def add_suite_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the suite of words and of the folder for the results."""
    add, shipped = parser.add_argument, ", ".join(vocabulary_names())
    add("--suite", metavar="DIR|NAME", help=f"folder of words and prompts, or {shipped}; default: suite, else spanish")
    add(
        "--models",
        type=Path,
        metavar="FILE",
        help="file of models, one per line; default: models_list.txt of the suite, else all models of the server",
    )
    add_output_option(parser)
    chosen = "use only these values of model, word, category or prompt"
    add("--filter", action=Several, default=[], metavar="COLUMN=VALUE,…", help=chosen)
    add("--limit", type=at_least(1), metavar="N", help="use only the first N words")


def add_output_option(parser: argparse.ArgumentParser) -> None:
    """Add the option of the folder that all actions write to."""
    folder = "folder for answers, judgements and summary; default: %(default)s"
    parser.add_argument("--output", type=Path, default=Path("output"), metavar="DIR", help=folder)
    add_force_option(parser.add_argument)


def add_model_options(parser: argparse.ArgumentParser, *, concurrency: str) -> None:
    """Add the options of the calls to models."""
    add = parser.add_argument_group("models").add_argument
    add(
        "--temperature",
        metavar="T",
        help=f"sampling temperature; default: $POLYJUDGE_TEMPERATURE, else {_USUAL_TEMPERATURE}",
    )
    add(
        "--max-answer-tokens",
        type=at_least(1),
        metavar="N",
        help="maximum number of tokens of an answer; default: the server's limit",
    )
    in_flight = "maximum number of calls in flight to models; default: %(default)s"
    add(concurrency, dest="model_concurrency", type=at_least(1), default=4, metavar="N", help=in_flight)


def add_word_judging_options(parser: argparse.ArgumentParser, *, timeout_s: float | None = None) -> None:
    """Add the options of the actions that ask judges."""
    judges = f"judge whose verdicts count, then judges to compare it with; default: openai/{_USUAL_JUDGE}"
    add = parser.add_argument_group("judge").add_argument
    add_judge_options(add, default="", help=f"{judges}, or $JUDGE_MODEL")
    most = "maximum number of tokens of a judge's reply; default: 512 for local models, else 4096 or more"
    add("--max-judge-tokens", type=at_least(1), metavar="N", help=most)
    add_call_options(parser.add_argument_group("calls").add_argument)
    add_cache_options(parser.add_argument_group("cache").add_argument)
    parser.add_argument("--show-prompt", metavar="WORD", help="print the prompts about a word, and stop")
    parser.add_argument("--retry-failures", action="store_true", help="judge again, but only answers without a verdict")
    parser.set_defaults(timeout=timeout_s)


def word_judges(options: argparse.Namespace) -> list[ModelName]:
    """Return the judges: `--judge`, else JUDGE_MODEL of the environment, of OpenAI unless it names another provider."""
    if not options.judge:
        named = os.environ.get("JUDGE_MODEL", "").strip() or _USUAL_JUDGE
        options.judge = ",".join(_with_provider(name.strip()) for name in named.split(","))
    if options.judge_model == "":
        raise ConfigError("--judge-model is empty. Give a model.")
    names = judge_names(options)
    if not names:
        raise ConfigError("The judge 'offline' cannot judge definitions. Give a model with --judge.")
    return names


def _with_provider(name: str) -> str:
    is_known = name.partition("/")[0] in ("", "offline") or name in model_table().aliases
    is_known = is_known or is_provider(name.partition("/")[0])
    return name if is_known else f"openai/{name}"


def temperature_of(options: argparse.Namespace) -> float:
    """Return the sampling temperature for models."""
    given = options.temperature or os.environ.get("POLYJUDGE_TEMPERATURE", "").strip() or str(_USUAL_TEMPERATURE)
    name = "--temperature" if options.temperature else "POLYJUDGE_TEMPERATURE"
    try:
        temperature = float(given)
    except ValueError:
        temperature = -1.0
    if not 0 <= temperature <= 2:
        raise ConfigError(f"{name} must be between 0 and 2, not {given!r}.")
    return temperature


def open_suite(options: argparse.Namespace) -> Choice:
    """Return the suite with the selected words and prompts."""
    if options.output.exists() and not options.output.is_dir():
        raise ConfigError(f"--output {str(options.output)!r} is a file. Give a folder.")
    name = options.suite
    if name is None:
        name = _DEFAULT_SUITE if Path(_DEFAULT_SUITE).is_dir() else "spanish"
        if name != _DEFAULT_SUITE:
            print("polyjudge: no folder 'suite' here; using the shipped suite 'spanish'", file=sys.stderr)
    suite = load_vocabulary(name, with_models=options.models is None)
    return choose(suite, filters_of(options.filter), options.limit)


def _listed_models(options: argparse.Namespace, choice: Choice) -> tuple[str, ...] | None:
    """Return the models listed in a file, or None without such a file."""
    if options.models is not None:
        return read_models(options.models, options.models)
    return choice.suite.models


def need_models_file(options: argparse.Namespace, choice: Choice) -> None:
    """Refuse a suite folder without a list of models."""
    models, folder = _listed_models(options, choice), Path(choice.suite.name)
    if models is None and folder.is_dir():
        raise DataError("file not found. Write one model per line, or give --models.", path=folder / "models_list.txt")
    if models is not None:
        choice.models(models)


def job_to_ask(options: argparse.Namespace, choice: Choice) -> Job:
    """Return the job of asking models; for a shipped suite without a list, all models of the local server."""
    models = _listed_models(options, choice)
    if models is None:
        with Heartbeat(lambda: "waiting for the local server"):
            models = tuple(dict.fromkeys(run_sync(local_models(timeout_s=options.timeout))))
        if not models:
            raise ConfigError("The local server lists no models. List them in a file and give it as --models.")
        print(f"polyjudge: models of the local server: {listed(models)}", file=sys.stderr)
    return make_job(choice, models, options.output, force=options.force)


def job_to_judge(options: argparse.Namespace, choice: Choice) -> Job:
    """Return the job of judging stored answers, and warn of answer files that cannot be read."""
    job = recorded_job(choice, _listed_models(options, choice), options.output, force=options.force)
    for path in sorted(job.records.damaged)[:_WARNINGS_SHOWN]:
        print_warning(f"{harmless(str(path))}: not a valid answer file, skipped")
    if len(job.records.damaged) > _WARNINGS_SHOWN:
        print_warning(f"{len(job.records.damaged)} invalid answer files skipped")
    return job
