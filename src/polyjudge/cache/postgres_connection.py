"""A connection that opens itself anew when it was lost: PostgreSQL may be restarted in the middle of a run."""

import asyncio
import os
import weakref
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import Any, TypeVar

from polyjudge.errors import CacheError

from .postgres_database import PostgresDatabase
from .postgres_problems import OutOfReachError

Result = TypeVar("Result")

_SHORTEST_WAIT_S, _LONGEST_WAIT_S = 0.05, 1.0
_CLOSING_TIMEOUT_S = 2.0
_OPEN: "weakref.WeakSet[SteadyConnection]" = weakref.WeakSet()


async def _say_nothing(connection: Any) -> None:
    del connection


def _do_nothing() -> None:
    pass


class SteadyConnection:
    """Does one thing at a time over a connection, and goes on trying for a while when PostgreSQL is away."""

    def __init__(self, database: PostgresDatabase, patience_s: float) -> None:
        self._database = database
        self._patience_s = patience_s
        self._one_at_a_time = asyncio.Lock()
        self._away_since: float | None = None
        self._socket = -1
        self._is_closed = False
        self.connection: Any = None
        """The connection of asyncpg, where there is one."""
        self.greet: Callable[[Any], Awaitable[None]] = _say_nothing
        """What is done first over every connection."""
        self.lost: Callable[[], None] = _do_nothing
        """What is done when a connection ends by itself."""
        _OPEN.add(self)

    async def open(self) -> None:
        """Connect at once, without patience, and look at what is there."""
        try:
            await self._database.prepare(await self._get(), make=not self._database.read_only)
        except self._database.failures as error:
            raise self._database.problem(error) from None

    async def use(
        self, work: Callable[[Any], Awaitable[Result]], *, in_trouble: Callable[[], None] = _do_nothing
    ) -> Result:
        """Do something over the connection, again if it was lost; `in_trouble` is called before every waiting."""
        async with self._one_at_a_time:
            wait_s = _SHORTEST_WAIT_S
            while True:
                try:
                    result = await self._try(work)
                except OutOfReachError as error:
                    self._drop()
                    in_trouble()
                    self._bear(error)
                else:
                    self._away_since = None
                    return result
                await asyncio.sleep(wait_s)
                wait_s = min(2 * wait_s, _LONGEST_WAIT_S)

    def hurry(self, patience_s: float) -> None:
        """Have less patience from now on."""
        self._patience_s = min(self._patience_s, patience_s)

    async def close(self) -> None:
        """Say goodbye, or hang up where nobody listens."""
        async with self._one_at_a_time:
            self._is_closed = True
            connection, self.connection, self._socket = self.connection, None, -1
        if connection is not None:
            try:
                await connection.close(timeout=_CLOSING_TIMEOUT_S)
            except self._database.failures:
                connection.terminate()

    def let_go(self) -> None:
        """Forget the socket without a word to the server, as a forked child must: the session is its parent's."""
        if self._socket >= 0:
            nothing = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
            os.dup2(nothing, self._socket, inheritable=False)  # the number stays taken, so nobody closes another's
            os.close(nothing)

    async def _try(self, work: Callable[[Any], Awaitable[Result]]) -> Result:
        try:
            return await work(await self._get())
        except self._database.failures as error:
            problem = self._database.problem(error)
            if self.connection is not None and self.connection.is_closed():
                problem = OutOfReachError(str(problem))
            raise problem from None

    async def _get(self) -> Any:
        if self._is_closed:
            raise CacheError("is closed", path=self._database.place)
        if self.connection is not None and self.connection.is_closed():
            self._drop()
        if self.connection is None:
            connection = await self._database.connect()
            self._socket = _socket_of(connection)
            self.connection = connection
            connection.add_termination_listener(self._ended)
            await self.greet(connection)
        return self.connection

    def _bear(self, error: OutOfReachError) -> None:
        """Give up once PostgreSQL was away for too long; from then on each try is the only one."""
        self._away_since = self._away_since or monotonic()
        if monotonic() >= self._away_since + self._patience_s:
            raise CacheError(f"{error} (given up after {self._patience_s:g} s)") from None

    def _ended(self, connection: Any) -> None:
        if connection is self.connection:
            self.lost()

    def _drop(self) -> None:
        connection, self.connection, self._socket = self.connection, None, -1
        if connection is not None:
            connection.terminate()


def _socket_of(connection: Any) -> int:
    """Return the number of a connection's socket, for which asyncpg has no public name; -1 where it cannot be had."""
    transport = getattr(connection, "_transport", None)
    socket = None if transport is None else transport.get_extra_info("socket")
    return -1 if socket is None else socket.fileno()


def _let_go_in_child() -> None:
    for connection in _OPEN:
        connection.let_go()


os.register_at_fork(after_in_child=_let_go_in_child)
