"""Call async code from sync code, and keep one client for each event loop."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future
from typing import Any, Generic, TypeVar

Result = TypeVar("Result")


_LARGE = 2**20
"""More bytes than asyncio reads at once from a connection."""


def run_sync(work: Coroutine[Any, Any, Result]) -> Result:
    """Run a coroutine to its end; also inside a notebook, where a loop is running already."""
    # Once so large a block was freed, the C library keeps blocks up to that size instead of asking the system for each,
    # and clearing it page by page, with every answer that is read.
    bytes(_LARGE)
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    return _run_beside(work)


def _run_beside(work: Coroutine[Any, Any, Result]) -> Result:
    """Run in a thread with a loop of its own: the caller's loop cannot be entered twice."""
    outcome: Future[Result] = Future()
    loop = asyncio.new_event_loop()
    task = loop.create_task(work)

    def run() -> None:
        try:
            with asyncio.Runner(loop_factory=lambda: loop) as runner:
                outcome.set_result(runner.run(_finished(task)))
        except BaseException as error:  # noqa: BLE001 - handed to the caller as it is
            outcome.set_exception(error)

    thread = threading.Thread(target=run, name="polyjudge-run", daemon=True)
    thread.start()
    try:
        return outcome.result()
    except KeyboardInterrupt:
        # Work that the caller no longer waits for must not make more calls.
        loop.call_soon_threadsafe(task.cancel)
        thread.join()
        raise


async def _finished(task: "asyncio.Task[Result]") -> Result:
    return await task


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
