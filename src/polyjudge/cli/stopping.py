"""How a run ends before its time: Ctrl-C, SIGTERM, a lost terminal, a deadline, a cap."""

import asyncio
import signal
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Generic, TypeVar

from polyjudge.concurrency.pool import StopToken
from polyjudge.errors import CapReachedError

Result = TypeVar("Result")
_GRACE_S = 5.0
"""For what is in flight when a run is to stop: it is paid for."""


@dataclass(frozen=True, slots=True)
class Ended(Generic[Result]):
    """What a run came to, and why it ended."""

    result: Result
    stop: StopToken
    interrupted: bool

    @property
    def early(self) -> bool:
        """A stop was requested, by a signal, the deadline or a cap."""
        return self.interrupted or self.stop.error is not None

    def cut_short(self, left: int) -> bool:
        """Say whether a stop left some of the work undone; where calls in flight were the last ones, none is left."""
        return self.early and left > 0

    def explain(self, left: str) -> int:
        """Say why a run ended early and what is left; return the exit code."""
        why = "interrupted" if self.interrupted else str(self.stop.error).rstrip(".")
        print(f"polyjudge: {why}; {left}", file=sys.stderr)
        return 130 if self.interrupted else 3


async def until_stopped(work: Callable[[StopToken], Awaitable[Result]], *, deadline_s: float | None) -> Ended[Result]:
    """Do the work with a wish to stop at hand, which signals and the deadline utter."""
    stop, interrupted = StopToken(), asyncio.Event()
    loop = asyncio.get_running_loop()

    def interrupt() -> None:
        """Give what is in flight some seconds; who asks twice does not want to wait for it."""
        if not interrupted.is_set():
            with suppress(OSError):  # the terminal may be gone
                print("polyjudge: stopping; what is under way may end (again: stop at once)", file=sys.stderr)
        stop.request(grace_s=0.0 if interrupted.is_set() else _GRACE_S)
        interrupted.set()

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # as nohup has it
            loop.add_signal_handler(number, interrupt)
    if deadline_s:
        reached = CapReachedError(f"stopped after {deadline_s:g} seconds, the deadline")
        loop.call_later(deadline_s, lambda: stop.request(reached, grace_s=_GRACE_S))
    return Ended(await work(stop), stop, interrupted.is_set())
