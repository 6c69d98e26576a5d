"""The options of `--engine ray`, what does not go with it, and where its workers find the cache."""

import argparse
import os
from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

from polyjudge.cache.address import is_url, shown
from polyjudge.errors import ConfigError, DataError

from .options import at_least, open_cache

_ROWS_IN_SHARD = 10_000


def add_engine_options(add: Callable[..., object]) -> None:
    """Add where the judging is done."""
    many = "ray: shards on many machines, into a folder of Parquet; default: %(default)s"
    add("--engine", choices=["local", "ray"], default="local", help=many)
    add("--workers", type=at_least(1), metavar="N", help="shards judged at once with ray; default: one a CPU")
    cut = f"rows of a shard at most, with ray; default: {_ROWS_IN_SHARD}"
    add("--shard-rows", type=at_least(1), metavar="N", help=cut)


def rows_in_shard(options: argparse.Namespace) -> int:
    """Return how many rows a shard holds at most."""
    return options.shard_rows or _ROWS_IN_SHARD


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


def joins_cluster() -> bool:
    """Say whether the cluster is there already, with an environment of its own."""
    return os.environ.get("RAY_ADDRESS", "").strip() not in ("", "local")


def shared_cache(options: argparse.Namespace) -> str:
    """Make sure that the cache can be used, and return where the workers find it: never with a password."""
    cache = open_cache(options)
    if cache is None:
        return ""
    cache.close()
    if not is_url(cache.place):
        return str(Path(cache.place).resolve())
    _hand_over_password(options.cache)
    return shown(options.cache)


def _hand_over_password(url: str) -> None:
    """Give the password to the workers of this machine by the environment; to others it is not sent."""
    parts = urlsplit(url)
    password = unquote(parts.password or "") or parse_qs(parts.query).get("password", [""])[0]
    if password and joins_cluster():
        told = "the password in --cache is not sent to Ray's workers"
        raise ConfigError(f"{told}: leave it out, and set PGPASSWORD in their environment and in yours")
    if password:
        os.environ["PGPASSWORD"] = password
