"""Identify the language of texts that belong together: those that are unsure alone, twenty at a time."""

from array import array
from collections.abc import Callable, Iterator, Sequence
from heapq import merge
from typing import Protocol

from polyjudge.records.findings import LanguageCheck

from .language import LONGEST

_POOLED = 20
"""Texts that are identified together where they are too short by themselves."""
_FEWEST_POOLED = 3
"""Texts that must be of another language together to be called wrong."""
_LATIN_END = "\u0250"


class OneOfMany(Protocol):
    """A text whose language was looked at by itself."""

    @property
    def identity(self) -> LanguageCheck:
        """Its language."""
        ...

    @property
    def plain(self) -> str:
        """The words by which it is identified."""
        ...


class _Places:
    """Places of texts, those in Latin letters apart: what is in another script has another language."""

    def __init__(self) -> None:
        self._by_script = {True: array("q"), False: array("q")}

    def add(self, place: int, plain: str) -> None:
        self._by_script[plain < _LATIN_END].append(place)

    def of(self, *, is_latin: bool) -> "array[int]":
        return self._by_script[is_latin]


def identified_together(
    found: Sequence[OneOfMany], check_words: Callable[[str], LanguageCheck]
) -> Iterator[tuple[Sequence[int], LanguageCheck]]:
    """Yield the places of texts that are identified by their words together, with what was found.

    The texts may be on disk: they are read in order, three times at most.
    """
    unsure, wrong, right, start = _Places(), _Places(), 0, ""
    for place, each in enumerate(found):
        state = each.identity.state
        right += state == "right"
        if len(start) < LONGEST:
            start = f"{start} {each.plain}"[:LONGEST] if place else each.plain
        if state != "right" and each.plain and not each.identity.strange_share:
            (wrong if state == "wrong" else unsure).add(place, each.plain)
    is_mostly_right = 2 * right >= len(found)
    for is_latin in (True, False):
        pooled = [unsure.of(is_latin=is_latin), *([] if is_mostly_right else [wrong.of(is_latin=is_latin)])]
        for pool in _pools(array("q", merge(*pooled))):
            together = check_words(" ".join(found[place].plain for place in pool)[:LONGEST])
            if together.state == "unsure" and is_mostly_right:
                together = check_words(start)
            if together.state == "right" or (together.state == "wrong" and len(pool) >= _FEWEST_POOLED):
                yield [place for place in pool if found[place].identity.state == "unsure"], together


def _pools(places: "array[int]") -> Iterator["array[int]"]:
    """Yield the places twenty at a time; the last pool may have up to twice as many."""
    start = 0
    while start < len(places):
        end = start + _POOLED if len(places) - start >= 2 * _POOLED else len(places)
        yield places[start:end]
        start = end
