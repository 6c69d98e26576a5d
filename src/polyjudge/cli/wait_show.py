"""Waiting for batches shows itself: a line that is written over on a terminal, elsewhere one now and then."""

import sys
import time
from types import TracebackType
from typing import Self

from polyjudge.records.runs import BatchesWaiting

from .heartbeat import QUIET_S, Heartbeat

_PLAIN_EVERY_S = 10.0
"""Between two plain lines, while the batches are asked about."""


class WaitShow:
    """Shows how far the batches have come."""

    def __init__(self, *, quiet_s: float = QUIET_S) -> None:
        self._begun = time.monotonic()
        self._next = 0.0
        self._on_terminal = sys.stderr.isatty()
        self._told = "waiting for batches"
        self._heartbeat = Heartbeat(self._line, quiet_s=quiet_s)

    def __enter__(self) -> Self:
        self._heartbeat.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._heartbeat.__exit__(kind, error, trace)
        if self._on_terminal:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)

    def tell(self, progress: BatchesWaiting) -> None:
        """Take note of how far the batches have come."""
        now = time.monotonic()
        if not progress.batches:
            return
        waited = f"waiting for {counted(progress.batches, 'batch', 'batches')}"
        self._told = f"{waited}: {progress.done}/{counted(progress.requests, 'request', 'requests')} done"
        if not self._on_terminal and now < self._next:
            return
        start, end = ("\r\x1b[K", "") if self._on_terminal else ("", "\n")
        print(f"{start}polyjudge: {self._line()}", end=end, file=sys.stderr, flush=True)
        self._heartbeat.note()
        self._next = now + _PLAIN_EVERY_S

    def _line(self) -> str:
        return f"{self._told} after {_duration(time.monotonic() - self._begun)}"


def counted(number: int, one: str, many: str) -> str:
    """Return a number with its noun."""
    return f"{number:,} {one if number == 1 else many}"


def _duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"
