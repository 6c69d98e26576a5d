"""Find the words of a small table in a text, as whole words where words stand apart."""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from polyjudge.text.segments import prose

from .pieces import is_unspaced

_BETWEEN = 40
"""So many letters may stand between the two halves of a term such as French `ne` and `pas`."""
_STEM = 5
"""A word of so many letters may have an ending."""
_INNER = r"\p{L}\p{M}\p{N}"


class Found(NamedTuple):
    """A term of the table and where it stands in the text."""

    term: str
    start: int
    end: int
    middle: str = ""
    """What stands between the halves of a term in two halves."""


def find_terms(text: str, terms: tuple[str, ...], *, with_endings: bool = False) -> Iterator[Found]:
    """Yield the terms that stand in a text, longer ones first at each place; `ne+pas` may have words between."""
    if not terms:
        return
    ordered, pattern = _pattern(terms, with_endings)
    for match in pattern.finditer(prose(text)):
        place = int(match.lastgroup.removeprefix("t"))
        middle = text[match.start(f"m{place}") : match.end(f"m{place}")] if "+" in ordered[place] else ""
        yield Found(ordered[place], match.start(), match.end(), middle)


@lru_cache(maxsize=256)
def _pattern(terms: tuple[str, ...], with_endings: bool) -> tuple[tuple[str, ...], Any]:
    import regex  # here, because it takes a while to load and most commands do without

    ordered = tuple(sorted(dict.fromkeys(terms), key=lambda term: (-len(term), term)))
    parts = (f"(?P<t{place}>{_one(term, place, with_endings)})" for place, term in enumerate(ordered))
    return ordered, regex.compile("|".join(parts))


def _one(term: str, place: int, with_endings: bool) -> str:
    first, plus, second = term.partition("+")
    if plus:
        between = rf"(?P<m{place}>[^.!?]{{1,{_BETWEEN}}}?)"
        return _bounded(first, False) + between + _bounded(second, False)
    return _bounded(term, with_endings and len(term) >= _STEM)


def _bounded(word: str, with_ending: bool) -> str:
    """Return the pattern of a word, with a capital or not, and with either apostrophe."""
    import regex

    first = (
        f"[{word[0]}{word[0].upper()}]" if len(word[0].upper()) == 1 and word[0].isalpha() else regex.escape(word[0])
    )
    body = first + regex.escape(word[1:]).replace("'", "['’]").replace("\\'", "['’]")
    left = "" if is_unspaced(word[0]) else rf"(?<![{_INNER}])"
    right = "" if with_ending or is_unspaced(word[-1]) or not word[-1].isalnum() else rf"(?![{_INNER}])"
    return f"{left}{body}{right}(?!\\p{{M}})"
