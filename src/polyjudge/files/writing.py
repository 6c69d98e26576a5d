"""Write a file so that a reader sees the old content or the new one, never half of it."""

import json
import os
import secrets
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

from polyjudge.errors import DataError


@contextmanager
def write_atomically(path: Path) -> Generator[TextIO]:
    """Give a text file to write to; it takes the place of `path` only when the block ends well."""
    part = path.with_name(f".{path.name[:64]}.{secrets.token_hex(8)}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with part.open("x", encoding="utf-8", newline="\n") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except OSError as error:
        raise DataError(f"cannot be written: {error.strerror}", path=path) from None
    finally:
        with suppress(OSError):  # there is none when all went well, or when its folder could not be made
            part.unlink()


def readable_json(value: object, *, indent: int | None = None) -> str:
    """Return JSON with all scripts as they are; halves of characters, which no file can hold, are escaped."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            text = json.dumps(value, indent=indent)
    return text
