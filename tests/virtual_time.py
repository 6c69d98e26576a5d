"""An event loop in which waiting takes no time, to test time-dependent code without a clock."""

import asyncio
from collections.abc import Coroutine
from typing import Any


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """Advances to the next timer when nothing else is ready."""

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
        """Wait for the threads without the time limit of Python 3.12, which would expire at once."""
        await super().shutdown_default_executor()


def run_in_virtual_time(work: Coroutine[Any, Any, Any]) -> Any:
    """Run a coroutine to its end in a loop of its own; `asyncio.get_running_loop().time()` is its clock."""
    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        return runner.run(work)
