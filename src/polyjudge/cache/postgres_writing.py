"""Replies on their way into a shared cache: written together, and kept in a local file while PostgreSQL is away."""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from polyjudge.errors import CacheError

from .aside import Aside
from .batched import Batched
from .entries import Entry
from .postgres_connection import SteadyConnection
from .stored_text import stored
from .waking import Waiting, wake

Thing = TypeVar("Thing")

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
    waiting: Waiting[None]
    then: Callable[[], None]
    is_aside: bool = False


class PostgresWriting:
    """Writes entries; one is done when its commit is on the server's disk."""

    def __init__(self, loop: asyncio.AbstractEventLoop, connection: SteadyConnection, aside: Aside, place: str) -> None:
        self._connection = connection
        self._aside = aside
        self._place = place
        self._batched: Batched[_Write] = Batched(loop, self._insert, self._give_up)
        self.untold = ""
        """What went wrong when nobody waited for it any more."""

    def write(self, entry: Entry, waiting: Waiting[None], then: Callable[[], None]) -> None:
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


def in_parts(things: Iterable[Thing], size: Callable[[Thing], int]) -> Iterator[list[Thing]]:
    """Divide what is to be written so that no statement is too long for the server."""
    part: list[Thing] = []
    held = 0
    for thing in things:
        if part and (held + size(thing) > _LARGEST_BYTES or len(part) == _LARGEST_PART):
            yield part
            part, held = [], 0
        part.append(thing)
        held += size(thing)
    if part:
        yield part
