"""Tables of facts about languages, and the search for their words in a text."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from importlib.resources import files
from typing import Any, NamedTuple

from polyjudge.languages.table import language_table
from polyjudge.text.pieces import is_unspaced
from polyjudge.text.segments import prose


@lru_cache(maxsize=32)
def rows(name: str) -> tuple[Mapping[str, str], ...]:
    """Return the rows of a table by the names of its columns; lines that begin with # are remarks."""
    text = (files("polyjudge.calibration") / "fact_tables" / f"{name}.tsv").read_text(encoding="utf-8")
    header, *lines = [line.split("\t") for line in text.split("\n") if line.strip() and not line.startswith("#")]
    return tuple(dict(zip(header, (*line, *[""] * len(header)), strict=False)) for line in lines)


@lru_cache(maxsize=8)
def pairs(name: str) -> Mapping[str, str]:
    """Return a table of two columns as what the first is turned into."""
    first, second = rows(name)[0]
    return {row[first]: row[second] for row in rows(name)}


@lru_cache(maxsize=512)
def fact(name: str, tag: str) -> Mapping[str, str]:
    """Return the row of a language: that of its tag, else of the language that the tag names; or an empty one."""
    found = {row["tag"]: row for row in rows(name)}
    if tag in found:
        return found[tag]
    language = language_table().find(tag) if tag else None
    if language is None:
        return {}
    return found.get(language.tag) or found.get(language.tag.partition("-")[0]) or {}


def several(cell: str) -> tuple[str, ...]:
    """Return the parts of a cell that holds several."""
    return tuple(part for part in cell.split(";") if part)


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
