"""What is said between the one who places shards and those who judge them: plain data, no secrets."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from polyjudge.files import ResultsPart, Shard
from polyjudge.providers import Caps, ModelName, Price, Spent
from polyjudge.records import Rubric
from polyjudge.version import __version__

from .shard_caps import Share

TroubleKind = Literal["capped", "unusable", "missing", "config", "items", "files"]
"""No room under the caps, no call can work, a key or package or something else is not there, bad items, other files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardJob:
    """What is the same for all shards of a run."""

    rubric: Rubric
    judges: tuple[ModelName, ...]
    repeats: int = 1
    context: tuple[str, ...] | None = None
    filters: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    output: Path
    """The folder of the results."""
    cache: str = ""
    """Where the cache is, an absolute path or a URL without a password; empty for none."""
    since: str = ""
    replay: bool = False
    keeps_results: bool = False
    """Only what stands in the results as failed is asked again."""
    price: Price | None = None
    timeout_s: float | None = None
    folder: Path
    """Where the command was given; relative paths are meant from there."""
    trusts_folder: bool = False
    """The command used the private folder there; a worker has no record of its own of that."""
    needs_folder: bool = False
    """There is something in that folder that the judge needs."""
    addresses: Mapping[str, str] = field(default_factory=dict[str, str])
    """Which variables name the servers, so that all ask the same; keys never travel."""
    host: str = ""
    """The machine that the command was given on."""
    version: str = __version__


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardOrder:
    """One shard to judge."""

    job: ShardJob
    shard: Shard
    share: Share
    caps: Caps = field(default_factory=Caps)


@dataclass(frozen=True, slots=True)
class ShardNote:
    """How far a shard has come."""

    done: int = 0
    unjudged: int = 0
    spent: Spent = field(default_factory=Spent)


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why a shard was not judged to its end."""

    kind: TroubleKind
    message: str


@dataclass(frozen=True, slots=True)
class ShardReport:
    """What became of a shard."""

    shard: Shard
    part: ResultsPart | None
    """Its results; None where it was told to stop, or had to."""
    spent: Spent
    trouble: Trouble | None = None
    warnings: tuple[str, ...] = ()
