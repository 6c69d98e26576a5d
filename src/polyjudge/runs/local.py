"""Judge items in this process."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping
from contextlib import aclosing

from polyjudge.concurrency.pool import Slots, StopToken, in_order
from polyjudge.records.outcomes import Item, RunOutcome
from polyjudge.store.run_file import OutcomeStore, WaitingStore

Answer = Callable[[Item], Awaitable[RunOutcome]]
"""Returns the judge's outcome for an item."""

_WAITING_MOST = 20_000
"""Items that may wait for a slow one before them."""
_WAITING_IN_MEMORY = 256
"""Outcomes among them that are held in memory; the others wait in the store."""


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
    """Yield each item with its outcome, in order; items whose outcome is `known` by their id are not asked about.

    Each row is in the store before it is yielded. A slow item does not stall the others: outcomes that wait for it are
    kept in the store. Without a cache, each of them is, because an outcome that is lost would be paid for again.
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
    """Writes rows to the store in order: at once if it is their turn, else when they are taken."""

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
        """Return the outcome whose turn has come; its row is written now if it is not yet."""
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
