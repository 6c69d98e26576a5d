"""Waiting for batches shows itself: a line that is written over on a terminal, elsewhere one now and then."""

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:  # most runs need none of it
    from polyjudge.providers import BatchProgress

_FIRST_S, _LONGEST_S = 10.0, 600.0
"""Between two plain lines, growing: it may be a day."""


class WaitShow:
    """Shows how far the batches have come."""

    def __init__(self) -> None:
        self._begun = time.monotonic()
        self._next = 0.0
        self._every_s = _FIRST_S
        self._on_terminal = sys.stderr.isatty()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._on_terminal:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)

    def tell(self, progress: "BatchProgress") -> None:
        """Take note of how far the batches have come."""
        now = time.monotonic()
        if not progress.jobs or (not self._on_terminal and now < self._next):
            return
        waited = f"waiting for {counted(progress.jobs, 'batch', 'batches')}"
        told = f"{waited}: {progress.done}/{counted(progress.requests, 'request', 'requests')} done"
        start, end = ("\r\x1b[K", "") if self._on_terminal else ("", "\n")
        print(f"{start}polyjudge: {told} after {_duration(now - self._begun)}", end=end, file=sys.stderr, flush=True)
        self._next, self._every_s = now + self._every_s, min(2 * self._every_s, _LONGEST_S)


def counted(number: int, one: str, many: str) -> str:
    """Return a number with its noun."""
    return f"{number:,} {one if number == 1 else many}"


def _duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"
