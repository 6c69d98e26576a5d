"""Build the providers of a run: cache, retries, rate limits and budget around the vendor's client."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from polyjudge.cache.address import shown
from polyjudge.cache.postgres_connection import NoCacheYetError, UnreachableCacheError
from polyjudge.cache.protocol import Cache, is_url, open_cache
from polyjudge.cache.sqlite import JudgeCache, replies_of
from polyjudge.concurrency.pool import Slots
from polyjudge.errors import ConfigError, TransientError
from polyjudge.folder_trust import CACHE_FILE, DEFAULT_CACHE, private_path
from polyjudge.judges.base import ItemJudge, Judge
from polyjudge.judges.jury import Jury, RepeatedJudge
from polyjudge.judges.offline import OfflineJudge
from polyjudge.judges.plugin import PluginJudge
from polyjudge.judges.rubric import RubricJudge
from polyjudge.providers.base import Provider
from polyjudge.providers.budget import Budget, BudgetedProvider
from polyjudge.providers.caching import CachedProvider, CountingProvider, ReplayProvider
from polyjudge.providers.models import in_batches, price_of
from polyjudge.providers.rate_limits import RateLimitedProvider, RateLimiter
from polyjudge.providers.registry import is_judge_plugin, is_provider, open_provider, provider_entry
from polyjudge.providers.retrying import RetryingProvider, RetryPolicy
from polyjudge.providers.scripted import ScriptedProvider
from polyjudge.providers.services import is_remote, origin_of
from polyjudge.records.requests import ModelName, Origin, Price
from polyjudge.records.rubrics import Rubric
from polyjudge.records.runs import Estimate, Event, FallbackCacheUsed, RateChanged, Retried

if TYPE_CHECKING:
    from polyjudge.batches.provider import Batches
    from polyjudge.checks.policy import CheckPolicy
    from polyjudge.judges.spans import SpanJudge


_AGENT_ATTEMPTS = 2


def ignore(_: Event) -> None:
    """Do nothing with an event."""


@dataclass(frozen=True, slots=True)
class ProviderStack:
    """What all providers of a run share."""

    cache: Cache | None = None
    since: str = ""
    """Ask again for replies that were stored before this timestamp, in ISO 8601."""
    replay: bool = False
    """Answer from the cache alone; no key is needed and no call is made."""
    concurrency: int = 16
    rpm: float | None = None
    tpm: float | None = None
    price: Price | None = None
    """Instead of the price that is known for the model."""
    retries: RetryPolicy = field(default_factory=RetryPolicy)
    meter: Budget = field(default_factory=Budget)
    estimate: Estimate | None = None
    """The counts of a dry run, in which no call is made."""
    timeout_s: float | None = None
    """The timeout of one call; by default 120 seconds, and 300 for an agent."""
    workspace: Path | None = None
    """A folder that agents may read a copy of."""
    at_batch_price: bool = False
    """Reckon with what batches cost."""
    batches: "Batches | None" = None
    """The batches into which requests are put, if they are not made one by one."""
    paces: dict[Origin, RateLimiter] = field(default_factory=dict[Origin, RateLimiter])
    slots: Slots | None = None
    """The places of the run's tasks; a call that waits to be made again lends its place."""
    emit: Callable[[Event], None] = ignore
    """Called with retries and changes of the rate."""

    @property
    def is_dry(self) -> bool:
        """Whether calls are only counted."""
        return self.estimate is not None

    def open(self, name: ModelName) -> Provider:
        """Open the provider of a model with the run's cache, retries, rate limit and budget, from the outside in."""
        if self.replay:
            return ReplayProvider(origin_of_model(name), self._needed_cache())
        price = self._price(name)
        if self.estimate is not None:
            return CountingProvider(origin_of_model(name), self.cache, price, self.estimate, since=self.since)
        if self.batches is not None:
            if self.cache is None:
                raise ConfigError("batches need a cache to keep their results in")
            return self.batches.open(
                name, cache=self.cache, meter=self.meter, price=price, since=self.since, timeout_s=self.timeout_s
            )
        return self._wrap(open_provider(name, timeout_s=self.timeout_s, workspace=self.workspace), name, price)

    def around(self, provider: Provider, name: ModelName) -> Provider:
        """Put the run's cache, retries, rate limit and budget around a provider that the caller has opened."""
        if self.batches is not None:
            raise ConfigError("a provider that was opened outside the run cannot be used in batches; name the model")
        if self.replay:
            return ReplayProvider(provider.origin, self._needed_cache())
        price = self._price(name)
        if self.estimate is not None:
            return CountingProvider(provider.origin, self.cache, price, self.estimate, since=self.since)
        return self._wrap(provider, name, price)

    def stop(self) -> None:
        """Start no more calls."""
        for limits in self.paces.values():
            limits.stop()

    def _wrap(self, inner: Provider, name: ModelName, price: Price | None) -> Provider:
        # The budget is inside the rate limit: a call that still waits for its turn has not been made.
        provider: Provider = BudgetedProvider(inner, self.meter, price, name=name)
        if not isinstance(inner, ScriptedProvider):  # it has no rate limit, and says the same each time
            retries = self.retries
            if is_provider(name.provider) and provider_entry(name.provider).is_agent:  # it takes minutes each time
                retries = replace(retries, attempts=min(retries.attempts, _AGENT_ATTEMPTS))
            limited = RateLimitedProvider(provider, self._rate_limiter(inner.origin))
            sleep = asyncio.sleep if self.slots is None else self.slots.sleep
            provider = RetryingProvider(limited, retries, sleep=sleep, on_retry=partial(self._retried, name.provider))
        return CachedProvider(provider, self.cache, since=self.since) if self.cache else provider

    def _price(self, name: ModelName) -> Price | None:
        price = self.price or price_of(name)
        return in_batches(price) if self.at_batch_price else price

    def _retried(self, provider: str, error: TransientError, wait_s: float) -> None:
        self.emit(Retried(provider, str(error), wait_s, error.attempts))

    def _rate_limiter(self, origin: Origin) -> RateLimiter:
        """Return the rate limiter of an address, which all its models share."""

        def changed(calls_per_s: float) -> None:
            self.emit(RateChanged(origin.provider, calls_per_s))

        if origin not in self.paces:
            limits = RateLimiter(self.concurrency, rpm=self.rpm, tpm=self.tpm, on_change=changed)
            self.paces[origin] = limits
        return self.paces[origin]

    def _needed_cache(self) -> Cache:
        if self.cache is None:
            raise ConfigError("a replay needs a cache; give one")
        return self.cache


def origin_of_model(name: ModelName) -> Origin:
    """Return who would answer, without asking for a key."""
    provider_entry(name.provider)  # raises an error if there is no such provider
    return origin_of(name.provider) if is_remote(name.provider) else open_provider(name).origin


async def open_run_cache(
    cache: Path | str,
    *,
    read_only: bool = False,
    is_dry: bool = False,
    fallback: Path | None = None,
    emit: Callable[[Event], None] = ignore,
) -> Cache | None:
    """Open the cache of a run by its path or URL; a dry run has none where there is none yet.

    `fallback` is the file to use if a PostgreSQL server cannot be reached at the start.
    """
    place = str(private_path(CACHE_FILE)) if str(cache) == DEFAULT_CACHE else str(cache)
    if is_dry and not is_url(place) and not Path(place).exists():  # noqa: ASYNC240 - before anything runs
        return None
    try:
        return await open_cache(place, read_only=read_only or is_dry)
    except NoCacheYetError:
        if is_dry:
            return None
        raise
    except UnreachableCacheError as error:
        if fallback is None:
            raise
        emit(FallbackCacheUsed(str(error), str(fallback), shown(place)))
        return await open_run_cache(fallback, read_only=read_only, is_dry=is_dry)


@asynccontextmanager
async def opened_cache(
    cache: Cache | JudgeCache | Path | str | None,
    *,
    read_only: bool = False,
    is_dry: bool = False,
    fallback: Path | None = None,
    emit: Callable[[Event], None] = ignore,
) -> AsyncGenerator[Cache | None]:
    """Open the cache of a run as `open_run_cache` does, and close it; one that is open already stays open."""
    if cache is None or not isinstance(cache, str | Path):
        yield None if cache is None else replies_of(cache)
        return
    opened = await open_run_cache(cache, read_only=read_only, is_dry=is_dry, fallback=fallback, emit=emit)
    try:
        yield opened
    finally:
        if opened is not None:
            await opened.aclose()


class PrivateReplies:
    """A cache beside the output of a run that has no other, until the output is finished.

    It is for judges that take several calls an item, or measure something before the first: rows alone would lose
    what an interrupted run has paid for.
    """

    def __init__(self, output: Path) -> None:
        self._path = output.with_name(f"{output.name}.replies.sqlite")
        self._is_new = self._is_removed = False

    @asynccontextmanager
    async def opened(self, *, read_only: bool, emit: Callable[[Event], None]) -> AsyncGenerator[Cache | None]:
        """Open the cache."""
        self._is_new, self._is_removed = not self._path.exists(), False
        try:
            async with opened_cache(self._path, read_only=read_only, emit=emit) as cache:
                yield cache
        finally:
            for path in list(self._path.parent.iterdir()) if self._is_removed else []:
                if path.name.startswith(self._path.name):  # SQLite and the cache have files beside it
                    path.unlink(missing_ok=True)

    def remove(self, *, is_finished: bool) -> None:
        """Remove the cache when it is closed; that of an earlier run only if the output is finished."""
        self._is_removed = is_finished or self._is_new


def judge_by_models(
    rubric: Rubric,
    names: Sequence[ModelName],
    *,
    max_tokens: int | None = None,
    checks: "CheckPolicy | None" = None,
    token_probabilities: bool = False,
) -> ItemJudge:
    """Return the judge for a rubric: a single model, a jury of several, or the checks if there is none."""
    if not names:
        if token_probabilities:
            raise ConfigError("the judge 'offline' has no token probabilities; do not request them, or name a model")
        return OfflineJudge(rubric, policy=checks)
    judges = [judge_by_model(rubric, name, max_tokens, token_probabilities=token_probabilities) for name in names]
    return judges[0] if len(judges) == 1 else Jury(judges)


def judge_by_model(
    rubric: Rubric, name: ModelName, max_tokens: int | None = None, *, token_probabilities: bool = False
) -> "RubricJudge | SpanJudge | PluginJudge":
    """Return the judge for a rubric by one model."""
    if token_probabilities and (rubric.spans is not None or is_judge_plugin(name.provider)):
        what = "judges of error spans" if rubric.spans is not None else "judges of plugins"
        raise ConfigError(f"{what} have no token probabilities; do not request them")
    if is_judge_plugin(name.provider):
        return PluginJudge(name, rubric)
    if rubric.spans is not None:
        from polyjudge.judges.spans import SpanJudge  # here, because most rubrics are not for error spans

        return SpanJudge(rubric, model=name, max_tokens=max_tokens)
    return RubricJudge(rubric, model=name, max_tokens=max_tokens, token_probabilities=token_probabilities)


def open_judge(
    rubric: Rubric,
    names: Sequence[ModelName],
    access: ProviderStack,
    *,
    repeats: int = 1,
    max_tokens: int | None = None,
) -> Judge:
    """Return the judge for a rubric: a single model, a jury of several, or the checks if there is none."""
    if not names:
        return OfflineJudge(rubric)
    judges: list[Judge] = [judge_by_model(rubric, name, max_tokens).bind(access) for name in names]
    if repeats != 1:
        judges = [RepeatedJudge(judge, repeats) for judge in judges]
    return judges[0] if len(judges) == 1 else Jury(judges)
