"""Read JSON Lines; a bad line is an error that names file and line."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from polyjudge.errors import DataError


def read_json_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield line number and object for every line that is not blank; a bad line is an error."""
    for number, row in each_json_line(path):
        if isinstance(row, str):
            raise DataError(row, path=path, line=number)
        yield number, row


def each_json_line(path: Path) -> Iterator[tuple[int, dict[str, Any] | str]]:
    """Yield line number and object for every line that is not blank, or what is wrong with the line."""
    try:
        with path.open(encoding="utf-8-sig") as lines:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    yield number, _object(line)
    except UnicodeDecodeError as error:
        raise DataError(f"is not UTF-8 text ({error.reason} at byte {error.start})", path=path) from None
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path=path) from None


def _object(line: str) -> dict[str, Any] | str:
    try:
        value = json.loads(line)
    except RecursionError:
        return "is nested too deeply"
    except ValueError as error:
        return f"is not JSON: {error}"
    return cast(dict[str, Any], value) if isinstance(value, dict) else "must be a JSON object"
