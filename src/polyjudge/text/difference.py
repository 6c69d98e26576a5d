"""Compare two texts by grapheme, with code points for differences that cannot be seen."""

import unicodedata
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Any, Literal

from .display import harmless

Part = Literal["same", "removed", "added"]
_MAX_COMPARED = 1_000
_MAX_NOTES = 12
_JOINERS = "\u200c\u200d"
_MAX_NAMED = 8
_MAX_CLUSTER = 32
_JOINING = "\u094d\u09cd\u0acd\u0b4d\u0c4d\u0d4d"
"""After these a consonant of an Indic script belongs to the one before, which `\\X` does not support yet."""
_INVISIBLE = {"Cf", "Cc", "Zs", "Zl", "Zp", "Cn", "Co", "Cs"}
_BLANK_LETTERS = "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"
"""Letters, marks and symbols that are invisible."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Two texts in parts, each marked as the same, removed or added, with notes on invisible differences."""

    expected: tuple[tuple[Part, str], ...]
    actual: tuple[tuple[Part, str], ...]
    notes: tuple[str, ...] = ()


def difference(expected: str, actual: str) -> Difference:
    """Compare two texts by grapheme; of long texts, only a part from the first difference on."""
    left, right = graphemes(expected), graphemes(actual)
    start = 0
    if max(len(left), len(right)) > _MAX_COMPARED:
        start = _first_difference(left, right)
        left, right = left[start : start + _MAX_COMPARED], right[start : start + _MAX_COMPARED]
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
    return Difference(tuple(sides[0]), tuple(sides[1]), tuple(notes[:_MAX_NOTES]))


def graphemes(text: str) -> list[str]:
    """Split a text into grapheme clusters; clusters with very many marks are split."""
    return [
        cluster[start : start + _MAX_CLUSTER]
        for cluster in _grapheme().findall(text)
        for start in range(0, len(cluster), _MAX_CLUSTER)
    ]


def shown(text: str, *, keep_joiners: bool = False) -> str:
    """Make invisible characters visible, and all characters safe for a terminal.

    `keep_joiners` keeps the joiners that Persian, Indic scripts and emoji are spelled with.
    """
    kept = "\n" + (_JOINERS if keep_joiners else "")
    safe = harmless(text.replace("\n", "⏎\n").replace("\t", "⇥"))
    return "".join(f"<U+{ord(char):04X}>" if char not in kept and _is_invisible(char) else char for char in safe)


def code_points(text: str) -> str:
    """Return the code points of a text with their names; of a long text, the first ones and the count."""
    named = ", ".join(f"U+{ord(char):04X} {unicodedata.name(char, 'unnamed')}" for char in text[:_MAX_NAMED])
    return named if len(text) <= _MAX_NAMED else f"{named}, … ({len(text)} in total)"


def _notes(removed: list[str], added: list[str], index: int) -> list[str]:
    """Explain a replaced part that looks alike, combines, is invisible or changes direction."""
    is_blank = not "".join((*removed, *added)).strip()
    if not is_blank and not any(map(_needs_note, (*removed, *added))) and not _look_alike(removed, added):
        return []
    expected = code_points("".join(removed)) or "nothing"
    actual = code_points("".join(added)) or "nothing"
    return [f"at {index}: expected {expected}; got {actual}"]


def _needs_note(grapheme: str) -> bool:
    return len(grapheme) > 1 or any(map(_is_invisible, grapheme))


def _look_alike(removed: list[str], added: list[str]) -> bool:
    """Return whether a part was replaced by a character, or by letters of another script, that may look the same."""
    one, other = "".join(removed), "".join(added)
    if len(one) == len(other) == 1 and not (one + other).isascii():
        return True
    if unicodedata.normalize("NFKC", one) == unicodedata.normalize("NFKC", other):
        return True
    scripts = {_script(char) for char in one if char.isalpha()}
    others = {_script(char) for char in other if char.isalpha()}
    return bool(scripts and others and scripts != others)


def _script(char: str) -> str:
    return unicodedata.name(char, "").partition(" ")[0]


def _first_difference(left: list[str], right: list[str]) -> int:
    pairs = enumerate(zip(left, right, strict=False))
    return next((index for index, (one, other) in pairs if one != other), min(len(left), len(right)))


def _is_invisible(char: str) -> bool:
    return char != " " and (unicodedata.category(char) in _INVISIBLE or char in _BLANK_LETTERS)


@lru_cache(maxsize=1)
def _grapheme() -> Any:
    import regex  # imported late: it is slow to load and most commands do not need it

    return regex.compile(rf"\p{{RI}}{{2}}(?![\p{{M}}\u200d])|\X(?:(?<=[{_JOINING}]\u200d?)(?=\p{{L}})\X)*")
