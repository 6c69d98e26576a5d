"""The SQLite cache, shared by tasks, threads and processes.

A claim is a lock on one byte of an empty file beside the cache, at an offset given by the key. The kernel releases it
when the process ends, so a killed run leaves no claim behind. A forked child would keep its parent's locks, so it
closes the file first.
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
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from polyjudge.errors import CacheError, DataError
from polyjudge.records.outcomes import JudgeResult
from polyjudge.records.requests import Reply

from .entries import Entry, Kind, decode_cached, reply_entry, result_entry
from .protocol import Cache, hash_key, is_url
from .sqlite_file import DamagedCacheError, Database, FollowingConnection, GroupWriter, prepare_folder

_OFFSETS = 2**62
_OFD_SETLK: int | None = getattr(fcntl, "F_OFD_SETLK", None) if sys.platform == "linux" else None
_OPEN: "weakref.WeakSet[Claims]" = weakref.WeakSet()


class Claims:
    """The keys that are claimed through one open cache."""

    def __init__(self, path: Path) -> None:
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except OSError as error:
            raise CacheError(f"cannot be written: {error.strerror}", path=path) from None
        self._held: dict[str, int] = {}
        self._guard = threading.Lock()
        _OPEN.add(self)

    def take(self, key: str) -> bool:
        """Claim a key; return False if it is already claimed."""
        with self._guard:
            offset = int.from_bytes(sha256(key.encode()).digest()[:8], "big") % _OFFSETS
            if self._file < 0 or key in self._held or not _lock(self._file, offset):
                return False
            self._held[key] = offset
            return True

    def release(self, key: str) -> None:
        """Release a claim."""
        with self._guard:
            offset = self._held.pop(key, None)
            if self._file >= 0 and offset is not None:
                _set_lock(self._file, fcntl.F_UNLCK, offset)

    def close(self) -> None:
        """Release all claims."""
        with self._guard:
            self.close_file()

    def close_file(self) -> None:
        """Close the file without taking the guard, for a forked child."""
        file, self._file = self._file, -1
        if file >= 0:
            os.close(file)


def _close_in_child() -> None:
    for claims in _OPEN:
        claims.close_file()


os.register_at_fork(after_in_child=_close_in_child)


def _lock(file: int, offset: int) -> bool:
    try:
        _set_lock(file, fcntl.F_WRLCK, offset)
    except (BlockingIOError, PermissionError):  # EAGAIN or EACCES, depending on the system
        return False
    return True


def _set_lock(file: int, kind: int, offset: int) -> None:
    if _OFD_SETLK is not None:
        # Owned by the open file and not by the process, so two caches in one process exclude each other.
        fcntl.fcntl(file, _OFD_SETLK, struct.pack("hhqqi4x", kind, os.SEEK_SET, offset, 1, 0))
    else:
        command = fcntl.LOCK_UN if kind == fcntl.F_UNLCK else fcntl.LOCK_EX | fcntl.LOCK_NB
        fcntl.lockf(file, command, 1, offset)


Record = TypeVar("Record", Reply, JudgeResult)

_SELECT = "SELECT CAST(value AS TEXT), checksum FROM entries WHERE key = ? AND kind = ? AND created_at >= ?"
_RESERVED_SUFFIXES = {".csv", ".json", ".jsonl", ".md", ".parquet", ".toml", ".tsv", ".txt"}
_CHECK_EVERY_S = 0.1
"""How often reads check whether the file was replaced; every write checks it."""


class SqliteCache:
    """Stores replies in a file, for the tasks of any event loop; `read`, `write` and `close` are synchronous."""

    def __init__(self, path: Path, *, busy_timeout_s: float = 30.0, read_only: bool = False) -> None:
        self.path = path
        if path.suffix.lower() in _RESERVED_SUFFIXES and path.exists():
            # A damaged cache is renamed, which must not happen to a file of results.
            raise CacheError(f"a cache cannot end in {path.suffix}; use another name, such as cache.sqlite", path=path)
        self._database = Database(path, busy_timeout_s=busy_timeout_s, read_only=read_only)
        if not read_only:
            prepare_folder(path)
        elif not path.is_file():
            raise CacheError(
                "does not exist, so there is nothing to replay; give the cache of an earlier run", path=path
            )
        self._is_closed = False
        self._last_was_found = False
        """Whether the last read found a reply."""
        self._inherited: list[_Resources] = []
        self._open()

    @property
    def place(self) -> str:
        """The path of the file."""
        return str(self.path)

    async def connect(self) -> None:
        """Do nothing: the file is already open."""

    async def get(self, key: str, *, since: str = "", snapshot: bool = False) -> Reply | None:
        """Return the reply stored under a key, marked as cached, or None; one older than `since` is ignored.

        Snapshot reads share one transaction until the next iteration of the loop. A run mostly finds all replies or
        none, so after a missing reply, a snapshot read returns None without reading.
        """
        if snapshot and not self._last_was_found:
            return None
        reply = self.read(Reply, "reply", key, since, snapshot=snapshot)
        self._last_was_found = reply is not None
        return reply

    async def put(self, key: str, reply: Reply, *, provider: str = "", since: str = "") -> None:
        """Store a reply, replacing an older one; it is on disk when this returns."""
        await self._writer().write_from_task(reply_entry(key, reply, provider, since=since))

    def claim(self, key: str) -> "_Claim":
        """Enter with True if the caller may ask; with False, another task, thread or process is asking."""
        self._check_open()
        if self._resources.claims is None:
            raise CacheError("the cache is open read-only for a replay; no request can be claimed", path=self.path)
        return _Claim(self._resources.claims, key)

    async def aclose(self) -> None:
        """Commit the pending writes and close the file."""
        self.close()

    def read(
        self, record_type: type[Record], kind: Kind, key: str, since: str = "", *, snapshot: bool = False
    ) -> Record | None:
        """Return the record stored under a key, marked as cached, or None."""
        try:
            found = self._find(kind, key, since, snapshot)
        except DamagedCacheError:
            if self._database.read_only:
                raise
            self._database.quarantine(self._resources.reader.file)
            return None
        if found is None:
            return None
        try:
            return decode_cached(record_type, *found)
        except DataError as error:
            warnings.warn(f"{self.path}: entry {key} cannot be read and counts as missing: {error}", stacklevel=3)
            return None

    def write(self, *entries: Entry) -> None:
        """Store entries, replacing older ones; they are on disk when this returns."""
        self._writer().write(entries)

    def close(self) -> None:
        """Commit the pending writes and close the file."""
        self._is_closed = True
        self._finalizer()

    def _find(self, kind: Kind, key: str, since: str, snapshot: bool) -> tuple[str, int] | None:
        self._check_open()
        with self._resources.guard:
            try:
                connection = self._resources.reader.get()
                if connection.in_transaction != snapshot:
                    self._resources.toggle_snapshot(connection)
                return connection.execute(_SELECT, (key, kind, since)).fetchone()
            except sqlite3.Error as error:
                self._resources.reader.close()
                raise self._database.problem(error) from None

    def _writer(self) -> GroupWriter:
        self._check_open()
        if self._resources.writer is None:
            raise CacheError("the cache is open read-only for a replay; nothing can be stored", path=self.path)
        return self._resources.writer

    def _open(self) -> None:
        self._resources = _Resources(self._database)
        self._finalizer = weakref.finalize(self, self._resources.close)

    def _check_open(self) -> None:
        """Raise if the cache is closed; in a forked child, open new connections."""
        if self._is_closed:
            raise CacheError("the cache is closed", path=self.path)
        if self._resources.process != os.getpid():
            self._finalizer.detach()
            self._inherited.append(self._resources)  # closing them would affect the parent
            self._open()


class _Claim:
    """Holds a claim for the duration of a block, if it could be taken."""

    __slots__ = ("_claims", "_is_held", "_key")

    def __init__(self, claims: Claims, key: str) -> None:
        self._claims = claims
        self._key = key
        self._is_held = False

    async def __aenter__(self) -> bool:
        self._is_held = self._claims.take(self._key)
        return self._is_held

    async def __aexit__(self, *_: object) -> None:
        if self._is_held:
            self._claims.release(self._key)


class _Resources:
    """The connections and claims of an open cache in one process."""

    def __init__(self, database: Database) -> None:
        self.process = os.getpid()
        self.guard = threading.Lock()
        self.reader = FollowingConnection(database, check_every_s=_CHECK_EVERY_S)
        self.reader.get()
        self.writer = None if database.read_only else GroupWriter(database)
        self.claims = None if database.read_only else Claims(Path(f"{database.path}-claims"))

    def toggle_snapshot(self, connection: sqlite3.Connection) -> None:
        """Start a read transaction that lasts until the next iteration of the loop, or end it.

        Reads within a transaction do not lock the file one by one, which would take a third of their time.
        """
        if connection.in_transaction:
            connection.execute("COMMIT")
        else:
            connection.execute("BEGIN")
            asyncio.get_running_loop().call_soon(self._end_snapshot)

    def _end_snapshot(self) -> None:
        with self.guard:
            self.reader.end_snapshot()

    def close(self) -> None:
        if self.writer is not None:
            self.writer.close()
        with self.guard:
            self.reader.close()
        if self.claims is not None:
            self.claims.close()


class JudgeCache:
    """Stores results and replies in a file, for your own programs; any thread or process may use it.

    `put` returns when the entry is on disk; it then survives `kill -9`. A damaged file is quarantined with a warning.
    A file that is locked, read-only or on a full disk raises `CacheError`, because a run that continued would lose the
    replies it pays for. With `read_only=True`, for replays, nothing is written.
    """

    hash_key = staticmethod(hash_key)

    def __init__(self, db_path: Path | str, *, busy_timeout_s: float = 30.0, read_only: bool = False) -> None:
        if is_url(db_path):
            raise CacheError("JudgeCache needs a file path; for a URL, use polyjudge.cache.protocol.open_cache")
        self.path = Path(db_path)
        self.replies = SqliteCache(self.path, busy_timeout_s=busy_timeout_s, read_only=read_only)
        """The same file as a `Cache`, for runs and providers."""

    @property
    def place(self) -> str:
        """The path of the file."""
        return str(self.path)

    def get(self, key: str) -> JudgeResult | None:
        """Return the result stored under a key, marked as cached, or None."""
        return self.replies.read(JudgeResult, "result", key)

    def put(self, key: str, result: JudgeResult) -> None:
        """Store a result, replacing an older one."""
        self.replies.write(result_entry(key, result))

    def get_reply(self, key: str, *, since: str = "") -> Reply | None:
        """Return the reply stored under a key, marked as cached, or None; one older than `since` is ignored."""
        return self.replies.read(Reply, "reply", key, since)

    def put_reply(self, key: str, reply: Reply, provider: str = "") -> None:
        """Store a reply, replacing an older one."""
        self.replies.write(reply_entry(key, reply, provider))

    def close(self) -> None:
        """Commit the pending writes and close the file."""
        self.replies.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def replies_of(cache: Cache | JudgeCache) -> Cache:
    """Return the cache itself, or the one inside a `JudgeCache`."""
    return cache.replies if isinstance(cache, JudgeCache) else cache
