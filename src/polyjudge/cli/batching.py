"""`--batch`: put what is to be asked into batches, wait for them, and take in what they bring."""

import argparse
import sys
from collections.abc import Awaitable, Callable, Coroutine, Generator, Iterable, Mapping, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from polyjudge.batches.client import need_batches
from polyjudge.batches.journal import BatchJournal
from polyjudge.concurrency.pool import StopToken, in_order, unless_stopped
from polyjudge.errors import ConfigError, StoppedError
from polyjudge.providers.services import address_of
from polyjudge.records.outcomes import Item, Outcome
from polyjudge.records.requests import ModelName
from polyjudge.runs.local import Answer, score_items
from polyjudge.runs.stack import ProviderStack
from polyjudge.text.display import harmless

from .asking import found_before
from .progress import CountShow
from .score_rows import Rows
from .wait_show import WaitShow, counted

if TYPE_CHECKING:
    from polyjudge.batches.provider import Batches


def add_batch_option(add: Callable[..., object]) -> None:
    """Add the option."""
    told = "ask in batches, at half the price: answers come within a day, and the same command goes on waiting for them"
    add("--batch", action="store_true", help=told)


def refuse_batch(options: argparse.Namespace, judges: Sequence[ModelName]) -> None:
    """Refuse what makes no sense in batches, before anything is asked; without them, warn of those under way."""
    if not options.batch:
        _warn_of_batches(judges)
        return
    if not judges:
        raise ConfigError("the judge 'offline' asks nobody; leave out --batch")
    for name in judges:
        need_batches(name)
    if options.cache == "none":
        raise ConfigError("--batch keeps its answers in the cache; leave out --cache none")
    if options.reread:
        raise ConfigError("--reread asks nothing; leave out --batch")


def _warn_of_batches(judges: Sequence[ModelName]) -> None:
    """Say that a run without `--batch` does not wait for what the judges were asked in batches."""
    asked = {(name.provider, name.model, address_of(name.provider)) for name in judges}
    for job in BatchJournal().sound_jobs([]):
        intent = job.intent
        is_under_way = not job.taken_into and not job.is_given_up
        if is_under_way and (intent.provider, intent.model, intent.base_url) in asked:
            told = f"{job.id or intent.tag} of {intent.provider}/{intent.model} is under way"
            paid = "without --batch, what it holds is asked and paid for again"
            print(f"polyjudge: warning: the batch {harmless(told)}; {paid}", file=sys.stderr)


@contextmanager
def in_batches(access: ProviderStack, options: argparse.Namespace, began: str) -> Generator[ProviderStack]:
    """Give an access that asks in batches, where that is wanted; a dry run only reckons with their price."""
    if not options.batch:
        yield access
    elif options.dry_run:
        yield replace(access, at_batch_price=True)
    else:
        from polyjudge.batches.provider import Batches  # here, because most runs need none of it

        journal = BatchJournal()
        with journal.only_writer():
            yield replace(access, at_batch_price=True, batches=Batches(journal, began=began))


async def wait_for_batches(batches: "Batches", pass_over: Callable[[], Awaitable[object]], stop: StopToken) -> None:
    """Wait for batches until nothing is left to be put into one.

    `pass_over` asks all that the run has to ask; the answers are not there yet, and nobody waits for them.
    """
    if batches.lost:
        told = f"looking for {counted(batches.lost, 'batch', 'batches')} that may have been handed over"
        print(f"polyjudge: {told}", file=sys.stderr)
    await _unless_stopped(batches.find_lost, stop)
    while not stop.requested:
        batches.begin_collecting()
        await pass_over()
        if stop.requested or not await _handed_over(batches, stop):
            break
        with WaitShow() as show:
            await _unless_stopped(lambda: batches.wait(show.tell), stop)
    batches.collecting = False
    if stop.requested and (left := len(batches.under_way)):
        go, their = ("goes", "its") if left == 1 else ("go", "their")
        told = f"{counted(left, 'batch', 'batches')} {go} on at the provider"
        print(f"polyjudge: {told}; the same command takes {their} results in", file=sys.stderr)


@dataclass(frozen=True, slots=True)
class Questions:
    """What a run asks about, and what of it is answered already."""

    answer: Answer
    items: Iterable[Item]
    rows: Rows
    known: Mapping[str, Outcome]
    concurrency: int
    stop: StopToken

    async def pass_over(self) -> None:
        """Ask about all items that have no outcome yet."""
        done = sum(1 for _ in self.rows.kept())
        known = found_before(self.rows, self.known)
        left = islice(self.items, done, None)
        with CountShow("items looked at, for batches") as count:
            scored = score_items(self.answer, left, concurrency=self.concurrency, stop=self.stop, known=known)
            async with aclosing(scored):
                async for _ in scored:
                    count.advance()


async def _handed_over(batches: "Batches", stop: StopToken) -> bool:
    """Hand over what was collected; say whether to look at the items once more, after the batches have ended."""

    async def hand_over(collected: "Batches") -> bool:
        return await collected.end_collecting()

    return any([more async for more in in_order(hand_over, [batches], concurrency=1, stop=stop)])


async def _unless_stopped(work: Callable[[], Coroutine[Any, Any, None]], stop: StopToken) -> None:
    """Wait for what goes on by itself; an error that stops the run is a wish to stop."""
    if stop.requested:
        return
    try:
        await unless_stopped(work(), stop)
    except StoppedError as error:
        stop.request(error)
