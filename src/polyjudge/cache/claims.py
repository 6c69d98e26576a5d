"""One asker a question, among all tasks, threads and processes that use a cache.

A claim is a lock on one byte of an empty file beside the cache, at a place given by the key. The kernel drops it
when its process ends, however it ends, so a killed run leaves nothing behind that others would have to wait for. A
forked child would keep its parent's locks alive, so it lets go of the file before anything else.
"""

import fcntl
import os
import struct
import sys
import threading
import weakref
from hashlib import sha256
from pathlib import Path

from polyjudge.errors import CacheError

_PLACES = 2**62
_OFD_SETLK: int | None = getattr(fcntl, "F_OFD_SETLK", None) if sys.platform == "linux" else None
_OPEN: "weakref.WeakSet[Claims]" = weakref.WeakSet()


class Claims:
    """The questions that this opener of the cache is asking right now."""

    def __init__(self, path: Path) -> None:
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except OSError as error:
            raise CacheError(f"cannot be written: {error.strerror}", path=path) from None
        self._held: dict[str, int] = {}
        self._guard = threading.Lock()
        _OPEN.add(self)

    def take(self, key: str) -> bool:
        """Claim a question; False where somebody is asking it already."""
        with self._guard:
            place = _place(key)
            if self._file < 0 or key in self._held or not _lock(self._file, place):
                return False
            self._held[key] = place
            return True

    def release(self, key: str) -> None:
        """Give a claim back."""
        with self._guard:
            place = self._held.pop(key, None)
            if self._file >= 0 and place is not None:
                _unlock(self._file, place)

    def close(self) -> None:
        """Give back all claims."""
        with self._guard:
            self.let_go()

    def let_go(self) -> None:
        """Close the file without asking anybody, as a forked child must."""
        file, self._file = self._file, -1
        if file >= 0:
            os.close(file)


def _let_go_in_child() -> None:
    for claims in _OPEN:
        claims.let_go()


os.register_at_fork(after_in_child=_let_go_in_child)


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
