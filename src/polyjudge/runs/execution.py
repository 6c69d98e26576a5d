"""One execution of a run: stored outcomes, then batches, then the remaining items; each row is stored as it comes."""

from collections import ChainMap
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Protocol, cast, runtime_checkable

from polyjudge.concurrency.pool import Slots, StopToken, in_order
from polyjudge.errors import DataError, StoppedError
from polyjudge.judges.base import ItemWorker, close_judge
from polyjudge.records.outcomes import Item, RunOutcome
from polyjudge.records.runs import Event, Finished, ItemCollected, ItemFinished, Resumed, RunStatus, Started, Stopped
from polyjudge.store.run_file import OutcomeStore, WaitingStore

from .plan import Items, Plan
from .stack import ProviderStack

OnEvent = Callable[[Event], None]
Answer = Callable[[Item], Awaitable[RunOutcome]]
"""Returns the judge's outcome for an item."""

_WAITING_MOST = 20_000
"""The most items that may wait for a slow item before them."""
_WAITING_IN_MEMORY = 256
"""Outcomes among them that are held in memory; the others wait in the store."""


class Export(Protocol):
    """Receives each item with its outcome, in order, beside the run's own rows."""

    def put(self, item: Item, outcome: RunOutcome) -> None:
        """Take the next outcome."""
        ...


@runtime_checkable
class OutputFile(Export, Protocol):
    """The output of a run in another form than rows; until it is finished, the rows are in a file beside it."""

    path: Path
    retries_failures: bool
    """The same run, started again, asks again about its failures."""

    def finish(self) -> None:
        """Write the file; all outcomes have been taken."""
        ...

    def rows(self) -> Iterator[tuple[str, RunOutcome]]:
        """Yield what an earlier run wrote, with the ids of its items, to retry its failures."""
        ...


@dataclass(slots=True)
class Execution:
    """Everything that a run has open while it is executed."""

    items: Items
    plan: Plan
    stack: ProviderStack
    judge: ItemWorker
    store: OutcomeStore
    stop: StopToken
    emit: OnEvent
    concurrency: int
    known: Mapping[str, RunOutcome]
    """Outcomes that are already known, by the ids of their items."""
    exports: Sequence[Export] = ()
    status: RunStatus = "stopped"

    async def outcomes(self) -> AsyncGenerator[tuple[Item, RunOutcome]]:
        """Yield each item with its outcome, in order, and set the status; the judge is closed at the end."""
        self.stop.on_request(lambda _: self.stack.stop())
        try:
            if self.stack.batches is not None:
                await self._wait_for_batches()
            async with aclosing(self._judge_all()) as judged:
                async for pair in judged:
                    yield pair
        finally:
            # Requests in batches are answered elsewhere, and count as calls.
            if not self.stack.meter.spent.calls and self.stack.batches is None:
                self.store.discard_if_empty()
            await close_judge(self.judge)
        if self.status != "finished":
            self.emit(Stopped(str(self.stop.error or "")))
        self.emit(Finished(self.status))

    async def _judge_all(self) -> AsyncGenerator[tuple[Item, RunOutcome]]:
        items, done = iter(self.items), 0
        self.emit(Started(self.plan.items))
        for item_id, outcome in self.store.stored():
            item = next(items, None)
            if item is None or item.id != item_id:
                raise DataError(
                    "the unfinished run does not match the items; delete this file to start again",
                    path=getattr(self.store, "partial", ""),
                )
            done += 1
            yield self._finished(item, outcome)
        self.emit(Resumed(done, self.plan.items))
        await self._prepare()
        remaining = islice(items, self.plan.items - done)
        judged = self._settled(remaining) if self.stop.requested else self._judge(remaining, store=self.store)
        async with aclosing(judged):  # if a row cannot be written, in-flight calls end before their connections do
            async for item, outcome in judged:
                done += 1
                yield self._finished(item, outcome)
        # All items may be done even after a stop request: the in-flight calls, which may finish, can be the last ones.
        is_all = done == self.plan.items and next(items, None) is None
        if is_all and self.items.is_unchanged(self.plan.items_fingerprint):
            for export in self.exports:
                if isinstance(export, OutputFile):
                    export.finish()
            self.store.finish()
            self.status = "finished"
        elif self.stop.requested:
            self.status = "stopped" if self.stop.error is None else "capped"
        else:
            self.status = "items_changed"

    async def _prepare(self) -> None:
        """Let the judge do the work that it has before the first item; an error there can stop the run."""
        if not hasattr(self.judge, "prepare"):
            return
        stored = chain(self.store.stored(), self.store.ahead().items())
        try:
            await prepare(self.judge, stored, concurrency=self.stack.slots or self.concurrency, stop=self.stop)
        except StoppedError as error:
            self.stop.request(error)

    async def _settled(self, items: Iterable[Item]) -> AsyncGenerator[tuple[Item, RunOutcome]]:
        """Yield the first items that were judged in a preparation that was then stopped."""
        for item in items:
            outcome = settled(self.judge, item)
            if outcome is None:
                return
            self.store.append(item, outcome)
            yield item, outcome

    def _judge(
        self, items: Iterable[Item], store: OutcomeStore | None = None
    ) -> AsyncGenerator[tuple[Item, RunOutcome]]:
        # Both mappings are only read.
        known = ChainMap(cast(dict[str, RunOutcome], self.store.ahead()), cast(dict[str, RunOutcome], self.known))
        return judge_in_order(
            self.judge.judge,
            items,
            concurrency=self.stack.slots or self.concurrency,
            stop=self.stop,
            known=known,
            store=store,
            is_cached=self.stack.cache is not None,
        )

    def _finished(self, item: Item, outcome: RunOutcome) -> tuple[Item, RunOutcome]:
        self.emit(ItemFinished(item, outcome))
        for export in self.exports:
            export.put(item, outcome)
        return item, outcome

    async def _wait_for_batches(self) -> None:
        """Put the requests into batches and wait for their results, which go into the cache."""
        from .batch import wait_for_batches  # here, because most runs need none of it

        async def collect() -> None:
            done = sum(1 for _ in self.store.stored())
            await self._prepare()
            judged = self._judge(islice(self.items, done, None))
            async with aclosing(judged):
                async for _ in judged:
                    self.emit(ItemCollected())

        assert self.stack.batches is not None
        await wait_for_batches(self.stack.batches, collect, self.stop, self.emit)


async def judge_in_order(
    answer: Answer,
    items: Iterable[Item],
    *,
    concurrency: int | Slots,
    stop: StopToken,
    known: Mapping[str, RunOutcome] | None = None,
    store: OutcomeStore | None = None,
    is_cached: bool = True,
) -> AsyncGenerator[tuple[Item, RunOutcome]]:
    """Yield each item with its outcome, in order; items whose outcome is `known` by their id are not judged again.

    Each row is in the store before it is yielded. A slow item does not stall the others: outcomes that wait for it are
    kept in the store. Without a cache, all of them are, because a lost outcome would have to be paid for again.
    """
    found = known or {}
    rows = _Rows(store, is_cached=is_cached)

    async def one(turn: tuple[int, Item]) -> tuple[int, Item, RunOutcome | int]:
        number, item = turn
        if item.id in found:
            return number, item, rows.hold(found[item.id])
        return number, item, rows.put(number, item, await answer(item))

    turns = in_order(one, enumerate(items), concurrency=concurrency, stop=stop, window=rows.window)
    async with aclosing(turns) as results:
        async for number, item, kept in results:
            yield item, rows.take(number, item, kept)


async def prepare(
    judge: object, stored: Iterable[tuple[str, RunOutcome]], *, concurrency: int | Slots, stop: StopToken
) -> None:
    """Let a judge do the work that it has before the first item; `stored` are the rows of an unfinished run."""
    own: Callable[..., Awaitable[None]] | None = getattr(judge, "prepare", None)
    if own is not None:
        await own(stored, concurrency=concurrency, stop=stop)


def settled(judge: object, item: Item) -> RunOutcome | None:
    """Return the outcome of an item that was judged in the preparation; None if it has yet to be judged."""
    own: Callable[[Item], RunOutcome | None] | None = getattr(judge, "settled", None)
    return own(item) if own is not None else None


class _Rows:
    """Writes rows to the store in order: at once if it is their turn, otherwise when they are taken."""

    def __init__(self, store: OutcomeStore | None, *, is_cached: bool) -> None:
        self._store = store
        self._waiting = store if isinstance(store, WaitingStore) else None
        self.window = _WAITING_MOST if self._waiting is not None else None
        self._is_cached = is_cached
        self._written = self._in_memory = 0

    def put(self, number: int, item: Item, outcome: RunOutcome) -> RunOutcome | int:
        """Write a row, or keep it until its turn; return the outcome, or where it is kept in the store."""
        if number == self._written:
            self._write(item, outcome)
        elif self._waiting is not None and (not self._is_cached or self._in_memory >= _WAITING_IN_MEMORY):
            return self._waiting.append_ahead(item, outcome)
        return self.hold(outcome)

    def hold(self, outcome: RunOutcome) -> RunOutcome:
        self._in_memory += 1
        return outcome

    def take(self, number: int, item: Item, kept: RunOutcome | int) -> RunOutcome:
        """Return the outcome whose turn has come, and write its row if that has not been done."""
        if isinstance(kept, int):
            assert self._waiting is not None
            outcome = self._waiting.read_ahead(kept)
        else:
            outcome = kept
            self._in_memory -= 1
        if number == self._written:
            self._write(item, outcome)
        return outcome

    def _write(self, item: Item, outcome: RunOutcome) -> None:
        if self._store is not None:
            self._store.append(item, outcome)
        self._written += 1
