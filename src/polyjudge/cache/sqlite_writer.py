"""Write many cache entries in one transaction."""

import asyncio
import sqlite3
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from queue import Empty, SimpleQueue

from polyjudge.errors import CacheError

from .entries import Entry
from .sqlite_file import DamagedCacheError, Database, FollowingConnection

_COLUMNS = "key, kind, provider, model, created_at, checksum, value"
_LARGEST_GROUP = 1_000


@dataclass(frozen=True, slots=True)
class _Write:
    entry: Entry
    done: "Future[None] | asyncio.Future[None]"
    loop: asyncio.AbstractEventLoop | None = None
    """The loop of the task that waits, where it is a task."""


class GroupWriter:
    """A thread that owns the writing connection; a write is done when its commit is on disk."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._connection = FollowingConnection(database)
        self._closed = False
        self._guard = threading.Lock()
        self._queue: SimpleQueue[list[_Write] | None] = SimpleQueue()
        self._gathered: dict[asyncio.AbstractEventLoop, list[_Write]] = {}
        self._thread = threading.Thread(target=self._run, name="polyjudge-cache", daemon=True)
        self._thread.start()

    def write(self, entry: Entry) -> "Future[None]":
        """Hand over an entry; the future is done once it is durable, or holds the reason why it is not."""
        done: Future[None] = Future()
        with self._guard:
            self._check_open()
            self._queue.put([_Write(entry, done)])
        return done

    def write_from_task(self, entry: Entry) -> "asyncio.Future[None]":
        """Do what `write` does for a task.

        What the tasks of a loop write in one round is handed over together, and those whose entries share a commit are
        woken together: with each change between threads both lose time.
        """
        loop = asyncio.get_running_loop()
        done = loop.create_future()
        with self._guard:
            self._check_open()
            if loop not in self._gathered:
                self._gathered[loop] = []
                loop.call_soon(self._hand_over, loop)
            self._gathered[loop].append(_Write(entry, done, loop))
        return done

    def _check_open(self) -> None:
        if self._closed:
            raise CacheError("is closed", path=self._database.path)

    def _hand_over(self, loop: asyncio.AbstractEventLoop) -> None:
        with self._guard:
            if not self._closed:
                self._queue.put(self._gathered.pop(loop))

    def close(self) -> None:
        """Commit what is waiting and stop."""
        with self._guard:
            self._closed = True
            for writes in self._gathered.values():
                self._queue.put(writes)
            self._gathered.clear()
            self._queue.put(None)
        if self._thread is not threading.current_thread():  # the garbage collector may call from anywhere
            self._thread.join()

    def _run(self) -> None:
        running = True
        while running:
            group, running = self._next_group()
            for start in range(0, len(group), _LARGEST_GROUP):
                self._commit(group[start : start + _LARGEST_GROUP])
        self._connection.close()

    def _next_group(self) -> tuple[list[_Write], bool]:
        """Wait for one write and take what else is there; the second value says whether to go on after it."""
        group: list[_Write] = []
        writes = self._queue.get()
        while writes is not None:
            group += writes
            if len(group) >= _LARGEST_GROUP:
                return group, True
            try:
                writes = self._queue.get_nowait()
            except Empty:
                return group, True
        return group, False

    def _commit(self, group: list[_Write]) -> None:
        error: Exception | None = None
        try:
            self._insert(group)
        except Exception as raised:  # noqa: BLE001 - whatever it is belongs to those who wait, in their own threads
            error = raised
        _tell([write.done for write in group if write.loop is None], error)
        for loop in {write.loop for write in group if write.loop is not None}:
            waiting = [write.done for write in group if write.loop is loop]
            with suppress(RuntimeError):  # the loop is closed, and nobody waits any more
                loop.call_soon_threadsafe(_tell, waiting, error)

    def _insert(self, group: list[_Write]) -> None:
        try:
            self._insert_once(group)
        except DamagedCacheError:
            self._database.set_aside(self._connection.file)
            self._insert_once(group)

    def _insert_once(self, group: list[_Write]) -> None:
        try:
            # One statement, which commits by itself: with each this thread lets the others run, and waits for its turn.
            values = [value for write in group for value in _row(write.entry)]
            self._database.commit(self._connection.get(), _insert(len(group)), values)
        except sqlite3.Error as error:
            self._connection.close()
            raise self._database.problem(error) from None


@cache
def _insert(rows: int) -> str:
    return f"INSERT OR REPLACE INTO entries ({_COLUMNS}) VALUES {','.join(['(?,?,?,?,?,?,?)'] * rows)}"


def _row(entry: Entry) -> tuple[object, ...]:
    return entry.key, entry.kind, entry.provider, entry.model, entry.created_at, entry.checksum, entry.value


def _tell(waiting: "Sequence[Future[None] | asyncio.Future[None]]", error: Exception | None) -> None:
    """Wake those who wait; one who was cancelled meanwhile needs no waking, the entry is kept all the same."""
    for done in waiting:
        if done.done():
            continue
        if error is None:
            done.set_result(None)
        else:
            done.set_exception(error)
