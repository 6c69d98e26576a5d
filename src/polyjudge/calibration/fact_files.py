"""Read the small tables of facts about languages that spoiling a text draws on."""

from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files

from polyjudge.languages import language_table


@lru_cache(maxsize=32)
def rows(name: str) -> tuple[Mapping[str, str], ...]:
    """Return the rows of a table by the names of its columns; lines that begin with # are remarks."""
    text = (files("polyjudge.calibration") / "facts" / f"{name}.tsv").read_text(encoding="utf-8")
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
