"""Writes from many tasks, committed together: one wait for the disk serves all that arrived during the last one."""

import sqlite3
import threading
from concurrent.futures import Future
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue

from polyjudge.errors import CacheError

from .database import DamagedCacheError, Database, FollowingConnection
from .entries import Entry

_INSERT = (
    "INSERT OR REPLACE INTO entries (key, kind, provider, model, created_at, checksum, value) VALUES (?,?,?,?,?,?,?)"
)
_LARGEST_GROUP = 1_000


@dataclass(frozen=True, slots=True)
class _Write:
    entry: Entry
    done: "Future[None]" = field(default_factory=Future)


class GroupWriter:
    """A thread that owns the writing connection; a write is done when its commit is on disk."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._connection = FollowingConnection(database)
        self._closed = False
        self._guard = threading.Lock()
        self._queue: SimpleQueue[_Write | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="polyjudge-cache", daemon=True)
        self._thread.start()

    def write(self, entry: Entry) -> "Future[None]":
        """Hand over an entry; the future is done once it is durable, or holds the reason why it is not."""
        write = _Write(entry)
        # Running from the start, so that a caller who is cancelled while waiting cannot cancel the write itself.
        write.done.set_running_or_notify_cancel()
        with self._guard:
            if self._closed:
                raise CacheError("is closed", path=self._database.path)
            self._queue.put(write)
        return write.done

    def close(self) -> None:
        """Commit what is waiting and stop."""
        with self._guard:
            self._closed = True
            self._queue.put(None)
        if self._thread is not threading.current_thread():  # the garbage collector may call from anywhere
            self._thread.join()

    def _run(self) -> None:
        running = True
        while running:
            group, running = self._next_group()
            if group:
                self._commit(group)
        self._connection.close()

    def _next_group(self) -> tuple[list[_Write], bool]:
        """Wait for one write and take what else is there; the second value says whether to go on after it."""
        group: list[_Write] = []
        write = self._queue.get()
        while write is not None:
            group.append(write)
            if len(group) == _LARGEST_GROUP:
                return group, True
            try:
                write = self._queue.get_nowait()
            except Empty:
                return group, True
        return group, False

    def _commit(self, group: list[_Write]) -> None:
        try:
            self._insert(group)
        except Exception as error:  # noqa: BLE001 - whatever it is belongs to those who wait, in their own threads
            for write in group:
                write.done.set_exception(error)
        else:
            for write in group:
                write.done.set_result(None)

    def _insert(self, group: list[_Write]) -> None:
        try:
            self._insert_once(group)
        except DamagedCacheError:
            self._database.set_aside(self._connection.file)
            self._insert_once(group)

    def _insert_once(self, group: list[_Write]) -> None:
        try:
            connection = self._connection.get()
            with self._database.writing(connection):
                connection.executemany(_INSERT, [_row(write.entry) for write in group])
        except sqlite3.Error as error:
            self._connection.close()
            raise self._database.problem(error) from None


def _row(entry: Entry) -> tuple[object, ...]:
    return entry.key, entry.kind, entry.provider, entry.model, entry.created_at, entry.checksum, entry.value
