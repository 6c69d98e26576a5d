"""Patterns of the words that judges use about their own verdicts, in many languages."""

import json
import re
import unicodedata
from collections import Counter
from functools import cache, lru_cache
from importlib.resources import files
from itertools import chain
from typing import Any

from polyjudge.text.numbers import fold_digits

_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff]")
_UNSPACED = "\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff"
_SEMITIC = re.compile("[\u0590-\u08ff]")
_INDIC = re.compile("[\u0900-\u0dff]")
_LETTER = r"\w\u0900-\u0dff"
_SEMITIC_PREFIX = "(?:وال|بال|فال|لل|ال|و|ف|ب|ل|ה|ו|ב|ל|ש)?"
_LONG = 4
"""Minimum letters of Indic and Semitic words that may have an ending."""

_WORD = re.compile(f"[{_LETTER}]+")
_IRREGULAR = "\u0590-\u08ff" + _UNSPACED
"""Characters of scripts whose words have prefixes, or no spaces between them."""
_START = 4
"""First letters by which the words of a text are compared with those of a list before a pattern is tried."""

_ANY_WORD = re.compile(r"[^\W\d_]+")
_KANA = "\u3040-\u30ff"
_HAN = "\u3400-\u9fff"
_OTHER_SCRIPT = "^\x00-\u024f\u0300-\u036f\u1e00-\u1eff\u2000-\u2bff\u3000-\u30ff\u3400-\u9fff\uff00-\uffef\ufffc"
_ALPHABETS = {
    "en": "",
    "de": "äöüß",
    "fr": "àâæçéèêëîïôœùûüÿ",
    "es": "áéíñóúü",
    "it": "àèéìòù",
    "pt": "áâãàçéêíóôõú",
    "ru": "абвгдеёжзийклмнопрстуфхцчшщъыьэюя",
}
_LEAST_SHARE = 0.2
"""Minimum share of common words in a sentence; in most sentences it is about half."""
_SHORT = 4


@cache
def characters(ranges: str) -> re.Pattern[str]:
    """Return the pattern of one character; wide ranges take milliseconds to compile, and ASCII texts need none."""
    return re.compile(f"[{ranges}]")


def normalise(text: str) -> str:
    """Return text in compatibility form, with ASCII digits and without invisible characters, as patterns require."""
    if text.isascii():
        return text
    return _INVISIBLE.sub("", unicodedata.normalize("NFKC", fold_digits(text)))


def pattern(kind: str, text: str, language: str | None = None) -> re.Pattern[str]:
    """Return the pattern of all words of one kind that a normalised text can have, in one language or in every one."""
    return _pattern(kind, language, text.isascii())


def has_word(text: str, *kinds: str, language: str | None = None) -> bool:
    """Return whether a normalised text has a word of one of the kinds, in one language or in any."""
    is_ascii = text.isascii()
    starts = _word_starts(text)
    known = _starts_of_all(kinds, language, is_ascii) if starts is not None else None
    if known is not None and starts is not None and starts.isdisjoint(known):
        return False
    for kind in kinds:
        known = _list_starts(kind, language, is_ascii) if starts is not None else None
        if known is not None and starts is not None and starts.isdisjoint(known):
            continue
        if _pattern(kind, language, is_ascii).search(text):
            return True
    return False


@cache
def _pattern(kind: str, language: str | None, is_ascii: bool) -> re.Pattern[str]:
    entries = _entries(kind, language, is_ascii)
    return re.compile(_alternatives(entries) if entries else r"(?!)", re.IGNORECASE)


def _entries(kind: str, language: str | None, is_ascii: bool) -> set[str]:
    """Return the words of one kind that a text can have; most texts are ASCII, and few words are needed for them."""
    tables = word_tables()
    chosen = tables.values() if language is None else (tables[language],)
    return {entry for table in chosen for entry in table.get(kind, ()) if not is_ascii or entry.isascii()}


@lru_cache(maxsize=16)
def _word_starts(text: str) -> set[str] | None:
    """Return the first letters of all words of a text, with a space after short words; None for irregular scripts."""
    if not text.isascii() and characters(_IRREGULAR).search(text):
        return None
    words = set(_WORD.findall(_folded(text)))
    return {word[:_START] if len(word) >= _START else word + " " for word in words} | {
        word[: _START - 1] for word in words
    }


def _folded(text: str) -> str:
    """Return text in lower case, with one form for letters that case-insensitive patterns treat as equal."""
    text = text.lower()
    return text if text.isascii() else text.replace("ς", "σ").replace("i\u0307", "i").replace("ı", "i")


@cache
def _list_starts(kind: str, language: str | None, is_ascii: bool) -> frozenset[str] | None:
    """Return the first letters of the words of one kind, like `_word_starts`; None if a word has no fixed start."""
    starts: set[str] = set()
    for entry in _entries(kind, language, is_ascii):
        first = _WORD.match(_folded(entry))
        if first is None:
            return None
        word, is_stem = first[0], entry[first.end() : first.end() + 1] == "*"
        if is_stem and len(word) < _START - 1:
            return None
        starts.add(word[:_START] if is_stem or len(word) >= _START else word + " ")
    return frozenset(starts)


@cache
def _starts_of_all(kinds: tuple[str, ...], language: str | None, is_ascii: bool) -> frozenset[str] | None:
    """Return the first letters of the words of all these kinds, as `_list_starts` does for one."""
    starts = [_list_starts(kind, language, is_ascii) for kind in kinds]
    known = [each for each in starts if each is not None]
    return frozenset[str]().union(*known) if len(known) == len(starts) else None


def languages_with(kind: str, text: str) -> list[str]:
    """Return the languages with a word of a kind in a normalised text, and with a list of words about verdicts."""
    return [
        each
        for each, table in word_tables().items()
        if kind in table and "verdict" in table and has_word(text, kind, language=each)
    ]


@cache
def key_words(kind: str) -> frozenset[str]:
    """Return words of one kind that occur in the keys of JSON objects."""
    return frozenset(word_tables()["keys"][kind])


@cache
def vocabulary(language: str) -> frozenset[str]:
    """Return the words that identify a language: its most common ones, and those of its table."""
    tables = word_tables()
    own: set[str] = {
        word for kind in tables.get(language, {}).values() for entry in kind for word in entry.rstrip("*").split()
    }
    return frozenset(own.union(tables["common"][language].split()))


@cache
def word_tables() -> dict[str, dict[str, Any]]:
    """Return the words by language and kind; the values of the file are also JSON, which is parsed 50 times faster."""
    rows: dict[str, list[str]] = {}
    language = ""
    for line in (files("polyjudge.judges") / "statement_words.toml").read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            language = line.strip("[]")
            rows[language] = []
        elif line and not line.startswith("#"):
            kind, _, words = line.partition(" = ")
            rows[language].append(f'"{kind}": {words}')
    return {language: json.loads(f"{{{','.join(table)}}}") for language, table in rows.items()}


def _alternatives(entries: set[str]) -> str:
    """Return one regular expression; words with the same start share a branch, so that a search takes linear time."""
    groups: dict[tuple[str, bool], list[list[str]]] = {}
    for entry in sorted(entries):  # in normalised form, which a test ensures
        tokens = _tokens(entry)
        is_whole_word = tokens[-1] != r"\w*" and entry[-1].isalnum() and _script(entry) != "unspaced"
        groups.setdefault((_script(entry), is_whole_word), []).append(tokens)
    before, after = f"(?<![{_LETTER}])", f"(?![{_LETTER}])"
    starts = {"semitic": before + _SEMITIC_PREFIX, "unspaced": ""}
    return "|".join(
        f"{starts.get(script, before)}(?:{_branches(group)}){after if is_whole_word else ''}"
        for (script, is_whole_word), group in groups.items()
    )


def _script(entry: str) -> str:
    if entry.isascii():
        return "spaced"
    if characters(_UNSPACED).match(entry):
        return "unspaced"
    return "semitic" if _SEMITIC.match(entry) else "spaced"


def _tokens(entry: str) -> list[str]:
    """Return the parts of an entry's regular expression: its characters, gaps between words, and its ending."""
    special = {" ": r"\s+", "*": r"\w*", "~": r"(?:[^\s.!?]+\s+){0,3}?"}
    tokens = [special.get(mark) or re.escape(mark) for mark in entry.replace(" ~ ", " ~")]
    is_inflected = (_INDIC.match(entry) or _SEMITIC.match(entry)) and len(entry) >= _LONG
    return [*tokens, r"\w*"] if is_inflected and not entry.endswith("*") else tokens


def _branches(words: list[list[str]]) -> str:
    """Return a regular expression that matches any of the words, given as lists of tokens, the longest first."""
    by_first: dict[str, list[list[str]]] = {}
    for word in words:
        if word:
            by_first.setdefault(word[0], []).append(word[1:])
    branches = "|".join(first + _branches(rest) for first, rest in by_first.items())
    if not branches or (len(by_first) == 1 and [] not in words):
        return branches
    return f"(?:{branches})" + ("?" if [] in words else "")


@cache
def _languages_of_words() -> dict[str, tuple[str, ...]]:
    """Return for each word the languages that have it in their vocabulary."""
    found: dict[str, tuple[str, ...]] = {}
    for language in word_tables()["common"]:
        for word in vocabulary(language):
            found[word] = (*found.get(word, ()), language)
    return found


@lru_cache(maxsize=16)
def checked_language(sentence: str) -> str | None:
    """Return the language of a normalised sentence if polyjudge can check its content, else None."""
    if not sentence.isascii():
        if characters(_KANA).search(sentence):
            return None if characters(_OTHER_SCRIPT).search(sentence) else "ja"
        if characters(_HAN).search(sentence):
            return None if characters(_OTHER_SCRIPT).search(sentence) else "zh"
    words = _ANY_WORD.findall(sentence.casefold())
    if not words:
        return None
    known = _languages_of_words()
    hits = Counter(chain.from_iterable(known.get(word, ()) for word in words))
    if not hits:
        return None
    letters = {letter for word in words if not word.isascii() for letter in word if letter > "\x7f"}
    candidates = [language for language, alphabet in _ALPHABETS.items() if letters <= set(alphabet)]
    best = max(candidates, key=lambda language: hits[language], default=None)
    if best is None or hits[best] < max(hits.values()) or hits[best] < _LEAST_SHARE * len(words):
        return None
    return best if hits[best] > 1 or (len(words) <= _SHORT and hits[best]) else None
