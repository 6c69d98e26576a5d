"""The SQLite cache, shared by threads and processes.

A claim is a lock on one byte of an empty file beside the cache, at a place given by the key. The kernel drops it
when its process ends, however it ends, so a killed run leaves nothing behind that others would have to wait for. A
forked child would keep its parent's locks alive, so it lets go of the file before anything else.
"""

import asyncio
import fcntl
import os
import sqlite3
import struct
import sys
import threading
import warnings
import weakref
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from polyjudge.errors import CacheError, DataError
from polyjudge.records.outcomes import JudgeResult
from polyjudge.records.requests import Reply

from .address import is_url
from .entries import Entry, Kind, decode_kept, reply_entry, result_entry
from .protocol import hash_key
from .sqlite_file import DamagedCacheError, Database, FollowingConnection, prepare_folder
from .sqlite_writer import GroupWriter

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


Record = TypeVar("Record", Reply, JudgeResult)

_SELECT = "SELECT CAST(value AS TEXT), checksum FROM entries WHERE key = ? AND kind = ? AND created_at >= ?"
_OTHER_FILES = {".csv", ".json", ".jsonl", ".md", ".parquet", ".toml", ".tsv", ".txt"}
_LOOK_EVERY_S = 0.1
"""How often reading looks whether another file has taken the place of its own; writing always does."""
_SHORTEST_WAIT_S, _LONGEST_WAIT_S = 0.002, 0.1


class JudgeCache:
    """Keeps replies and results under the key of their question.

    `put` returns when the entry is on disk; what it returned from survives `kill -9`. A damaged file is set aside with
    a warning. A file that is locked, read-only or on a full disk raises `CacheError`, because going on would mean
    paying for answers that are then lost. With `read_only=True` nothing is written at all: for replaying.
    """

    hash_key = staticmethod(hash_key)

    def __init__(self, db_path: Path | str, *, busy_timeout_s: float = 30.0, read_only: bool = False) -> None:
        if is_url(db_path):
            raise CacheError("a JudgeCache is a file; polyjudge.cache.opening.open_cache opens a URL")
        self.path = Path(db_path)
        if self.path.suffix.lower() in _OTHER_FILES and self.path.exists():
            # A damaged cache is set aside; somebody's results must not be.
            raise CacheError("is no cache by its name; give it another, such as cache.sqlite", path=self.path)
        self._database = Database(self.path, busy_timeout_s=busy_timeout_s, read_only=read_only)
        if not read_only:
            prepare_folder(self.path)
        elif not self.path.is_file():
            raise CacheError("does not exist, so there is nothing to replay", path=self.path)
        self._closed = False
        self._found = False
        self._inherited: list[_Parts] = []
        self._open()

    @property
    def place(self) -> str:
        """The file."""
        return str(self.path)

    def get(self, key: str) -> JudgeResult | None:
        """Return the result kept under a key, marked as cached, or None."""
        return self._get(JudgeResult, "result", key)

    def put(self, key: str, result: JudgeResult) -> None:
        """Keep a result; an older one under the same key is replaced."""
        self.write(result_entry(key, result)).result()

    def get_reply(self, key: str, *, since: str = "") -> Reply | None:
        """Return the reply kept under a key, marked as cached, or None; `since` passes over older ones."""
        return self._get(Reply, "reply", key, since)

    def put_reply(self, key: str, reply: Reply, provider: str = "") -> None:
        """Keep a reply; an older one under the same key is replaced."""
        self.write(reply_entry(key, reply, provider)).result()

    async def find(self, key: str, *, since: str = "") -> Reply | None:
        """Do what `get_reply` does; a file answers at once."""
        return self.get_reply(key, since=since)

    async def once(
        self, key: str, ask: Callable[[], Awaitable[Reply]], provider: str = "", *, since: str = ""
    ) -> Reply:
        """Return the reply kept under a key, or ask for it; however many want it at once, one asks.

        A reply that was cut off or declined is returned but not kept, and an error is nobody's but the asker's. With
        `since`, a moment in ISO 8601, replies kept before it are asked for anew and replaced.
        """
        self._check_open()
        wait_s = _SHORTEST_WAIT_S
        while True:
            claims = self._parts.claims
            if claims is None:
                raise CacheError("is open for replay; nothing is asked through it", path=self.path)
            # What is kept needs no claim. A run finds mostly what it found last: much, or nothing.
            if self._found and (reply := self._get(Reply, "reply", key, since, glance=True)) is not None:
                return reply
            if claims.take(key):
                try:
                    # Looked up under the claim, so that nobody can answer between the look and the question.
                    reply = self.get_reply(key, since=since)
                    self._found = reply is not None
                    return reply or await self._ask(key, ask, provider, since)
                finally:
                    claims.release(key)
            if (reply := self.get_reply(key, since=since)) is not None:
                return reply
            await asyncio.sleep(wait_s)
            wait_s = min(2 * wait_s, _LONGEST_WAIT_S)

    async def _ask(self, key: str, ask: Callable[[], Awaitable[Reply]], provider: str, since: str) -> Reply:
        reply = await ask()
        if reply.finish == "stop":
            await self._writer().write_from_task(reply_entry(key, reply, provider, since=since))
        return reply

    def write(self, entry: Entry) -> "Future[None]":
        """Hand over an entry as it is; the future is done when it is on disk."""
        return self._writer().write(entry)

    def close(self) -> None:
        """Commit what is waiting and let go of the file."""
        self._closed = True
        self._finalizer()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _get(
        self, record_type: type[Record], kind: Kind, key: str, since: str = "", *, glance: bool = False
    ) -> Record | None:
        try:
            found = self._find(kind, key, since, glance)
        except DamagedCacheError:
            if self._database.read_only:
                raise
            self._database.set_aside(self._parts.reader.file)
            return None
        if found is None:
            return None
        try:
            return decode_kept(record_type, *found)
        except DataError as error:
            warnings.warn(f"{self.path}: entry {key} cannot be read and counts as missing: {error}", stacklevel=3)
            return None

    def _find(self, kind: Kind, key: str, since: str, glance: bool) -> tuple[str, int] | None:
        """Look in the file; a glance may miss what was written a moment ago."""
        self._check_open()
        with self._parts.guard:
            try:
                connection = self._parts.reader.get()
                if connection.in_transaction != glance:
                    self._parts.change_view(connection)
                return connection.execute(_SELECT, (key, kind, since)).fetchone()
            except sqlite3.Error as error:
                self._parts.reader.close()
                raise self._database.problem(error) from None

    def _writer(self) -> GroupWriter:
        self._check_open()
        if self._parts.writer is None:
            raise CacheError("is open for replay; nothing is written to it", path=self.path)
        return self._parts.writer

    def _open(self) -> None:
        self._parts = _Parts(self._database)
        self._finalizer = weakref.finalize(self, self._parts.close)

    def _check_open(self) -> None:
        """Refuse a closed cache; after a fork, leave the parent's connections and thread alone and open new ones."""
        if self._closed:
            raise CacheError("is closed", path=self.path)
        if self._parts.process != os.getpid():
            self._finalizer.detach()
            self._inherited.append(self._parts)  # kept, because even closing them would disturb the parent
            self._open()


class _Parts:
    """What one process holds of an open cache."""

    def __init__(self, database: Database) -> None:
        self.process = os.getpid()
        self.guard = threading.Lock()
        self.reader = FollowingConnection(database, look_every_s=_LOOK_EVERY_S)
        self.reader.get()
        self.claims = None if database.read_only else Claims(Path(f"{database.path}-claims"))
        self.writer = None if database.read_only else GroupWriter(database)

    def change_view(self, connection: sqlite3.Connection) -> None:
        """Hold on to the file as it is now, until the loop comes round, or let it go.

        Looks that share a view need not lock the file one by one, which takes a third of their time.
        """
        if connection.in_transaction:
            connection.execute("COMMIT")
        else:
            connection.execute("BEGIN")
            asyncio.get_running_loop().call_soon(self._let_go)

    def _let_go(self) -> None:
        with self.guard:
            self.reader.let_go()

    def close(self) -> None:
        if self.writer is not None:
            self.writer.close()
        with self.guard:
            self.reader.close()
        if self.claims is not None:
            self.claims.close()
