"""Stop work on Ctrl-C, SIGTERM, a lost terminal or a deadline, and explain why it ended early."""

import asyncio
import signal
import sys
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from polyjudge.concurrency.pool import StopToken
from polyjudge.errors import CapReachedError
from polyjudge.runs.run import Run

RESUME = "Progress saved. Run the same command again to resume."
_GRACE_S = 5.0
"""For in-flight calls when a run is stopped: they are paid for."""


@dataclass(slots=True)
class Signals:
    """Whether a signal has interrupted the run."""

    interrupted: bool = False

    def explain(self, why: object, left: str) -> int:
        """Print why a run ended early and what is left; return the exit code."""
        reason = "interrupted" if self.interrupted else str(why).rstrip(".")
        print(f"polyjudge: {reason}; {left}", file=sys.stderr)
        return 130 if self.interrupted else 3


@contextmanager
def stop_on_signals(run: Run) -> Generator[Signals]:
    """Stop the run gracefully on the first signal, and at once on the second; ignored signals stay ignored."""
    signals = Signals()

    def stop(_: int, __: object) -> None:
        if not signals.interrupted:
            with suppress(OSError):  # the terminal may be gone
                print(
                    f"polyjudge: stopping; calls in flight have {_GRACE_S:g} seconds to finish. Press Ctrl-C again "
                    "to stop at once.",
                    file=sys.stderr,
                )
        run.stop(grace_s=0.0 if signals.interrupted else _GRACE_S)
        signals.interrupted = True

    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.getsignal(number) for number in numbers}  # nohup ignores some
    caught = [number for number, handler in before.items() if handler is not signal.SIG_IGN]
    for number in caught:
        signal.signal(number, stop)
    try:
        yield signals
    finally:
        for number in caught:
            signal.signal(number, before[number] or signal.SIG_DFL)


def explain_end(signals: Signals, why: object, left: str, output: Path | None) -> int:
    """Print why a run ended early and how to resume it; return the exit code."""
    code = signals.explain(why, left)
    if output is not None:
        print(f"polyjudge: {RESUME}", file=sys.stderr)
    return code


Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Ended(Generic[Result]):
    """The result of work that can be stopped, and why it ended."""

    result: Result
    stop: StopToken
    interrupted: bool

    def cut_short(self, left: int) -> bool:
        """Say whether a signal, the deadline or a cap left work undone; none is left if all calls were in flight."""
        return left > 0 and (self.interrupted or self.stop.error is not None)

    def explain(self, left: str) -> int:
        """Print why the work ended early and what is left; return the exit code."""
        return Signals(self.interrupted).explain(self.stop.error, left)


async def until_stopped(work: Callable[[StopToken], Awaitable[Result]], *, deadline_s: float | None) -> Ended[Result]:
    """Run the work with a stop token; signals and the deadline request the stop."""
    stop, interrupted = StopToken(), asyncio.Event()
    loop = asyncio.get_running_loop()

    def interrupt() -> None:
        """Request a stop: with some seconds for in-flight work, at a second signal at once."""
        if not interrupted.is_set():
            with suppress(OSError):  # the terminal may be gone
                print(
                    f"polyjudge: stopping; work in progress has {_GRACE_S:g} seconds to finish. Press Ctrl-C again "
                    "to stop at once.",
                    file=sys.stderr,
                )
        stop.request(grace_s=0.0 if interrupted.is_set() else _GRACE_S)
        interrupted.set()

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # nohup ignores some
            loop.add_signal_handler(number, interrupt)
    if deadline_s:
        reached = CapReachedError(f"stopped: the deadline of {deadline_s:g} seconds is reached")
        loop.call_later(deadline_s, lambda: stop.request(reached, grace_s=_GRACE_S))
    return Ended(await work(stop), stop, interrupted.is_set())
