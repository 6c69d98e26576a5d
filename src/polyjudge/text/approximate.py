"""Find where a text stands in another one with few mistakes, by edit distance; the time grows with the text."""

import re
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

LEAST_SIMILAR = 0.85
"""A match differs in at most 15% of its characters, by edit distance over the longer of both texts."""
CLEARLY_BETTER = 0.05
"""By how many edits a match must beat the second best, as a share of the searched text; at least by one."""
_GRAM = 3
_MAX_HITS = 20_000
"""Places of parts of the searched text that are looked at; parts that are more frequent are left out."""
_MAX_REGIONS = 8
"""Regions of the text that are compared by character."""
_DIGITS = re.compile(r"\d")

Numbers = NDArray[np.int64]


class Match(NamedTuple):
    """The best place of a text in another one, if it is clearly better than every other."""

    start: int = 0
    end: int = 0
    unique: bool = False


class ApproximateText:
    """A text that is searched often."""

    def __init__(self, text: str) -> None:
        """Sort the places of the text by the characters that follow."""
        self._text = text
        grams = _grams(text)
        self._order = np.argsort(grams, kind="stable").astype(np.int64)
        self._sorted = grams[self._order]

    def find(self, key: str) -> Match | None:
        """Return the best place of a key that is similar enough and has the same digits."""
        most = int((1 - LEAST_SIMILAR) * len(key) / LEAST_SIMILAR + 1e-9)
        if most == 0:
            return None
        starts, needed = self._shifts(key, most)
        if needed < 1:
            return Match()
        regions, missed = self._regions(starts, needed, len(key), most)
        found = [
            (edits, start + end)
            for start, stop in regions
            for end, edits in enumerate(_edits_by_end(key, self._text[start:stop], anchored=False))
            if edits <= most
        ]
        if not found:
            return None
        fewest = min(edits for edits, _ in found)
        margin = max(1.0, CLEARLY_BETTER * len(key))
        last = max(end for edits, end in found if edits == fewest)
        rivals = any(edits < fewest + margin and abs(end - last) > most for edits, end in found)
        could_be = len(key) + 1 - _GRAM - _GRAM * (fewest + margin)
        return self._match(key, fewest, last, unique=not rivals and missed < max(1.0, could_be))

    def _match(self, key: str, fewest: int, end: int, *, unique: bool) -> Match | None:
        backwards = self._text[max(0, end - len(key) - fewest) : end][::-1]
        edits = _edits_by_end(key[::-1], backwards, anchored=True)
        length = max(place for place, count in enumerate(edits) if count == min(edits))
        matched = self._text[end - length : end]
        similar = min(edits) <= (1 - LEAST_SIMILAR) * max(len(key), length) + 1e-9
        if not similar or not matched.strip() or _DIGITS.findall(matched) != _DIGITS.findall(key):
            return None
        inside = matched.strip()
        start = end - length + len(matched) - len(matched.lstrip())
        return Match(start, start + len(inside), unique)

    @staticmethod
    def _regions(starts: Numbers, needed: int, length: int, most: int) -> tuple[list[tuple[int, int]], int]:
        """Return the parts of the text that share most with a key, and how much the best that was left out shares."""
        regions: list[tuple[int, int]] = []
        shared = np.searchsorted(starts, starts + most, side="right") - np.arange(starts.size)
        while shared.size and (highest := int(shared.max())) >= needed:
            if len(regions) == _MAX_REGIONS:
                return regions, highest
            first = int(starts[np.argmax(shared)])
            regions.append((max(0, first - most), max(0, first + length + 3 * most)))
            shared[np.abs(starts - first) <= most] = 0
        return regions, 0

    def _shifts(self, key: str, most: int) -> tuple[Numbers, int]:
        """Return where the key would start by each part that it shares with the text, and how many a match shares."""
        grams = _grams(key)
        low, high = (np.searchsorted(self._sorted, grams, side=side) for side in ("left", "right"))
        rarest = np.argsort(high - low, kind="stable")
        taken = rarest[np.cumsum((high - low)[rarest]) <= _MAX_HITS]
        needed = grams.size - _GRAM * most - (grams.size - taken.size)
        hits = [self._order[low[place] : high[place]] - place for place in taken.tolist()]
        return np.sort(np.concatenate(hits)) if hits else np.empty(0, np.int64), needed


def _grams(text: str) -> Numbers:
    """Return each three characters that follow one another as one number."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32).astype(np.int64)
    if codes.size < _GRAM:
        return np.empty(0, np.int64)
    return (codes[:-2] << 42) | (codes[1:-1] << 21) | codes[2:]


def _edits_by_end(key: str, text: str, *, anchored: bool) -> list[int]:
    """Return for each end in a text, from 0 on, the edits from the key to the best part that ends there.

    An anchored part begins where the text begins. This is the algorithm of Myers (1999) as Hyyrö (2003) has it.
    """
    top, every = 1 << (len(key) - 1), (1 << len(key)) - 1
    places: dict[str, int] = {}
    for place, char in enumerate(key):
        places[char] = places.get(char, 0) | 1 << place
    up, down, edits = every, 0, len(key)
    found = [edits]
    for char in text:
        same = places.get(char, 0)
        diagonal = (((same & up) + up) ^ up) | same | down
        right, left = down | ~(diagonal | up), up & diagonal
        edits += bool(right & top) - bool(left & top)
        right = right << 1 | anchored
        up = ((left << 1) | ~(diagonal | right)) & every
        down = right & diagonal & every
        found.append(edits)
    return found
