"""The options that all judging commands share: the same words everywhere."""

import argparse
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import Any, TypedDict

from polyjudge.batches.client import need_batches
from polyjudge.batches.journal import BatchJournal
from polyjudge.errors import ConfigError, DataError, UnknownNameError
from polyjudge.files.ownership import refuse_foreign
from polyjudge.judges.plugin import is_judge_plugin, judge_plugin_name
from polyjudge.providers.models import parse_price, resolve_model
from polyjudge.providers.registry import is_provider
from polyjudge.providers.services import address_of
from polyjudge.records.requests import ModelName
from polyjudge.records.runs import ROWS_IN_SHARD, Limits
from polyjudge.runs.stack import DEFAULT_CACHE
from polyjudge.text.display import harmless


def add_judging_options(parser: argparse.ArgumentParser, *, default_judge: str) -> None:
    """Add the options of every command that asks judges by a rubric."""
    add = parser.add_argument_group("judge").add_argument
    by_default = f"one judge, several as a jury, or offline: the checks alone; default: {default_judge or 'none'}"
    add_judge_options(add, default=default_judge, told=by_default)
    add("--repeats", type=at_least(1), default=1, metavar="K", help="ask each question K times")
    add_call_options(parser.add_argument_group("calls").add_argument)
    add_cache_options(parser.add_argument_group("cache").add_argument)


def add_judge_options(add: Callable[..., object], *, default: str, told: str) -> None:
    """Add the options that name judges and say what becomes of their failures."""
    add("--judge", default=default, metavar="NAME[/MODEL][,…]", help=told)
    add("--judge-model", metavar="MODEL", help="another model of the judge's provider")
    add("--require-judge", action="store_true", help="a judge that cannot be used is exit 3, not a skip")
    too_many = "a larger share without a verdict is exit 3; default: %(default)s"
    add("--max-unjudged", type=share, default=0.2, metavar="SHARE", help=too_many)


def add_call_options(add: Callable[..., object]) -> None:
    """Add the options of every command that makes calls."""
    in_flight = "calls in flight at most; default: %(default)s"
    add("--concurrency", type=at_least(1), default=16, metavar="N", help=in_flight)
    add("--rpm", type=_positive, metavar="N", help="calls a minute at most")
    add("--tpm", type=_positive, metavar="N", help="tokens a minute, about")
    add_timing_options(add)
    add("--max-calls", type=at_least(1), metavar="N", help="stop after so many calls")
    add("--max-tokens", type=at_least(1), metavar="N", help="stop before more tokens than this")
    add("--max-cost", type=_positive, metavar="USD", help="stop before spending more than this")
    add("--price", metavar="IN,OUT", help="USD per million tokens, where the model's price is not known")
    add("--dry-run", action="store_true", help="say what would be asked and what it would cost")


def add_timing_options(add: Callable[..., object], *, timeout_s: float | None = None) -> None:
    """Add how long a call and a run may take."""
    told = f"seconds for one call; default: {timeout_s or '120, and 300 for agents'}"
    add("--timeout", type=_positive, default=timeout_s, metavar="S", help=told)
    add("--deadline", type=_positive, metavar="S", help="seconds for the whole run; calls in flight get five more")


def add_cache_options(add: Callable[..., object]) -> None:
    """Add the options of every command that keeps replies."""
    # Not the default as a settings file may have changed it: that may be a URL with a password.
    add("--cache", default=DEFAULT_CACHE, metavar="PATH|URL|none", help=f"default: {DEFAULT_CACHE}")
    without = "where PostgreSQL is out of reach at the start, go on with this cache; default: stop"
    add("--local-cache", type=Path, metavar="PATH", help=without)
    add("--refresh", action="store_true", help="ask anew what the cache could answer")
    add("--reread", action="store_true", help="read kept replies again and ask nothing")


def judge_names(options: argparse.Namespace) -> list[ModelName]:
    """Return the models that `--judge` and `--judge-model` name; none for the judge `offline`, which asks nobody."""
    given = [name.strip() for name in options.judge.split(",") if name.strip()]
    if not given:
        raise ConfigError("--judge names nobody")
    if "offline" in given:
        if given != ["offline"] or options.judge_model is not None:
            raise ConfigError("the judge 'offline' stands alone and has no model")
        return []
    if options.judge_model is None:
        names = [_named(name) for name in given]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise ConfigError(f"--judge names {twice} twice; a judge that agrees with itself says nothing")
        return names
    if len(given) > 1:
        raise ConfigError("--judge-model goes with one judge; write NAME/MODEL for each of several")
    own_name = is_provider(given[0]) or is_judge_plugin(given[0])
    provider = given[0] if own_name else resolve_model(given[0]).provider
    return [ModelName(provider, options.judge_model)]


def _named(name: str) -> ModelName:
    try:
        return resolve_model(name)
    except UnknownNameError as error:
        if is_judge_plugin(name):
            return judge_plugin_name(name)
        what = "model" if is_provider(name.partition("/")[0]) else "judge provider"
        raise UnknownNameError(what, error.name, [*error.known, "offline"]) from None


def filters_of(given: list[str]) -> Mapping[str, frozenset[str]]:
    """Return the values that `--filter COLUMN=VALUE,…` allows in each column."""
    filters: dict[str, frozenset[str]] = {}
    for text in given:
        name, equals, values = text.partition("=")
        if not equals or not name:
            raise ConfigError(f"--filter {text!r} is not COLUMN=VALUE")
        filters[name] = filters.get(name, frozenset()) | frozenset(values.split(","))
    return filters


class RunOptions(TypedDict):
    """The arguments of a `Run` that every judging command takes from the same options."""

    cache: str | None
    fallback_cache: Path | None
    limits: Limits
    batch: bool
    refresh: bool
    reread: bool
    force: bool


def run_options(options: argparse.Namespace) -> RunOptions:
    """Return the arguments of a `Run` that the options of a judging command name."""
    return {
        "cache": None if options.cache == "none" else options.cache,
        "fallback_cache": options.local_cache,
        "limits": limits_of(options),
        "batch": options.batch,
        "refresh": options.refresh,
        "reread": options.reread,
        "force": options.force,
    }


def limits_of(options: argparse.Namespace) -> Limits:
    """Return the limits that the options name."""
    return Limits(
        concurrency=options.concurrency,
        rpm=options.rpm,
        tpm=options.tpm,
        max_calls=options.max_calls,
        max_tokens=options.max_tokens,
        max_cost_usd=options.max_cost,
        price=parse_price(options.price) if options.price else None,
        timeout_s=options.timeout,
        deadline_s=options.deadline,
        max_unjudged=options.max_unjudged,
    )


class Several(argparse.Action):
    """Collects what an option is given several times; what a settings file gives counts only where it is not given."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        """Add one value."""
        del parser, option_string
        given: set[str] = namespace.__dict__.setdefault("given_several_times", set())
        if self.dest not in given:
            given.add(self.dest)
            setattr(namespace, self.dest, [])
        getattr(namespace, self.dest).append(values)


def at_least(least: int) -> Callable[[str], int]:
    """Return what reads a whole number that is not too small."""

    def number(text: str) -> int:
        if not text.lstrip("+-").isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least {least}")
        return int(text)

    return number


def _positive(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0")
    return number


def finite(text: str) -> float:
    """Read a number that is one."""
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if not isfinite(number):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number")
    return number


def add_force_option(add: Callable[..., object]) -> None:
    """Add the option of every command that writes files."""
    add("--force", action="store_true", help="replace files that polyjudge did not write")


def check_output(output: Path | None, inputs: Iterable[Path | None], *, force: bool) -> None:
    """Refuse to write over the input, which would be lost, or over a file that polyjudge did not write."""
    if output is None:
        return
    for path in inputs:
        if path is not None and path.resolve() == output.resolve():
            raise ConfigError(f"{str(output)!r} is a file of the input; name another one")
    refuse_foreign(output, force=force)


def share(text: str) -> float:
    """Read a share between 0 and 1."""
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a share between 0 and 1")
    return number


def add_engine_options(add: Callable[..., object]) -> None:
    """Add where the judging is done."""
    many = "ray: shards on many machines, into a folder of Parquet; default: %(default)s"
    add("--engine", choices=["local", "ray"], default="local", help=many)
    add("--workers", type=at_least(1), metavar="N", help="shards judged at once with ray; default: one a CPU")
    cut = f"rows of a shard at most, with ray; default: {ROWS_IN_SHARD}"
    add("--shard-rows", type=at_least(1), metavar="N", help=cut)


def refuse_without_ray(options: argparse.Namespace) -> None:
    """Refuse what says nothing where one machine does it all."""
    for name, value in (("--workers", options.workers), ("--shard-rows", options.shard_rows)):
        if value is not None and options.engine != "ray":
            raise ConfigError(
                f"{name} goes with --engine ray; on one machine --concurrency says how many calls at once"
            )


def refuse_unfit(options: argparse.Namespace, *, asks: bool) -> None:
    """Refuse what does not go with `--engine ray`, before anything is read; `asks` where models are asked."""
    if options.output is None:
        raise ConfigError("--engine ray needs --output FOLDER")
    if options.output.exists() and not options.output.is_dir():
        raise DataError("is a file; --engine ray writes a folder", path=options.output)
    if asks and options.cache == "none":
        raise ConfigError("--engine ray needs a cache that the workers share; give --cache PATH or postgresql://…")


def add_batch_option(add: Callable[..., object]) -> None:
    """Add the option."""
    told = "ask in batches, at half the price: answers come within a day, and the same command resumes the wait"
    add("--batch", action="store_true", help=told)


def refuse_batch(options: argparse.Namespace, judges: Sequence[ModelName]) -> None:
    """Refuse options that batches do not allow; without `--batch`, warn of unfinished batches."""
    if not options.batch:
        _warn_of_batches(judges)
        return
    if not judges:
        raise ConfigError("the judge 'offline' asks no model; leave out --batch")
    for name in judges:
        need_batches(name)
    if options.cache == "none":
        raise ConfigError("--batch keeps its answers in the cache; leave out --cache none")
    if options.reread:
        raise ConfigError("--reread asks nothing; leave out --batch")


def _warn_of_batches(judges: Sequence[ModelName]) -> None:
    """Say that a run without `--batch` does not wait for what the judges were asked in batches."""
    asked = {(name.provider, name.model, address_of(name.provider)) for name in judges}
    for job in BatchJournal().readable_jobs([]):
        intent = job.intent
        is_under_way = not job.stored_in and not job.is_abandoned
        if is_under_way and (intent.provider, intent.model, intent.base_url) in asked:
            told = f"{job.id or intent.tag} of {intent.provider}/{intent.model} is under way"
            paid = "without --batch, what it holds is asked and paid for again"
            print(f"polyjudge: warning: the batch {harmless(told)}; {paid}", file=sys.stderr)
