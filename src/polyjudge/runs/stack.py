"""Build the providers of a run: cache, retries, rate limits and budget around the vendor's client."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from polyjudge.cache.protocol import Cache
from polyjudge.errors import ConfigError, UnknownNameError
from polyjudge.judges.base import Judge
from polyjudge.judges.jury import Jury, RepeatedJudge
from polyjudge.judges.offline import OfflineJudge
from polyjudge.judges.rubric import RubricJudge
from polyjudge.providers.base import Provider
from polyjudge.providers.budget import Budget, BudgetedProvider
from polyjudge.providers.caching import CachedProvider, CountingProvider, ReplayProvider
from polyjudge.providers.models import in_batches, price_of
from polyjudge.providers.rate_limits import RateLimitedProvider, RateLimiter
from polyjudge.providers.registry import PROVIDERS, open_provider
from polyjudge.providers.retrying import RetryingProvider, RetryPolicy
from polyjudge.providers.services import is_remote, origin_of
from polyjudge.records.requests import ModelName, Origin, Price
from polyjudge.records.rubrics import Rubric
from polyjudge.records.runs import Estimate

if TYPE_CHECKING:
    from polyjudge.batches.provider import Batches


_AGENT_ATTEMPTS = 2


@dataclass(frozen=True, slots=True)
class ProviderStack:
    """What all providers of a run share."""

    cache: Cache | None = None
    since: str = ""
    """Ask anew what was kept before this moment, in ISO 8601."""
    replay: bool = False
    """Answer from the cache alone; no key is needed and nothing is asked."""
    concurrency: int = 16
    rpm: float | None = None
    tpm: float | None = None
    price: Price | None = None
    """Instead of the price that is known for the model."""
    retries: RetryPolicy = field(default_factory=RetryPolicy)
    meter: Budget = field(default_factory=Budget)
    estimate: Estimate | None = None
    """Where a dry run counts what it would ask; nothing is asked then."""
    timeout_s: float | None = None
    """For one call; by default 120 seconds, and 300 for an agent."""
    workspace: Path | None = None
    """A folder that agents may read a copy of."""
    at_batch_price: bool = False
    """Reckon with what batches cost."""
    batches: "Batches | None" = None
    """Where requests are put into batches instead of being asked one by one."""
    paces: dict[Origin, RateLimiter] = field(default_factory=dict[Origin, RateLimiter])

    def open(self, name: ModelName) -> Provider:
        """Open a provider as this run uses it: cached, retried, paced and metered, from the outside in."""
        if self.replay:
            return self._replay(name)
        price = self.price or price_of(name)
        if self.at_batch_price:
            price = in_batches(price)
        if self.estimate is not None:
            return CountingProvider(_origin(name), self.cache, price, self.estimate, since=self.since)
        if self.batches is not None:
            return self._batched(self.batches, name, price)
        inner = open_provider(name, timeout_s=self.timeout_s, workspace=self.workspace)
        # Metered inside the pace: a call that still waits for its turn has not been made.
        provider: Provider = BudgetedProvider(inner, self.meter, price, name=str(name))
        if is_remote(name.provider):  # a recording needs no pace, and says the same each time
            provider = RetryingProvider(RateLimitedProvider(provider, self._pace(inner.origin)), self._retries(name))
        return CachedProvider(provider, self.cache, since=self.since) if self.cache else provider

    def _batched(self, batches: "Batches", name: ModelName, price: Price | None) -> Provider:
        if self.cache is None:
            raise ConfigError("batches need a cache to keep their results in")
        return batches.open(
            name, cache=self.cache, meter=self.meter, price=price, since=self.since, timeout_s=self.timeout_s
        )

    def _retries(self, name: ModelName) -> RetryPolicy:
        """Return how often to try: an agent is given minutes each time, so not as often."""
        if not PROVIDERS[name.provider].is_agent:
            return self.retries
        return replace(self.retries, attempts=min(self.retries.attempts, _AGENT_ATTEMPTS))

    def _pace(self, origin: Origin) -> RateLimiter:
        """Return the pace of an address, which all its models share."""
        if origin not in self.paces:
            self.paces[origin] = RateLimiter(self.concurrency, rpm=self.rpm, tpm=self.tpm)
        return self.paces[origin]

    def _replay(self, name: ModelName) -> Provider:
        if self.cache is None:
            raise ConfigError("answering from the cache alone needs a cache")
        return ReplayProvider(_origin(name), self.cache)


def _origin(name: ModelName) -> Origin:
    """Return who would answer, without asking for a key."""
    if name.provider not in PROVIDERS:
        raise UnknownNameError("judge provider", name.provider, PROVIDERS)
    return origin_of(name.provider) if is_remote(name.provider) else open_provider(name).origin


def open_judge(
    rubric: Rubric,
    names: Sequence[ModelName],
    access: ProviderStack,
    *,
    repeats: int = 1,
    max_tokens: int | None = None,
) -> Judge:
    """Return a judge by a rubric: one model, a jury of several, each asked so many times, or for none the checks."""
    if not names:
        return OfflineJudge(rubric)
    judges = [
        _repeated(RubricJudge(rubric, model=name.model, provider=access.open(name), max_tokens=max_tokens), repeats)
        for name in names
    ]
    return judges[0] if len(judges) == 1 else Jury(judges)


def _repeated(judge: RubricJudge, repeats: int) -> Judge:
    return judge if repeats == 1 else RepeatedJudge(judge, repeats)
