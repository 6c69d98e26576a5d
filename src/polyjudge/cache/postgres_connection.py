"""Connections to PostgreSQL that reconnect, and messages for its errors."""

import asyncio
import os
import re
import socket
import ssl
import weakref
from collections.abc import Awaitable, Callable
from hashlib import sha256
from time import monotonic
from typing import Any, TypeVar

from polyjudge.errors import CacheError
from polyjudge.extras import require

from .address import Address

CONNECT_TIMEOUT_S = 10.0
_AWAY = {"57P01", "57P02", "57P03", "57P05", "57014", "55P03", "40001", "40P01"}
"""Shut down by its operator, restarting after a crash, starting; idle, busy or locked for too long; deadlocked."""
_CROWDED = "53300"
_REMEDIES = {
    "25006": "can only be read, as a standby can; name the primary",
    "26000": "does not keep prepared statements: behind PgBouncer, pool sessions and not transactions",
    "28P01": "rejects the password; check it in the URL, in PGPASSWORD or in ~/.pgpass",
    "3D000": "has no such database; make it with createdb, or name another",
    "42P01": "has lost its table polyjudge_entries; run again to create it",
    "53100": "the server's disk is full. What was stored before is safe; free some space and run again",
    "53200": (
        "is out of shared memory for its locks, one for each request in flight; raise max_locks_per_transaction "
        "in postgresql.conf and restart it, or lower the concurrency"
    ),
}


class UnreachableCacheError(CacheError):
    """PostgreSQL cannot be reached now; it may be later."""


class NoCacheYetError(CacheError):
    """The database holds no cache."""


def problem_of(error: Exception, address: Address) -> CacheError:
    """Return our own error for one of asyncpg's or the system's."""
    state: str = getattr(error, "sqlstate", None) or ""
    # asyncpg adds its hints to the server's message on further lines.
    said = address.without_secrets(str(error).partition("\n")[0].strip().rstrip("."))
    if state:
        return _server_problem(state, said, address.place)
    if isinstance(error, OSError):
        return _system_problem(error, said, address.place)
    return CacheError(f"cannot be used: {said}", path=address.place)


def _server_problem(state: str, said: str, place: str) -> CacheError:
    if state == _CROWDED:
        return UnreachableCacheError(f"has no connection left ({said}); raise max_connections or run fewer", path=place)
    if state in _AWAY or state.startswith("08"):
        return UnreachableCacheError(f"is out of reach ({said}); start PostgreSQL, or wait for it", path=place)
    if state == "42501":
        return CacheError(f"does not allow it ({said}); have the owner grant it, or name another user", path=place)
    if state == "28000":
        remedy = "check user and database, or add ?sslmode=require if it wants TLS"
        return CacheError(f"rejects this user ({said}); {remedy}", path=place)
    return CacheError(_REMEDIES.get(state, f"cannot be used as a cache: {said} ({state})"), path=place)


def _system_problem(error: OSError, said: str, place: str) -> CacheError:
    if isinstance(error, ssl.SSLError):
        return CacheError(f"the TLS handshake failed ({said}); check sslmode and sslrootcert", path=place)
    if "rejected SSL upgrade" in said:
        return CacheError("offers no TLS, which sslmode asks for, or is no PostgreSQL; check the URL", path=place)
    if isinstance(error, socket.gaierror):
        return UnreachableCacheError("there is no such host; check its name", path=place)
    if isinstance(error, TimeoutError):
        return UnreachableCacheError("does not answer in time; check host, port and firewall", path=place)
    if isinstance(error, FileNotFoundError):
        return UnreachableCacheError("there is no such socket or certificate; check the URL", path=place)
    if isinstance(error, ConnectionRefusedError) or "Connect call failed" in said:
        return UnreachableCacheError(
            "nothing listens there (connection refused); start PostgreSQL, or check host and port", path=place
        )
    return UnreachableCacheError(f"is out of reach ({error.strerror or said}); check host and port", path=place)


_VERSION = 1
_SCHEMA = f"""
create table polyjudge_entries (
    key text collate "C" not null,
    kind text collate "C" not null,
    provider text collate "C" not null,
    model text collate "C" not null,
    created_at text collate "C" not null,
    checksum bigint not null,
    value text collate "C" not null,
    primary key (key, kind)
);
comment on table polyjudge_entries is 'polyjudge cache, version {_VERSION}'
"""
_STATE = """
select
    obj_description(oid, 'pg_class') as comment,
    has_table_privilege(oid, 'select') as may_read,
    has_table_privilege(oid, 'insert') and has_table_privilege(oid, 'update') as may_write,
    current_setting('transaction_read_only') = 'on' as is_read_only
from pg_class where oid = to_regclass('polyjudge_entries')
"""
_SETTINGS = """
select set_config(name, wanted, false)
from pg_settings join (values
    ('tcp_keepalives_idle', '30'),
    ('tcp_keepalives_interval', '10'),
    ('tcp_keepalives_count', '3'),
    ('idle_session_timeout', '0'),
    ('synchronous_commit', 'on')
) as ours (name, wanted) using (name)
where name <> 'synchronous_commit' or setting = 'off'
"""
"""Claims of a machine that lost its power end within a minute; a session may wait long; a commit is on disk."""
_STATEMENT_TIMEOUT_S = 30.0
"""A statement takes milliseconds; a server that is silent for so long is gone, and the network has not noticed."""


class PostgresDatabase:
    """Opens connections to one database, and knows its table."""

    def __init__(self, address: Address, *, read_only: bool) -> None:
        self._asyncpg: Any = require("asyncpg", feature="the cache in PostgreSQL", extra="postgres")
        self._address = address
        self.place = address.place
        self.read_only = read_only
        self.failures: tuple[type[Exception], ...] = (
            self._asyncpg.PostgresError,
            self._asyncpg.InterfaceError,
            self._asyncpg.InternalClientError,
            OSError,
        )
        """What asyncpg raises when something is wrong with the server or the connection."""
        self.was_reached = False
        """A connection was opened before: from now on an outage is waited for."""

    def problem(self, error: Exception) -> CacheError:
        """Return our own error for one of asyncpg's."""
        return problem_of(error, self._address)

    async def connect(self, *, timeout_s: float | None = _STATEMENT_TIMEOUT_S) -> Any:
        """Open a connection of asyncpg; `timeout_s` is for one statement."""
        settings = {"application_name": "polyjudge"}
        if self.read_only:
            settings["default_transaction_read_only"] = "on"
        try:
            return await self._asyncpg.connect(
                self._address.url,
                timeout=CONNECT_TIMEOUT_S,
                command_timeout=timeout_s,
                server_settings=settings,
            )
        except (*self.failures, ValueError) as error:  # a port in the environment that is no number is a ValueError
            raise self.problem(error) from None

    async def configure(self, connection: Any) -> None:
        """Set what the server has under its own names; the first statement over a connection."""
        await connection.execute(_SETTINGS)

    async def prepare(self, connection: Any, *, create: bool) -> None:
        """Check that the database holds a cache that this user may use; with `create`, create it if necessary."""
        state = await connection.fetchrow(_STATE)
        if state is None:
            if not create:
                raise NoCacheYetError("there is no cache here yet", path=self.place)
            state = await self._create(connection)
        self._check_version(state["comment"] or "")
        if not state["may_read"]:
            raise self._forbidden("read", "select")
        if not self.read_only and state["is_read_only"]:
            raise CacheError("can only be read, as a standby can; name the primary", path=self.place)
        if not self.read_only and not state["may_write"]:
            raise self._forbidden("write", "select, insert, update")

    async def _create(self, connection: Any) -> Any:
        """Create the table, unless another process does at the same time; return its state."""
        async with connection.transaction():
            await connection.execute(f"select pg_advisory_xact_lock({lock_number('polyjudge_entries')})")
            if (state := await connection.fetchrow(_STATE)) is not None:
                return state
            await connection.execute(_SCHEMA)
            return await connection.fetchrow(_STATE)

    def _check_version(self, comment: str) -> None:
        match = re.fullmatch(r"polyjudge cache, version (\d+)", comment)
        if match is None:
            raise CacheError("has a table polyjudge_entries of another program; name another database", path=self.place)
        if int(match[1]) > _VERSION:
            raise CacheError("was written by a newer polyjudge; upgrade this one", path=self.place)

    def _forbidden(self, what: str, rights: str) -> CacheError:
        remedy = f"have its owner run: grant {rights} on polyjudge_entries to the user"
        return CacheError(f"this user may not {what} the table polyjudge_entries; {remedy}", path=self.place)


def lock_number(key: str) -> int:
    """Return the number of the advisory lock of a key: 64 bits of its hash."""
    return int.from_bytes(sha256(key.encode(errors="surrogatepass")).digest()[:8], "big", signed=True)


Result = TypeVar("Result")

_SHORTEST_WAIT_S, _LONGEST_WAIT_S = 0.05, 1.0
_CLOSING_TIMEOUT_S = 2.0
_OPEN: "weakref.WeakSet[ReconnectingConnection]" = weakref.WeakSet()


class ReconnectingConnection:
    """Does one thing at a time over a connection, and waits a while for a server that went away."""

    def __init__(
        self,
        database: PostgresDatabase,
        patience_s: float,
        *,
        on_connect: Callable[[Any], Awaitable[None]] | None = None,
        on_lost: Callable[[], None] | None = None,
    ) -> None:
        self._database = database
        self._patience_s = patience_s
        self._on_connect = on_connect
        """Called first with every new connection."""
        self._on_lost = on_lost
        """Called when a connection ends by itself."""
        self._one_at_a_time = asyncio.Lock()
        self._away_since: float | None = None
        self._socket = -1
        self._is_ready = False
        """The connection is configured."""
        self._is_closed = False
        self.connection: Any = None
        """The connection of asyncpg, if there is one."""
        _OPEN.add(self)

    async def use(
        self, work: Callable[[Any], Awaitable[Result]], *, on_outage: Callable[[], Awaitable[None]] | None = None
    ) -> Result:
        """Do something over the connection, again if it was lost; `on_outage` is called before every wait.

        A server that was never reached is not waited for.
        """
        async with self._one_at_a_time:
            wait_s = _SHORTEST_WAIT_S
            while True:
                try:
                    result = await self._try(work)
                except UnreachableCacheError as error:
                    self._drop()
                    if not self._database.was_reached:
                        raise
                    if on_outage is not None:
                        await on_outage()
                    self._check_patience(error)
                else:
                    self._away_since = None
                    self._database.was_reached = True
                    return result
                await asyncio.sleep(wait_s)
                wait_s = min(2 * wait_s, _LONGEST_WAIT_S)

    def limit_patience(self, patience_s: float) -> None:
        """Wait no longer than this from now on."""
        self._patience_s = min(self._patience_s, patience_s)

    async def close(self) -> None:
        """Close the connection, or drop it if the server does not respond."""
        async with self._one_at_a_time:
            self._is_closed = True
            connection, self.connection, self._socket = self.connection, None, -1
        if connection is not None:
            try:
                await connection.close(timeout=_CLOSING_TIMEOUT_S)
            except self._database.failures:
                connection.terminate()

    def abandon_socket(self) -> None:
        """Replace the socket without a word to the server, as a forked child must: the session is its parent's."""
        if self._socket >= 0:
            nothing = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
            os.dup2(nothing, self._socket, inheritable=False)  # the number stays taken, so that no other is closed
            os.close(nothing)

    async def _try(self, work: Callable[[Any], Awaitable[Result]]) -> Result:
        try:
            return await work(await self._get())
        except self._database.failures as error:
            problem = self._database.problem(error)
            if self.connection is not None and self.connection.is_closed():
                problem = UnreachableCacheError(str(problem))
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
            self._is_ready = False
            connection.add_termination_listener(self._ended)
        if not self._is_ready:  # a task that was cancelled leaves it so: the connection still has to be closed in order
            await self._make_ready()
        return self.connection

    async def _make_ready(self) -> None:
        try:
            await self._database.configure(self.connection)
            if self._on_connect is not None:
                await self._on_connect(self.connection)
        except CacheError:
            self._drop()
            raise
        self._is_ready = True

    def _check_patience(self, error: UnreachableCacheError) -> None:
        """Give up once PostgreSQL was away for too long; from then on each try is the only one."""
        self._away_since = self._away_since or monotonic()
        if monotonic() >= self._away_since + self._patience_s:
            raise CacheError(f"{error} (given up after {self._patience_s:g} s)") from None

    def _ended(self, connection: Any) -> None:
        if connection is self.connection and self._on_lost is not None:
            self._on_lost()

    def _drop(self) -> None:
        connection, self.connection, self._socket = self.connection, None, -1
        if connection is not None:
            connection.terminate()


def _socket_of(connection: Any) -> int:
    """Return the number of a connection's socket, for which asyncpg has no public name; -1 if it has none."""
    transport = getattr(connection, "_transport", None)
    socket = None if transport is None else transport.get_extra_info("socket")
    return -1 if socket is None else socket.fileno()


def _abandon_sockets_in_child() -> None:
    for connection in _OPEN:
        connection.abandon_socket()


os.register_at_fork(after_in_child=_abandon_sockets_in_child)
