"""Write many cache entries in one transaction."""

import asyncio
import sqlite3
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache

from polyjudge.errors import CacheError

from .entries import Entry
from .sqlite_file import DamagedCacheError, Database, FollowingConnection

_COLUMNS = "key, kind, provider, model, created_at, checksum, value"
_LARGEST_STATEMENT = 1_000
_Waiting = dict[asyncio.AbstractEventLoop, list["asyncio.Future[None]"]]


@dataclass(slots=True, eq=False)
class _Group:
    """Entries that share a commit, and the tasks that wait for it, by their event loop."""

    entries: list[Entry] = field(default_factory=list[Entry])
    waiting: _Waiting = field(default_factory=_Waiting)
    is_over: bool = False
    error: Exception | None = None


class GroupWriter:
    """Commits together what threads and tasks write while the previous commit waits for the disk."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._connection = FollowingConnection(database)
        self._group = _Group()
        self._guard = threading.Lock()
        """Held to change the group that is being gathered."""
        self._committing = threading.Lock()
        """Held during a commit."""
        self._is_closed = False

    def write(self, entries: Sequence[Entry]) -> None:
        """Return when entries are on disk; for threads."""
        with self._guard:
            group = self._joined(entries)
        self._commit(group)
        if group.error is not None:
            raise group.error

    def write_from_task(self, entry: Entry) -> "asyncio.Future[None]":
        """Return a future that is done when an entry is on disk; it is written even if the future is cancelled."""
        loop = asyncio.get_running_loop()
        done = loop.create_future()
        with self._guard:
            group = self._joined([entry])
            if loop not in group.waiting:
                group.waiting[loop] = []
                loop.call_soon(self._commit_for_loop, group, loop)  # after what other tasks write in this round
            group.waiting[loop].append(done)
        return done

    def close(self) -> None:
        """Commit what has been handed over, and close the connection."""
        with self._guard:
            self._is_closed = True
            group = self._group
        self._commit(group)
        self._connection.close()

    def _joined(self, entries: Sequence[Entry]) -> _Group:
        if self._is_closed:
            raise CacheError("is closed", path=self._database.path)
        self._group.entries += entries
        return self._group

    def _commit_for_loop(self, group: _Group, loop: asyncio.AbstractEventLoop) -> None:
        """Commit in a thread of the loop, not in a task: paid replies are written even if all tasks are cancelled."""
        try:
            committed = loop.run_in_executor(None, self._commit, group)
        except RuntimeError:  # the loop is being closed and starts no more threads
            self._commit(group)
            _wake(group, loop)
        else:
            committed.add_done_callback(lambda _: _wake(group, loop))

    def _commit(self, group: _Group) -> None:
        """Return when a group is over; the first of those who wait for it commits it for all of them."""
        with self._committing:
            if group.is_over:
                return
            with self._guard:
                if self._group is group:
                    self._group = _Group()
            try:
                for start in range(0, len(group.entries), _LARGEST_STATEMENT):
                    self._insert(group.entries[start : start + _LARGEST_STATEMENT])
            except Exception as error:  # noqa: BLE001 - it is raised where the group is waited for
                group.error = error
            group.is_over = True

    def _insert(self, entries: list[Entry]) -> None:
        try:
            self._insert_once(entries)
        except DamagedCacheError:
            self._database.quarantine(self._connection.file)
            self._insert_once(entries)

    def _insert_once(self, entries: list[Entry]) -> None:
        try:
            # One statement, which commits by itself: each statement releases the interpreter and waits to get it back.
            values = [value for entry in entries for value in _row(entry)]
            self._database.commit(self._connection.get(), _insert(len(entries)), values)
        except sqlite3.Error as error:
            self._connection.close()
            raise self._database.problem(error) from None


@cache
def _insert(rows: int) -> str:
    return f"INSERT OR REPLACE INTO entries ({_COLUMNS}) VALUES {','.join(['(?,?,?,?,?,?,?)'] * rows)}"


def _row(entry: Entry) -> tuple[object, ...]:
    return entry.key, entry.kind, entry.provider, entry.model, entry.created_at, entry.checksum, entry.value


def _wake(group: _Group, loop: asyncio.AbstractEventLoop) -> None:
    """Wake the tasks of a loop that wait for a group."""
    for done in group.waiting[loop]:
        if done.done():  # cancelled meanwhile
            continue
        if group.error is None:
            done.set_result(None)
        else:
            done.set_exception(group.error)
