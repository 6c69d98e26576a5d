"""Questions on their way to a shared cache: looked up together, and claimed together where nobody has answered them.

All of it happens in the loop of the cache's own thread, so nothing here needs a lock.
"""

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from polyjudge.errors import CacheError

from .batched import Batched
from .postgres_claims import PostgresClaims
from .postgres_connection import SteadyConnection
from .postgres_database import PostgresDatabase
from .postgres_wishes import Again, AnyWish, Over, Question, Wish
from .waking import Waiting, wake

_LOOK = "select key, kind, value, checksum, created_at from polyjudge_entries where key = any($1::text[])"


class PostgresAsking:
    """Answers wishes: with what is kept, or by letting one wisher among all machines ask."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, database: PostgresDatabase, connection: SteadyConnection
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
        wishes: list[AnyWish] = [thing for thing in things if isinstance(thing, Wish)]
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
        answered: list[tuple[Waiting[Any], Any]] = []
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
        askers: dict[Waiting[Any], AnyWish] = {}
        for question in questions:
            question.asker = question.wishes.pop(0)
            askers[question.asker.waiting] = question.asker
        for unreached in wake((waiting, None) for waiting in askers):
            self.over(askers[unreached])

    def _fail(self, things: list[AnyWish | Over | Again], error: Exception) -> None:
        """Tell all whose wishes could not be served; what is being asked goes on."""
        failed: list[AnyWish] = [thing for thing in things if isinstance(thing, Wish)]
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
