"""Claims behind a pooler that shares sessions, and without the driver."""

import asyncio
import sys

import pytest

from polyjudge.cache.address import read_address
from polyjudge.cache.postgres import PostgresClaims
from polyjudge.cache.postgres_connection import PostgresDatabase, ReconnectingConnection
from polyjudge.cache.protocol import cache_at
from polyjudge.errors import CacheError, MissingExtraError


class LockLosingConnection:
    """A connection that loses its locks, as with PgBouncer in transaction mode."""

    async def fetch(self, statement: str, numbers: list[int]) -> list[dict[str, int]]:
        return [{"number": number} for number in numbers]

    async def fetchval(self, statement: str, numbers: list[int]) -> bool:
        return False

    async def execute(self, statement: str, *numbers: list[int]) -> None:
        pass

    def is_closed(self) -> bool:
        return False


def test_a_pooler_that_does_not_keep_locks_is_detected():
    pytest.importorskip("asyncpg")
    database = PostgresDatabase(read_address("postgresql://127.0.0.1/db"), read_only=False)
    connection = ReconnectingConnection(database, outage_timeout_s=0.0)
    connection.connection = LockLosingConnection()
    claims = PostgresClaims(database, connection)

    async def take_and_release():
        assert await claims.take("key")
        assert not await claims.take("key")
        claims.release("key")
        await claims.finish()
        await claims.take("key")

    with pytest.raises(CacheError, match="set pool_mode = session"):
        asyncio.run(take_and_release())


def test_a_missing_extra_is_an_error_with_the_install_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "asyncpg", None)

    with pytest.raises(MissingExtraError, match=r"Run: .* install .*\[postgres\]"):
        cache_at("postgresql://me:geheim@127.0.0.1:1/polls")
