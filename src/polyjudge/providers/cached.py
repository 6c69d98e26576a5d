"""Answer from the cache where it can: around another provider, or alone."""

from functools import partial

from polyjudge.cache import Cache, request_key
from polyjudge.errors import NotRecordedError
from polyjudge.records import Origin, Reply, Request

from .base import Provider, close_provider


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
