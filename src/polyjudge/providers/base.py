"""Who answers: the one interface that all providers share."""

from typing import Protocol

from polyjudge.records import Origin, Reply, Request


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
