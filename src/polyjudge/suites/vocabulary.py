"""Suites of words, shipped or from a folder, and the tasks of asking models about them."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, cast

from msgspec.structs import replace

from polyjudge.errors import ConfigError, DataError, UnknownNameError
from polyjudge.files.ownership import refuse_foreign
from polyjudge.formats.vocabulary import SUMMARY_FILE, WordRecords, read_vocabulary, recorded_models
from polyjudge.judges.word_verdicts import PLACEHOLDERS, WordWording, load_wording, read_word_verdict, word_prompt
from polyjudge.records.vocabulary import PromptName, Vocabulary, VocabularyWord, WordRecord
from polyjudge.text.display import one_line

_FOLDER = "vocabularies"
_COLUMNS = ("model", "word", "category", "prompt")
"""The columns by which a suite can be filtered."""


def vocabulary_names() -> list[str]:
    """Return the names of the shipped suites."""
    return sorted(entry.name for entry in (files("polyjudge.suites") / _FOLDER).iterdir())


def load_vocabulary(name: str, *, with_models: bool = True) -> Vocabulary:
    """Load a suite from a folder, or else a shipped one by name."""
    folder = Path(name)
    if folder.is_dir():
        return read_vocabulary(folder, name, with_models=with_models)
    if name in vocabulary_names():
        return read_vocabulary(files("polyjudge.suites") / _FOLDER / name, name, with_models=with_models)
    raise UnknownNameError("folder or shipped suite of words", name, vocabulary_names())


def wording_of(vocabulary: Vocabulary) -> WordWording:
    """Return the judge's wording for a suite: that of its language, with the suite's replacements."""
    shipped = load_wording(vocabulary.language)
    wording = replace(shipped, **cast(dict[str, Any], dict(vocabulary.judge_wording)))
    path = f"{vocabulary.name}/prompts.json"
    for verdict, words in (("correct", wording.correct), ("incorrect", wording.incorrect)):
        wrong = [word for word in words if read_word_verdict(word, wording) != (verdict, False)]
        if wrong:
            message = f"judge_{verdict} has {wrong[0]!r}, which is not readable as this verdict; use another word"
            raise DataError(message, path=path)
    for name in ("judge_prompt_a", "judge_prompt_b"):
        unknown = [place for place in re.findall(r"\{([a-z_]+)\}", getattr(wording, name)) if place not in PLACEHOLDERS]
        if unknown:
            raise DataError(
                f"{name} has an unknown placeholder {{{unknown[0]}}}; known are {', '.join(PLACEHOLDERS)}", path=path
            )
    return wording


@dataclass(frozen=True, slots=True)
class WordTask:
    """One model, one word, one prompt."""

    model: str
    entry: VocabularyWord
    prompt: PromptName
    text: str
    """The prompt to the model, without the reference definition."""

    def judge_prompt(self, wording: WordWording, response: str) -> str:
        """Return the prompt to a judge about an answer."""
        word, reference = self.entry.word, self.entry.answer
        return word_prompt(wording, self.prompt, word=word, reference=reference, response=response, task=self.text)


def word_tasks(vocabulary: Vocabulary, models: Iterable[str]) -> list[WordTask]:
    """Return every word and prompt for every model, model by model, because local servers load one at a time."""
    return [
        WordTask(model, entry, name, prompt.replace("{word}", entry.word))
        for model in models
        for entry in vocabulary.words
        for name, prompt in vocabulary.prompts.items()
    ]


@dataclass(frozen=True, slots=True)
class Choice:
    """A suite and the selected part of it."""

    suite: Vocabulary
    words: frozenset[str]
    prompts: frozenset[str]
    filters: Mapping[str, frozenset[str]]
    """The selected values by column."""

    def models(self, models: Sequence[str]) -> tuple[str, ...]:
        """Filter models; raise an error if none remains."""
        chosen = tuple(name for name in models if _matches(self.filters, "model", name))
        if not chosen:
            raise ConfigError(f"no model matches the filter; there are {listed(models)}")
        return chosen


def choose(suite: Vocabulary, filters: Mapping[str, frozenset[str]], limit: int | None = None) -> Choice:
    """Filter the words and prompts of a suite; take only the first `limit` words."""
    unknown = [name for name in filters if name not in _COLUMNS]
    if unknown:
        raise ConfigError(f"unknown filter column {unknown[0]!r}; known are {', '.join(_COLUMNS)}")
    words = [
        entry.word
        for entry in suite.words
        if _matches(filters, "word", entry.word) and _matches(filters, "category", entry.category)
    ]
    prompts = [each for each in suite.prompts if _matches(filters, "prompt", each)]
    if not words or not prompts:
        raise ConfigError(f"no {'word' if not words else 'prompt'} of the suite {suite.name!r} matches the filter")
    return Choice(suite, frozenset(words[:limit]), frozenset(prompts), filters)


def _matches(filters: Mapping[str, frozenset[str]], column: str, value: str) -> bool:
    return column not in filters or value in filters[column]


def listed(models: Sequence[str]) -> str:
    """Join the names of models for a message."""
    return ", ".join(one_line(name, 100) for name in models)


@dataclass(frozen=True, slots=True)
class Job:
    """The tasks of a run over a suite, and its records."""

    vocabulary: Vocabulary
    every_task: Sequence[WordTask]
    """All tasks of the suite and its models."""
    tasks: Sequence[WordTask]
    """The selected tasks."""
    records: WordRecords

    def name(self, task: WordTask) -> str:
        """Return the id of a task, which is also the name of its record."""
        return self.records.name(task.model, task.entry.word, task.prompt)

    def record(self, task: WordTask) -> WordRecord | None:
        """Return the record of a task; None if there is none, or only for another prompt."""
        record = self.records.read(task.model, task.entry.word, task.prompt)
        return record if record is not None and record.prompt == task.text else None


def make_job(choice: Choice, models: Sequence[str], folder: Path, *, force: bool = False) -> Job:
    """Return the job of asking models about the chosen words, with records in a folder."""
    suite, wanted = choice.suite, choice.models(models) if models else ()
    refuse_foreign(folder / SUMMARY_FILE, force=force)
    # File names must not depend on the filter of this run, so they are made from all words and models.
    records = WordRecords(folder, models, [entry.word for entry in suite.words], force=force)
    every_task = word_tasks(suite, models)
    tasks = [
        task
        for task in every_task
        if task.model in wanted and task.entry.word in choice.words and task.prompt in choice.prompts
    ]
    return Job(suite, every_task, tasks, records)


def recorded_job(choice: Choice, models: Sequence[str] | None, folder: Path, *, force: bool = False) -> Job:
    """Return the job over the stored answers of the given models, or of all models in the folder."""
    job = make_job(choice, recorded_models(folder) if models is None else models, folder, force=force)
    records = [job.record(task) for task in job.tasks]  # reads every record, so that damaged ones are found
    if not any(records):
        message = f"no answers to the suite {choice.suite.name!r}; run polyjudge vocabulary generate first"
        raise DataError(message, path=folder)
    return job
