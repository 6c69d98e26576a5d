"""A client that belongs to one event loop: made on first use, made anew when another loop asks."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

Client = TypeVar("Client")


class PerLoop(Generic[Client]):
    """Holds the client of the running loop; connections cannot be shared between loops."""

    def __init__(self, make: Callable[[], Client], close: Callable[[Client], Awaitable[None]]) -> None:
        self._make = make
        self._close = close
        self._held: tuple[asyncio.AbstractEventLoop, Client] | None = None

    def get(self) -> Client:
        """Return the running loop's client."""
        loop = asyncio.get_running_loop()
        if self._held is None or self._held[0] is not loop:
            self._held = loop, self._make()
        return self._held[1]

    async def aclose(self) -> None:
        """Close the client; the next use makes a new one."""
        held, self._held = self._held, None
        if held is not None and held[0] is asyncio.get_running_loop():
            await self._close(held[1])
