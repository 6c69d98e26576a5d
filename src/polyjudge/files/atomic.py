"""Write files atomically, and lock a folder for one process."""

import fcntl
import os
import secrets
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

from polyjudge.clock import utc_now
from polyjudge.errors import DataError
from polyjudge.folder_trust import make_folder

from .kinds import FileKind
from .ownership import refuse_foreign


@contextmanager
def lock_folder(folder: Path) -> Generator[None]:
    """Create and lock a folder, or raise if another run has locked it; the lock ends with the process.

    A folder that is still empty at the end is removed.
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
        raise DataError(
            "another run of polyjudge is writing in this folder; wait until it has ended", path=folder
        ) from None
    finally:
        os.close(descriptor)
        with suppress(OSError):  # the folder is not empty
            folder.rmdir()


@contextmanager
def write_atomically(path: Path, *, kind: FileKind | None = FileKind.REPORT, force: bool = False) -> Generator[TextIO]:
    """Open a text file that replaces `path` when the block ends without an error.

    A file that polyjudge did not write, or that holds data of another kind, is replaced only with `force`.
    """
    with (
        replacing(path, kind=kind, force=force) as temporary,
        temporary.open("x", encoding="utf-8", newline="\n") as file,
    ):
        yield file


@contextmanager
def replacing(path: Path, *, kind: FileKind | None = FileKind.REPORT, force: bool = False) -> Generator[Path]:
    """Return a temporary path whose file replaces `path` when the block ends without an error."""
    refuse_foreign(path, kind=kind, force=force)
    path = path.resolve()  # the target of a link is written, and the link stays
    temporary = path.parent / f".{path.name[:48]}.{secrets.token_hex(8)}.part"
    try:
        make_folder(path.parent)
        yield temporary
        sync_to_disk(temporary)
        refuse_foreign(path, kind=kind, force=force)
        temporary.replace(path)
    except OSError as error:
        raise DataError(f"cannot be written: {error.strerror or error}", path=path) from None
    finally:
        with suppress(OSError):  # it was renamed, or its folder could not be created
            temporary.unlink()


def sync_to_disk(path: Path) -> None:
    """Flush a file, or the names in a folder, to disk."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_timestamp(path: Path, timestamp: str) -> None:
    """Write the start time of a run to a file."""
    with write_atomically(path) as file:
        file.write(timestamp)


def read_timestamp(path: Path) -> str:
    """Return the start time in a file; create the file with the current time if necessary."""
    if not path.exists():
        write_timestamp(path, utc_now())
    try:
        return path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        raise DataError(
            "invalid start marker: it has no start time. Delete this file and run the command again", path=path
        ) from None
