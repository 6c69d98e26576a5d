"""Find where a quoted text stands in a text: exactly, in another spelling, or with few mistakes; never by a guess."""

from array import array
from bisect import bisect_left
from collections.abc import Iterator
from functools import cached_property, lru_cache
from typing import Any, NamedTuple
from unicodedata import category, normalize

from polyjudge.records.spans import LocateMethod, Refusal

from .approximate import ApproximateText

LONGEST_FUZZY = 2_000
"""The longest quote that is searched for with mistakes, in characters."""
NEAR = 50
"""By how many characters a hint may be wrong."""
_MAX_PLACES = 500
"""Places of a quote that are looked at; of more, those around the hint."""
_CACHED_TEXTS = 4
_QUOTATION = "'\"`´‘’‚‛“”„‟‹›«»「」『』｢｣〝〞〟ʼʹ″′׳״"
_DASHES = "-‐‑‒–—―−⸺⸻﹘﹣－־"
_UNWRITTEN = "".join(map(chr, [*range(0x64B, 0x653), 0x670, 0x640, *range(0x5B0, 0x5BE), 0x5BF, 0x5C1, 0x5C2, 0x5C7]))
"""Vowel points of Arabic and Hebrew and the tatweel, which people and models leave out."""
_INVISIBLE = "".join(map(chr, [*range(0xFE00, 0xFE10), 0x34F]))
_SPELLED = str.maketrans(_QUOTATION + _DASHES, '"' * len(_QUOTATION) + "-" * len(_DASHES), _UNWRITTEN + _INVISIBLE)
_LONGEST_RUN = {" ": 1, "-": 1, '"': 1, ".": 2}
_AROUND = ' ".'
"""What judges put around a quote: quotation marks, and dots for what they leave out."""

Place = tuple[int, int]


class Located(NamedTuple):
    """Where a quote stands, in code points with an exclusive end; or why it has no place."""

    start: int | None = None
    end: int | None = None
    method: LocateMethod = ""
    refusal: Refusal = ""


def locate(
    quote: str, text: str, *, before: str = "", after: str = "", other: str = "", near: int | None = None
) -> Located:
    """Return the one place at which a quote stands in a text; it never begins or ends inside a grapheme.

    A quote that stands at several places is placed by the text before and after it, then by `near`, an offset that
    may be wrong by `NEAR` characters if the next place is twice as far; otherwise it is ambiguous. `other` is the
    text that it may have been quoted from instead: what stands only there is refused as such.
    """
    searched, keys = _searched(text), _keys(quote)
    found = searched.places(quote, keys, near)
    if any(found):
        place = _at(found, near) or searched.chosen(found, keys[0] if keys else "", before, after, near)
        return searched.located(place, quote) if place else Located(refusal="ambiguous")
    if not keys or keys[-1] in _AROUND:
        return Located(refusal="not in the text" if keys else "empty")
    if other and any(_searched(other).places(quote, keys, None)):
        return Located(refusal="in the other text")
    place, refusal = searched.alike(keys[0])
    if refusal == "not in the text" and other and _searched(other).alike(keys[0])[0]:
        refusal = "in the other text"
    return Located(*place, "fuzzy") if place else Located(refusal=refusal)


def whole_graphemes(text: str, start: int, end: int) -> tuple[int, int]:
    """Return a place widened to whole graphemes."""
    return _searched(text).widened(start, end)


def fold(text: str) -> str:
    """Return a text without what spellings of the same words differ in.

    These are case, compatibility forms, white space, quotation marks, dashes, dots, vowel points and invisible
    characters.
    """
    return _Folded(text).text


def _keys(quote: str) -> list[str]:
    """Return the folded quote, and the same without the marks around it."""
    folded = fold(quote).strip()
    return [key for key in dict.fromkeys((folded, folded.strip(_AROUND))) if key]


def _at(found: list[list[Place]], near: int | None) -> Place | None:
    return next((place for places in found for place in places if place[0] == near), None)


class _Folded:
    """The folded form of a text, with the graphemes of the text that each of its characters stands for."""

    def __init__(self, text: str) -> None:
        chars: list[str] = []
        self.starts, self.ends = array("L"), array("L")
        known: dict[str, str] = {}
        start = run = 0
        for end in _grapheme_ends(text):
            grapheme = text[start:end]
            spelled = known.get(grapheme)
            if spelled is None:
                spelled = known[grapheme] = _fold_grapheme(grapheme)
            for char in spelled:
                run = run + 1 if chars and chars[-1] == char else 1
                if run > _LONGEST_RUN.get(char, run):
                    self.ends[-1] = end
                else:
                    chars.append(char)
                    self.starts.append(start)
                    self.ends.append(end)
            start = end
        self.text = "".join(chars)

    def place(self, start: int, length: int) -> Place | None:
        """Return the place in the text of a part of the folded one, if it is whole graphemes."""
        end = start + length
        begins = start == 0 or self.starts[start - 1] != self.starts[start]
        stops = end == len(self.text) or self.ends[end] != self.ends[end - 1]
        return (self.starts[start], self.ends[end - 1]) if begins and stops else None

    def places(self, starts: list[int], length: int) -> list[Place]:
        """Return the places in the text of parts of the folded one, without those that are not whole graphemes."""
        return [place for start in starts if (place := self.place(start, length))]


class _Searched:
    """A text in which quotes are searched for."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._edges = bytearray(len(text) + 1)
        for edge in (0, *_grapheme_ends(text)):
            self._edges[edge] = True

    @cached_property
    def _folded(self) -> _Folded:
        return _Folded(self._text)

    @cached_property
    def _approximate(self) -> ApproximateText:
        return ApproximateText(self._folded.text)

    def widened(self, start: int, end: int) -> Place:
        """Return the smallest place of whole graphemes that contains a place."""
        first = self._edges.rfind(1, 0, start + 1)
        return max(first, 0), self._edges.find(1, max(end, first + 1)) if end > start else max(first, 0)

    def places(self, quote: str, keys: list[str], near: int | None) -> list[list[Place]]:
        """Return the places of a quote, and those of each of its folded forms; of very many, those around a hint."""
        around = None if near is None else bisect_left(self._folded.starts, near)
        starts = [_occurrences(self._folded.text, key, around) for key in keys]
        if keys and not any(starts):  # what is not there in another spelling is not there exactly either
            return []
        exact = [
            (start, start + len(quote))
            for start in _occurrences(self._text, quote, near)
            if self._edges[start] and self._edges[start + len(quote)]
        ]
        return [exact, *(self._folded.places(some, len(key)) for some, key in zip(starts, keys, strict=True))]

    def chosen(self, found: list[list[Place]], key: str, before: str, after: str, near: int | None) -> Place | None:
        """Return the place that the context or the hint distinguishes from all others."""
        places = next(filter(None, found))
        if len(places) == 1:
            return places[0]
        fitting = self._in_context(key, fold(before).strip(), fold(after).strip())
        if len(fitting) == 1:
            return fitting[0]
        if near is None:
            return None
        first, second = sorted(fitting or places, key=lambda place: abs(place[0] - near))[:2]
        distance = abs(first[0] - near)
        return first if distance <= NEAR and 2 * distance <= abs(second[0] - near) else None

    def _in_context(self, key: str, before: str, after: str) -> list[Place]:
        if not key or not (before or after):
            return []
        gaps = [(left, right) for left in ("", " ")[: 1 + bool(before)] for right in ("", " ")[: 1 + bool(after)]]
        starts = {
            start + len(before + left)
            for left, right in gaps
            for start in _occurrences(self._folded.text, before + left + key + right + after, None)
        }
        return [place for start in sorted(starts) if (place := self._folded.place(start, len(key)))]

    def located(self, place: Place, quote: str) -> Located:
        """Return a place with how it was found."""
        return Located(*place, "exact" if self._text[slice(*place)] == quote else "normalised")

    def alike(self, key: str) -> tuple[Place | None, Refusal]:
        """Return the only place of a folded quote with few mistakes, widened to whole graphemes; or why it has none."""
        match = self._approximate.find(key) if len(key) <= LONGEST_FUZZY else None
        if match is None or not match.unique:
            return None, "ambiguous" if match else "not in the text"
        return (self._folded.starts[match.start], self._folded.ends[match.end - 1]), ""


@lru_cache(maxsize=_CACHED_TEXTS)
def _searched(text: str) -> _Searched:
    return _Searched(text)


def _grapheme_ends(text: str) -> Iterator[int]:
    return (match.end() for match in _grapheme().finditer(text))


@lru_cache(maxsize=1)
def _grapheme() -> Any:
    import regex  # imported late: it is slow to load and most commands do not need it

    return regex.compile(r"\X")


def _occurrences(text: str, key: str, near: int | None) -> list[int]:
    """Return the first places of a key, overlapping ones too; if they are very many, the first ones around a hint."""
    found = _first(text, key, 0)
    return _first(text, key, max(0, near - _MAX_PLACES // 2)) if len(found) == _MAX_PLACES and near else found


def _first(text: str, key: str, start: int) -> list[int]:
    found: list[int] = []
    place = text.find(key, start) if key else -1
    while place >= 0 and len(found) < _MAX_PLACES:
        found.append(place)
        place = text.find(key, place + 1)
    return found


def _fold_grapheme(grapheme: str) -> str:
    if grapheme.isspace():
        return " "
    if grapheme.isascii():
        return grapheme.lower().translate(_SPELLED)
    spelled = normalize("NFKC", normalize("NFKC", grapheme).casefold()).translate(_SPELLED)
    return "".join(" " if char.isspace() else char for char in spelled if category(char) != "Cf")
