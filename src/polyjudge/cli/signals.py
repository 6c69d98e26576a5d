"""Stop a run on Ctrl-C, SIGTERM or a lost terminal, and explain why a run ended early."""

import signal
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from polyjudge.runs.run import Run

_GRACE_S = 5.0
"""For in-flight calls when a run is stopped: they are paid for."""


@dataclass(slots=True)
class Signals:
    """Whether a signal has stopped the run."""

    interrupted: bool = False

    def explain(self, why: object, left: str) -> int:
        """Print why a run ended early and what is left; return the exit code."""
        told = "interrupted" if self.interrupted else str(why).rstrip(".")
        print(f"polyjudge: {told}; {left}", file=sys.stderr)
        return 130 if self.interrupted else 3


@contextmanager
def stop_on_signals(run: Run) -> Generator[Signals]:
    """Stop the run gracefully on the first signal, and at once on the second; ignored signals stay ignored."""
    signals = Signals()

    def stop(_: int, __: object) -> None:
        if not signals.interrupted:
            with suppress(OSError):  # the terminal may be gone
                print("polyjudge: stopping; in-flight calls may finish (again: stop at once)", file=sys.stderr)
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
