"""Long work shows itself: a bar on a terminal, a plain line now and then elsewhere; always on stderr."""

import sys
import time
from types import TracebackType
from typing import Any, Self

from polyjudge.records.runs import Spent
from polyjudge.text.display import one_line

from .heartbeat import QUIET_S, Heartbeat

_LONGEST_CURRENT = 40
_PLAIN_EVERY_S = 10.0


class ProgressShow:
    """Shows done and total, rate, time left, what went wrong and what was spent."""

    def __init__(
        self,
        total: int,
        spent: Spent,
        *,
        shown: bool = True,
        doing: str = "judging",
        wrong: str = "unjudged",
        quiet_s: float = QUIET_S,
    ) -> None:
        self._is_shown = shown
        self._doing = doing
        self._wrong = wrong
        self._current = ""
        self._total = total
        self._spent = spent
        self._done = self._unjudged = 0
        self.already = 0
        """Items that were done before, and say nothing about the rate."""
        self._begun = self._shown = time.monotonic()
        self._bar: Any = None
        self._heartbeat = Heartbeat(self._line, quiet_s=quiet_s, shown=shown)

    def __enter__(self) -> Self:
        self._heartbeat.__enter__()
        if self._is_shown and sys.stderr.isatty():
            self._bar, self._task = _open_bar(self._total, self._doing)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._heartbeat.__exit__(kind, error, trace)
        if self._bar is not None:
            self._show(time.monotonic())
            self._bar.stop()

    def resume(self) -> None:
        """All that was noted so far had been done before this run; the rate is of what comes."""
        self.already = self._done
        if self._done and self._is_shown:
            self.line(f"polyjudge: resuming: {self._done} of {self._total} were done before")
        self._begun = self._shown = time.monotonic()

    def advance(self, *, unjudged: bool, current: str = "") -> None:
        """Take note of one item, and of what it was."""
        self._current = one_line(current, _LONGEST_CURRENT) if current else ""
        self.reach(self._done + 1, unjudged=self._unjudged + unjudged)

    def reach(self, done: int, *, unjudged: int) -> None:
        """Take note of how many items are done in all, and how many of them are unjudged."""
        self._done, self._unjudged = done, unjudged
        now = time.monotonic()
        if now - self._shown >= (0.1 if self._bar is not None else _PLAIN_EVERY_S) or self._done == self._total:
            self._shown = now
            self._show(now)

    def line(self, text: str) -> None:
        """Print a line without tearing the bar apart."""
        if self._bar is not None:
            self._bar.console.print(text, markup=False, highlight=False, emoji=False, soft_wrap=True)
        else:
            print(text, file=sys.stderr)

    def _show(self, now: float) -> None:
        if self._bar is not None:
            told = f"{self._rate(now):.1f}/s, {self._unjudged} {self._wrong}, {self._money} {self._current}".rstrip()
            self._bar.update(self._task, completed=self._done, told=told)
        elif self._is_shown and now - self._begun >= _PLAIN_EVERY_S:
            self._heartbeat.note()
            print(f"polyjudge: {self._line()}", file=sys.stderr)

    def _line(self) -> str:
        rate = self._rate(time.monotonic())
        left = f", {(self._total - self._done) / rate:.0f} s left" if rate > 0 else ""
        flying = f", {self._spent.in_flight} in flight" if self._spent.in_flight else ""
        told = f"{self._done}/{self._total} done, {rate:.1f}/s{left}{flying}, {self._unjudged} {self._wrong}"
        return f"{told}, {self._money}, {self._heartbeat.elapsed} elapsed"

    def _rate(self, now: float) -> float:
        return (self._done - self.already) / max(now - self._begun, 1e-9)

    @property
    def _money(self) -> str:
        return f"${self._spent.cost_usd:.4f}" if self._spent.cost_usd else f"{self._spent.calls} calls"


class CountShow:
    """Shows how far a reading has come whose end is not known."""

    def __init__(self, what: str, *, quiet_s: float = QUIET_S) -> None:
        self._what = what
        self._heartbeat = Heartbeat(self._line, quiet_s=quiet_s)
        self._count = 0
        self._shown = time.monotonic()
        self._on_terminal = sys.stderr.isatty()

    def __enter__(self) -> Self:
        self._heartbeat.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._heartbeat.__exit__(kind, error, trace)
        if self._on_terminal:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)

    def _line(self) -> str:
        return f"{self._count} {self._what}, {self._heartbeat.elapsed} elapsed"

    def advance(self) -> None:
        """Take note of one more."""
        self._count += 1
        now = time.monotonic()
        if now - self._shown >= (0.1 if self._on_terminal else _PLAIN_EVERY_S):
            self._shown = now
            self._heartbeat.note()
            start, end = ("\r", "") if self._on_terminal else ("", "\n")
            print(f"{start}polyjudge: {self._count} {self._what}", end=end, file=sys.stderr, flush=True)


def _open_bar(total: int, doing: str) -> tuple[Any, Any]:
    from rich.console import Console  # here, because rich takes longer to load than most commands to run
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    bar = Progress(
        TextColumn(doing),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[told]}", markup=False),
        console=Console(stderr=True),
    )
    bar.start()
    return bar, bar.add_task("", total=total, told="")
