"""The PostgreSQL cache, which several machines can share.

A claim is an advisory lock of the session on 64 bits of the key's hash. PostgreSQL releases it when the session ends,
so a killed run leaves no claim behind. A lost connection loses its claims; they are taken again over the next
connection, unless another machine has taken them in the meantime.
"""

import asyncio
import os
import threading
import warnings
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from polyjudge.errors import CacheError, CacheWarning, DataError
from polyjudge.folder_trust import CACHE_FILE, private_path
from polyjudge.records.requests import Reply

from .address import read_address
from .entries import Entry, decode_cached, escape, reply_entry
from .postgres_connection import PostgresDatabase, ReconnectingConnection, lock_number
from .postgres_writer import FallbackCache, GroupedCalls, PostgresWriter

_OUTAGE_TIMEOUT_S = 60.0
_OUTAGE_TIMEOUT_AT_END_S = 1.0
_READ = """
select key, value, checksum, created_at from polyjudge_entries where kind = 'reply' and key = any($1::text[])
"""
_LOCK = "select number from unnest($1::bigint[]) as number where pg_try_advisory_lock(number)"
_UNLOCK = "select bool_and(pg_advisory_unlock(number)) from unnest($1::bigint[]) as number"


class PostgresCache:
    """Stores replies for several machines; each request is asked once among all of them.

    A server that is unreachable at the first connection is an error, raised before any call is paid for. If it becomes
    unavailable later, calls wait for it for at most `outage_timeout_s`. Replies that are paid for during the outage are
    stored in the local cache `fallback`, which the error names. With `read_only=True`, for replays, nothing is written.

    Any event loop may use it. Each loop has two connections, which are closed with the loop. Because claims are session
    locks, PgBouncer must run with `pool_mode = session`.
    """

    def __init__(
        self,
        url: str,
        *,
        read_only: bool = False,
        fallback: Path | None = None,
        outage_timeout_s: float = _OUTAGE_TIMEOUT_S,
    ) -> None:
        address = read_address(url)
        self.place = address.place
        """The URL without its password."""
        self._database = PostgresDatabase(address, read_only=read_only)
        self._fallback = FallbackCache(fallback or private_path(CACHE_FILE), address.place)
        self._outage_timeout_s = outage_timeout_s
        self._is_closed = False
        self._process = os.getpid()
        self._guard = threading.Lock()
        self._sessions: _Sessions = {}
        self._inherited: list[_Sessions] = []
        weakref.finalize(self, _end_all, self._sessions)

    async def connect(self) -> None:
        """Connect now, so that an error is raised before any call is paid for."""
        await self._session().connect()

    async def get(self, key: str, *, since: str = "", snapshot: bool = False) -> Reply | None:  # noqa: ARG002 - snapshot reads are not cheaper here
        """Return the reply stored under a key, marked as cached, or None; one older than `since` is ignored."""
        row = await self._session().reads.add(escape(key))
        if row is None or row["created_at"] < since:
            return None
        try:
            return decode_cached(Reply, row["value"], row["checksum"])
        except DataError as error:
            message = f"{self.place}: entry {escape(key)} cannot be read and counts as missing: {error}"
            warnings.warn(message, stacklevel=2)
            return None

    async def put(self, key: str, reply: Reply, *, provider: str = "", since: str = "") -> None:
        """Store a reply, replacing an older one; it is on the server's disk when this returns."""
        session = self._session()
        if session.writer is None:
            raise CacheError("the cache is open read-only for a replay; nothing can be stored", path=self.place)
        await session.write(session.writer, reply_entry(key, reply, provider, since=since))

    def claim(self, key: str) -> "_ClaimBlock":
        """Enter with True if the caller may ask; with False, another task, thread, process or machine is asking."""
        session = self._session()
        if session.writer is None:
            raise CacheError("the cache is open read-only for a replay; no request can be claimed", path=self.place)
        return _ClaimBlock(session.claims, escape(key))

    async def aclose(self) -> None:
        """Finish the writes in progress and close the connections."""
        self._is_closed = True
        session = self._sessions.get(asyncio.get_running_loop())
        _end_all(self._sessions)
        if session is not None:
            await session.ended()

    def _session(self) -> "_Session":
        """Return the session of the running loop; a forked child opens its own."""
        if self._is_closed:
            raise CacheError("the cache is closed", path=self.place)
        if self._process != os.getpid():
            self._process, self._guard = os.getpid(), threading.Lock()  # a thread of the parent may hold the old one
            self._inherited.append(dict(self._sessions))  # closing them would affect the parent
            self._sessions.clear()
        loop = asyncio.get_running_loop()
        with self._guard:
            session = self._sessions.get(loop)
            if session is None or session.is_ending:
                for ended in [each for each in self._sessions if each.is_closed()]:
                    del self._sessions[ended]
                session = self._sessions[loop] = _Session(self._database, self._fallback, self._outage_timeout_s)
            return session


class _Session:
    """The connections of one event loop: one for reads and claims, one for writes."""

    def __init__(self, database: PostgresDatabase, fallback: FallbackCache, outage_timeout_s: float) -> None:
        self._database = database
        self._reading = ReconnectingConnection(
            database, outage_timeout_s, on_connect=self._on_connect_reading, on_lost=self._on_lost
        )
        self._connections = [self._reading]
        self.reads: GroupedCalls[str, Any] = GroupedCalls(self._read)
        self.claims = PostgresClaims(database, self._reading)
        self.writer: PostgresWriter | None = None
        if not database.read_only:
            self._connections.append(ReconnectingConnection(database, outage_timeout_s, on_connect=self._prepare))
            self.writer = PostgresWriter(self._connections[1], fallback)
        self._is_prepared = False
        self._reconnecting: asyncio.Task[None] | None = None
        self.is_ending = False
        self._is_closed = False
        self._closing = asyncio.get_running_loop().create_task(self._close_at_the_end())

    async def connect(self) -> None:
        for connection in self._connections:
            await connection.use(_no_op)

    async def write(self, writer: PostgresWriter, entry: Entry) -> None:
        await writer.write(entry, self.claims.hold_while_writing(escape(entry.key)))

    def end(self) -> None:
        """Start closing."""
        if not self.is_ending:
            self._closing.cancel()

    async def ended(self) -> None:
        """Close, and return when it is done."""
        self.end()
        await asyncio.wait([self._closing])

    async def _close_at_the_end(self) -> None:
        """Close when this task is cancelled: by `end`, or by the loop when it ends."""
        with suppress(asyncio.CancelledError):
            await asyncio.get_running_loop().create_future()
        while not self._is_closed:
            with suppress(asyncio.CancelledError):
                await self._close()

    async def _close(self) -> None:
        """Finish the pending writes and close the connections, which releases the claims."""
        self.is_ending = True
        for connection in self._connections:
            connection.limit_outage_timeout(_OUTAGE_TIMEOUT_AT_END_S)
        if self._reconnecting is not None:
            self._reconnecting.cancel()
        unreported = None if self.writer is None else await self.writer.finish()
        await self.reads.finish()
        await self.claims.finish()
        for connection in self._connections:
            await connection.close()
        self._is_closed = True
        if unreported is not None:
            warnings.warn(CacheWarning(unreported), stacklevel=2)

    async def _read(self, keys: list[str]) -> list[Any]:
        rows = await self._reading.use(lambda connection: connection.fetch(_READ, list(set(keys))))
        found = {row["key"]: row for row in rows}
        return [found.get(key) for key in keys]

    async def _on_connect_reading(self, connection: Any) -> None:
        await self._prepare(connection)
        # A plan made while the table was small would always scan all of it.
        await connection.execute("set enable_seqscan = off")
        await self.claims.reclaim(connection)

    async def _prepare(self, connection: Any) -> None:
        if not self._is_prepared:
            await self._database.prepare(connection, create=not self._database.read_only)
            self._is_prepared = True

    def _on_lost(self) -> None:
        """Reconnect at once instead of at the next read, before another machine takes the claims."""
        if self.claims.is_holding and not self.is_ending:
            self._reconnecting = asyncio.get_running_loop().create_task(self._reconnect())

    async def _reconnect(self) -> None:
        with suppress(CacheError):  # the next read raises it
            await self._reading.use(_no_op)


_Sessions = dict[asyncio.AbstractEventLoop, _Session]


def _end_all(sessions: _Sessions) -> None:
    for loop, session in list(sessions.items()):
        if not loop.is_closed():
            with suppress(RuntimeError):  # it was closed in the meantime
                loop.call_soon_threadsafe(session.end)


async def _no_op(connection: Any) -> None:
    del connection


def _do_nothing() -> None:
    pass


class _ClaimBlock:
    """Holds a claim for the duration of a block, if it could be taken."""

    __slots__ = ("_claims", "_is_held", "_key")

    def __init__(self, claims: "PostgresClaims", key: str) -> None:
        self._claims = claims
        self._key = key
        self._is_held = False

    async def __aenter__(self) -> bool:
        self._is_held = await self._claims.take(self._key)
        return self._is_held

    async def __aexit__(self, *_: object) -> None:
        if self._is_held:
            self._claims.release(self._key)


@dataclass(slots=True, eq=False)
class _Claim:
    key: str
    number: int
    """The number of the advisory lock."""
    connection: Any = None
    """The connection that has the lock, or None."""
    is_wanted: bool = True
    is_being_taken: bool = True
    is_being_written: bool = False


class PostgresClaims:
    """The claims of one event loop, over one connection."""

    def __init__(self, database: PostgresDatabase, connection: ReconnectingConnection) -> None:
        self._database = database
        self._connection = connection
        self._claims: dict[str, _Claim] = {}
        self._pending_takes: GroupedCalls[_Claim, bool] = GroupedCalls(self._take)
        self._pending_releases: GroupedCalls[_Claim, None] = GroupedCalls(self._unlock)
        self._problem: CacheError | None = None

    @property
    def is_holding(self) -> bool:
        """Whether any key is claimed."""
        return bool(self._claims)

    async def take(self, key: str) -> bool:
        """Claim a key; return False if it is already claimed, here or elsewhere."""
        if self._problem is not None:
            raise self._problem
        if key in self._claims:
            return False
        claim = self._claims[key] = _Claim(key, lock_number(key))
        try:
            return await self._pending_takes.add(claim)
        except asyncio.CancelledError:
            self._end(claim)
            raise

    def release(self, key: str) -> None:
        """Release a claim, now or as soon as its reply is written."""
        self._end(self._claims[key])

    def hold_while_writing(self, key: str) -> Callable[[], None]:
        """Hold a claim, if there is one, until the returned function is called, even if its task is cancelled."""
        claim = self._claims.get(key)
        if claim is None:
            return _do_nothing
        claim.is_being_written = True
        return partial(self._written, claim)

    async def reclaim(self, connection: Any) -> None:
        """Claim again, over a new connection, the keys that another machine has not claimed in the meantime."""
        held = [claim for claim in self._claims.values() if not claim.is_being_taken]
        for claim in held:
            claim.connection = None
        if held:
            with suppress(*self._database.failures):
                await self._lock(connection, held)

    async def finish(self) -> None:
        """Return when all claims and releases in progress are done."""
        await self._pending_takes.finish()
        await self._pending_releases.finish()

    async def _take(self, claims: list[_Claim]) -> list[bool]:
        try:
            await self._connection.use(lambda connection: self._lock(connection, claims))
            return [claim.connection is not None for claim in claims]
        finally:
            for claim in claims:
                claim.is_being_taken = False
                claim.is_wanted = claim.is_wanted and claim.connection is not None
                self._drop(claim)

    async def _lock(self, connection: Any, claims: Sequence[_Claim]) -> None:
        numbers = [claim.number for claim in claims]
        try:
            taken = {row["number"] for row in await connection.fetch(_LOCK, numbers)}
        except self._database.failures:
            # Locks remain after the statement that took them, even if it failed halfway.
            with suppress(*self._database.failures):
                await connection.execute(_UNLOCK, numbers)
            raise
        for claim in claims:
            claim.connection = connection if claim.number in taken else None

    def _written(self, claim: _Claim) -> None:
        claim.is_being_written = False
        self._drop(claim)

    def _end(self, claim: _Claim) -> None:
        claim.is_wanted = False
        self._drop(claim)

    def _drop(self, claim: _Claim) -> None:
        """Remove a claim that is no longer needed, and unlock it."""
        if claim.is_wanted or claim.is_being_taken or claim.is_being_written:
            return
        if self._claims.get(claim.key) is claim:  # not dropped yet
            del self._claims[claim.key]
            if claim.connection is not None:
                self._pending_releases.add(claim)

    async def _unlock(self, claims: list[_Claim]) -> list[None]:
        async def unlock(connection: Any) -> None:
            numbers = [claim.number for claim in claims if claim.connection is connection]
            if numbers and not await connection.fetchval(_UNLOCK, numbers):
                message = "session locks were lost between statements; if this is PgBouncer, set pool_mode = session"
                self._problem = CacheError(message, path=self._database.place)

        with suppress(CacheError):  # the session is gone, and its locks with it
            await self._connection.use(unlock)
        return [None] * len(claims)
