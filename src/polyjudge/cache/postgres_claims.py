"""One asker a question, among all machines that share a cache.

A claim is an advisory lock on 64 bits of the key's hash, held by the session. PostgreSQL drops it when the session
ends, however it ends, so a killed run leaves nothing behind that others would have to wait for. A lost connection
loses the claims too; they are taken again over the next one, as far as nobody else was quicker.
"""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from polyjudge.errors import CacheError

from .postgres_connection import SteadyConnection
from .postgres_database import PostgresDatabase
from .postgres_wishes import Question

_TAKE = "select number from unnest($1::bigint[]) as number where pg_try_advisory_lock(number)"
_GIVE_BACK = "select bool_and(pg_advisory_unlock(number)) from unnest($1::bigint[]) as number"


class PostgresClaims:
    """The locks of this process, over one connection."""

    def __init__(self, database: PostgresDatabase, connection: SteadyConnection) -> None:
        self._database = database
        self._connection = connection
        self._over: list[tuple[Any, int]] = []
        self._problem: CacheError | None = None

    async def take(self, questions: Sequence[Question]) -> None:
        """Claim questions; those that another process holds stay without a session."""
        if self._problem is not None:
            raise self._problem
        if questions:
            await self._connection.use(lambda session: self._take(session, questions))

    async def take_again(self, session: Any, questions: Sequence[Question]) -> None:
        """Claim over a new connection what was claimed over the lost one; who was quicker may ask as well."""
        for question in questions:
            question.session = None
        if questions:
            with suppress(*self._database.failures):
                await self._take(session, questions)

    def drop(self, question: Question) -> None:
        """Note that a claim can be given back."""
        if question.session is not None:
            self._over.append((question.session, question.number))
            question.session = None

    async def give_back(self) -> None:
        """Give back what was dropped."""
        over, self._over = self._over, []
        if over:
            await self._connection.use(lambda session: self._give_back(session, over))

    async def _take(self, session: Any, questions: Sequence[Question]) -> None:
        numbers = [question.number for question in questions]
        try:
            taken = {row["number"] for row in await session.fetch(_TAKE, numbers)}
        except self._database.failures:
            # Locks outlive the statement that took them, even when it failed halfway.
            with suppress(*self._database.failures):
                await session.execute(_GIVE_BACK, numbers)
            raise
        for question in questions:
            question.session = session if question.number in taken else None

    async def _give_back(self, session: Any, over: Sequence[tuple[Any, int]]) -> None:
        numbers = [number for held_over, number in over if held_over is session]
        if numbers and not await session.fetchval(_GIVE_BACK, numbers):
            told = "does not keep a session's locks: behind PgBouncer, pool sessions and not transactions"
            self._problem = CacheError(told, path=self._database.place)
