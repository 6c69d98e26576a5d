"""An event loop in which waiting takes no time, so that what depends on time can be tested without a clock."""

import asyncio
from collections.abc import Coroutine
from typing import Any


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """Jumps to the next timer when there is nothing else to do."""

    def __init__(self) -> None:
        super().__init__()
        self._now = 0.0

    def time(self) -> float:
        return self._now

    def _run_once(self) -> None:
        if not self._ready and self._scheduled:
            self._now = max(self._now, self._scheduled[0].when())
        super()._run_once()

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:  # noqa: ASYNC109
        """Wait for the threads without the limit that Python 3.12 sets: it would be over at once."""
        await super().shutdown_default_executor()


def run_in_virtual_time(work: Coroutine[Any, Any, Any]) -> Any:
    """Run a coroutine to its end in a loop of its own; `asyncio.get_running_loop().time()` is its clock."""
    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        return runner.run(work)
