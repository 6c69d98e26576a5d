"""Judge items in this process."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping
from contextlib import aclosing

from polyjudge.concurrency.pool import StopToken, in_order
from polyjudge.judges.base import Judge
from polyjudge.judges.offline import OfflineJudge
from polyjudge.records.outcomes import Item, Outcome

Answer = Callable[[Item], Awaitable[Outcome]]
"""Finds out what a judge makes of an item."""


def answer_of(judge: Judge) -> Answer:
    """Return what asks a judge about an item; only the judge `offline` is told the item's language as a tag."""
    needs_language = isinstance(judge, OfflineJudge)

    def answer(item: Item) -> Awaitable[Outcome]:
        context = {**item.context, "language": item.language} if needs_language else item.context
        return judge.outcome(item.candidate, context)

    return answer


async def score_items(
    answer: Answer,
    items: Iterable[Item],
    *,
    concurrency: int,
    stop: StopToken,
    known: Mapping[str, Outcome] | None = None,
    done: Callable[[Item, Outcome], None] | None = None,
) -> AsyncGenerator[tuple[Item, Outcome]]:
    """Yield each item with its outcome, in order; items whose outcome is `known` by their id are not asked about.

    `done` is told of each answer as it comes, ahead of its turn.
    """
    found = known or {}

    async def one(item: Item) -> tuple[Item, Outcome]:
        if item.id in found:
            return item, found[item.id]
        outcome = await answer(item)
        if done is not None:
            done(item, outcome)
        return item, outcome

    async with aclosing(in_order(one, items, concurrency=concurrency, stop=stop)) as results:
        async for scored in results:
            yield scored
