"""Answer from the cache, replay a cache, or count the calls that a run would make."""

from functools import partial

from polyjudge.cache.protocol import Cache, request_key
from polyjudge.errors import NotRecordedError
from polyjudge.records.requests import Origin, Price, Reply, Request
from polyjudge.records.runs import Estimate

from .base import Provider, close_provider
from .rate_limits import LIKELY_ANSWER_TOKENS, likely_tokens


class CachedProvider:
    """Asks another provider only what the cache cannot answer, and keeps what it says.

    With `since`, a moment in ISO 8601, replies kept before it are asked for anew.
    """

    def __init__(self, provider: Provider, cache: Cache, *, since: str = "") -> None:
        self._provider = provider
        self.origin = provider.origin  # who answers when the cache cannot
        self._cache = cache
        self._since = since

    async def complete(self, request: Request) -> Reply:
        """Return the kept reply, or ask for one; the same question asked twice at once is asked once."""
        key = request_key(self.origin, request)
        ask = partial(self._provider.complete, request)
        return await self._cache.once(key, ask, self.origin.provider, since=self._since)

    async def aclose(self) -> None:
        """Close the provider inside; the cache stays open, it may be shared."""
        await close_provider(self._provider)


class ReplayProvider:
    """Answers from the cache alone: the same run again, with no key, no network and no cost."""

    def __init__(self, origin: Origin, cache: Cache) -> None:
        self.origin = origin
        self._cache = cache

    async def complete(self, request: Request) -> Reply:
        """Return the kept reply; one that is missing is an error and never a call."""
        reply = await self._cache.find(request_key(self.origin, request))
        if reply is None:
            raise NotRecordedError(
                f"{self._cache.place} holds no reply of {self.origin.provider}/{request.model} to this"
            )
        return reply


class CountingProvider:
    """Stands in for a provider in a dry run."""

    def __init__(
        self, origin: Origin, cache: Cache | None, price: Price | None, estimate: Estimate, *, since: str = ""
    ) -> None:
        self.origin = origin
        self._since = since
        self._cache = cache
        self._price = price
        self._estimate = estimate

    async def complete(self, request: Request) -> Reply:
        """Count the request; there is never an answer."""
        estimate = self._estimate
        key = request_key(self.origin, request)
        if self._cache is not None and await self._cache.find(key, since=self._since) is not None:
            estimate.cached += 1
        else:
            tokens = likely_tokens(request) - LIKELY_ANSWER_TOKENS
            estimate.calls += 1
            estimate.input_tokens += tokens
            estimate.output_tokens += LIKELY_ANSWER_TOKENS
            if self._price is None:
                estimate.unpriced_calls += 1
            else:
                estimate.cost_usd += (tokens * self._price.input + LIKELY_ANSWER_TOKENS * self._price.output) / 1e6
        raise NotRecordedError("a dry run asks nothing")
