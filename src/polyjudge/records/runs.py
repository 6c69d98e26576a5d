"""The limits of a run, its scores, what it has spent, what it is expected to spend, and the events that it emits."""

from typing import Literal, TypeAlias

from msgspec import Struct

from .calibration import Interval
from .notebook import as_html
from .outcomes import Item, RunOutcome
from .requests import Price
from .rubrics import Scale

ROWS_IN_SHARD = 10_000


class Limits(Struct, frozen=True, kw_only=True):
    """The limits of a run; None means no limit."""

    concurrency: int = 16
    """The maximum number of calls in flight."""
    rpm: float | None = None
    """Calls a minute."""
    tpm: float | None = None
    """Tokens a minute."""
    max_calls: int | None = None
    max_tokens: int | None = None
    max_cost_usd: float | None = None
    price: Price | None = None
    """Replaces the known price of the model."""
    timeout_s: float | None = None
    """For one call; by default 120 seconds, and 300 for an agent."""
    deadline_s: float | None = None
    """For the whole run; in-flight calls get five seconds more."""
    max_unjudged: float = 0.2
    """The largest share of items without a verdict that a run may have and still count as finished."""


class RayEngine(Struct, frozen=True, kw_only=True):
    """Judge shards of the items on a Ray cluster, into a folder of Parquet parts."""

    workers: int | None = None
    """Shards judged at the same time; by default one per CPU."""
    shard_rows: int = ROWS_IN_SHARD
    """The maximum number of rows in a shard."""


class Estimate(Struct):
    """The estimated calls, tokens and cost of a run."""

    calls: int = 0
    cached: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0
    unpriced_calls: int = 0


class Caps(Struct, frozen=True):
    """The caps on what a run may use; None means no cap."""

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
    """Calls without a known price."""
    rate_limited: int = 0
    lost_calls: int = 0
    """Calls that ended without a reply; they may have been charged, and count against the caps."""
    lost_tokens: int = 0
    lost_cost_usd: float = 0.0
    in_flight: int = 0
    """Calls that are in flight now."""

    @property
    def tokens(self) -> int:
        """Tokens in both directions."""
        return self.input_tokens + self.output_tokens


RunStatus = Literal["finished", "stopped", "capped", "unjudged", "items_changed"]
"""How a run ended.

`stopped` by the caller; `capped` by a limit, or by an error that makes further calls useless; `unjudged`: too many
items have no verdict; `items_changed`: the items were changed while they were judged.
"""


class LanguageScores(Struct, frozen=True, kw_only=True):
    """The scores of the items in one language; items without a verdict are in no mean and no rate."""

    items: int
    """Items with an outcome."""
    judged: int
    mean: float | None
    interval: Interval | None
    passed: int | None
    """Results that pass by the rubric's rule; None without a rule."""
    decided: int | None
    """Results that pass or fail."""
    pass_interval: Interval | None


class ScoreSummary(Struct, frozen=True, kw_only=True):
    """The scores of a run; items without a verdict are counted, and are in no mean and no rate."""

    items: int
    """Items that were to be judged."""
    judged: int
    """Items that have a verdict, or a generated text."""
    unjudged: int
    unjudged_by_kind: dict[str, int]
    not_reached: int
    """Items that the run did not get to."""
    mean: float | None
    interval: Interval | None
    standard_deviation: float | None
    passed: int | None
    """Results that pass by the rubric's rule, where it has one."""
    decided: int | None
    """Results that pass or fail; for results without scores, as of the judge `offline`, this is not always known."""
    pass_interval: Interval | None
    cached: int
    mean_spread: float | None
    """Mean distance between the highest and the lowest score of one item, if it was judged more than once."""
    flipped: float | None
    """Share of such items whose answers disagree about passing, where the rubric has a rule."""
    scale: Scale | None = None
    """The rubric's scale."""
    languages: dict[str, LanguageScores] = {}
    """By the language of the items, in the order of its name; empty if no item names one."""
    abstained: int = 0
    """Items that a cascade leaves to people; they are not among the unjudged ones."""

    _repr_html_ = as_html


class FailUnder(Struct, frozen=True, kw_only=True):
    """The least that a run must reach; None is not required."""

    mean: float | None = None
    """Of the scores, on the rubric's scale."""
    pass_rate: float | None = None
    """A share from 0 to 1."""
    language: float | None = None
    """For each language: a share that must pass or, without a pass rule in the rubric, a mean score."""


GateStatus = Literal["passed", "failed", "undecided"]


class GateResult(Struct, frozen=True, kw_only=True):
    """Whether a run meets one requirement."""

    rule: str
    """The requirement: mean:3.5, pass:0.9 or language:0.8."""
    status: GateStatus
    """`undecided` if too many verdicts or scores are missing to say."""
    sentence: str
    """What was measured, with the number of items, and what is required."""
    language: str | None = None
    """The language, as in the items, that does not pass; None for a result over all of them."""


class Gate(Struct, frozen=True, kw_only=True):
    """Whether a run meets its requirements."""

    status: GateStatus
    results: tuple[GateResult, ...]
    exit_code: int
    """0 passed, 1 failed, 3 too few verdicts to decide, which takes precedence."""


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
    """The number of finished items, and of those without a verdict; emitted by engines on other machines."""

    done: int
    unjudged: int


class Retried(Struct, frozen=True):
    """A call failed and is made again after a wait."""

    provider: str
    reason: str
    wait_s: float
    attempt: int


class RateChanged(Struct, frozen=True):
    """A provider has limited the rate of calls, and calls are now made at this rate."""

    provider: str
    calls_per_s: float


class BatchesSearched(Struct, frozen=True):
    """The provider is searched for batches that an interrupted run may have submitted."""

    batches: int


class ItemCollected(Struct, frozen=True):
    """The requests of an item were put into batches."""


class BatchesWaiting(Struct, frozen=True):
    """The progress of the submitted batches; emitted for the first time after their submission."""

    done: int
    requests: int
    batches: int


class BatchesFinished(Struct, frozen=True):
    """All batches have ended, and their results are stored."""


class BatchesLeft(Struct, frozen=True):
    """The run stops while batches continue at the provider; the same run collects their results later."""

    batches: int


class Warned(Struct, frozen=True):
    """A warning, which does not stop the run."""

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
