"""The SQLite file of a cache: connections, recovery from damage, and grouped writes."""

import asyncio
import os
import sqlite3
import threading
import time
import warnings
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import TypeVar, cast

from polyjudge.errors import CacheError
from polyjudge.folder_trust import make_folder

from .entries import Entry

Result = TypeVar("Result")

_APPLICATION = 0x504A4447  # "PJDG"; tells a cache from another program's database
_VERSION = 1
_SCHEMA = """
CREATE TABLE IF NOT EXISTS entries (
    key TEXT NOT NULL,
    kind TEXT NOT NULL,
    provider TEXT NOT NULL,
    model TEXT NOT NULL,
    created_at TEXT NOT NULL,
    checksum INTEGER NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (key, kind)
)
"""
_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_IOERR_SHORT_READ}
_REMEDIES = {
    sqlite3.SQLITE_BUSY: "the cache is locked by another program; wait until it has finished, or use another cache",
    sqlite3.SQLITE_READONLY: "cannot be written; make file and folder writable, use another cache, or replay this one",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened; check that the folder exists and can be written",
    sqlite3.SQLITE_PERM: "cannot be opened: permission denied",
    sqlite3.SQLITE_FULL: "the disk is full. Stored replies are safe; free some space and run again",
    sqlite3.SQLITE_IOERR: "cannot be read or written: the disk is full or failing. Stored replies are safe",
}


class DamagedCacheError(CacheError):
    """The file is not a valid database; a cache that is open for writing quarantines it and creates a new one."""


class Database:
    """Opens connections to one file, and quarantines the file if it is damaged."""

    def __init__(self, path: Path, *, busy_timeout_s: float, read_only: bool) -> None:
        self.path = path
        self.read_only = read_only
        self.open_count = 0
        """How often a connection was opened; after a change, connections check which file is at the path."""
        self._busy_timeout_s = busy_timeout_s
        self._reported: set[int] = set()
        """Inode numbers of the files that were quarantined or reported as missing."""

    def connect(self) -> sqlite3.Connection:
        """Open the file, and create it if necessary; quarantine a damaged one first."""
        file = self.file_number()
        try:
            return self._connect()
        except DamagedCacheError:
            if self.read_only:
                raise
            self.quarantine(file)
            return self._connect()

    def file_number(self) -> int:
        """Return the inode number of the file at the path, or 0."""
        try:
            return self.path.stat().st_ino
        except OSError:
            return 0

    def quarantine(self, file: int) -> None:
        """Rename the damaged file, with a warning, unless another file has replaced it."""
        if self.file_number() != file:
            return
        self._reported.add(file)  # first, because another thread may notice at once that it is missing
        stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%fZ")
        quarantined = self.path.with_name(f"{self.path.name}.damaged-{stamp}")
        for suffix in ("", "-wal", "-shm"):
            with suppress(FileNotFoundError):
                Path(f"{self.path}{suffix}").rename(f"{quarantined}{suffix}")
        remedy = f"Recover the readable entries with: polyjudge cache import {quarantined}"
        warnings.warn(f"{self.path} was damaged and is quarantined. {remedy}", stacklevel=2)

    def report_missing(self, file: int) -> None:
        """Warn about a file that was deleted."""
        if self.file_number() == 0 and file not in self._reported:
            self._reported.add(file)
            message = f"{self.path} was deleted, and the replies in it are lost. A new cache is created."
            warnings.warn(message, stacklevel=2)

    @contextmanager
    def writing(self, connection: sqlite3.Connection) -> Generator[None]:
        """Hold the write lock for a block and commit at its end; after an error, close the connection to roll back."""
        self._wait_while_busy(lambda: connection.execute("BEGIN IMMEDIATE"))
        yield
        connection.execute("COMMIT")

    def commit(self, connection: sqlite3.Connection, statement: str, values: Sequence[object]) -> None:
        """Execute one statement; it is on disk when this returns."""
        self._wait_while_busy(lambda: connection.execute(statement, values))

    def problem(self, error: sqlite3.Error) -> CacheError:
        """Translate an error of SQLite."""
        code = getattr(error, "sqlite_errorcode", 0)
        if not {code, code & 0xFF}.isdisjoint(_DAMAGED):
            return DamagedCacheError(f"the cache is damaged ({error})", path=self.path)
        return CacheError(_REMEDIES.get(code & 0xFF, f"cannot be used as a cache: {error}"), path=self.path)

    def _connect(self) -> sqlite3.Connection:
        try:
            return self._wait_while_busy(self._connect_once)
        except sqlite3.Error as error:
            raise self.problem(error) from None

    def _wait_while_busy(self, attempt: Callable[[], Result]) -> Result:
        """Retry until the timeout; SQLite's own waiting ignores Ctrl-C, and fails while a file is being created."""
        end = time.monotonic() + self._busy_timeout_s
        while True:
            try:
                return attempt()
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                    raise
                time.sleep(0.005)

    def _connect_once(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            f"{self.path.absolute().as_uri()}?{self._mode()}",
            uri=True,
            isolation_level=None,
            check_same_thread=False,
            timeout=0.05,
        )
        connection.text_factory = _decoded
        try:
            self._prepare(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _mode(self) -> str:
        if not self.read_only:
            return "mode=rwc"
        # SQLite creates files beside the log even to read; if it cannot, no other process can be writing either.
        is_unchanging = not Path(f"{self.path}-wal").exists() and not os.access(self.path.parent, os.W_OK)
        return "mode=ro&immutable=1" if is_unchanging else "mode=ro"

    def _prepare(self, connection: sqlite3.Connection) -> None:
        """Check that the file is a cache; create the table in an empty one."""
        tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        application = connection.execute("PRAGMA application_id").fetchone()[0]
        if application != _APPLICATION and (tables or self.read_only):
            raise CacheError("this is a database of another program; use another file", path=self.path)
        if not self.read_only:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
        if not tables and not self.read_only:
            self._create(connection)
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version > _VERSION:
            raise CacheError("written by a newer polyjudge; upgrade polyjudge", path=self.path)

    def _create(self, connection: sqlite3.Connection) -> None:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(f"PRAGMA application_id = {_APPLICATION}")
        connection.execute(f"PRAGMA user_version = {_VERSION}")
        connection.execute(_SCHEMA)
        connection.execute("COMMIT")


class FollowingConnection:
    """A connection that is opened on demand, and again when another file has replaced its own.

    This is checked before every use, or every `check_every_s`; a change that another connection finds applies at once.
    """

    def __init__(self, database: Database, *, check_every_s: float = 0.0) -> None:
        self._database = database
        self._connection: sqlite3.Connection | None = None
        self._check_every_s = check_every_s
        self._checked = 0.0
        self._seen_open_count = 0
        self.file = 0

    def get(self) -> sqlite3.Connection:
        """Return an open connection to the file at the path."""
        now = time.monotonic()
        is_due = now - self._checked >= self._check_every_s
        if is_due or self._connection is None or self._seen_open_count != self._database.open_count:
            self._checked = now
            self._follow()
        return cast(sqlite3.Connection, self._connection)

    def _follow(self) -> None:
        if self._connection is None or self._database.file_number() != self.file:
            if self._connection is not None:
                self._database.report_missing(self.file)
            self.close()
            self._connection = self._database.connect()
            self.file = self._database.file_number()
            self._database.open_count += 1
        self._seen_open_count = self._database.open_count

    def end_snapshot(self) -> None:
        """End the transaction of a snapshot read, if there is one."""
        if self._connection is not None and self._connection.in_transaction:
            self._connection.execute("COMMIT")

    def close(self) -> None:
        """Close the connection, which rolls back its transaction; the next use opens a new one."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _decoded(text: bytes) -> str:
    """Decode text with replacement characters; the checksum shows that a row is damaged."""
    return text.decode(errors="replace")


def prepare_folder(path: Path) -> None:
    """Create the folder of a cache file, and check that the file can be written."""
    try:
        make_folder(path.parent)
    except OSError as error:
        raise CacheError(f"cannot be created: {error.strerror}", path=path) from None
    if path.is_dir():
        raise CacheError("this is a folder; give a file in it", path=path)
    if path.exists() and not os.access(path, os.W_OK):
        raise CacheError(_REMEDIES[sqlite3.SQLITE_READONLY], path=path)


_COLUMNS = "key", "kind", "provider", "model", "created_at", "checksum", "value"
_values = attrgetter(*_COLUMNS)
_LARGEST_STATEMENT = 1_000


@dataclass(slots=True, eq=False)
class _Group:
    """Entries that share a commit, and the tasks that wait for it, by event loop."""

    entries: list[Entry] = field(default_factory=list[Entry])
    waiting: dict[asyncio.AbstractEventLoop, "list[asyncio.Future[None]]"] = field(default_factory=dict)
    is_done: bool = False
    error: Exception | None = None


class GroupWriter:
    """Commits together the entries that threads and tasks write during the previous commit."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._connection = FollowingConnection(database)
        self._group = _Group()
        self._guard = threading.Lock()
        """Held to change the group that is open for entries."""
        self._committing = threading.Lock()
        """Held during a commit."""
        self._is_closed = False

    def write(self, entries: Sequence[Entry]) -> None:
        """Write entries; they are on disk when this returns. For threads."""
        with self._guard:
            group = self._add(entries)
        self._commit(group)
        if group.error is not None:
            raise group.error

    def write_from_task(self, entry: Entry) -> "asyncio.Future[None]":
        """Return a future that is done when an entry is on disk; it is written even if the future is cancelled."""
        loop = asyncio.get_running_loop()
        done = loop.create_future()
        with self._guard:
            group = self._add([entry])
            if loop not in group.waiting:
                group.waiting[loop] = []
                loop.call_soon(
                    self._commit_for_loop, group, loop
                )  # after the other tasks of this iteration have written
            group.waiting[loop].append(done)
        return done

    def close(self) -> None:
        """Commit the pending entries and close the connection."""
        with self._guard:
            self._is_closed = True
            group = self._group
        self._commit(group)
        self._connection.close()

    def _add(self, entries: Sequence[Entry]) -> _Group:
        if self._is_closed:
            raise CacheError("the cache is closed", path=self._database.path)
        self._group.entries += entries
        return self._group

    def _commit_for_loop(self, group: _Group, loop: asyncio.AbstractEventLoop) -> None:
        """Commit in a thread and not in a task, so that paid replies are written even if all tasks are cancelled."""
        try:
            committed = loop.run_in_executor(None, self._commit, group)
        except RuntimeError:  # the loop is closing and starts no more threads
            self._commit(group)
            _wake(group, loop)
        else:
            committed.add_done_callback(lambda _: _wake(group, loop))

    def _commit(self, group: _Group) -> None:
        """Return when a group is committed; the first caller that waits for it commits it for all."""
        with self._committing:
            if group.is_done:
                return
            with self._guard:
                if self._group is group:
                    self._group = _Group()
            try:
                for start in range(0, len(group.entries), _LARGEST_STATEMENT):
                    self._insert(group.entries[start : start + _LARGEST_STATEMENT])
            except Exception as error:  # noqa: BLE001 - raised where the group is waited for
                group.error = error
            group.is_done = True

    def _insert(self, entries: list[Entry]) -> None:
        try:
            self._insert_once(entries)
        except DamagedCacheError:
            self._database.quarantine(self._connection.file)
            self._insert_once(entries)

    def _insert_once(self, entries: list[Entry]) -> None:
        try:
            # A single autocommit statement, because each statement releases and reacquires the interpreter lock.
            values = [value for entry in entries for value in _values(entry)]
            self._database.commit(self._connection.get(), _insert(len(entries)), values)
        except sqlite3.Error as error:
            self._connection.close()
            raise self._database.problem(error) from None


@cache
def _insert(rows: int) -> str:
    return f"INSERT OR REPLACE INTO entries ({', '.join(_COLUMNS)}) VALUES {','.join(['(?,?,?,?,?,?,?)'] * rows)}"


def _wake(group: _Group, loop: asyncio.AbstractEventLoop) -> None:
    """Wake the tasks of a loop that wait for a group."""
    for done in group.waiting[loop]:
        if done.done():  # cancelled in the meantime
            continue
        if group.error is None:
            done.set_result(None)
        else:
            done.set_exception(group.error)
