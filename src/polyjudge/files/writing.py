"""Write a file so that a reader sees the old content or the new one, never half of it."""

import json
import math
import os
import re
import secrets
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO, cast

from polyjudge.clock import utc_now
from polyjudge.errors import DataError
from polyjudge.folder_trust import make_folder

from .ownership import refuse_foreign

_ACTING = re.compile("[\x80-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


# Made once: `json.dumps` with options makes one for every row.
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, default=str)


@contextmanager
def write_atomically(path: Path, *, force: bool = False) -> Generator[TextIO]:
    """Give a text file to write to; it takes the place of `path` only when the block ends well.

    A file that polyjudge did not write is replaced only with `force`.
    """
    with standing_in_for(path, force=force) as part, part.open("x", encoding="utf-8", newline="\n") as file:
        yield file


@contextmanager
def standing_in_for(path: Path, *, force: bool = False) -> Generator[Path]:
    """Give a path beside `path` to write to; what stands there takes its place only when the block ends well."""
    refuse_foreign(path, force=force)
    path = path.resolve()  # what a link points to is written, and the link stays
    part = path.parent / f".{path.name[:48]}.{secrets.token_hex(8)}.part"
    try:
        make_folder(path.parent)
        yield part
        _settle(part)
        refuse_foreign(path, force=force)
        part.replace(path)
    except OSError as error:
        raise DataError(f"cannot be written: {error.strerror or error}", path=path) from None
    finally:
        with suppress(OSError):  # there is none when all went well, or when its folder could not be made
            part.unlink()


def _settle(path: Path) -> None:
    """See that a file is on disk."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def note_moment(path: Path, moment: str) -> None:
    """Note a moment in a file, for a run that must be told from those before it."""
    with write_atomically(path) as file:
        file.write(moment)


def noted_moment(path: Path) -> str:
    """Return the moment that a file notes; where there is none yet, it is now."""
    if not path.exists():
        note_moment(path, utc_now())
    try:
        return path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        raise DataError("should note when a run was begun, and does not; remove it", path=path) from None


def readable_json(value: object, *, indent: int | None = None) -> str:
    """Return JSON with all scripts as they are.

    What would act on a terminal, and halves of characters, which no file can hold, are escaped. Numbers that JSON does
    not have (NaN, infinity) are null, and what is no JSON at all (a date from Parquet) is text.
    """
    try:
        if indent is None:
            text = _ENCODER.encode(value)
        else:
            text = json.dumps(value, ensure_ascii=False, indent=indent, allow_nan=False, default=str)
    except ValueError:
        text = json.dumps(_finite(value), ensure_ascii=False, indent=indent, default=str)
    return text if text.isascii() else _ACTING.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _finite(value: object) -> object:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in cast(dict[str, object], value).items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in cast(list[object], value)]
    return value
