"""Suites of words: shipped ones by name, the user's own by folder."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any, cast

from polyjudge.errors import UnknownNameError
from polyjudge.files import read_vocabulary
from polyjudge.judges import WordWording, load_wording, word_prompt
from polyjudge.records import PromptName, Vocabulary, VocabularyWord

_FOLDER = "vocabularies"


def vocabulary_names() -> list[str]:
    """Return the suites that ship with polyjudge."""
    return sorted(entry.name for entry in (files("polyjudge.suites") / _FOLDER).iterdir())


def load_vocabulary(name: str) -> Vocabulary:
    """Return a suite from a folder, or a shipped one by its name; a folder goes first."""
    folder = Path(name)
    if folder.is_dir():
        return read_vocabulary(folder, name)
    if name in vocabulary_names():
        return read_vocabulary(files("polyjudge.suites") / _FOLDER / name, name)
    raise UnknownNameError("folder or shipped suite of words", name, vocabulary_names())


def wording_of(vocabulary: Vocabulary) -> WordWording:
    """Return how a judge is asked about a suite: the shipped wording of its language, with what the suite replaces."""
    shipped = load_wording(vocabulary.language)
    return replace(shipped, **cast(dict[str, Any], dict(vocabulary.judge_wording)))


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
