"""How far two texts lie apart: the signs a reader would have to insert, delete or replace."""

import re

from polyjudge.text import graphemes

_SINGLE = re.compile(
    "[ -~\u00a0-\u02ff\u0370-\u0482\u048a-\u058f\u05d0-\u05ea\u060c\u061b\u061f-\u064a\u0660-\u066f\u0671-\u06d4"
    "\u06f0-\u06ff\u10a0-\u10ff\u1200-\u135a\u1361-\u137c\u1e00-\u1fff\u2010-\u2027\u2030-\u205e"
    "\u3001-\u3029\u3041-\u3096\u30a1-\u30ff\u3400-\u9fff\uac00-\ud7a3\uff01-\uff60]*"
)
"""Texts of these code points alone have one to a sign, and need not be taken apart by the rules for all others."""


def distance(first: str, second: str) -> int:
    """Return the Levenshtein distance of two texts in grapheme clusters."""
    return 0 if first == second else DistanceFrom(first).to(second)


class DistanceFrom:
    """Distances from one text to many: what depends on the one alone is worked out once."""

    def __init__(self, text: str) -> None:
        self._signs = _signs(text)
        self._places: dict[str, int] = {}
        for place, sign in enumerate(self._signs):
            self._places[sign] = self._places.get(sign, 0) | 1 << place

    def __len__(self) -> int:
        """Return how many signs the text has."""
        return len(self._signs)

    def to(self, other: str) -> int:
        """Return the distance to another text.

        Hyyrö's form of Myers's algorithm: a column of the table is two integers, the bits of which say where a cell is
        one more (`rises`) or one less (`falls`) than the cell above it. What both texts begin and end with is passed
        over: after an equal beginning the column is known, and bits above those of the end do not reach down.
        """
        signs = _signs(other)
        start = _same(self._signs, signs)
        end = _same(self._signs[start:][::-1], signs[start:][::-1])
        every = (1 << (len(self._signs) - end)) - 1
        falls = (1 << start) - 1
        rises = every ^ falls
        places = self._places
        for sign in signs[start : len(signs) - end]:
            same = places.get(sign, 0)
            straight = (((same & rises) + rises) ^ rises) | same | falls
            up = ((falls | ~(straight | rises)) << 1) | 1
            rises = (((rises & straight) << 1) | ~(straight | up)) & every
            falls = up & straight
        return len(signs) - end + rises.bit_count() - (falls & every).bit_count()


def _signs(text: str) -> list[str]:
    return list(text) if _SINGLE.fullmatch(text) else graphemes(text)


def _same(one: list[str], other: list[str]) -> int:
    """Return how many signs two lists have in common at their start."""
    for place, (left, right) in enumerate(zip(one, other, strict=False)):
        if left != right:
            return place
    return min(len(one), len(other))
