"""Messages between the driver and the shard workers, and the share of the limits that each worker gets."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from polyjudge.formats.columns import AS_IT_IS, TableOptions
from polyjudge.formats.items import DEFAULT_CONTEXT
from polyjudge.records.requests import ModelName, Price
from polyjudge.records.rubrics import Rubric
from polyjudge.records.runs import Caps, Spent
from polyjudge.store.run_folder import ResultsPart, Shard
from polyjudge.version import __version__

PROTOCOL = 3
"""Increase it when the messages change so that drivers and workers of different versions cannot exchange them."""


@dataclass(frozen=True, slots=True)
class Share:
    """What one shard may use while it is judged."""

    concurrency: int
    rpm: float | None = None
    tpm: float | None = None


def shares(most: int, *, concurrency: int, rpm: float | None = None, tpm: float | None = None) -> list[Share]:
    """Divide what a run may use by so many shards at most; there are never more shares than calls in flight."""
    count = min(most, concurrency)
    each, over = divmod(concurrency, count)
    return [
        Share(each + (number < over), None if rpm is None else rpm / count, None if tpm is None else tpm / count)
        for number in range(count)
    ]


class Allowance:
    """The caps of a run; each shard is granted a part before it starts, and together they never exceed the caps."""

    def __init__(self, caps: Caps) -> None:
        self._caps = caps
        self._used = _Amounts()
        self._granted = _Amounts()

    def grant(self, parts: int) -> Caps | None:
        """Grant one of so many equal parts of the rest; return None if there is no rest."""
        caps, used, granted = self._caps, self._used, self._granted
        grant = Caps(
            None if caps.calls is None else -((caps.calls - used.calls - granted.calls) // -parts),
            None if caps.tokens is None else -((caps.tokens - used.tokens - granted.tokens) // -parts),
            None if caps.cost_usd is None else (caps.cost_usd - used.cost_usd - granted.cost_usd) / parts,
        )
        if any(left is not None and left <= 0 for left in (grant.calls, grant.tokens, grant.cost_usd)):
            return None
        granted.add(_amounts(grant), 1)
        return grant

    def settle(self, grant: Caps, spent: Spent) -> None:
        """Take back a grant of which so much was used."""
        self._granted.add(_amounts(grant), -1)
        tokens, cost = spent.tokens + spent.lost_tokens, spent.cost_usd + spent.lost_cost_usd
        self._used.add(_Amounts(spent.calls, tokens, cost), 1)

    def lose(self, grant: Caps) -> None:
        """Count a grant as used up: its worker is lost, and what it used is not known."""
        self._granted.add(_amounts(grant), -1)
        self._used.add(_amounts(grant), 1)

    @property
    def why(self) -> str:
        """Why there is room for no further call."""
        caps, used = self._caps, self._used
        if caps.calls is not None and used.calls >= caps.calls:
            return f"stopped after {used.calls} calls, the most allowed"
        if caps.cost_usd is not None:
            return f"stopped at ${used.cost_usd:.4f}: the next call may cost more than is left of ${caps.cost_usd:g}"
        return f"stopped at {used.tokens} tokens: the next call may take more than is left of {caps.tokens}"


@dataclass(slots=True)
class _Amounts:
    calls: int = 0
    tokens: int = 0
    cost_usd: float = 0.0

    def add(self, other: "_Amounts", sign: int) -> None:
        self.calls += sign * other.calls
        self.tokens += sign * other.tokens
        self.cost_usd += sign * other.cost_usd


def _amounts(caps: Caps) -> _Amounts:
    return _Amounts(caps.calls or 0, caps.tokens or 0, caps.cost_usd or 0.0)


def add_spent(total: Spent, more: Spent) -> None:
    """Add what one shard used to what all did."""
    for name in Spent.__struct_fields__:
        setattr(total, name, getattr(total, name) + getattr(more, name))


TroubleKind = Literal["capped", "unusable", "missing", "config", "items", "files"]
"""The caps are reached, no call can work, a key or package is missing, a wrong setting, bad items, other files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardJob:
    """What is the same for all shards of a run."""

    rubric: Rubric
    judges: tuple[ModelName, ...]
    repeats: int = 1
    context: tuple[str, ...] | None = None
    filters: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    default_context: tuple[str, ...] = DEFAULT_CONTEXT
    """The columns that the judge sees if none are named."""
    table: TableOptions = AS_IT_IS
    output: Path
    """The folder of the results."""
    cache: str = ""
    """Where the cache is, an absolute path or a URL without a password; empty for none."""
    since: str = ""
    replay: bool = False
    keeps_results: bool = False
    """Only the failures in the results are judged again."""
    price: Price | None = None
    timeout_s: float | None = None
    folder: Path
    """Where the command was given; relative paths are meant from there."""
    trusts_folder: bool = False
    """The command used the private folder there; a worker has no record of its own of that."""
    needs_folder: bool = False
    """There is something in that folder that the judge needs."""
    addresses: Mapping[str, str] = field(default_factory=dict[str, str])
    """The variables with the servers' addresses, so that all workers use the same; keys are never sent."""
    host: str = ""
    """The machine that the command was given on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardOrder:
    """One shard to judge."""

    protocol: int = PROTOCOL
    """First, so that a worker with other fields in these classes still reads it."""
    version: str = __version__
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
    """Its results; None if it was stopped."""
    spent: Spent
    trouble: Trouble | None = None
    warnings: tuple[str, ...] = ()
