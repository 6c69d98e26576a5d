"""Tables of facts about languages, and the search for their terms in a text."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from importlib.resources import files
from typing import Any, NamedTuple

from polyjudge.languages.table import language_table
from polyjudge.text.pieces import is_unspaced
from polyjudge.text.segments import prose


@lru_cache(maxsize=32)
def rows(name: str) -> tuple[Mapping[str, str], ...]:
    """Return the rows of a table by column name; lines that start with # are comments."""
    text = (files("polyjudge.calibration") / "fact_tables" / f"{name}.tsv").read_text(encoding="utf-8")
    header, *lines = [line.split("\t") for line in text.split("\n") if line.strip() and not line.startswith("#")]
    return tuple(dict(zip(header, (*line, *[""] * len(header)), strict=False)) for line in lines)


@lru_cache(maxsize=8)
def pairs(name: str) -> Mapping[str, str]:
    """Return a table of two columns as a mapping from the first to the second."""
    first, second = rows(name)[0]
    return {row[first]: row[second] for row in rows(name)}


@lru_cache(maxsize=512)
def fact(name: str, tag: str) -> Mapping[str, str]:
    """Return the row of a tag, else of the language that the tag stands for; empty if there is none."""
    found = {row["tag"]: row for row in rows(name)}
    if tag in found:
        return found[tag]
    language = language_table().find(tag) if tag else None
    if language is None:
        return {}
    return found.get(language.tag) or found.get(language.tag.partition("-")[0]) or {}


def cell_parts(cell: str) -> tuple[str, ...]:
    """Split a cell at its semicolons."""
    return tuple(part for part in cell.split(";") if part)


_BETWEEN = 40
"""Most characters between the two halves of a term such as French `ne` and `pas`."""
_STEM = 5
"""Words of at least this many letters may have an ending."""
_INNER = r"\p{L}\p{M}\p{N}"


class Term(NamedTuple):
    """A term of a table, found in the text."""

    term: str
    start: int
    end: int
    middle: str = ""
    """The text between the halves of a term in two halves."""


def find_terms(text: str, terms: tuple[str, ...], *, with_endings: bool = False) -> Iterator[Term]:
    """Yield the terms in a text, preferring longer ones; `ne+pas` may have words in between."""
    if not terms:
        return
    ordered, pattern = _terms_pattern(terms, with_endings)
    for match in pattern.finditer(prose(text)):
        index = int(match.lastgroup.removeprefix("t"))
        middle = text[match.start(f"m{index}") : match.end(f"m{index}")] if "+" in ordered[index] else ""
        yield Term(ordered[index], match.start(), match.end(), middle)


@lru_cache(maxsize=256)
def _terms_pattern(terms: tuple[str, ...], with_endings: bool) -> tuple[tuple[str, ...], Any]:
    import regex  # imported late: it is slow to load and most commands do not need it

    ordered = tuple(sorted(dict.fromkeys(terms), key=lambda term: (-len(term), term)))
    parts = (f"(?P<t{index}>{_term_pattern(term, index, with_endings)})" for index, term in enumerate(ordered))
    return ordered, regex.compile("|".join(parts))


def _term_pattern(term: str, index: int, with_endings: bool) -> str:
    first, plus, second = term.partition("+")
    if plus:
        between = rf"(?P<m{index}>[^.!?]{{1,{_BETWEEN}}}?)"
        return _word_pattern(first, False) + between + _word_pattern(second, False)
    return _word_pattern(term, with_endings and len(term) >= _STEM)


def _word_pattern(word: str, with_ending: bool) -> str:
    """Return the pattern of a word, capitalised or not, with either apostrophe."""
    import regex

    first = (
        f"[{word[0]}{word[0].upper()}]" if len(word[0].upper()) == 1 and word[0].isalpha() else regex.escape(word[0])
    )
    body = first + regex.escape(word[1:]).replace("'", "['’]").replace("\\'", "['’]")
    left = "" if is_unspaced(word[0]) else rf"(?<![{_INNER}])"
    right = "" if with_ending or is_unspaced(word[-1]) or not word[-1].isalnum() else rf"(?![{_INNER}])"
    return f"{left}{body}{right}(?!\\p{{M}})"
