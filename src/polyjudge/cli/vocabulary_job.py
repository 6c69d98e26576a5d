"""What the actions of `polyjudge vocabulary` share: which words, which models, and where the answers stand."""

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from polyjudge.errors import ConfigError, DataError
from polyjudge.formats.vocabulary import SUMMARY_FILE, WordRecords, read_models, recorded_models
from polyjudge.providers.local import local_models
from polyjudge.records.vocabulary import Vocabulary, WordRecord
from polyjudge.suites.vocabulary import WordTask, load_vocabulary, vocabulary_names, word_tasks
from polyjudge.text.display import harmless, one_line

from .heartbeat import Heartbeat
from .options import Several, add_force_option, at_least, check_output, filters_of

_DEFAULT_SUITE = "suite"
_COLUMNS = ("model", "word", "category", "prompt")
_USUAL_TEMPERATURE = 0.2
_WARNINGS_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Choice:
    """A suite, and what of it is wanted today."""

    suite: Vocabulary
    words: frozenset[str]
    prompts: frozenset[str]


@dataclass(frozen=True, slots=True)
class Job:
    """Words and the models that are asked about them."""

    vocabulary: Vocabulary
    every_task: Sequence[WordTask]
    """All that the suite and its models come to."""
    tasks: Sequence[WordTask]
    """What is wanted today."""
    records: WordRecords

    def record(self, task: WordTask) -> WordRecord | None:
        """Return what a model answered, if it was asked; an answer to another prompt is none."""
        record = self.records.read(task.model, task.entry.word, task.prompt)
        return record if record is not None and record.prompt == task.text else None


def add_suite_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say what is asked and where it is kept."""
    add, shipped = parser.add_argument, ", ".join(vocabulary_names())
    add(
        "--suite", metavar="DIR|NAME", help=f"a folder of words and prompts, or {shipped}; default: suite, else spanish"
    )
    add("--models", type=Path, metavar="FILE", help="models, one a line; default: the suite's, else the server's")
    add_output_option(parser)
    add("--filter", action=Several, default=[], metavar="COLUMN=VALUE,…", help=f"of {', '.join(_COLUMNS)}")
    add("--limit", type=at_least(1), metavar="N", help="only the first N words")


def add_output_option(parser: argparse.ArgumentParser) -> None:
    """Add the folder that all actions write to."""
    told = "folder for answers, judgements and summary; default: %(default)s"
    parser.add_argument("--output", type=Path, default=Path("output"), metavar="DIR", help=told)
    add_force_option(parser.add_argument)


def add_model_options(parser: argparse.ArgumentParser, *, concurrency: str) -> None:
    """Add the options that say how models are asked."""
    add = parser.add_argument_group("models").add_argument
    add("--temperature", metavar="T", help=f"default: POLYJUDGE_TEMPERATURE, else {_USUAL_TEMPERATURE}")
    add("--max-answer-tokens", type=at_least(1), metavar="N", help="most tokens of one answer; default: the server's")
    in_flight = "questions to a model at once; default: %(default)s"
    add(concurrency, dest="model_concurrency", type=at_least(1), default=4, metavar="N", help=in_flight)


def temperature_of(options: argparse.Namespace) -> float:
    """Return the temperature that models are asked at."""
    given = options.temperature or os.environ.get("POLYJUDGE_TEMPERATURE", "").strip() or str(_USUAL_TEMPERATURE)
    name = "--temperature" if options.temperature else "POLYJUDGE_TEMPERATURE"
    try:
        temperature = float(given)
    except ValueError:
        temperature = -1.0
    if not 0 <= temperature <= 2:
        raise ConfigError(f"{name} is a number between 0 and 2, not {given!r}")
    return temperature


def open_suite(options: argparse.Namespace) -> Choice:
    """Return the suite, and the words and prompts of it that are wanted."""
    if options.output.exists() and not options.output.is_dir():
        raise ConfigError(f"--output {str(options.output)!r} is no folder")
    name = options.suite
    if name is None:
        name = _DEFAULT_SUITE if Path(_DEFAULT_SUITE).is_dir() else "spanish"
        if name != _DEFAULT_SUITE:
            print("polyjudge: there is no folder 'suite' here; the shipped suite 'spanish' is used", file=sys.stderr)
    suite, filters = load_vocabulary(name, with_models=options.models is None), _filters(options)
    words = [
        entry.word
        for entry in suite.words
        if _wanted(filters, "word", entry.word) and _wanted(filters, "category", entry.category)
    ]
    prompts = [each for each in suite.prompts if _wanted(filters, "prompt", each)]
    if not words or not prompts:
        raise ConfigError(f"--filter leaves no {'word' if not words else 'prompt'} of the suite {name!r}")
    return Choice(suite, frozenset(words[: options.limit]), frozenset(prompts))


def _listed_models(options: argparse.Namespace, choice: Choice) -> tuple[str, ...] | None:
    """Return the models that a file names; None where there is no such file."""
    if options.models is not None:
        return read_models(options.models, options.models)
    return choice.suite.models


async def models_to_ask(options: argparse.Namespace, choice: Choice) -> tuple[str, ...]:
    """Return the models that are asked; for a shipped suite without a list, those that the server has."""
    models = _listed_models(options, choice)
    if models is None:
        with Heartbeat(lambda: "waiting for the local server"):
            models = tuple(dict.fromkeys(await local_models(timeout_s=options.timeout)))
        if not models:
            raise ConfigError("the local server lists no models; name them in a file and give it as --models")
        print(f"polyjudge: models of the local server: {_listed(models)}", file=sys.stderr)
    _filtered(options, models)
    return models


def need_models_file(options: argparse.Namespace, choice: Choice) -> None:
    """Refuse a suite of one's own that names no models: it has a place for them."""
    models, folder = _listed_models(options, choice), Path(choice.suite.name)
    if models is None and folder.is_dir():
        raise DataError("is missing; write one model a line, or give --models", path=folder / "models_list.txt")
    if models is not None:
        _filtered(options, models)


def job_of(options: argparse.Namespace, choice: Choice, models: tuple[str, ...]) -> Job:
    """Return the job of asking these models about these words."""
    suite, wanted = choice.suite, _filtered(options, models) if models else ()
    # Which file is whose must not hang on what is asked today, so all words and models have a name.
    check_output(options.output / SUMMARY_FILE, [], force=options.force)
    records = WordRecords(options.output, models, [entry.word for entry in suite.words], force=options.force)
    every_task = word_tasks(suite, models)
    tasks = [
        task
        for task in every_task
        if task.model in wanted and task.entry.word in choice.words and task.prompt in choice.prompts
    ]
    return Job(suite, every_task, tasks, records)


def recorded_job(options: argparse.Namespace, choice: Choice) -> Job:
    """Return the job over what models answered earlier."""
    listed = _listed_models(options, choice)
    job = job_of(options, choice, tuple(recorded_models(options.output)) if listed is None else listed)
    records = [job.record(task) for task in job.tasks]
    _warn_of_damage(job)
    if not any(records):
        told = f"holds no answer to the suite {choice.suite.name!r}; polyjudge vocabulary generate asks for them"
        raise DataError(told, path=options.output)
    return job


def _warn_of_damage(job: Job) -> None:
    """Name the files that should hold answers and cannot be read."""
    for path in sorted(job.records.damaged)[:_WARNINGS_SHOWN]:
        print(f"polyjudge: warning: {harmless(str(path))}: is no record of an answer", file=sys.stderr)
    if len(job.records.damaged) > _WARNINGS_SHOWN:
        print(f"polyjudge: warning: {len(job.records.damaged)} files are no records of answers", file=sys.stderr)


def _filtered(options: argparse.Namespace, models: tuple[str, ...]) -> tuple[str, ...]:
    chosen = tuple(name for name in models if _wanted(_filters(options), "model", name))
    if not chosen:
        raise ConfigError(f"--filter leaves no model; there are {_listed(models)}")
    return chosen


def _listed(models: tuple[str, ...]) -> str:
    return ", ".join(one_line(name, 100) for name in models)


def _filters(options: argparse.Namespace) -> Mapping[str, frozenset[str]]:
    filters = filters_of(options.filter)
    unknown = [name for name in filters if name not in _COLUMNS]
    if unknown:
        raise ConfigError(f"--filter {unknown[0]}=…: there are {', '.join(_COLUMNS)}")
    return filters


def _wanted(filters: Mapping[str, frozenset[str]], column: str, value: str) -> bool:
    return column not in filters or value in filters[column]
