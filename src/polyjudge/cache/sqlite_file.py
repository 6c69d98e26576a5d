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
    sqlite3.SQLITE_PERM: "cannot be opened for want of permission",
    sqlite3.SQLITE_FULL: "has no room: the disk is full. What was kept before is safe; make room and run again",
    sqlite3.SQLITE_IOERR: "cannot be read or written: the disk is full or failing. What was kept before is safe",
}


class DamagedCacheError(CacheError):
    """The file is no longer a sound database; a cache opened for writing sets it aside and goes on."""


class Database:
    """Opens connections to one file; sets the file aside when it is damaged."""

    def __init__(self, path: Path, *, busy_timeout_s: float, read_only: bool) -> None:
        self.path = path
        self.read_only = read_only
        self.openings = 0
        """How often a connection was opened: the next one may be to another file."""
        self._busy_timeout_s = busy_timeout_s
        self._aside: set[int] = set()

    def connect(self) -> sqlite3.Connection:
        """Open the file, made if need be; a damaged one is set aside first."""
        file = self.file_number()
        try:
            return self._connect()
        except DamagedCacheError:
            if self.read_only:
                raise
            self.set_aside(file)
            return self._connect()

    def file_number(self) -> int:
        """Return the number of the file that now stands at the path, 0 for none."""
        try:
            return self.path.stat().st_ino
        except OSError:
            return 0

    def set_aside(self, file: int) -> None:
        """Move the damaged file out of the way, with a warning; leave alone one that has taken its place since."""
        if self.file_number() != file:
            return
        self._aside.add(file)  # first: another thread may find it gone at once
        stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%fZ")
        aside = self.path.with_name(f"{self.path.name}.damaged-{stamp}")
        for suffix in ("", "-wal", "-shm"):
            with suppress(FileNotFoundError):
                Path(f"{self.path}{suffix}").rename(f"{aside}{suffix}")
        message = f"{self.path} was damaged and is set aside; what can be saved of it: polyjudge cache import {aside}"
        warnings.warn(message, stacklevel=2)

    def miss(self, file: int) -> None:
        """Say that a file is gone which we did not set aside, where that is so."""
        if self.file_number() == 0 and file not in self._aside:
            self._aside.add(file)
            message = f"{self.path} is gone, and with it the answers that it held; a new one is begun"
            warnings.warn(message, stacklevel=2)

    @contextmanager
    def writing(self, connection: sqlite3.Connection) -> Generator[None]:
        """Hold the right to write for the length of a block, and commit at its end; closing rolls back."""
        self._wait_while_busy(lambda: connection.execute("BEGIN IMMEDIATE"))
        yield
        connection.execute("COMMIT")

    def commit(self, connection: sqlite3.Connection, statement: str, values: Sequence[object]) -> None:
        """Carry out one statement that is on disk when this returns."""
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
        """Try until the time-out; SQLite's own waiting would not let Ctrl-C through, nor cover a file being set up."""
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
        # SQLite needs to make files beside a log even for reading; where it cannot, nobody can be writing either.
        alone = not Path(f"{self.path}-wal").exists() and not os.access(self.path.parent, os.W_OK)
        return "mode=ro&immutable=1" if alone else "mode=ro"

    def _prepare(self, connection: sqlite3.Connection) -> None:
        """Check that the file is a cache, or make it one."""
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
    """A connection that opens itself, and anew when another file has taken the place of its own.

    That is looked after before every use, or only now and then; a fellow's discovery of it counts at once.
    """

    def __init__(self, database: Database, *, look_every_s: float = 0.0) -> None:
        self._database = database
        self._connection: sqlite3.Connection | None = None
        self._look_every_s = look_every_s
        self._looked = 0.0
        self._opening = 0
        self.file = 0

    def get(self) -> sqlite3.Connection:
        """Return an open connection to the file that stands at the path."""
        now = time.monotonic()
        if self._connection is None or self._opening != self._database.openings or self._is_due(now):
            self._looked = now
            self._follow()
        return cast(sqlite3.Connection, self._connection)

    def _is_due(self, now: float) -> bool:
        return now - self._looked >= self._look_every_s

    def _follow(self) -> None:
        if self._connection is None or self._database.file_number() != self.file:
            if self._connection is not None:
                self._database.miss(self.file)
            self.close()
            self._connection = self._database.connect()
            self.file = self._database.file_number()
            self._database.openings += 1
        self._opening = self._database.openings

    def let_go(self) -> None:
        """End the view of the file that the connection holds, if it does."""
        if self._connection is not None and self._connection.in_transaction:
            self._connection.execute("COMMIT")

    def close(self) -> None:
        """Close the connection, which rolls back what it had begun; the next use opens a new one."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _decoded(stored: bytes) -> str:
    """Return text as far as it can be read; the checksum tells that a bad row is bad."""
    return stored.decode(errors="replace")


def prepare_folder(path: Path) -> None:
    """Make the folder of a cache file, or say why that cannot be done."""
    try:
        make_folder(path.parent)
    except OSError as error:
        raise CacheError(f"cannot be made: {error.strerror}", path=path) from None
    if path.is_dir():
        raise CacheError("is a folder; name a file in it", path=path)
    if path.exists() and not os.access(path, os.W_OK):
        raise CacheError(_REMEDIES[sqlite3.SQLITE_READONLY], path=path)
