"""Suites of words: shipped ones by name, the user's own by folder."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, cast

from msgspec.structs import replace

from polyjudge.errors import DataError, UnknownNameError
from polyjudge.formats.vocabulary import read_vocabulary
from polyjudge.judges.word import WORD_PLACES, word_prompt
from polyjudge.judges.word_verdicts import WordWording, load_wording, read_word_verdict
from polyjudge.records.vocabulary import PromptName, Vocabulary, VocabularyWord

_FOLDER = "vocabularies"


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
