"""Read what a judge says of a model's grasp of a word: one of two words, in the language it was asked in."""

import re
import tomllib
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Literal, NamedTuple

from polyjudge.errors import DataError, UnknownNameError
from polyjudge.files import from_snake_json

from .asides import split_reasoning

WordVerdict = Literal["correct", "incorrect", "undetermined"]

_ACCENT = re.compile("[\u0300-\u036f]")
_MARKUP = re.compile(r"<[^<>\n]{0,100}>|\\[a-zA-Z]+(?=\{)|[*_`#>~\"'“”‘’«»„]")
_LONGEST = 20_000
"""Characters that are looked at: a verdict is the first word, and what takes it back is not far."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WordWording:
    """How a judge is asked about a word in one language, and which words its verdict is read by."""

    note: str
    """Says that what is fenced off is material."""
    judge_prompt_a: str
    judge_prompt_b: str
    correct: tuple[str, ...]
    """How the verdict may begin."""
    incorrect: tuple[str, ...]
    correct_letter: str = ""
    incorrect_letter: str = ""
    negations: tuple[str, ...] = ()
    leads: tuple[str, ...] = ()
    """Words that may stand before a verdict in a clause that says nothing else."""


class WordReading(NamedTuple):
    """What a reply comes to."""

    verdict: WordVerdict
    contradictory: bool = False
    """The reply says one thing and then the other."""

    @property
    def problem(self) -> str:
        """Say why there is no verdict, where there is none."""
        if self.verdict != "undetermined":
            return ""
        return "the reply contradicts itself" if self.contradictory else "the reply gives neither verdict"


class _Clause(NamedTuple):
    words: list[str]
    announces: bool
    """A colon follows: what it says is about what comes after."""


def wording_languages() -> list[str]:
    """Return the languages that a judge's wording ships for."""
    return sorted(entry.name.removesuffix(".toml") for entry in (files("polyjudge.judges") / "words").iterdir())


@lru_cache(maxsize=16)
def load_wording(language: str) -> WordWording:
    """Return the wording that ships for a language."""
    if language not in wording_languages():
        raise UnknownNameError("language of a judge's wording", language, wording_languages())
    text = (files("polyjudge.judges") / "words" / f"{language}.toml").read_text(encoding="utf-8")
    try:
        return from_snake_json(WordWording, tomllib.loads(text), strict=True)
    except DataError as error:
        raise DataError(str(error), path=f"{language}.toml") from None


def read_word_verdict(text: str, wording: WordWording) -> WordReading:
    """Return the verdict that the first word of a reply gives, unless the rest takes it back."""
    clauses = list(_clauses(split_reasoning(text[:_LONGEST], in_prose=True)[0]))
    words = [word for clause in clauses for word in clause.words]
    if not words:
        return WordReading("undetermined")
    if len(words) == 1 and words[0] in (wording.correct_letter, wording.incorrect_letter):
        return WordReading("correct" if words[0] == wording.correct_letter else "incorrect")
    first = _side(words[0], wording)
    if first is None:
        return WordReading("undetermined")
    if any(_takes_back(clause, first, number == 0, wording) for number, clause in enumerate(clauses)):
        return WordReading("undetermined", contradictory=True)
    return WordReading("correct" if first else "incorrect")


def _takes_back(clause: _Clause, first: bool, is_first: bool, wording: WordWording) -> bool:
    """Say whether a clause gives the other verdict.

    A "correct" is taken back by any "incorrect" after it. An "incorrect" is not by every "correct", since judges go on
    to say what would be: only by a clause that says just that.
    """
    words, negations = clause.words, _plain_all(wording.negations)
    if first and not is_first and len(words) == 1 and words[0] in negations:
        return True
    for place, word in enumerate(words):
        side = _side(word, wording)
        if side is None or (is_first and place == 0 and not _denied_after(words, negations, first)):
            continue
        is_denied = any(each in negations for each in words[:place]) or _denied_after(words[place:], negations, side)
        if (side != is_denied) != first and (first or _says_only_that(clause, place, wording)):
            return True
    return False


def _denied_after(words: list[str], negations: frozenset[str], side: bool) -> bool:
    """Say whether the first of the words is denied by the next, as Hindi does: सही नहीं."""
    return side and len(words) > 1 and words[1] in negations


def _says_only_that(clause: _Clause, place: int, wording: WordWording) -> bool:
    allowed = _plain_all(wording.leads) | _plain_all(wording.negations)
    return (
        not clause.announces and place == len(clause.words) - 1 and all(each in allowed for each in clause.words[:-1])
    )


def _side(word: str, wording: WordWording) -> bool | None:
    """Say which verdict a word gives, if any; "incorrect" is looked for first, in case one begins like the other."""
    if word.startswith(tuple(_plain_all(wording.incorrect))):
        return False
    return True if word.startswith(tuple(_plain_all(wording.correct))) else None


def _clauses(text: str) -> Iterator[_Clause]:
    """Yield what stands between signs that end a clause; text without spaces is one word."""
    plain = _plain(_MARKUP.sub(" ", text))
    within = "".join(_letter_or_gap(letter) for letter in plain)
    for clause in re.finditer(r"[^|]+", within):
        words = clause[0].split()
        if words:
            yield _Clause(words, plain[clause.end() : clause.end() + 1] == ":")


def _letter_or_gap(letter: str) -> str:
    """Return a letter as it is, a space for what only parts words, and | for what parts clauses."""
    kind = unicodedata.category(letter)
    if kind[0] in "LM":
        return letter
    return " " if kind in ("Zs", "Cf", "Pd") or kind[0] == "N" or letter == "\t" else "|"


def _plain(text: str) -> str:
    """Return text without the differences that mean nothing here: case, accents, width."""
    return _ACCENT.sub("", unicodedata.normalize("NFKD", text)).casefold()


@lru_cache(maxsize=64)
def _plain_all(words: tuple[str, ...]) -> frozenset[str]:
    return frozenset(map(_plain, words))
