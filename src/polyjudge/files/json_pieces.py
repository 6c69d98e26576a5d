"""Write a JSON object in pieces, so that a long list in it is never in memory as a whole."""

from collections.abc import Iterator, Mapping
from typing import cast

from .json_lines import readable_json


def readable_pieces(row: Mapping[str, object], *, indent: int | None = None) -> Iterator[str]:
    """Yield what `readable_json` returns of an object, in pieces; a value that is an iterator becomes a list."""
    parts = (_member(key, value, indent) for key, value in row.items())
    yield from _enclosed("{}", parts, indent, depth=1)


def _member(key: str, value: object, indent: int | None) -> Iterator[str]:
    yield f"{readable_json(key)}: "
    if isinstance(value, Iterator):
        items = ([_nested(each, indent, depth=2)] for each in cast(Iterator[object], value))
        yield from _enclosed("[]", items, indent, depth=2)
    else:
        yield _nested(value, indent, depth=1)


def _enclosed(
    brackets: str, parts: "Iterator[Iterator[str]] | Iterator[list[str]]", indent: int | None, *, depth: int
) -> Iterator[str]:
    first, before, after = "", ", ", ""
    if indent is not None:
        first, after = "\n" + " " * (indent * depth), "\n" + " " * (indent * (depth - 1))
        before = f",{first}"
    yield brackets[0]
    has_any = False
    for part in parts:
        yield before if has_any else first
        yield from part
        has_any = True
    yield f"{after if has_any else ''}{brackets[1]}"


def _nested(value: object, indent: int | None, *, depth: int) -> str:
    """Return the JSON of a value inside others; the line breaks in it are those between its parts."""
    text = readable_json(value, indent=indent)
    return text if indent is None else text.replace("\n", "\n" + " " * (indent * depth))
