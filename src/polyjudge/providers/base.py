"""The provider interface, and the timing of a call."""

import time
from typing import Protocol

from msgspec.structs import replace

from polyjudge.clock import utc_now
from polyjudge.records.requests import Origin, Reply, Request


class Stopwatch:
    """Begins when it is made."""

    def __init__(self) -> None:
        self._begun = time.monotonic()

    def stamped(self, reply: Reply) -> Reply:
        """Return the reply with its time of arrival and duration, unless it has them already."""
        duration_ms = reply.duration_ms or round((time.monotonic() - self._begun) * 1000)
        return replace(reply, duration_ms=duration_ms, answered_at=reply.answered_at or utc_now())


class Provider(Protocol):
    """Gives a reply to a request, or raises a `ProviderError`."""

    @property
    def origin(self) -> Origin:
        """Who this is; part of the cache key and of every result's provenance."""
        ...

    async def complete(self, request: Request) -> Reply:
        """Ask, and wait for the answer."""
        ...


async def close_provider(provider: Provider) -> None:
    """Let a provider close its connections, if it has any; it opens new ones when it is asked again."""
    close = getattr(provider, "aclose", None)
    if close is not None:
        await close()
