"""Recognise plain reasons: those that certainly state no other score, scale or label than their verdict.

Most reasons are plain. They need not be read sentence by sentence in `statements.py`, whose patterns take longer to
compile and to search than everything else in a clean reply.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from polyjudge.records.rubrics import Scale

from .judged_text import ReplyContext
from .statement_words import word_tables

_WORD = re.compile("[a-z]+")
_STEM = re.compile(r"[a-z]+\*?")
"""A word of a list; one with an asterisk may have any ending."""
_WITH_DIGIT = re.compile(r"\S*\d\S*")
_SMALL_NUMBERS = re.compile(r"\t(?:\d|10)\t(.+)")
"""The forms of numbers that usually count something, and matter only beside a low score."""
_GREAT_NUMBERS = re.compile(r"\t(?:1[1-9]|[2-9]\d|100)\t(.+)")
_KINDS = ("refusal", "example", "score", "highest")
"""Kinds of words that may state a verdict without a number."""
_KINDS_BESIDE_NUMBER = (*_KINDS, "final", "revision", "correction", "scale")
_INVERTED = frozenset({"lower"})
_SCALE_WORDS = {"out", "best", "perfect", "flawless", "note*", "nota*", "cali*", "punt*", "aval*", "valu*", "bewe*"}
"""With the one above, words of the patterns of other scales in `stated_numbers.py`."""
_SMALL = 20


def is_low(number: float, scale: Scale) -> bool:
    """Return whether a number is so low on its scale that it may be on a scale to 5, 10 or 20."""
    return 0 < number <= _SMALL < scale.highest


def has_plain_reason(value: Mapping[str, Any], keys: tuple[str, ...], context: ReplyContext) -> bool:
    """Return whether the only text beside the answer of a verdict is a plain reason, or there is none.

    A plain reason is in ASCII, and has no number but the score, once, as a word of its own. None of its words, in any
    language, is a number or belongs to a score, a scale, a refusal or an example.
    """
    texts = [(key, each) for key, each in value.items() if isinstance(each, str) and key not in keys]
    if not texts:
        return True
    score, (key, reason) = value.get("score"), texts[0]
    if len(texts) > 1 or key != "reason" or context.labels or not reason.isascii():
        return False
    if "score" not in keys or isinstance(score, bool) or not isinstance(score, int | float):
        return False
    numbers = _WITH_DIGIT.findall(reason)
    if len(numbers) > 1 or (numbers and numbers[0].rstrip(".,;:!?") != f"{score:g}"):
        return False
    words = set(_WORD.findall(reason.lower()))
    words.update({f"{word[:4]}*" for word in words}, {f"{word[:3]}*" for word in words})
    beside_high, beside_low = _number_words()
    in_words = beside_low if is_low(score, context.scale) else beside_high
    telling = _telling_words(beside_number=bool(numbers))
    return telling.isdisjoint(words) and in_words.isdisjoint(words)


@cache
def _telling_words(*, beside_number: bool) -> frozenset[str]:
    """Return for each word or phrase that may state a verdict, in any language, one word of it: the longest."""
    kinds = _KINDS_BESIDE_NUMBER if beside_number else _KINDS
    entries = (entry for table in word_tables().values() for kind in kinds for entry in table.get(kind, ()))
    return _INVERTED.union(_SCALE_WORDS if beside_number else (), _longest_words(entries))


@cache
def _number_words() -> tuple[frozenset[str], frozenset[str]]:
    """Return one word of each number in words that matters beside a high score, and beside a low one.

    Beside a low score small numbers matter too, and great ones with any ending.
    """
    text = (files("polyjudge.judges") / "number_words.txt").read_text(encoding="utf-8")
    great, small = (set("\t".join(rows.findall(text)).split("\t")) for rows in (_GREAT_NUMBERS, _SMALL_NUMBERS))
    found = frozenset(_longest_words(great))
    return found, found.union(_longest_words(small), [f"{word[:4]}*" for word in found])


def _longest_words(entries: Iterable[str]) -> Iterator[str]:
    """Yield the longest word of each entry in ASCII; of one with any ending, the first letters and an asterisk."""
    for entry in entries:
        if entry.isascii():
            word = entry if entry.isalpha() else max(_STEM.findall(entry), key=len)
            yield f"{word[:-1][:4]}*" if word[-1] == "*" else word
