"""Ask a judge about many items, going on where an unfinished run was left, each row written as it comes."""

import argparse
from collections import ChainMap
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import aclosing
from typing import cast

from polyjudge.concurrency.pool import StopToken
from polyjudge.errors import DataError
from polyjudge.records.outcomes import Item, Outcome
from polyjudge.runs.local import Answer, score_items
from polyjudge.runs.stack import ProviderStack

from .score_rows import Rows


async def ask_all(
    answer: Answer,
    items: Iterator[Item],
    rows: Rows,
    options: argparse.Namespace,
    *,
    stop: StopToken,
    known: Mapping[str, Outcome] | None = None,
    resume: Callable[[], None] = lambda: None,
) -> AsyncGenerator[tuple[Item, Outcome]]:
    """Yield each item with its outcome, in order: first what was kept, then what is asked now; dry runs write nothing.

    Items whose outcome is `known` by their id are not asked about. `resume` is called between what was kept and what is
    asked.
    """
    for item_id, outcome in rows.kept():
        item = next(items, Item("", ""))
        if item.id != item_id:
            raise DataError("was changed since it was left; remove it to begin anew", path=rows.place or "")
        yield item, outcome
    resume()
    found = found_before(rows, known or {})
    keep = rows.keep_ahead if options.cache == "none" and not options.dry_run else None
    taken = _Counted(items)
    scored = score_items(answer, taken, concurrency=options.concurrency, stop=stop, known=found, done=keep)
    answered = 0
    async with aclosing(scored):  # where a row cannot be written, what is under way ends before its connections do
        async for item, outcome in scored:
            answered += 1
            if not options.dry_run:
                rows.write(item, outcome)
            yield item, outcome
    # After a stop all may be done as well: calls in flight are allowed to finish, and they may have been the last ones.
    if answered == taken.count and next(items, None) is None and not options.dry_run:
        rows.finish()


class _Counted:
    """Items, and how many of them were taken."""

    def __init__(self, items: Iterator[Item]) -> None:
        self.count = 0
        self._items = items

    def __iter__(self) -> Iterator[Item]:
        for item in self._items:
            self.count += 1
            yield item


def forget_if_unasked(rows: Rows, access: ProviderStack) -> None:
    """Let the next run begin anew where this one asked nothing; what is put into batches is asked elsewhere."""
    if not access.meter.spent.calls and access.batches is None:
        rows.forget_beginning()


def found_before(rows: Rows, known: Mapping[str, Outcome]) -> Mapping[str, Outcome]:
    """Return what need not be asked: what was kept ahead of its turn, before what is `known` otherwise."""
    return ChainMap(dict(rows.kept_ahead()), cast(dict[str, Outcome], known))  # both are only read
