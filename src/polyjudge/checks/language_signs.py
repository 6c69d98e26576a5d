"""What shows a language among its neighbours: letters, words and endings that one of them has and the other has not.

Letters of all languages together look alike in short texts; one Marathi word says more than their frequencies.
"""

import re
from functools import lru_cache
from importlib.resources import files
from unicodedata import normalize

from msgspec import Struct, convert

from polyjudge.files.text_files import read_toml


class _Signs(Struct, frozen=True, forbid_unknown_fields=True):
    """The data file."""

    letters: dict[str, str]
    neighbours: list[dict[str, str]]


def neighbours_of(label: str) -> list[str]:
    """Return the languages that are distinguished from a language by their words."""
    return [other for group in _signs().neighbours if label in group for other in group if other != label]


def signs_of(label: str, other: str, plain: str) -> int:
    """Return how many letters and words of a text one language has and the other has not; words parted by spaces."""
    found = _pattern(label, other)
    return 0 if found is None else len(found.findall(_folded(plain)))


@lru_cache(maxsize=16)
def _folded(plain: str) -> str:
    """Return a text as the patterns take it; it is searched for the signs of many pairs in turn."""
    return f" {normalize('NFC', plain).casefold()} "


@lru_cache(maxsize=1)
def _signs() -> _Signs:
    return convert(read_toml(files("polyjudge.checks") / "language_signs.toml"), _Signs)


@lru_cache(maxsize=512)
def _pattern(label: str, other: str) -> re.Pattern[str] | None:
    """Return what finds the signs of a language that another one does not have; None if there are none."""
    known, parts = _signs(), list[str]()
    if label in known.letters and other in known.letters:
        own = sorted(set(known.letters[label]) - set(known.letters[other]))
        parts += [f"[{''.join(own)}]"] if own else []
    for group in known.neighbours:
        if label in group and other in group:
            parts += [_sign(sign) for sign in group[label].split() if sign not in group[other].split()]
    return re.compile("|".join(parts)) if parts else None


def _sign(sign: str) -> str:
    """Return the pattern of one entry of the file."""
    if sign[0] == "*":
        return re.escape(sign[1:])
    if sign[0] == "-":
        return rf"(?<=[^ ]){re.escape(sign[1:])}(?= )"
    return rf"(?<= ){re.escape(sign)}(?= )"
