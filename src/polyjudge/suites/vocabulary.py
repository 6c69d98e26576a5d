"""Suites of words: shipped ones by name, the user's own by folder; and which models are asked about which words."""

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
from polyjudge.judges.word import WORD_PLACES, word_prompt
from polyjudge.judges.word_verdicts import WordWording, load_wording, read_word_verdict
from polyjudge.records.vocabulary import PromptName, Vocabulary, VocabularyWord, WordRecord
from polyjudge.text.display import one_line

_FOLDER = "vocabularies"
_COLUMNS = ("model", "word", "category", "prompt")
"""By which a part of a suite can be chosen."""


def vocabulary_names() -> list[str]:
    """Return the suites that ship with polyjudge."""
    return sorted(entry.name for entry in (files("polyjudge.suites") / _FOLDER).iterdir())


def load_vocabulary(name: str, *, with_models: bool = True) -> Vocabulary:
    """Return a suite from a folder, or a shipped one by its name; a folder goes first."""
    folder = Path(name)
    if folder.is_dir():
        return read_vocabulary(folder, name, with_models=with_models)
    if name in vocabulary_names():
        return read_vocabulary(files("polyjudge.suites") / _FOLDER / name, name, with_models=with_models)
    raise UnknownNameError("folder or shipped suite of words", name, vocabulary_names())


def wording_of(vocabulary: Vocabulary) -> WordWording:
    """Return how a judge is asked about a suite: the shipped wording of its language, with what the suite replaces."""
    shipped = load_wording(vocabulary.language)
    wording = replace(shipped, **cast(dict[str, Any], dict(vocabulary.judge_wording)))
    path = f"{vocabulary.name}/prompts.json"
    for verdict, words in (("correct", wording.correct), ("incorrect", wording.incorrect)):
        wrong = [word for word in words if read_word_verdict(word, wording) != (verdict, False)]
        if wrong:
            told = f"judge_{verdict} has {wrong[0]!r}, which no reply can begin with, or which means both verdicts"
            raise DataError(told, path=path)
    for name in ("judge_prompt_a", "judge_prompt_b"):
        unknown = [place for place in re.findall(r"\{([a-z_]+)\}", getattr(wording, name)) if place not in WORD_PLACES]
        if unknown:
            raise DataError(
                f"{name} has an unknown place {{{unknown[0]}}}; known are {', '.join(WORD_PLACES)}", path=path
            )
    return wording


@dataclass(frozen=True, slots=True)
class WordTask:
    """One model, one word, one prompt."""

    model: str
    entry: VocabularyWord
    prompt: PromptName
    text: str
    """What the model is asked; the reference definition is not in it."""

    def judge_prompt(self, wording: WordWording, response: str) -> str:
        """Return what a judge is asked about an answer."""
        word, reference = self.entry.word, self.entry.answer
        return word_prompt(wording, self.prompt, word=word, reference=reference, response=response, task=self.text)


def word_tasks(vocabulary: Vocabulary, models: Iterable[str]) -> list[WordTask]:
    """Return every word and prompt for every model, model by model: local servers swap weights."""
    return [
        WordTask(model, entry, name, prompt.replace("{word}", entry.word))
        for model in models
        for entry in vocabulary.words
        for name, prompt in vocabulary.prompts.items()
    ]


@dataclass(frozen=True, slots=True)
class Choice:
    """A suite, and which part of it is wanted."""

    suite: Vocabulary
    words: frozenset[str]
    prompts: frozenset[str]
    filters: Mapping[str, frozenset[str]]
    """The values that are wanted, by column."""

    def models(self, models: Sequence[str]) -> tuple[str, ...]:
        """Return the wanted ones of some models; none is an error."""
        chosen = tuple(name for name in models if _is_wanted(self.filters, "model", name))
        if not chosen:
            raise ConfigError(f"the filter leaves no model; there are {listed(models)}")
        return chosen


def choose(suite: Vocabulary, filters: Mapping[str, frozenset[str]], limit: int | None = None) -> Choice:
    """Choose words and prompts of a suite by the values of columns, of the words only the first `limit`."""
    unknown = [name for name in filters if name not in _COLUMNS]
    if unknown:
        raise ConfigError(f"words cannot be filtered by {unknown[0]!r}; there are {', '.join(_COLUMNS)}")
    words = [
        entry.word
        for entry in suite.words
        if _is_wanted(filters, "word", entry.word) and _is_wanted(filters, "category", entry.category)
    ]
    prompts = [each for each in suite.prompts if _is_wanted(filters, "prompt", each)]
    if not words or not prompts:
        raise ConfigError(f"the filter leaves no {'word' if not words else 'prompt'} of the suite {suite.name!r}")
    return Choice(suite, frozenset(words[:limit]), frozenset(prompts), filters)


def _is_wanted(filters: Mapping[str, frozenset[str]], column: str, value: str) -> bool:
    return column not in filters or value in filters[column]


def listed(models: Sequence[str]) -> str:
    """Return the names of models as a message shows them."""
    return ", ".join(one_line(name, 100) for name in models)


@dataclass(frozen=True, slots=True)
class Job:
    """Words and the models that are asked about them."""

    vocabulary: Vocabulary
    every_task: Sequence[WordTask]
    """All of the suite, for all of its models."""
    tasks: Sequence[WordTask]
    """The wanted part."""
    records: WordRecords

    def name(self, task: WordTask) -> str:
        """Return the id of a task, which is the name of its record."""
        return self.records.name(task.model, task.entry.word, task.prompt)

    def record(self, task: WordTask) -> WordRecord | None:
        """Return what a model answered, if it was asked; an answer to another prompt is none."""
        record = self.records.read(task.model, task.entry.word, task.prompt)
        return record if record is not None and record.prompt == task.text else None


def make_job(choice: Choice, models: Sequence[str], folder: Path, *, force: bool = False) -> Job:
    """Return the job of asking these models about the chosen words; the answers are stored in a folder."""
    suite, wanted = choice.suite, choice.models(models) if models else ()
    refuse_foreign(folder / SUMMARY_FILE, force=force)
    # The name of a file must not depend on what is asked today, so all words and models have one.
    records = WordRecords(folder, models, [entry.word for entry in suite.words], force=force)
    every_task = word_tasks(suite, models)
    tasks = [
        task
        for task in every_task
        if task.model in wanted and task.entry.word in choice.words and task.prompt in choice.prompts
    ]
    return Job(suite, every_task, tasks, records)


def recorded_job(choice: Choice, models: Sequence[str] | None, folder: Path, *, force: bool = False) -> Job:
    """Return the job over what models answered earlier: those given, or all that the folder has answers of."""
    job = make_job(choice, recorded_models(folder) if models is None else models, folder, force=force)
    records = [job.record(task) for task in job.tasks]  # all of them, so that each damaged one is found
    if not any(records):
        told = f"holds no answer to the suite {choice.suite.name!r}; polyjudge vocabulary generate asks for them"
        raise DataError(told, path=folder)
    return job
