"""Show two texts to a person who must see why they differ: by grapheme, with code points where eyes are not enough."""

import unicodedata
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Any, Literal

from .display import harmless

Part = Literal["same", "removed", "added"]
_LONGEST = 1_000
_EXPLAINED = 12
_JOINERS = "\u200c\u200d"
_NAMED = 8
_LONGEST_SIGN = 32
_JOINING = "\u094d\u09cd\u0acd\u0b4d\u0c4d\u0d4d"
"""After these a consonant of an Indian script belongs to the one before it, which `\\X` does not know yet."""
_INVISIBLE = {"Cf", "Cc", "Zs", "Zl", "Zp", "Cn", "Co", "Cs"}
_BLANK_LETTERS = "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"
"""Called letters, marks or symbols, and yet nothing is to be seen."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Two texts in parts, each marked as the same, removed or added; and what cannot be told by looking."""

    expected: tuple[tuple[Part, str], ...]
    actual: tuple[tuple[Part, str], ...]
    notes: tuple[str, ...] = ()


def difference(expected: str, actual: str) -> Difference:
    """Compare two texts by grapheme; beyond some thousand, only the first that differ are shown."""
    left, right = graphemes(expected), graphemes(actual)
    start = 0
    if max(len(left), len(right)) > _LONGEST:
        start = _same_start(left, right)
        left, right = left[start : start + _LONGEST], right[start : start + _LONGEST]
    sides: tuple[list[tuple[Part, str]], list[tuple[Part, str]]] = ([], [])
    notes: list[str] = []
    for kind, a, b, c, d in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        if kind == "equal":
            for side, pieces in zip(sides, (left[a:b], right[c:d]), strict=True):
                side.append(("same", "".join(pieces)))
            continue
        if b > a:
            sides[0].append(("removed", "".join(left[a:b])))
        if d > c:
            sides[1].append(("added", "".join(right[c:d])))
        notes += _notes(left[a:b], right[c:d], start + a)
    return Difference(tuple(sides[0]), tuple(sides[1]), tuple(notes[:_EXPLAINED]))


def graphemes(text: str) -> list[str]:
    """Return what a reader takes for single signs; one of endless marks is taken for several."""
    return [piece for sign in _grapheme().findall(text) for piece in _pieces(sign)]


def _pieces(sign: str) -> list[str]:
    if len(sign) <= _LONGEST_SIGN:
        return [sign]
    return [sign[start : start + _LONGEST_SIGN] for start in range(0, len(sign), _LONGEST_SIGN)]


def shown(text: str, *, keep_joiners: bool = False) -> str:
    """Return a text whose invisible signs can be seen and none of which acts on a terminal.

    Joiners belong to the spelling of Persian, Indic scripts and emoji; where nothing differs they may be kept.
    """
    kept = _JOINERS if keep_joiners else ""
    safe = harmless(text.replace("\n", "⏎\n").replace("\t", "⇥"))
    return "".join(sign if sign in kept else _visible(sign) for sign in safe)


def code_points(text: str) -> str:
    """Return the code points of a text with their names, and of a long one how many there are."""
    named = ", ".join(f"U+{ord(sign):04X} {unicodedata.name(sign, 'unnamed')}" for sign in text[:_NAMED])
    return named if len(text) <= _NAMED else f"{named}, … ({len(text)} in all)"


def _notes(removed: list[str], added: list[str], place: int) -> list[str]:
    """Explain a replaced part where the two look alike, combine, are invisible or change direction."""
    is_blank = not "".join((*removed, *added)).strip()
    if not is_blank and not any(map(_needs_words, (*removed, *added))) and not _look_alike(removed, added):
        return []
    expected = code_points("".join(removed)) or "nothing"
    actual = code_points("".join(added)) or "nothing"
    return [f"at {place}: expected {expected}; got {actual}"]


def _needs_words(grapheme: str) -> bool:
    return len(grapheme) > 1 or any(map(_is_invisible, grapheme))


def _look_alike(removed: list[str], added: list[str]) -> bool:
    """Say whether a part was replaced by another sign, or by letters of another script, which may look the same."""
    one, other = "".join(removed), "".join(added)
    if len(one) == len(other) == 1 and not (one + other).isascii():
        return True
    if unicodedata.normalize("NFKC", one) == unicodedata.normalize("NFKC", other):
        return True
    scripts = {_script(sign) for sign in one if sign.isalpha()}
    others = {_script(sign) for sign in other if sign.isalpha()}
    return bool(scripts and others and scripts != others)


def _script(sign: str) -> str:
    return unicodedata.name(sign, "").partition(" ")[0]


def _same_start(left: list[str], right: list[str]) -> int:
    pairs = enumerate(zip(left, right, strict=False))
    return next((place for place, (one, other) in pairs if one != other), min(len(left), len(right)))


def _visible(sign: str) -> str:
    return f"<U+{ord(sign):04X}>" if sign != "\n" and _is_invisible(sign) else sign


def _is_invisible(sign: str) -> bool:
    return sign != " " and (unicodedata.category(sign) in _INVISIBLE or sign in _BLANK_LETTERS)


@lru_cache(maxsize=1)
def _grapheme() -> Any:
    import regex  # here, because it takes a while to load and most commands do without

    return regex.compile(rf"\p{{RI}}{{2}}(?![\p{{M}}\u200d])|\X(?:(?<=[{_JOINING}]\u200d?)(?=\p{{L}})\X)*")
