"""One asker a question, among all tasks, threads and processes that use a cache.

A claim is a lock on one byte of an empty file beside the cache, at a place given by the key. The kernel drops it
when its process ends, however it ends, so a killed run leaves nothing behind that others would have to wait for.
"""

import fcntl
import os
import struct
import threading
from hashlib import sha256
from pathlib import Path

_PLACES = 2**62
_OFD_SETLK: int | None = getattr(fcntl, "F_OFD_SETLK", None)


class Claims:
    """The questions that this opener of the cache is asking right now."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        self._held: set[str] = set()
        self._guard = threading.Lock()

    def take(self, key: str) -> bool:
        """Claim a question; False where somebody is asking it already."""
        with self._guard:
            if key in self._held or not _lock(self._file, _place(key)):
                return False
            self._held.add(key)
            return True

    def release(self, key: str) -> None:
        """Give a claim back."""
        with self._guard:
            if key in self._held:
                _unlock(self._file, _place(key))
                self._held.discard(key)

    def close(self) -> None:
        """Give back all claims."""
        with self._guard:
            self._held.clear()
            os.close(self._file)


def _place(key: str) -> int:
    return int.from_bytes(sha256(key.encode()).digest()[:8], "big") % _PLACES


def _lock(file: int, place: int) -> bool:
    try:
        _set_lock(file, fcntl.F_WRLCK, place)
    except (BlockingIOError, PermissionError):  # EAGAIN or EACCES, as the system likes
        return False
    return True


def _unlock(file: int, place: int) -> None:
    _set_lock(file, fcntl.F_UNLCK, place)


def _set_lock(file: int, kind: int, place: int) -> None:
    if _OFD_SETLK is not None:
        # Owned by this opening of the file and not by the process, so two caches in one process exclude each other.
        fcntl.fcntl(file, _OFD_SETLK, struct.pack("hhqqi4x", kind, os.SEEK_SET, place, 1, 0))
    else:
        command = fcntl.LOCK_UN if kind == fcntl.F_UNLCK else fcntl.LOCK_EX | fcntl.LOCK_NB
        fcntl.lockf(file, command, 1, place)
