"""The option `--batch`, and what is refused with it."""

import argparse
import sys
from collections.abc import Callable, Sequence

from polyjudge.batches.client import need_batches
from polyjudge.batches.journal import BatchJournal
from polyjudge.errors import ConfigError
from polyjudge.providers.services import address_of
from polyjudge.records.requests import ModelName
from polyjudge.text.display import harmless


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
