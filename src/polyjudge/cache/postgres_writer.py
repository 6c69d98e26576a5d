"""Write replies to PostgreSQL in groups, and to a local fallback cache while the server is unavailable."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from polyjudge.errors import CacheError, UnsharedRepliesError

from .entries import Entry, escape
from .postgres_connection import ReconnectingConnection
from .sqlite import SqliteCache

Item = TypeVar("Item")
Answer = TypeVar("Answer")

_LARGEST_GROUP = 500


class GroupedCalls(Generic[Item, Answer]):
    """Calls a function for the items of many tasks, a group at a time; items added in the meantime are the next group.

    With `must_finish`, all items are handled even if the loop is ending and the tasks are cancelled.
    """

    def __init__(
        self, work: Callable[[list[Item]], Awaitable[Sequence[Answer | Exception]]], *, must_finish: bool = False
    ) -> None:
        self._work = work
        self._must_finish = must_finish
        self._waiting: list[tuple[Item, asyncio.Future[Answer]]] = []
        self._task: asyncio.Task[None] | None = None
        self.unreported: Exception | None = None
        """The last error that no task received, because its task was cancelled."""

    def add(self, item: Item) -> "asyncio.Future[Answer]":
        """Return the future of an item's answer."""
        loop = asyncio.get_running_loop()
        done = loop.create_future()
        self._waiting.append((item, done))
        if self._task is None:
            self._task = loop.create_task(self._run())
        return done

    @property
    def waiting(self) -> list[Item]:
        """The items that are not started yet."""
        return [item for item, _ in self._waiting]

    async def finish(self) -> None:
        """Return when all items are handled."""
        while self._task is not None:
            await asyncio.wait([self._task])

    async def _run(self) -> None:
        try:
            while self._waiting:
                group, self._waiting = self._waiting[:_LARGEST_GROUP], self._waiting[_LARGEST_GROUP:]
                await self._do(group)
        finally:
            self._task = None

    async def _do(self, group: list[tuple[Item, "asyncio.Future[Answer]"]]) -> None:
        try:
            answers = await self._work([item for item, _ in group])
        except asyncio.CancelledError:  # the loop is ending
            if not self._must_finish:
                for _, done in [*group, *self._waiting]:
                    done.cancel()
                raise
            self._waiting = [*group, *self._waiting]
            return
        except Exception as error:  # noqa: BLE001 - raised where the answers are awaited
            answers = [error] * len(group)
        for (_, done), answer in zip(group, answers, strict=True):
            self._resolve(done, answer)

    def _resolve(self, done: "asyncio.Future[Answer]", answer: Answer | Exception) -> None:
        if isinstance(answer, Exception) and done.cancelled():
            self.unreported = answer
        elif isinstance(answer, Exception):
            done.set_exception(answer)
        elif not done.cancelled():
            done.set_result(answer)


class FallbackCache:
    """Stores entries in a cache file of this machine, from which they can be imported."""

    def __init__(self, path: Path, place: str) -> None:
        self._shown, self._path = path, path.absolute()  # the working folder may have changed by then
        self._place = place
        self._problem: CacheError | None = None

    def store(self, entries: Sequence[Entry]) -> bool:
        """Write entries to disk; return False if that fails."""
        try:
            with closing(SqliteCache(self._path)) as cache:
                cache.write(*entries)
        except CacheError as error:
            self._problem = error
            return False
        self._problem = None
        return True

    def error(self, cause: CacheError) -> CacheError:
        """Return the error that says where the paid replies are stored."""
        if self._problem is not None:
            return CacheError(f"{cause}. The last paid replies cannot be stored locally either: {self._problem}")
        message = f"{cause}. Paid replies are stored in {self._shown}. Import them into the shared cache."
        return UnsharedRepliesError(message, fallback=self._shown, cache=self._place)


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
"""Does not change existing entries; returns a row for each new one."""
_LARGEST_BYTES = 8_000_000
_LARGEST_PART = 500


@dataclass(slots=True, eq=False)
class _Write:
    entry: Entry
    on_end: Callable[[], None]
    is_in_fallback: bool = False


class PostgresWriter:
    """Writes entries; a write is done when its commit is on the server's disk."""

    def __init__(self, connection: ReconnectingConnection, fallback: FallbackCache) -> None:
        self._connection = connection
        self._fallback = fallback
        self._writes: GroupedCalls[_Write, None] = GroupedCalls(self._insert, must_finish=True)

    def write(self, entry: Entry, on_end: Callable[[], None]) -> "asyncio.Future[None]":
        """Return a future that is done when an entry is stored; `on_end` is called when it is stored or has failed."""
        return self._writes.add(_Write(entry, on_end))

    async def finish(self) -> Exception | None:
        """Write the pending entries, if necessary to the fallback cache; return an error that no task received."""
        await self._writes.finish()
        return self._writes.unreported

    async def _insert(self, writes: list[_Write]) -> list[Exception | None]:
        outcomes: list[Exception | None] = []
        for part in divide(writes, lambda write: len(write.entry.value)):
            outcomes += [await self._insert_part(part)] * len(part)
            for write in part:
                write.on_end()
        return outcomes

    async def _insert_part(self, part: Sequence[_Write]) -> CacheError | None:
        columns = as_columns(write.entry for write in part)

        async def insert(connection: Any) -> None:
            await connection.execute(_REPLACE, *columns)

        async def store_in_fallback() -> None:
            await self._store_in_fallback([*part, *self._writes.waiting])

        try:
            await self._connection.use(insert, on_outage=store_in_fallback)
        except CacheError as error:
            await self._store_in_fallback(part)
            return self._fallback.error(error)
        return None

    async def _store_in_fallback(self, writes: Sequence[_Write]) -> None:
        """Store pending entries on this machine, so that a kill during an outage loses nothing."""
        new = [write for write in writes if not write.is_in_fallback]
        if new and await asyncio.to_thread(self._fallback.store, [write.entry for write in new]):
            for write in new:
                write.is_in_fallback = True


def as_columns(entries: Iterable[Entry]) -> list[list[object]]:
    """Return entries as columns for `unnest`: the last entry of each key, in key order."""
    # PostgreSQL cannot replace a row twice in one statement, and writers with different orders can deadlock.
    last = {(entry.key, entry.kind): entry for entry in entries}
    rows = [_row(last[place]) for place in sorted(last)]
    return [list(column) for column in zip(*rows, strict=True)]


def _row(entry: Entry) -> tuple[object, ...]:
    named = escape(entry.key), entry.kind, escape(entry.provider), escape(entry.model)
    return *named, entry.created_at, entry.checksum, entry.value


def divide(items: Iterable[Part], size: Callable[[Part], int]) -> Iterator[list[Part]]:
    """Divide items into parts that are small enough for one statement."""
    part: list[Part] = []
    held_bytes = 0
    for item in items:
        if part and (held_bytes + size(item) > _LARGEST_BYTES or len(part) == _LARGEST_PART):
            yield part
            part, held_bytes = [], 0
        part.append(item)
        held_bytes += size(item)
    if part:
        yield part
