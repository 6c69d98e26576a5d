"""Write replies to PostgreSQL in groups, and to a local fallback file while it is unreachable."""

import asyncio
import shlex
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from polyjudge.errors import CacheError

from .cross_thread import CrossThreadFuture, wake
from .entries import Entry, stored
from .postgres_connection import ReconnectingConnection
from .sqlite import JudgeCache

Thing = TypeVar("Thing")

_LARGEST = 500


class Batched(Generic[Thing]):
    """Collects things from any thread, and does the work on them in one loop, a batch at a time."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        work: Callable[[list[Thing]], Awaitable[None]],
        failed: Callable[[list[Thing], Exception], None],
    ) -> None:
        self._loop = loop
        self._work = work
        self._failed = failed
        self._arrived: deque[Thing] = deque()
        self._guard = threading.Lock()
        self._awake = self._closed = False
        self._task: asyncio.Task[None] | None = None

    def hand_over(self, thing: Thing) -> bool:
        """Have something done, soon; False where it is too late for that."""
        with self._guard:
            if self._closed:
                return False
            self._arrived.append(thing)
            if not self._awake:  # woken once a batch and not once a thing: waking another thread is dear
                self._awake = True
                self._loop.call_soon_threadsafe(self._start)
            return True

    def waiting(self) -> list[Thing]:
        """Return what has arrived and is not begun yet."""
        with self._guard:
            return list(self._arrived)

    async def finish(self) -> None:
        """Take nothing more, and do what is there; to be called in the loop."""
        with self._guard:
            self._closed = True
        self._start()
        if self._task is not None:
            await self._task

    def _start(self) -> None:
        if self._task is None or self._task.done():
            self._task = self._loop.create_task(self._run())

    async def _run(self) -> None:
        await asyncio.sleep(0)  # whoever woke us has more to hand over, and a batch of one is a waste
        while batch := self._next():
            try:
                await self._work(batch)
            except Exception as error:  # noqa: BLE001 - whatever it is belongs to those who wait, in their own threads
                self._failed(batch, error)

    def _next(self) -> list[Thing]:
        with self._guard:
            batch = [self._arrived.popleft() for _ in range(min(len(self._arrived), _LARGEST))]
            self._awake = bool(batch)
            return batch


class FallbackCache:
    """Keeps entries in a cache on this machine, and knows how they are brought home."""

    def __init__(self, path: Path, place: str) -> None:
        self._shown, self._path = path, path.absolute()  # the working folder may be another one by then
        self._place = place
        self._problem: CacheError | None = None

    def keep(self, entries: Sequence[Entry]) -> bool:
        """Write entries to disk; False where that is not possible either."""
        try:
            with JudgeCache(self._path) as cache:
                for written in [cache.write(entry) for entry in entries]:
                    written.result()
        except CacheError as error:
            self._problem = error
            return False
        self._problem = None
        return True

    @property
    def told(self) -> str:
        """What became of the entries, and what to do about it."""
        if self._problem is not None:
            return f"What was paid for last cannot be kept aside either: {self._problem}"
        command = import_command(self._shown, self._place)
        return f"What was paid for is kept in {self._shown}; bring it home with: {command}"


def import_command(path: Path | str, place: str) -> str:
    """Return the command that takes a local cache into the shared one."""
    return f"polyjudge cache import {shlex.quote(str(path))} --cache {shlex.quote(place)}"


Part = TypeVar("Part")

_INSERT = """
insert into polyjudge_entries (key, kind, provider, model, created_at, checksum, value)
select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::text[])
"""
_REPLACE = f"""{_INSERT}
on conflict (key, kind) do update set
    provider = excluded.provider, model = excluded.model, created_at = excluded.created_at,
    checksum = excluded.checksum, value = excluded.value
"""
ADD = f"{_INSERT} on conflict (key, kind) do nothing returning 1"
"""Leaves entries that are there already as they are, and returns a row for each that was not."""
_LARGEST_BYTES = 8_000_000
_LARGEST_PART = 500


@dataclass(slots=True, eq=False)
class _Write:
    entry: Entry
    waiting: CrossThreadFuture[None]
    then: Callable[[], None]
    is_aside: bool = False


class PostgresWriting:
    """Writes entries; one is done when its commit is on the server's disk."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, connection: ReconnectingConnection, aside: FallbackCache, place: str
    ) -> None:
        self._connection = connection
        self._aside = aside
        self._place = place
        self._batched: Batched[_Write] = Batched(loop, self._insert, self._give_up)
        self.untold = ""
        """What went wrong when nobody waited for it any more."""

    def write(self, entry: Entry, waiting: CrossThreadFuture[None], then: Callable[[], None]) -> None:
        """Hand over an entry, in any thread; `then` is called when it is kept or given up, also if nobody waits."""
        if not self._batched.hand_over(_Write(entry, waiting, then)):
            raise CacheError("is closed", path=self._place)

    async def finish(self) -> None:
        """Write what is there, or keep it aside."""
        await self._batched.finish()

    async def _insert(self, writes: list[_Write]) -> None:
        for part in in_parts(writes, lambda write: len(write.entry.value)):
            try:
                await self._insert_part(part)
            except CacheError as error:
                self._give_up(part, error)
            else:
                self._tell(part, None)

    async def _insert_part(self, part: Sequence[_Write]) -> None:
        columns = as_columns(write.entry for write in part)

        async def insert(session: Any) -> None:
            await session.execute(_REPLACE, *columns)

        def in_trouble() -> None:
            self._set_aside([*part, *self._batched.waiting()])

        await self._connection.use(insert, in_trouble=in_trouble)

    def _set_aside(self, writes: Sequence[_Write]) -> None:
        """Keep on this machine what waits for PostgreSQL: who is killed while waiting loses nothing then."""
        new = [write for write in writes if not write.is_aside]
        if new and self._aside.keep([write.entry for write in new]):
            for write in new:
                write.is_aside = True

    def _give_up(self, writes: Sequence[_Write], error: Exception) -> None:
        self._set_aside(writes)
        told = CacheError(f"{error}. {self._aside.told}")
        if any(write.waiting.is_given_up for write in writes):
            self.untold = str(told)
        self._tell(writes, told)

    def _tell(self, writes: Sequence[_Write], error: CacheError | None) -> None:
        wake((write.waiting, error) for write in writes)
        for write in writes:
            write.then()


def as_columns(entries: Iterable[Entry]) -> list[list[object]]:
    """Return entries as `unnest` takes them: the last of each key, in an order that is the same for all writers."""
    # PostgreSQL cannot replace a row twice in one statement, and writers in different orders can block each other.
    last = {(entry.key, entry.kind): entry for entry in entries}
    rows = [_row(last[place]) for place in sorted(last)]
    return [list(column) for column in zip(*rows, strict=True)]


def _row(entry: Entry) -> tuple[object, ...]:
    named = stored(entry.key), entry.kind, stored(entry.provider), stored(entry.model)
    return *named, entry.created_at, entry.checksum, entry.value


def in_parts(things: Iterable[Part], size: Callable[[Part], int]) -> Iterator[list[Part]]:
    """Divide what is to be written so that no statement is too long for the server."""
    part: list[Part] = []
    held = 0
    for thing in things:
        if part and (held + size(thing) > _LARGEST_BYTES or len(part) == _LARGEST_PART):
            yield part
            part, held = [], 0
        part.append(thing)
        held += size(thing)
    if part:
        yield part
