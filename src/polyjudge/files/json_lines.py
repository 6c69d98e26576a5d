"""Read JSON Lines; a bad line is an error that names file and line."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from polyjudge.errors import DataError

from .byte_lines import lines_from
from .parsing import parse_row


def read_json_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield line number and object for every line that is not blank; a bad line is an error."""
    for number, row in each_json_line(path):
        if isinstance(row, str):
            raise DataError(row, path=path, line=number)
        yield number, row


def each_json_line(path: Path) -> Iterator[tuple[int, dict[str, Any] | str]]:
    """Yield line number and object for every line that is not blank, or what is wrong with the line.

    An object with the same key twice is an error even so: nothing in it says which value was meant.
    """
    for number, row, _ in json_lines_from(path):
        yield number, row


def json_lines_from(path: Path, line: int = 0, offset: int = 0) -> Iterator[tuple[int, dict[str, Any] | str, int]]:
    """Do what `each_json_line` does, behind so many lines and bytes; tell also how many bytes lie behind each row."""
    try:
        for number, (text, end) in enumerate(lines_from(path, offset), start=line + 1):
            if text.strip():
                yield number, _object(text.rstrip("\r\n"), path, number), end
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path=path) from None


def _object(text: str, path: Path, number: int) -> dict[str, Any] | str:
    try:
        value = parse_row(text, path, number)
    except RecursionError:
        return "is nested too deeply"
    except ValueError as error:
        return f"is not JSON: {error}"
    return cast(dict[str, Any], value) if isinstance(value, dict) else "must be a JSON object"
