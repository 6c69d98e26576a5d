"""What a run needs of a cache, wherever it is kept."""

from collections.abc import Awaitable, Callable
from typing import Protocol

from polyjudge.records import Reply


class Cache(Protocol):
    """Keeps replies under the key of their question: in a file of this machine, or where many machines share them."""

    @property
    def place(self) -> str:
        """Where it is, as messages name it: never with a password."""
        ...

    async def find(self, key: str, *, since: str = "") -> Reply | None:
        """Return the reply kept under a key, marked as cached, or None; `since` passes over older ones."""
        ...

    async def once(
        self, key: str, ask: Callable[[], Awaitable[Reply]], provider: str = "", *, since: str = ""
    ) -> Reply:
        """Return the reply kept under a key, or ask for it and keep it; however many want it at once, one asks.

        A reply that was cut off or declined is returned but not kept, and an error is nobody's but the asker's. With
        `since`, a moment in ISO 8601, replies kept before it are asked for anew and replaced.
        """
        ...

    def close(self) -> None:
        """Finish what is being written and let go."""
        ...
