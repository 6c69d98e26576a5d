"""The PostgreSQL cache, shared by machines."""

import asyncio
import os
import warnings
import weakref
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from polyjudge.errors import CacheError
from polyjudge.folder_trust import private_path
from polyjudge.records.outcomes import JudgeResult
from polyjudge.records.requests import Reply

from .address import read_address
from .cross_thread import CrossThreadFuture
from .entries import Entry, reply_entry, result_entry
from .loop_thread import LoopThread
from .postgres_connection import PostgresDatabase, ReconnectingConnection
from .postgres_lookups import Lookup, PostgresAsking, Record
from .postgres_writer import FallbackCache, PostgresWriting
from .protocol import hash_key

_PATIENCE_S = 60.0
_PATIENCE_AT_THE_END_S = 1.0


class PostgresCache:
    """Keeps replies and results where many machines find them: each question is asked once among all of them.

    A server out of reach is an error when the cache is opened, before anything is paid for. One that goes away later
    is waited for, `patience_s` at most. What was paid for meanwhile is kept in the local cache `aside`, and an error
    says how to bring it home. With `read_only=True` nothing is written at all: for replaying.

    Two connections belong to a thread of its own, so a cache may be used from any thread and any event loop. A claim on
    a question is a lock of the session; PgBouncer must therefore pool sessions and not transactions.
    """

    hash_key = staticmethod(hash_key)

    def __init__(
        self, url: str, *, read_only: bool = False, aside: Path | None = None, patience_s: float = _PATIENCE_S
    ) -> None:
        address = read_address(url)
        self.place = address.place
        """The URL without its password."""
        self._database = PostgresDatabase(address, read_only=read_only)
        self._aside = FallbackCache(aside or private_path("cache.sqlite"), address.place)
        self._patience_s = patience_s
        self._closed = False
        self._inherited: list[_Parts] = []
        self._open()

    def get(self, key: str) -> JudgeResult | None:
        """Return the result kept under a key, marked as cached, or None."""
        return self._get(Lookup(JudgeResult, key))

    def put(self, key: str, result: JudgeResult) -> None:
        """Keep a result; an older one under the same key is replaced."""
        self._put(result_entry(key, result))

    def get_reply(self, key: str, *, since: str = "") -> Reply | None:
        """Return the reply kept under a key, marked as cached, or None; `since` passes over older ones."""
        return self._get(Lookup(Reply, key, since))

    def put_reply(self, key: str, reply: Reply, provider: str = "") -> None:
        """Keep a reply; an older one under the same key is replaced."""
        self._put(reply_entry(key, reply, provider))

    async def find(self, key: str, *, since: str = "") -> Reply | None:
        """Do what `get_reply` does, and let other tasks go on meanwhile."""
        wish = Lookup(Reply, key, since, loop=asyncio.get_running_loop())
        return await self._wished(wish)

    async def once(
        self, key: str, ask: Callable[[], Awaitable[Reply]], provider: str = "", *, since: str = ""
    ) -> Reply:
        """Return the reply kept under a key, or ask for it; however many machines want it at once, one asks.

        A reply that was cut off or declined is returned but not kept, and an error is nobody's but the asker's. With
        `since`, a moment in ISO 8601, replies kept before it are asked for anew and replaced.
        """
        parts = self._check_open()
        if parts.writing is None:
            raise CacheError("is open for replay; nothing is asked through it", path=self.place)
        wish = Lookup(Reply, key, since, loop=asyncio.get_running_loop(), claims=True)
        is_over = False
        try:
            reply = await self._wished(wish)
            if reply is not None:
                return reply
            reply = await ask()
            if reply.finish != "stop":
                return reply
            written: CrossThreadFuture[None] = CrossThreadFuture(wish.waiting.loop)
            parts.writing.write(
                reply_entry(key, reply, provider, since=since), written, lambda: parts.asking.over(wish)
            )
            is_over = True  # the writer gives the claim back, also when this task waits no more
            await written
            return reply
        finally:
            if not (is_over or wish.is_answered):
                parts.asking.over(wish)

    def close(self) -> None:
        """Finish what is being written and let go of the connections."""
        self._closed = True
        self._finalizer()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _get(self, wish: Lookup[Record]) -> Record | None:
        self._check_open().asking.wish(wish)
        found = wish.waiting.result()
        self._warn(wish)
        return found

    async def _wished(self, wish: Lookup[Record]) -> Record | None:
        self._check_open().asking.wish(wish)
        found = await wish.waiting
        self._warn(wish)
        return found

    def _warn(self, wish: Lookup[Record]) -> None:
        if wish.problem:
            warnings.warn(f"{self.place}: {wish.problem}", stacklevel=4)

    def _put(self, entry: Entry) -> None:
        waiting: CrossThreadFuture[None] = CrossThreadFuture(None)
        self._writing().write(entry, waiting, _nothing)
        waiting.result()

    def _writing(self) -> PostgresWriting:
        writing = self._check_open().writing
        if writing is None:
            raise CacheError("is open for replay; nothing is written to it", path=self.place)
        return writing

    def _open(self) -> None:
        self._parts = _Parts(self._database, self._aside, self._patience_s)
        self._finalizer = weakref.finalize(self, self._parts.close)

    def _check_open(self) -> "_Parts":
        """Refuse a closed cache; after a fork, leave the parent's sessions and thread alone and open new ones."""
        if self._closed:
            raise CacheError("is closed", path=self.place)
        if self._parts.process != os.getpid():
            self._finalizer.detach()
            self._inherited.append(self._parts)  # kept, because even closing them would disturb the parent
            self._open()
        return self._parts


class _Parts:
    """What one process holds of an open cache."""

    def __init__(self, database: PostgresDatabase, aside: FallbackCache, patience_s: float) -> None:
        self.process = os.getpid()
        self._thread = LoopThread("polyjudge-postgres")
        self._connections = [
            ReconnectingConnection(database, patience_s) for _ in range(1 if database.read_only else 2)
        ]
        self.asking = PostgresAsking(self._thread.loop, database, self._connections[0])
        self.writing: PostgresWriting | None = None
        if not database.read_only:
            self.writing = PostgresWriting(self._thread.loop, self._connections[1], aside, database.place)
        try:
            self._thread.run(self._open())
        except BaseException:
            self._thread.finish(self._close())
            raise

    def close(self) -> None:
        self._thread.finish(self._close())
        if self.writing is not None and self.writing.untold:
            warnings.warn(self.writing.untold, stacklevel=2)

    async def _open(self) -> None:
        for connection in self._connections:
            await connection.open()

    async def _close(self) -> None:
        for connection in self._connections:
            connection.hurry(_PATIENCE_AT_THE_END_S)
        if self.writing is not None:
            await self.writing.finish()
        await self.asking.finish()
        for connection in self._connections:
            await connection.close()


def _nothing() -> None:
    pass
