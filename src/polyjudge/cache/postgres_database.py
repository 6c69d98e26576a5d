"""The PostgreSQL database under a shared cache: connecting to it, and making the table."""

import re
from hashlib import sha256
from typing import Any

from polyjudge.errors import CacheError
from polyjudge.extras import require

from .postgres_address import Address
from .postgres_problems import CONNECT_TIMEOUT_S, NoCacheYetError, problem_of

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
    obj_description(oid, 'pg_class') as told,
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
"""A machine that vanishes gives its claims back within a minute; waiting for a judge is not idling; kept means kept."""
_STATEMENT_TIMEOUT_S = 30.0
"""A batch takes milliseconds; who says nothing for so long is gone, and the network has not noticed."""


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
        """What asyncpg raises when something is wrong with the server or the way to it."""

    def problem(self, error: Exception) -> CacheError:
        """Return our own error for one of asyncpg's."""
        return problem_of(error, self._address)

    async def connect(self, *, timeout_s: float | None = _STATEMENT_TIMEOUT_S) -> Any:
        """Open a connection of asyncpg; `timeout_s` is for one statement."""
        settings = {"application_name": "polyjudge"}
        if self.read_only:
            settings["default_transaction_read_only"] = "on"
        try:
            connection = await self._asyncpg.connect(
                self._address.url,
                timeout=CONNECT_TIMEOUT_S,
                command_timeout=timeout_s,
                server_settings=settings,
            )
            await connection.execute(_SETTINGS)
        except (*self.failures, ValueError) as error:  # a port in the environment that is no number is a ValueError
            raise self.problem(error) from None
        return connection

    async def prepare(self, connection: Any, *, make: bool) -> None:
        """Check that the database holds a cache that this user may use; with `make`, make it one if need be."""
        state = await connection.fetchrow(_STATE)
        if state is None:
            if not make:
                raise NoCacheYetError("there is no cache here yet", path=self.place)
            state = await self._create(connection)
        self._check_version(state["told"] or "")
        if not state["may_read"]:
            raise self._forbidden("read", "select")
        if not self.read_only and state["is_read_only"]:
            raise CacheError("can only be read, as a standby can; name the primary", path=self.place)
        if not self.read_only and not state["may_write"]:
            raise self._forbidden("write", "select, insert, update")

    async def _create(self, connection: Any) -> Any:
        """Make the table, unless somebody else does at the same time; return its state."""
        async with connection.transaction():
            await connection.execute(f"select pg_advisory_xact_lock({lock_number('polyjudge_entries')})")
            if (state := await connection.fetchrow(_STATE)) is not None:
                return state
            await connection.execute(_SCHEMA)
            return await connection.fetchrow(_STATE)

    def _check_version(self, told: str) -> None:
        match = re.fullmatch(r"polyjudge cache, version (\d+)", told)
        if match is None:
            raise CacheError("has a table polyjudge_entries of another program; name another database", path=self.place)
        if int(match[1]) > _VERSION:
            raise CacheError("was written by a newer polyjudge; upgrade this one", path=self.place)

    def _forbidden(self, what: str, rights: str) -> CacheError:
        remedy = f"have its owner run: grant {rights} on polyjudge_entries to the user"
        return CacheError(f"this user may not {what} the table polyjudge_entries; {remedy}", path=self.place)


def lock_number(key: str) -> int:
    """Return the number of the advisory lock that stands for a key: 64 bits of its hash."""
    return int.from_bytes(sha256(key.encode(errors="surrogatepass")).digest()[:8], "big", signed=True)
