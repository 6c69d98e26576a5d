"""The limits of a run, what it has spent, what it is expected to spend, and the events that it emits."""

from typing import Literal, TypeAlias

from msgspec import Struct

from .outcomes import Item, RunOutcome
from .requests import Price

ROWS_IN_SHARD = 10_000


class Limits(Struct, frozen=True, kw_only=True):
    """What a run may use; None is no limit."""

    concurrency: int = 16
    """Calls in flight at most."""
    rpm: float | None = None
    """Calls a minute."""
    tpm: float | None = None
    """Tokens a minute."""
    max_calls: int | None = None
    max_tokens: int | None = None
    max_cost_usd: float | None = None
    price: Price | None = None
    """In place of the known price of the model."""
    timeout_s: float | None = None
    """For one call; by default 120 seconds, and 300 for an agent."""
    deadline_s: float | None = None
    """For the whole run; in-flight calls get five seconds more."""
    max_unjudged: float = 0.2
    """The largest share of items without a verdict that a run may have and still count as finished."""


class RayEngine(Struct, frozen=True, kw_only=True):
    """Judge shards of the items on a Ray cluster, into a folder of Parquet parts."""

    workers: int | None = None
    """Shards judged at once; by default one a CPU."""
    shard_rows: int = ROWS_IN_SHARD
    """Rows of a shard at most."""


class Estimate(Struct):
    """What a run would take; tokens and cost are estimates."""

    calls: int = 0
    cached: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0
    unpriced_calls: int = 0


class Caps(Struct, frozen=True):
    """The most that a run may use; None is no cap."""

    calls: int | None = None
    tokens: int | None = None
    cost_usd: float | None = None


class Spent(Struct):
    """What a run has used so far."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0
    unpriced_calls: int = 0
    """Calls whose cost nobody knows."""
    rate_limited: int = 0
    lost_calls: int = 0
    """Calls that broke off without an answer; they may have been charged, and the caps count them as if."""
    lost_tokens: int = 0
    lost_cost_usd: float = 0.0
    in_flight: int = 0
    """Calls that are being made now."""

    @property
    def tokens(self) -> int:
        """Tokens in both directions."""
        return self.input_tokens + self.output_tokens


RunStatus = Literal["finished", "stopped", "capped", "unjudged", "items_changed"]
"""How a run ended.

`stopped` by the caller; `capped` by a limit, or by an error that makes further calls useless; `unjudged`: too many
items have no verdict; `items_changed`: the items were changed while they were judged.
"""


class Started(Struct, frozen=True):
    """The items are read, and judging starts."""

    items: int


class Resumed(Struct, frozen=True):
    """All items that an earlier run judged have been read; judging continues with the others."""

    done: int
    items: int


class ItemFinished(Struct, frozen=True):
    """An item has its outcome, and the row is stored."""

    item: Item
    outcome: RunOutcome


class Progressed(Struct, frozen=True):
    """How many items are done in all, and how many of them have no verdict; emitted by engines on other machines."""

    done: int
    unjudged: int


class Retried(Struct, frozen=True):
    """A call failed and is made again after a wait."""

    provider: str
    reason: str
    wait_s: float
    attempt: int


class RateChanged(Struct, frozen=True):
    """A provider has refused calls for their rate, and calls are made at this rate now."""

    provider: str
    calls_per_s: float


class BatchesSearched(Struct, frozen=True):
    """Batches that an interrupted run may have submitted are looked for at the provider."""

    batches: int


class ItemCollected(Struct, frozen=True):
    """An item was looked at, and its requests are put into batches."""


class BatchesWaiting(Struct, frozen=True):
    """How far the submitted batches have come; the first of these follows the submission."""

    done: int
    requests: int
    batches: int


class BatchesFinished(Struct, frozen=True):
    """All batches have ended, and their results are stored."""


class BatchesLeft(Struct, frozen=True):
    """The run stops while batches continue at the provider; the same run collects their results later."""

    batches: int


class Warned(Struct, frozen=True):
    """Something that the caller should know, and that does not stop the run."""

    message: str


class FallbackCacheUsed(Struct, frozen=True):
    """The shared cache cannot be reached at the start, so a local one is used, to be imported afterwards."""

    reason: str
    fallback: str
    cache: str
    """The shared cache, without its password."""


class Stopped(Struct, frozen=True):
    """The run stops before its end; the reason is empty if the caller asked for it."""

    reason: str


class Finished(Struct, frozen=True):
    """Judging has ended."""

    status: RunStatus


Event: TypeAlias = (
    Started
    | Resumed
    | ItemFinished
    | Progressed
    | Retried
    | RateChanged
    | BatchesSearched
    | ItemCollected
    | BatchesWaiting
    | BatchesFinished
    | BatchesLeft
    | Warned
    | FallbackCacheUsed
    | Stopped
    | Finished
)
