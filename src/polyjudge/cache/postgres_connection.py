"""PostgreSQL connections that reconnect, and error messages for PostgreSQL's errors."""

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
_UNAVAILABLE = {"57P01", "57P02", "57P03", "57P05", "57014", "55P03", "40001", "40P01"}
"""SQLSTATE codes: shutdown, crash, starting up; idle, statement or lock timeout; serialization failure, deadlock."""
_TOO_MANY_CONNECTIONS = "53300"
_REMEDIES = {
    "25006": "the server is read-only (a standby?); use the primary",
    "26000": "prepared statements were lost between transactions; if this is PgBouncer, set pool_mode = session",
    "28P01": "wrong password; check it in the URL, in PGPASSWORD or in ~/.pgpass",
    "3D000": "database does not exist; create it with createdb, or use another",
    "42P01": "table polyjudge_entries does not exist any more; run again to create it",
    "53100": "the server's disk is full. Stored replies are safe; free some space and run again",
    "53200": (
        "out of shared memory for locks (one for each request in flight); raise max_locks_per_transaction in "
        "postgresql.conf and restart PostgreSQL, or lower the concurrency"
    ),
}


class UnreachableCacheError(CacheError):
    """PostgreSQL cannot be reached now."""


class NoCacheYetError(CacheError):
    """The database has no cache table."""


def problem_of(error: Exception, address: Address) -> CacheError:
    """Translate an error of asyncpg or the system."""
    state: str = getattr(error, "sqlstate", None) or ""
    # asyncpg appends hints to the server's message, on further lines.
    detail = address.without_secrets(str(error).partition("\n")[0].strip().rstrip("."))
    if state:
        return _server_problem(state, detail, address.place)
    if isinstance(error, OSError):
        return _system_problem(error, detail, address.place)
    return CacheError(f"cannot be used: {detail}", path=address.place)


def _server_problem(state: str, detail: str, place: str) -> CacheError:
    if state == _TOO_MANY_CONNECTIONS:
        return UnreachableCacheError(
            f"too many connections ({detail}); raise max_connections or run fewer processes", path=place
        )
    if state in _UNAVAILABLE or state.startswith("08"):
        return UnreachableCacheError(
            f"the server is unavailable ({detail}); start PostgreSQL, or wait until it is running", path=place
        )
    if state == "42501":
        return CacheError(f"{detail}; ask the owner for this permission, or use another user", path=place)
    if state == "28000":
        remedy = "check user and database, or add ?sslmode=require if the server requires TLS"
        return CacheError(f"login rejected ({detail}); {remedy}", path=place)
    return CacheError(_REMEDIES.get(state, f"cannot be used as a cache: {detail} ({state})"), path=place)


def _system_problem(error: OSError, detail: str, place: str) -> CacheError:
    if isinstance(error, ssl.SSLError):
        return CacheError(f"TLS handshake failed ({detail}); check sslmode and sslrootcert", path=place)
    if "rejected SSL upgrade" in detail:
        return CacheError(
            "the server does not offer TLS, which sslmode requires, or is not PostgreSQL; check the URL", path=place
        )
    if isinstance(error, socket.gaierror):
        return UnreachableCacheError("unknown host; check its name", path=place)
    if isinstance(error, TimeoutError):
        return UnreachableCacheError("connection timed out; check host, port and firewall", path=place)
    if isinstance(error, FileNotFoundError):
        return UnreachableCacheError("socket or certificate not found; check the URL", path=place)
    if isinstance(error, ConnectionRefusedError) or "Connect call failed" in detail:
        return UnreachableCacheError("connection refused; start PostgreSQL, or check host and port", path=place)
    return UnreachableCacheError(
        f"the server is unreachable ({error.strerror or detail}); check host and port", path=place
    )


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
"""Claims of a machine that lost power end within a minute; idle sessions are not closed; commits are on disk."""
_STATEMENT_TIMEOUT_S = 30.0
"""Statements take milliseconds; a server that does not answer for this long is lost."""


class PostgresDatabase:
    """Opens connections to one database, and creates and checks its table."""

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
        """The errors of asyncpg for problems of the server or the connection."""
        self.was_reached = False
        """A connection was opened before, so an outage is waited for."""

    def problem(self, error: Exception) -> CacheError:
        """Translate an error of asyncpg."""
        return problem_of(error, self._address)

    async def connect(self, *, timeout_s: float | None = _STATEMENT_TIMEOUT_S) -> Any:
        """Open a connection of asyncpg; `timeout_s` applies to each statement."""
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
        except (*self.failures, ValueError) as error:  # ValueError: the port in the environment is not a number
            raise self.problem(error) from None

    async def configure(self, connection: Any) -> None:
        """Set the session settings that this server knows; must be the first statement."""
        await connection.execute(_SETTINGS)

    async def prepare(self, connection: Any, *, create: bool) -> None:
        """Check that the database has a cache table that this user may use; with `create`, create it if necessary."""
        state = await connection.fetchrow(_STATE)
        if state is None:
            if not create:
                raise NoCacheYetError(
                    "the database has no cache yet; run a command that judges with this URL first", path=self.place
                )
            state = await self._create(connection)
        self._check_version(state["comment"] or "")
        if not state["may_read"]:
            raise self._forbidden("read", "select")
        if not self.read_only and state["is_read_only"]:
            raise CacheError("the server is read-only (a standby?); use the primary", path=self.place)
        if not self.read_only and not state["may_write"]:
            raise self._forbidden("write", "select, insert, update")

    async def _create(self, connection: Any) -> Any:
        """Create the table unless another process just did; return its state."""
        async with connection.transaction():
            await connection.execute(f"select pg_advisory_xact_lock({lock_number('polyjudge_entries')})")
            if (state := await connection.fetchrow(_STATE)) is not None:
                return state
            await connection.execute(_SCHEMA)
            return await connection.fetchrow(_STATE)

    def _check_version(self, comment: str) -> None:
        match = re.fullmatch(r"polyjudge cache, version (\d+)", comment)
        if match is None:
            raise CacheError(
                "table polyjudge_entries belongs to another program; use another database", path=self.place
            )
        if int(match[1]) > _VERSION:
            raise CacheError("written by a newer polyjudge; upgrade polyjudge", path=self.place)

    def _forbidden(self, what: str, rights: str) -> CacheError:
        remedy = f"ask its owner to run: grant {rights} on polyjudge_entries to USER"
        return CacheError(f"no permission to {what} the table polyjudge_entries; {remedy}", path=self.place)


def lock_number(key: str) -> int:
    """Return the number of a key's advisory lock: 64 bits of its hash."""
    return int.from_bytes(sha256(key.encode(errors="surrogatepass")).digest()[:8], "big", signed=True)


Result = TypeVar("Result")

_SHORTEST_WAIT_S, _LONGEST_WAIT_S = 0.05, 1.0
_CLOSING_TIMEOUT_S = 2.0
_OPEN: "weakref.WeakSet[ReconnectingConnection]" = weakref.WeakSet()


class ReconnectingConnection:
    """A connection for one user at a time, which reconnects and waits when the server is unavailable."""

    def __init__(
        self,
        database: PostgresDatabase,
        outage_timeout_s: float,
        *,
        on_connect: Callable[[Any], Awaitable[None]] | None = None,
        on_lost: Callable[[], None] | None = None,
    ) -> None:
        self._database = database
        self._outage_timeout_s = outage_timeout_s
        self._on_connect = on_connect
        """Called with every new connection before it is used."""
        self._on_lost = on_lost
        """Called when a connection is lost."""
        self._one_at_a_time = asyncio.Lock()
        self._unavailable_since: float | None = None
        self._socket = -1
        self._is_ready = False
        """The connection is configured and prepared."""
        self._is_closed = False
        self.connection: Any = None
        """The connection of asyncpg, if there is one."""
        _OPEN.add(self)

    async def use(
        self, work: Callable[[Any], Awaitable[Result]], *, on_outage: Callable[[], Awaitable[None]] | None = None
    ) -> Result:
        """Do something over the connection, and repeat it if the connection was lost.

        Call `on_outage` before every wait. Do not wait for a server that was never reached.
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
                    self._check_outage(error)
                else:
                    self._unavailable_since = None
                    self._database.was_reached = True
                    return result
                await asyncio.sleep(wait_s)
                wait_s = min(2 * wait_s, _LONGEST_WAIT_S)

    def limit_outage_timeout(self, outage_timeout_s: float) -> None:
        """Lower the time to wait during an outage."""
        self._outage_timeout_s = min(self._outage_timeout_s, outage_timeout_s)

    async def close(self) -> None:
        """Close the connection; terminate it if the server does not respond."""
        async with self._one_at_a_time:
            self._is_closed = True
            connection, self.connection, self._socket = self.connection, None, -1
        if connection is not None:
            try:
                await connection.close(timeout=_CLOSING_TIMEOUT_S)
            except self._database.failures:
                connection.terminate()

    def abandon_socket(self) -> None:
        """Replace the socket without closing the session, which belongs to the parent of this forked child."""
        if self._socket >= 0:
            null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
            os.dup2(null, self._socket, inheritable=False)  # the number stays in use, so that no other file gets it
            os.close(null)

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
            raise CacheError("the cache is closed", path=self._database.place)
        if self.connection is not None and self.connection.is_closed():
            self._drop()
        if self.connection is None:
            connection = await self._database.connect()
            self._socket = _socket_of(connection)
            self.connection = connection
            self._is_ready = False
            connection.add_termination_listener(self._ended)
        if not self._is_ready:  # also after a task was cancelled while preparing it
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

    def _check_outage(self, error: UnreachableCacheError) -> None:
        """Give up if PostgreSQL has been unavailable for too long; from then on, do not wait."""
        self._unavailable_since = self._unavailable_since or monotonic()
        if monotonic() >= self._unavailable_since + self._outage_timeout_s:
            raise CacheError(f"{error} (gave up after {self._outage_timeout_s:g} s)") from None

    def _ended(self, connection: Any) -> None:
        if connection is self.connection and self._on_lost is not None:
            self._on_lost()

    def _drop(self) -> None:
        connection, self.connection, self._socket = self.connection, None, -1
        if connection is not None:
            connection.terminate()


def _socket_of(connection: Any) -> int:
    """Return the file descriptor of a connection's socket, which asyncpg does not publish, or -1."""
    transport = getattr(connection, "_transport", None)
    socket = None if transport is None else transport.get_extra_info("socket")
    return -1 if socket is None else socket.fileno()


def _abandon_sockets_in_child() -> None:
    for connection in _OPEN:
        connection.abandon_socket()


os.register_at_fork(after_in_child=_abandon_sockets_in_child)
