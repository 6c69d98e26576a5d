"""Write files atomically, and lock a folder for one process."""

import fcntl
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


@contextmanager
def only_run_in(folder: Path) -> Generator[None]:
    """Make a folder ours, or raise where another run is at work in it; the lock goes with the process.

    A folder that nothing came into is gone afterwards.
    """
    try:
        make_folder(folder)
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise DataError(f"cannot be written: {error.strerror}", path=folder) from None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise DataError("is being written by another run of polyjudge", path=folder) from None
    finally:
        os.close(descriptor)
        with suppress(OSError):  # there is something in it, as there should be
            folder.rmdir()


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


def write_timestamp(path: Path, moment: str) -> None:
    """Note a moment in a file, for a run that must be told from those before it."""
    with write_atomically(path) as file:
        file.write(moment)


def read_timestamp(path: Path) -> str:
    """Return the moment that a file notes; where there is none yet, it is now."""
    if not path.exists():
        write_timestamp(path, utc_now())
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
