"""The options of `--engine ray`, and what does not go with it."""

import argparse
from collections.abc import Callable

from polyjudge.errors import ConfigError, DataError
from polyjudge.records.runs import ROWS_IN_SHARD

from .options import at_least


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
