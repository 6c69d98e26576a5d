"""Write replies to PostgreSQL in groups, and to a local fallback cache while the server is away."""

import asyncio
import shlex
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from polyjudge.errors import CacheError

from .entries import Entry, stored
from .postgres_connection import ReconnectingConnection
from .sqlite import SqliteCache

Asked = TypeVar("Asked")
Answer = TypeVar("Answer")

_LARGEST_GROUP = 500


class Grouped(Generic[Asked, Answer]):
    """Does what the tasks of one event loop ask for, a group at a time: what is added meanwhile is the next group.

    With `must_finish`, everything is done even if the loop is ending and the tasks are cancelled.
    """

    def __init__(
        self, work: Callable[[list[Asked]], Awaitable[Sequence[Answer | Exception]]], *, must_finish: bool = False
    ) -> None:
        self._work = work
        self._must_finish = must_finish
        self._waiting: list[tuple[Asked, asyncio.Future[Answer]]] = []
        self._task: asyncio.Task[None] | None = None
        self.unheard: Exception | None = None
        """The last error whose task was cancelled."""

    def add(self, asked: Asked) -> "asyncio.Future[Answer]":
        """Return the future of an answer."""
        loop = asyncio.get_running_loop()
        done = loop.create_future()
        self._waiting.append((asked, done))
        if self._task is None:
            self._task = loop.create_task(self._run())
        return done

    @property
    def waiting(self) -> list[Asked]:
        """What was added and is not started yet."""
        return [asked for asked, _ in self._waiting]

    async def finish(self) -> None:
        """Return when everything that was added is done."""
        while self._task is not None:
            await asyncio.wait([self._task])

    async def _run(self) -> None:
        try:
            while self._waiting:
                group, self._waiting = self._waiting[:_LARGEST_GROUP], self._waiting[_LARGEST_GROUP:]
                await self._do(group)
        finally:
            self._task = None

    async def _do(self, group: list[tuple[Asked, "asyncio.Future[Answer]"]]) -> None:
        try:
            answers = await self._work([asked for asked, _ in group])
        except asyncio.CancelledError:  # the loop is ending
            if not self._must_finish:
                for _, done in [*group, *self._waiting]:
                    done.cancel()
                raise
            self._waiting = [*group, *self._waiting]
            return
        except Exception as error:  # noqa: BLE001 - it is raised where the answers are awaited
            answers = [error] * len(group)
        for (_, done), answer in zip(group, answers, strict=True):
            self._tell(done, answer)

    def _tell(self, done: "asyncio.Future[Answer]", answer: Answer | Exception) -> None:
        if isinstance(answer, Exception) and done.cancelled():
            self.unheard = answer
        elif isinstance(answer, Exception):
            done.set_exception(answer)
        elif not done.cancelled():
            done.set_result(answer)


class FallbackCache:
    """Stores entries in a cache file of this machine, and names the command that imports them."""

    def __init__(self, path: Path, place: str) -> None:
        self._shown, self._path = path, path.absolute()  # the working folder may be another one by then
        self._place = place
        self._problem: CacheError | None = None

    def store(self, entries: Sequence[Entry]) -> bool:
        """Write entries to disk; False if that is not possible either."""
        try:
            with closing(SqliteCache(self._path)) as cache:
                cache.write(*entries)
        except CacheError as error:
            self._problem = error
            return False
        self._problem = None
        return True

    @property
    def message(self) -> str:
        """What became of the entries, and what to do about it."""
        if self._problem is not None:
            return f"The last paid replies cannot be stored in the fallback cache either: {self._problem}"
        return f"Paid replies are stored in {self._shown}; import them with: {import_command(self._shown, self._place)}"


def import_command(path: Path | str, place: str) -> str:
    """Return the command that imports a local cache into the shared one."""
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
"""Leaves existing entries as they are, and returns a row for each new one."""
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
        self._writes: Grouped[_Write, None] = Grouped(self._insert, must_finish=True)

    def write(self, entry: Entry, on_end: Callable[[], None]) -> "asyncio.Future[None]":
        """Return a future that is done when an entry is stored; `on_end` is called then, or when it is given up."""
        return self._writes.add(_Write(entry, on_end))

    async def finish(self) -> Exception | None:
        """Write what was handed over, or store it in the fallback cache; return an error that no task was told."""
        await self._writes.finish()
        return self._writes.unheard

    async def _insert(self, writes: list[_Write]) -> list[Exception | None]:
        outcomes: list[Exception | None] = []
        for part in in_parts(writes, lambda write: len(write.entry.value)):
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
            return CacheError(f"{error}. {self._fallback.message}")
        return None

    async def _store_in_fallback(self, writes: Sequence[_Write]) -> None:
        """Store on this machine what waits for PostgreSQL, so that a kill during an outage loses nothing."""
        new = [write for write in writes if not write.is_in_fallback]
        if new and await asyncio.to_thread(self._fallback.store, [write.entry for write in new]):
            for write in new:
                write.is_in_fallback = True


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
