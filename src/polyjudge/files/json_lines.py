"""Read JSON Lines; a bad line is an error that names file and line."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from polyjudge.errors import DataError


def read_json_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield line number and object for every line that is not blank."""
    try:
        with path.open(encoding="utf-8-sig") as lines:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    yield number, _object(line, path, number)
    except UnicodeDecodeError as error:
        raise DataError(f"is not UTF-8 text ({error.reason} at byte {error.start})", path=path) from None
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path=path) from None


def _object(line: str, path: Path, number: int) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except ValueError as error:
        raise DataError(f"is not JSON: {error}", path=path, line=number) from None
    if not isinstance(value, dict):
        raise DataError("must be a JSON object", path=path, line=number)
    return cast(dict[str, Any], value)
