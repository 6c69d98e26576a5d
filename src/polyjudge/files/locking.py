"""One run at a time in a folder."""

import fcntl
import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from polyjudge.errors import DataError
from polyjudge.folder_trust import make_folder


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
