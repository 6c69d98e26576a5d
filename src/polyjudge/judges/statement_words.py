"""The words by which judges speak about their own verdicts, in many languages, as patterns."""

import re
import tomllib
import unicodedata
from functools import cache
from importlib.resources import files

from polyjudge.text.numbers import fold_digits

_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff]")
_UNSPACED = re.compile("[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff]")
_SEMITIC = re.compile("[\u0590-\u08ff]")
_INDIC = re.compile("[\u0900-\u0dff]")
_CHINESE_NUMBER = re.compile("[零〇一二两兩三四五六七八九十百]{2,5}|[零一二两三四五六七八九十](?=分)")
_LETTER = r"\w\u0900-\u0dff"
_SEMITIC_PREFIX = "(?:وال|بال|فال|لل|ال|و|ف|ب|ل|ה|ו|ב|ל|ש)?"
_LONG = 4
"""Indic and Semitic words of so many letters may have an ending."""


def normalise(text: str) -> str:
    """Return text in compatibility form with ASCII digits and without invisible characters, as patterns expect it."""
    if text.isascii():
        return text
    return _INVISIBLE.sub("", unicodedata.normalize("NFKC", fold_digits(text)))


@cache
def pattern(kind: str) -> re.Pattern[str]:
    """Return the pattern of all words of one kind, in every language."""
    entries = {entry for table in _tables().values() for entry in table.get(kind, ())}
    return re.compile(_alternatives(entries), re.IGNORECASE)


def has_word(text: str, *kinds: str) -> bool:
    """Say whether a normalised text has a word of one of the kinds."""
    return any(pattern(kind).search(text) for kind in kinds)


@cache
def _number_words() -> tuple[re.Pattern[str], dict[str, int]]:
    """Return the pattern of number words such as "twenty", and their values in lower case."""
    pairs = [entry.rsplit(" ", 1) for table in _tables().values() for entry in table.get("numbers", ())]
    values = {normalise(word).casefold(): int(number) for word, number in pairs}
    return re.compile(_alternatives({word for word, _ in pairs}), re.IGNORECASE), values


def has_number_word(text: str) -> bool:
    """Say whether a normalised text has a word for a number."""
    return _number_words()[0].search(text) is not None or _CHINESE_NUMBER.search(text) is not None


@cache
def key_words(kind: str) -> frozenset[str]:
    """Return words of one kind that occur in the keys of JSON objects."""
    return frozenset(_tables()["keys"][kind])


def with_digits(said: str, *, least: int = 0) -> str:
    """Return a sentence with number words as digits, if one of them is at least `least`: "eighty-five", "vingt"."""
    words, values = _number_words()
    if least and not any(values.get(match[0].casefold(), 0) >= least for match in words.finditer(said)):
        return said
    said = words.sub(lambda match: str(values.get(match[0].casefold(), match[0])), said)
    said = re.sub(r"\b([2-9]0)(?: | and | y | e |-)([2-9])\b", lambda match: str(int(match[1]) + int(match[2])), said)
    return _CHINESE_NUMBER.sub(lambda match: str(_chinese(match[0])), said)


@cache
def _tables() -> dict[str, dict[str, list[str]]]:
    path = files("polyjudge.judges") / "statement_words.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))


def _alternatives(entries: set[str]) -> str:
    """Return one regular expression; words that begin alike share a branch, so that a search takes linear time."""
    groups: dict[str, list[list[str]]] = {}
    for entry in sorted(map(normalise, entries)):
        groups.setdefault(_script(entry), []).append(_tokens(entry))
    before = f"(?<![{_LETTER}])"
    starts = {"semitic": before + _SEMITIC_PREFIX, "unspaced": ""}
    return "|".join(f"{starts.get(script, before)}{_branches(group)}" for script, group in groups.items())


def _script(entry: str) -> str:
    if _UNSPACED.match(entry):
        return "unspaced"
    return "semitic" if _SEMITIC.match(entry) else "spaced"


def _tokens(entry: str) -> list[str]:
    """Return the parts of an entry's regular expression: its characters, gaps between words, and what may end it."""
    special = {" ": r"\s+", "*": r"\w*", "~": r"(?:[^\s.!?]+\s+){0,3}?"}
    tokens = [special.get(mark) or re.escape(mark) for mark in entry.replace(" ~ ", " ~")]
    is_inflected = (_INDIC.match(entry) or _SEMITIC.match(entry)) and len(entry) >= _LONG
    if is_inflected and not entry.endswith("*"):
        tokens.append(r"\w*")
    elif entry[-1].isalnum() and not _UNSPACED.match(entry):
        tokens.append(rf"(?![{_LETTER}])")
    return tokens


def _branches(words: list[list[str]]) -> str:
    """Return a regular expression that matches any of the words, given as lists of tokens, the longest first."""
    by_first: dict[str, list[list[str]]] = {}
    for word in words:
        if word:
            by_first.setdefault(word[0], []).append(word[1:])
    branches = "|".join(first + _branches(rest) for first, rest in by_first.items())
    if not branches:
        return ""
    return f"(?:{branches})" + ("?" if [] in words else "")


def _chinese(digits: str) -> int:
    total, current = 0, 0
    for digit in digits:
        value = "零一二三四五六七八九".find(digit.translate(str.maketrans("〇两兩", "零二二")))
        if value >= 0:
            current = value
        else:
            total += max(current, 1) * (10 if digit == "十" else 100)
            current = 0
    return total + current
