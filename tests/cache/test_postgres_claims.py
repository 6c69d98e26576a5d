"""Claims where the server cannot be what it seems: behind a pooler that hands sessions around, or not installed."""

import asyncio
import sys

import pytest

from polyjudge.cache.address import cache_at, read_address
from polyjudge.cache.postgres import PostgresClaims
from polyjudge.cache.postgres_connection import PostgresDatabase, ReconnectingConnection
from polyjudge.errors import CacheError, MissingExtraError


class ForgetfulSession:
    """A connection whose locks are soon another's, as with PgBouncer in transaction mode."""

    async def fetch(self, statement: str, numbers: list[int]) -> list[dict[str, int]]:
        return [{"number": number} for number in numbers]

    async def fetchval(self, statement: str, numbers: list[int]) -> bool:
        return False

    async def execute(self, statement: str, *numbers: list[int]) -> None:
        pass

    def is_closed(self) -> bool:
        return False


def test_a_pooler_that_keeps_no_locks_is_found_out_and_told():
    pytest.importorskip("asyncpg")
    database = PostgresDatabase(read_address("postgresql://127.0.0.1/db"), read_only=False)
    connection = ReconnectingConnection(database, patience_s=0.0)
    connection.connection = ForgetfulSession()
    claims = PostgresClaims(database, connection)

    async def take_and_release():
        assert await claims.take("key")
        assert not await claims.take("key")
        claims.release("key")
        await claims.finish()
        await claims.take("key")

    with pytest.raises(CacheError, match="behind PgBouncer, pool sessions and not transactions"):
        asyncio.run(take_and_release())


def test_without_the_extra_the_command_to_run_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "asyncpg", None)

    with pytest.raises(MissingExtraError, match=r"pip install 'polyjudge\[postgres\]'"):
        cache_at("postgresql://me:geheim@127.0.0.1:1/polls")
