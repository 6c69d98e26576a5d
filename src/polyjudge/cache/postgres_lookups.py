"""Lookups in the PostgreSQL cache, grouped into few queries.

A claim is an advisory lock on 64 bits of the key's hash, held by the session. PostgreSQL drops it when the session
ends, however it ends, so a killed run leaves nothing behind that others would have to wait for. A lost connection
loses the claims too; they are taken again over the next one, as far as nobody else was quicker.

All of it happens in the loop of the cache's own thread, so nothing here needs a lock.
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Generic, TypeAlias, TypeVar

from polyjudge.errors import CacheError, DataError
from polyjudge.records.outcomes import JudgeResult
from polyjudge.records.requests import Reply

from .cross_thread import CrossThreadFuture, wake
from .entries import Kind, decode_kept, stored
from .postgres_connection import PostgresDatabase, ReconnectingConnection, lock_number
from .postgres_writer import Batched

Record = TypeVar("Record", Reply, JudgeResult)

_SHORTEST_PAUSE_S, _LONGEST_PAUSE_S = 0.002, 0.1


class Lookup(Generic[Record]):
    """To know what is kept under a key; with `claims`, to ask the question oneself if nobody has answered it."""

    __slots__ = ("claims", "is_answered", "key", "kind", "problem", "record_type", "since", "waiting")

    def __init__(
        self,
        record_type: type[Record],
        key: str,
        since: str = "",
        *,
        loop: asyncio.AbstractEventLoop | None = None,
        claims: bool = False,
    ) -> None:
        self.record_type = record_type
        self.kind: Kind = "reply" if record_type is Reply else "result"
        self.key = stored(key)
        self.since = since
        self.claims = claims
        self.waiting: CrossThreadFuture[Record | None] = CrossThreadFuture(loop)
        """Is told what is kept, or None: there is nothing, and the question is the wisher's to ask if they claim it."""
        self.problem = ""
        """Why an entry that is there cannot be read."""
        self.is_answered = False
        """There is no need to answer: it was done, or the wisher is gone."""

    def read(self, row: Any) -> Record | None:
        """Return what a row holds, marked as cached, where that is what is wished for."""
        if row["created_at"] < self.since:
            return None
        try:
            return decode_kept(self.record_type, row["value"], row["checksum"])
        except DataError as error:
            self.problem = f"entry {self.key} cannot be read and counts as missing: {error}"
            return None


AnyWish: TypeAlias = Lookup[Any]


@dataclass(frozen=True, slots=True)
class Over:
    """A wisher is through with asking, or wishes no more."""

    wish: AnyWish


@dataclass(frozen=True, slots=True)
class Again:
    """It is time to look whether a question that another process is asking has been answered."""

    key: str


@dataclass(slots=True, eq=False)
class Question:
    """One that nobody has answered, and who in this process waits for it."""

    key: str
    wishes: list[AnyWish] = field(default_factory=list[AnyWish])
    asker: AnyWish | None = None
    """Who in this process is asking it."""
    session: Any = None
    """The connection over which the claim is held."""
    number: int = 0
    """Of the lock that is the claim."""
    pause_s: float = _SHORTEST_PAUSE_S
    timer: asyncio.TimerHandle | None = None

    def __post_init__(self) -> None:
        self.number = lock_number(self.key)

    def look_again(self, loop: asyncio.AbstractEventLoop, hand_over: Callable[[Again], object]) -> None:
        """Wait for the process that is asking: each time longer, up to a point."""
        if self.timer is not None:
            self.timer.cancel()
        self.timer = loop.call_later(self.pause_s, hand_over, Again(self.key))
        self.pause_s = min(2 * self.pause_s, _LONGEST_PAUSE_S)

    def forget_answered(self) -> None:
        """Keep only those who still wait."""
        self.wishes = [wish for wish in self.wishes if not wish.is_answered]


_TAKE = "select number from unnest($1::bigint[]) as number where pg_try_advisory_lock(number)"
_GIVE_BACK = "select bool_and(pg_advisory_unlock(number)) from unnest($1::bigint[]) as number"


class PostgresClaims:
    """The locks of this process, over one connection."""

    def __init__(self, database: PostgresDatabase, connection: ReconnectingConnection) -> None:
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


_LOOK = "select key, kind, value, checksum, created_at from polyjudge_entries where key = any($1::text[])"


class PostgresAsking:
    """Answers wishes: with what is kept, or by letting one wisher among all machines ask."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, database: PostgresDatabase, connection: ReconnectingConnection
    ) -> None:
        self._loop = loop
        self._place = database.place
        self._connection = connection
        self._claims = PostgresClaims(database, connection)
        self._questions: dict[str, Question] = {}
        self._batched: Batched[AnyWish | Over | Again] = Batched(loop, self._serve, self._fail)
        self._returning: asyncio.Task[None] | None = None
        connection.greet = self._greet
        connection.lost = self._lost

    def wish(self, wish: AnyWish) -> None:
        """Hand over a wish, in any thread; its `waiting` tells when it is answered."""
        if not self._batched.hand_over(wish):
            raise CacheError("is closed", path=self._place)

    def over(self, wish: AnyWish) -> None:
        """Tell, in any thread, that a claim is needed no more, or the answer not waited for."""
        self._batched.hand_over(Over(wish))

    async def finish(self) -> None:
        """End what is under way; who still waits is told that it is over."""
        if self._returning is not None:
            self._returning.cancel()
        await self._batched.finish()
        closed = CacheError("is closed", path=self._place)
        wake((wish.waiting, closed) for question in self._questions.values() for wish in question.wishes)

    async def _serve(self, things: list[AnyWish | Over | Again]) -> None:
        wishes: list[AnyWish] = [thing for thing in things if isinstance(thing, Lookup)]
        for thing in things:
            if isinstance(thing, Over):
                self._end(thing.wish)
        await self._claims.give_back()
        due = [self._questions[key] for key in {_key_of(thing) for thing in things} if key in self._questions]
        waiting = [wish for question in due if question.asker is None for wish in question.wishes]
        await self._look([*wishes, *waiting])
        await self._claim([*due, *self._put(wishes)])

    def _end(self, wish: AnyWish) -> None:
        """Take back a claim, or a wish."""
        question = self._questions.get(wish.key)
        wish.is_answered = True
        if question is not None and question.asker is wish:
            question.asker = None
            self._claims.drop(question)

    async def _look(self, wishes: Iterable[AnyWish]) -> None:
        """Answer the wishes for what is kept."""
        open_wishes = [wish for wish in wishes if not wish.is_answered]
        if not open_wishes:
            return
        keys = list({wish.key for wish in open_wishes})
        rows = await self._connection.use(lambda session: session.fetch(_LOOK, keys))
        kept: dict[tuple[str, str], Any] = {(row["key"], row["kind"]): row for row in rows}
        answered: list[tuple[CrossThreadFuture[Any], Any]] = []
        for wish in open_wishes:
            row = kept.get((wish.key, wish.kind))
            found = None if row is None else wish.read(row)
            if found is not None or not wish.claims:
                wish.is_answered = True
                answered.append((wish.waiting, found))
        wake(answered)

    def _put(self, wishes: Iterable[AnyWish]) -> list[Question]:
        """Make a question of what nobody has answered, or join those who wait for it; return the new questions."""
        new: list[Question] = []
        for wish in wishes:
            if wish.is_answered:
                continue
            question = self._questions.get(wish.key)
            if question is None:
                question = self._questions[wish.key] = Question(wish.key)
                new.append(question)
            question.wishes.append(wish)
        return new

    async def _claim(self, questions: Iterable[Question]) -> None:
        """Let somebody ask what still has no answer, or wait for the process that is asking it."""
        unclaimed = [question for question in questions if self._is_open(question)]
        await self._claims.take(unclaimed)
        # Looked up under the claim, so that nobody can answer between the look and the question.
        await self._look([wish for question in unclaimed if question.session is not None for wish in question.wishes])
        unanswered = [question for question in unclaimed if self._is_open(question)]
        self._grant([question for question in unanswered if question.session is not None])
        for question in unanswered:
            if question.session is None:
                question.look_again(self._loop, self._batched.hand_over)
        await self._claims.give_back()

    def _is_open(self, question: Question) -> bool:
        """Tell whether somebody waits and nobody here is asking; a question without either is done with."""
        question.forget_answered()
        if question.asker is None and not question.wishes:
            self._claims.drop(question)
            self._questions.pop(question.key, None)
            return False
        return question.asker is None

    def _grant(self, questions: Iterable[Question]) -> None:
        """Let the first who waits for a question ask it."""
        askers: dict[CrossThreadFuture[Any], AnyWish] = {}
        for question in questions:
            question.asker = question.wishes.pop(0)
            askers[question.asker.waiting] = question.asker
        for unreached in wake((waiting, None) for waiting in askers):
            self.over(askers[unreached])

    def _fail(self, things: list[AnyWish | Over | Again], error: Exception) -> None:
        """Tell all whose wishes could not be served; what is being asked goes on."""
        failed: list[AnyWish] = [thing for thing in things if isinstance(thing, Lookup)]
        for key in {_key_of(thing) for thing in things}:
            question = self._questions.get(key)
            if question is not None and question.asker is None:
                failed += question.wishes
                self._claims.drop(question)
                del self._questions[key]
        asking = {question.asker for question in self._questions.values()}
        unserved = {wish for wish in failed if wish not in asking and not wish.is_answered}
        wake((wish.waiting, error) for wish in unserved)
        for wish in unserved:
            wish.is_answered = True

    async def _greet(self, session: Any) -> None:
        # A plan made while the table was small would read all of it for ever.
        await session.execute("set enable_seqscan = off")
        await self._claims.take_again(
            session, [each for each in self._questions.values() if each.asker is not None or each.session is not None]
        )

    def _lost(self) -> None:
        """Connect anew at once, and not when next something is wished for: others may take what was claimed."""
        if any(question.asker is not None for question in self._questions.values()):
            self._returning = self._loop.create_task(self._return())

    async def _return(self) -> None:
        with suppress(CacheError):  # whoever wishes for something will be told
            await self._connection.use(_nothing)


async def _nothing(session: Any) -> None:
    del session


def _key_of(thing: AnyWish | Over | Again) -> str:
    return thing.wish.key if isinstance(thing, Over) else thing.key
