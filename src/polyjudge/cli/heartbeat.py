"""A line on stderr at least every half minute where there is no terminal, also while nothing is finished."""

import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Self

QUIET_S = 25.0
"""The longest time without a line; below the 30 seconds that are promised, because a line takes a moment."""


class Heartbeat:
    """Prints what `describe` says whenever nothing was printed for a while; `note` says that something was.

    A thread of its own does it, so that a call that blocks the others does not silence it.
    """

    def __init__(self, describe: Callable[[], str], *, quiet_s: float = QUIET_S, shown: bool = True) -> None:
        self._describe = describe
        self._quiet_s = quiet_s
        self._is_shown = shown and not sys.stderr.isatty()
        self._started = self._noted = time.monotonic()
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        self._started = self._noted = time.monotonic()
        if self._is_shown:
            self._thread = threading.Thread(target=self._beat, name="polyjudge-heartbeat", daemon=True)
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        if self._thread is not None:
            self._thread.join(timeout=1.0)

    def note(self) -> None:
        """Take note that a line was printed."""
        self._noted = time.monotonic()

    @property
    def elapsed(self) -> str:
        """How long the work has taken."""
        return clock_time(time.monotonic() - self._started)

    def _beat(self) -> None:
        while not self._ended.wait(max(0.0, self._noted + self._quiet_s - time.monotonic())):
            if time.monotonic() - self._noted >= self._quiet_s:
                self.note()
                with suppress(OSError, ValueError):  # the reader of stderr has gone
                    print(f"polyjudge: {self._describe()}", file=sys.stderr, flush=True)


def clock_time(seconds: float) -> str:
    """Return a duration such as 0:30 or 1:02:03."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
