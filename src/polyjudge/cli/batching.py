"""`--batch`: put what is to be asked into batches, wait for them, and take in what they bring."""

import argparse
import sys
from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from polyjudge.batches.client import need_batches
from polyjudge.batches.journal import BatchJournal
from polyjudge.concurrency.pool import StopToken
from polyjudge.errors import ConfigError
from polyjudge.providers.services import address_of
from polyjudge.records.requests import ModelName
from polyjudge.records.runs import Spent
from polyjudge.runs.stack import ProviderStack
from polyjudge.text.display import harmless

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


async def wait_for_batches(batches: "Batches", collect: Callable[[], Awaitable[object]], stop: StopToken) -> None:
    """Submit and wait until nothing is left to be put into a batch, and show how far it has come."""
    from polyjudge.runs.batch import wait_for_batches as wait  # here, because most runs need none of it

    from .run_progress import RunProgress

    with RunProgress(Spent()) as progress:
        await wait(batches, collect, stop, progress)
