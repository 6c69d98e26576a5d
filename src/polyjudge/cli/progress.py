"""Show the progress and the events of a run: a bar on a terminal, a plain line now and then elsewhere; on stderr."""

import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from types import TracebackType
from typing import Any, Self

from polyjudge.records.outcomes import Failure, Item, RunOutcome
from polyjudge.records.runs import (
    BatchesFinished,
    BatchesLeft,
    BatchesSearched,
    BatchesWaiting,
    Event,
    FallbackCacheUsed,
    ItemCollected,
    ItemFinished,
    Progressed,
    Resumed,
    Spent,
    Started,
    Warned,
)
from polyjudge.text.display import harmless, one_line

from .heartbeat import QUIET_S, Heartbeat
from .output import import_command

_LONGEST_CURRENT = 40
_PLAIN_EVERY_S = 10.0


def fallback_message(event: FallbackCacheUsed) -> str:
    """Return the warning that a local cache is used instead of the shared one, with the command that imports it."""
    command = import_command(event.fallback, event.cache)
    return f"{event.reason}; {event.fallback} is used instead. Afterwards, run: {command}"


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


def _is_failure(outcome: RunOutcome) -> bool:
    return isinstance(outcome, Failure)


def _nothing(_: Item) -> str:
    return ""


class RunProgress:
    """Takes the events of a run, as `Run.execute(on_event=…)` emits them.

    `lacks` says whether an outcome counts as `wrong`, `current` names an item, and `detail` returns a line about it,
    empty for none.
    """

    def __init__(
        self,
        spent: Spent,
        *,
        doing: str = "judging",
        wrong: str = "unjudged",
        lacks: Callable[[RunOutcome], bool] = _is_failure,
        current: Callable[[Item], str] = _nothing,
        detail: Callable[[Item], str] = _nothing,
    ) -> None:
        self._spent = spent
        self._doing = doing
        self._wrong = wrong
        self._lacks = lacks
        self._current = current
        self._detail = detail
        self._open = ExitStack()
        self._bar: ProgressShow | None = None
        self._count: CountShow | None = None
        self._wait: WaitShow | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.__exit__(kind, error, trace)

    def __call__(self, event: Event) -> None:
        """Show an event."""
        if isinstance(event, ItemFinished | Progressed | Resumed):
            self._move_bar(event)
        elif isinstance(event, Started):
            self._close_shows()
            show = ProgressShow(event.items, self._spent, doing=self._doing, wrong=self._wrong)
            self._bar = self._open.enter_context(show)
        elif isinstance(event, Warned):
            self._line(f"warning: {harmless(event.message)}")
        elif isinstance(event, FallbackCacheUsed):
            self._line(f"warning: {harmless(fallback_message(event))}")
        else:
            self._show_batches(event)

    def _move_bar(self, event: ItemFinished | Progressed | Resumed) -> None:
        if self._bar is None:
            return
        if isinstance(event, ItemFinished):
            if detail := self._detail(event.item):
                self._bar.line(detail)
            self._bar.advance(unjudged=self._lacks(event.outcome), current=self._current(event.item))
        elif isinstance(event, Progressed):
            self._bar.reach(event.done, unjudged=event.unjudged)
        else:
            self._bar.resume()

    def _show_batches(self, event: Event) -> None:
        if isinstance(event, ItemCollected):
            if self._count is None:
                self._close_shows()
                self._count = self._open.enter_context(CountShow("items looked at, for batches"))
            self._count.advance()
        elif isinstance(event, BatchesWaiting):
            if self._wait is None:
                self._close_shows()
                self._wait = self._open.enter_context(WaitShow())
            self._wait.tell(event)
        elif isinstance(event, BatchesSearched):
            self._line(f"looking for {counted(event.batches, 'batch', 'batches')} that may have been submitted")
        elif isinstance(event, BatchesFinished):
            self._close_shows()
        elif isinstance(event, BatchesLeft):
            self._close_shows()
            go, their = ("goes", "its") if event.batches == 1 else ("go", "their")
            told = f"{counted(event.batches, 'batch', 'batches')} {go} on at the provider"
            self._line(f"{told}; the same command takes {their} results in")

    def _close_shows(self) -> None:
        self._open.close()
        self._open = ExitStack()
        self._bar = self._count = self._wait = None

    def _line(self, text: str) -> None:
        if self._bar is not None:
            self._bar.line(f"polyjudge: {text}")
        else:
            print(f"polyjudge: {text}", file=sys.stderr)
