"""Providers that answer from the cache, replay it, or count the calls that a run would make."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial

from polyjudge.cache.protocol import Cache, request_key
from polyjudge.cache.sqlite import JudgeCache, replies_of
from polyjudge.errors import NotRecordedError
from polyjudge.records.requests import Origin, Price, Reply, Request
from polyjudge.records.runs import Estimate

from .base import Provider, close_wrapped
from .rate_limits import LIKELY_ANSWER_TOKENS, likely_tokens

_SHORTEST_WAIT_S, _LONGEST_WAIT_S = 0.002, 0.1


async def once(
    cache: Cache, key: str, ask: Callable[[], Awaitable[Reply]], *, provider: str = "", since: str = ""
) -> Reply:
    """Return the reply stored under a key, or ask for it; of concurrent callers with the same key, only one asks.

    A truncated reply or a refusal is returned but not stored, and an error is raised to its asker only. With `since`, a
    timestamp in ISO 8601, replies stored before it are requested again and replaced.
    """
    wait_s = _SHORTEST_WAIT_S
    while True:
        if (reply := await cache.get(key, since=since, snapshot=True)) is not None:
            return reply
        async with cache.claim(key) as is_asker:
            if is_asker:
                # Read under the claim: no other process can then store a reply between this read and the call.
                if (reply := await cache.get(key, since=since)) is not None:
                    return reply
                reply = await ask()
                if reply.finish == "stop":
                    await cache.put(key, reply, provider=provider, since=since)
                return reply
        await asyncio.sleep(wait_s)
        wait_s = min(2 * wait_s, _LONGEST_WAIT_S)


class CachedProvider:
    """Returns stored replies, and asks another provider for missing ones, which are then stored.

    With `since`, a timestamp in ISO 8601, replies stored before it are requested again.
    """

    aclose = close_wrapped

    def __init__(self, provider: Provider, cache: Cache | JudgeCache, *, since: str = "") -> None:
        self._provider = provider
        self.origin = provider.origin
        self._cache = replies_of(cache)
        self._since = since

    async def complete(self, request: Request) -> Reply:
        """Return the stored reply, or ask for one; concurrent identical requests are sent once."""
        key = request_key(self.origin, request)
        ask = partial(self._provider.complete, request)
        return await once(self._cache, key, ask, provider=self.origin.provider, since=self._since)


class ReplayProvider:
    """Returns stored replies only, to repeat a run without a key, network access or cost."""

    def __init__(self, origin: Origin, cache: Cache | JudgeCache) -> None:
        self.origin = origin
        self._cache = replies_of(cache)

    async def complete(self, request: Request) -> Reply:
        """Return the stored reply; raise an error if it is missing."""
        reply = await self._cache.get(request_key(self.origin, request))
        if reply is None:
            model = f"{self.origin.provider}/{request.model}"
            raise NotRecordedError(f"{self._cache.place} has no reply from {model} to this request")
        return reply


class CountingProvider:
    """Replaces a provider in a dry run: counts calls, tokens and cost."""

    def __init__(
        self, origin: Origin, cache: Cache | None, price: Price | None, estimate: Estimate, *, since: str = ""
    ) -> None:
        self.origin = origin
        self._since = since
        self._cache = cache
        self._price = price
        self._estimate = estimate

    async def complete(self, request: Request) -> Reply:
        """Count the request, and raise `NotRecordedError`."""
        estimate = self._estimate
        key = request_key(self.origin, request)
        if self._cache is not None and await self._cache.get(key, since=self._since) is not None:
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
        raise NotRecordedError("a dry run makes no calls")
