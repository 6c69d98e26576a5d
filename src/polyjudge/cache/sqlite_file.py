"""The SQLite database file under the cache."""

import os
import sqlite3
import time
import warnings
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar, cast

from polyjudge.errors import CacheError
from polyjudge.folder_trust import make_folder

Result = TypeVar("Result")

_APPLICATION = 0x504A4447  # "PJDG", so that another program's database is never taken for a cache
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
    sqlite3.SQLITE_BUSY: "is locked by another program; wait for it or name another cache",
    sqlite3.SQLITE_READONLY: "cannot be written; make file and folder writable, name another cache, or replay it",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened; check that the folder exists and can be written",
    sqlite3.SQLITE_PERM: "cannot be opened: permission denied",
    sqlite3.SQLITE_FULL: "the disk is full. What was stored before is safe; free some space and run again",
    sqlite3.SQLITE_IOERR: "cannot be read or written: the disk is full or failing. What was stored before is safe",
}


class DamagedCacheError(CacheError):
    """The file is no longer a valid database; a cache that is open for writing quarantines it and starts a new one."""


class Database:
    """Opens connections to one file; quarantines the file when it is damaged."""

    def __init__(self, path: Path, *, busy_timeout_s: float, read_only: bool) -> None:
        self.path = path
        self.read_only = read_only
        self.openings = 0
        """How often a connection was opened: the next one may be to another file."""
        self._busy_timeout_s = busy_timeout_s
        self._reported: set[int] = set()
        """Files that were quarantined, or reported as missing."""

    def connect(self) -> sqlite3.Connection:
        """Open the file and create it if necessary; a damaged one is quarantined first."""
        file = self.file_number()
        try:
            return self._connect()
        except DamagedCacheError:
            if self.read_only:
                raise
            self.quarantine(file)
            return self._connect()

    def file_number(self) -> int:
        """Return the inode number of the file that is now at the path, 0 for none."""
        try:
            return self.path.stat().st_ino
        except OSError:
            return 0

    def quarantine(self, file: int) -> None:
        """Rename the damaged file, with a warning; leave alone one that has replaced it since."""
        if self.file_number() != file:
            return
        self._reported.add(file)  # first: another thread may find it gone at once
        stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%fZ")
        quarantined = self.path.with_name(f"{self.path.name}.damaged-{stamp}")
        for suffix in ("", "-wal", "-shm"):
            with suppress(FileNotFoundError):
                Path(f"{self.path}{suffix}").rename(f"{quarantined}{suffix}")
        remedy = f"recover what can be read with: polyjudge cache import {quarantined}"
        warnings.warn(f"{self.path} was damaged and is quarantined; {remedy}", stacklevel=2)

    def report_missing(self, file: int) -> None:
        """Warn of a file that is gone and was not quarantined."""
        if self.file_number() == 0 and file not in self._reported:
            self._reported.add(file)
            message = f"{self.path} is gone, and with it the replies that it held; a new cache is started"
            warnings.warn(message, stacklevel=2)

    @contextmanager
    def writing(self, connection: sqlite3.Connection) -> Generator[None]:
        """Hold the write lock for a block, and commit at its end; closing rolls back."""
        self._wait_while_busy(lambda: connection.execute("BEGIN IMMEDIATE"))
        yield
        connection.execute("COMMIT")

    def commit(self, connection: sqlite3.Connection, statement: str, values: Sequence[object]) -> None:
        """Execute one statement, which is on disk when this returns."""
        self._wait_while_busy(lambda: connection.execute(statement, values))

    def problem(self, error: sqlite3.Error) -> CacheError:
        """Return our own error for one of SQLite's."""
        code = getattr(error, "sqlite_errorcode", 0)
        if not {code, code & 0xFF}.isdisjoint(_DAMAGED):
            return DamagedCacheError(f"is damaged ({error})", path=self.path)
        return CacheError(_REMEDIES.get(code & 0xFF, f"cannot be used as a cache: {error}"), path=self.path)

    def _connect(self) -> sqlite3.Connection:
        try:
            return self._wait_while_busy(self._connect_once)
        except sqlite3.Error as error:
            raise self.problem(error) from None

    def _wait_while_busy(self, attempt: Callable[[], Result]) -> Result:
        """Try until the time-out; SQLite's own waiting ignores Ctrl-C, and fails while a file is being created."""
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
        # SQLite creates files beside a log even for reading; where it cannot, no process can be writing either.
        alone = not Path(f"{self.path}-wal").exists() and not os.access(self.path.parent, os.W_OK)
        return "mode=ro&immutable=1" if alone else "mode=ro"

    def _prepare(self, connection: sqlite3.Connection) -> None:
        """Check that the file is a cache, or make an empty one a cache."""
        tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        application = connection.execute("PRAGMA application_id").fetchone()[0]
        if application != _APPLICATION and (tables or self.read_only):
            raise CacheError("is a database of another program; name another file", path=self.path)
        if not self.read_only:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
        if not tables and not self.read_only:
            self._create(connection)
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version > _VERSION:
            raise CacheError("was written by a newer polyjudge; upgrade this one", path=self.path)

    def _create(self, connection: sqlite3.Connection) -> None:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(f"PRAGMA application_id = {_APPLICATION}")
        connection.execute(f"PRAGMA user_version = {_VERSION}")
        connection.execute(_SCHEMA)
        connection.execute("COMMIT")


class FollowingConnection:
    """A connection that opens itself, and again when another file has replaced its own.

    That is checked before every use, or every so many seconds; what another connection finds counts at once.
    """

    def __init__(self, database: Database, *, check_every_s: float = 0.0) -> None:
        self._database = database
        self._connection: sqlite3.Connection | None = None
        self._check_every_s = check_every_s
        self._checked = 0.0
        self._opening = 0
        self.file = 0

    def get(self) -> sqlite3.Connection:
        """Return an open connection to the file that is at the path."""
        now = time.monotonic()
        if self._connection is None or self._opening != self._database.openings or self._is_due(now):
            self._checked = now
            self._follow()
        return cast(sqlite3.Connection, self._connection)

    def _is_due(self, now: float) -> bool:
        return now - self._checked >= self._check_every_s

    def _follow(self) -> None:
        if self._connection is None or self._database.file_number() != self.file:
            if self._connection is not None:
                self._database.report_missing(self.file)
            self.close()
            self._connection = self._database.connect()
            self.file = self._database.file_number()
            self._database.openings += 1
        self._opening = self._database.openings

    def end_snapshot(self) -> None:
        """End the transaction of a snapshot read, if there is one."""
        if self._connection is not None and self._connection.in_transaction:
            self._connection.execute("COMMIT")

    def close(self) -> None:
        """Close the connection, which rolls back its transaction; the next use opens a new one."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _decoded(stored: bytes) -> str:
    """Return text as far as it can be read; the checksum shows that a row is damaged."""
    return stored.decode(errors="replace")


def prepare_folder(path: Path) -> None:
    """Create the folder of a cache file, or say why that is not possible."""
    try:
        make_folder(path.parent)
    except OSError as error:
        raise CacheError(f"cannot be made: {error.strerror}", path=path) from None
    if path.is_dir():
        raise CacheError("is a folder; name a file in it", path=path)
    if path.exists() and not os.access(path, os.W_OK):
        raise CacheError(_REMEDIES[sqlite3.SQLITE_READONLY], path=path)
