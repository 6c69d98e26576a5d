"""Show on stderr how far work has come: a bar on a terminal, a plain line now and then elsewhere."""

import sys
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
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

from .output import import_command

QUIET_S = 25.0
"""The longest time without a line where there is no terminal; the promise is 30 seconds."""
_LONGEST_CURRENT = 40
_PLAIN_EVERY_S = 10.0
_BAR_EVERY_S = 0.1


class Heartbeat:
    """Prints the text of `describe` on stderr when nothing was printed for `quiet_s` and there is no terminal.

    It runs in a thread, so that a blocking call does not stop it.
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
        """Restart the interval, because a line was printed."""
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


class ProgressBar:
    """Shows done and total, rate, time left, failures and what was spent."""

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
        """Items that were done before this run; the rate does not include them."""
        self._started = self._shown = time.monotonic()
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
        """Count all items so far as done before this run, and measure the rate from here."""
        self.already = self._done
        if self._done and self._is_shown:
            self.print_line(f"polyjudge: resuming: {self._done} of {self._total} already done")
        self._started = self._shown = time.monotonic()

    def advance(self, *, unjudged: bool, current: str = "") -> None:
        """Count one finished item; `current` names it."""
        self._current = one_line(current, _LONGEST_CURRENT) if current else ""
        self.reach(self._done + 1, unjudged=self._unjudged + unjudged)

    def reach(self, done: int, *, unjudged: int) -> None:
        """Set how many items are done, and how many of them are unjudged."""
        self._done, self._unjudged = done, unjudged
        now = time.monotonic()
        if now - self._shown >= (_BAR_EVERY_S if self._bar else _PLAIN_EVERY_S) or self._done == self._total:
            self._shown = now
            self._show(now)

    def print_line(self, text: str) -> None:
        """Print a line above the bar."""
        if self._bar is not None:
            self._bar.console.print(text, markup=False, highlight=False, emoji=False, soft_wrap=True)
        else:
            print(text, file=sys.stderr)

    def _show(self, now: float) -> None:
        if self._bar is not None:
            text = f"{self._rate(now):.1f}/s, {self._unjudged} {self._wrong}, {self._money} {self._current}".rstrip()
            self._bar.update(self._task, completed=self._done, text=text)
        elif self._is_shown and now - self._started >= _PLAIN_EVERY_S:
            self._heartbeat.note()
            print(f"polyjudge: {self._line()}", file=sys.stderr)

    def _line(self) -> str:
        rate = self._rate(time.monotonic())
        left = f", {(self._total - self._done) / rate:.0f} s left" if rate > 0 else ""
        in_flight = f", {self._spent.in_flight} in flight" if self._spent.in_flight else ""
        done = f"{self._done}/{self._total} done, {rate:.1f}/s{left}{in_flight}, {self._unjudged} {self._wrong}"
        return f"{done}, {self._money}, {self._heartbeat.elapsed} elapsed"

    def _rate(self, now: float) -> float:
        return (self._done - self.already) / max(now - self._started, 1e-9)

    @property
    def _money(self) -> str:
        return f"${self._spent.cost_usd:.4f}" if self._spent.cost_usd else f"{self._spent.calls} calls"


class StatusLine:
    """A line about work of unknown length: rewritten in place on a terminal, printed now and then elsewhere.

    Where there is no terminal, nothing is printed in the first `delay_s`.
    """

    def __init__(self, *, delay_s: float = _PLAIN_EVERY_S, quiet_s: float = QUIET_S) -> None:
        self._on_terminal = sys.stderr.isatty()
        self._text = "starting"
        self._count = 0
        self._next = time.monotonic() + (_BAR_EVERY_S if self._on_terminal else delay_s)
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

    def count(self, what: str) -> None:
        """Show how many have been counted, this one included."""
        self._count += 1
        self.show(f"{self._count} {what}")

    def show(self, text: str) -> None:
        """Show a text, unless a line was printed a short time ago."""
        self._text = text
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + (_BAR_EVERY_S if self._on_terminal else _PLAIN_EVERY_S)
        self._heartbeat.note()
        start, end = ("\r\x1b[K", "") if self._on_terminal else ("", "\n")
        print(f"{start}polyjudge: {self._line()}", end=end, file=sys.stderr, flush=True)

    def _line(self) -> str:
        return f"{self._text}, {self._heartbeat.elapsed} elapsed"


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
        TextColumn("{task.fields[text]}", markup=False),
        console=Console(stderr=True),
    )
    bar.start()
    return bar, bar.add_task("", total=total, text="")


def counted(number: int, one: str, many: str = "") -> str:
    """Return a number with its noun."""
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def _is_failure(outcome: RunOutcome) -> bool:
    return isinstance(outcome, Failure)


def _nothing(_: Item) -> str:
    return ""


def fallback_message(event: FallbackCacheUsed) -> str:
    """Return the warning that a local cache is used instead of the shared one, with the command that imports it."""
    command = import_command(event.fallback, event.cache)
    return f"{event.reason}; {event.fallback} is used instead. Afterwards, run: {command}"


class RunProgress:
    """Shows the events of a run: pass it as `Run.execute(on_event=…)`.

    `is_wrong` decides whether an outcome counts as `wrong`, `current` names an item, and `detail` returns a line about
    it, empty for none.
    """

    def __init__(
        self,
        spent: Spent,
        *,
        doing: str = "judging",
        wrong: str = "unjudged",
        is_wrong: Callable[[RunOutcome], bool] = _is_failure,
        current: Callable[[Item], str] = _nothing,
        detail: Callable[[Item], str] = _nothing,
    ) -> None:
        self._spent = spent
        self._doing = doing
        self._wrong = wrong
        self._is_wrong = is_wrong
        self._current = current
        self._detail = detail
        self._open = ExitStack()
        self._bar: ProgressBar | None = None
        self._collecting: StatusLine | None = None
        self._waiting: StatusLine | None = None

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
            self._close()
            bar = ProgressBar(event.items, self._spent, doing=self._doing, wrong=self._wrong)
            self._bar = self._open.enter_context(bar)
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
                self._bar.print_line(detail)
            self._bar.advance(unjudged=self._is_wrong(event.outcome), current=self._current(event.item))
        elif isinstance(event, Progressed):
            self._bar.reach(event.done, unjudged=event.unjudged)
        else:
            self._bar.resume()

    def _show_batches(self, event: Event) -> None:
        if isinstance(event, ItemCollected):
            if self._collecting is None:
                self._close()
                self._collecting = self._open.enter_context(StatusLine())
            self._collecting.count("items collected for batches")
        elif isinstance(event, BatchesWaiting):
            self._show_waiting(event)
        elif isinstance(event, BatchesSearched):
            self._line(f"looking for {counted(event.batches, 'batch', 'batches')} that may have been submitted")
        elif isinstance(event, BatchesFinished):
            self._close()
        elif isinstance(event, BatchesLeft):
            self._close()
            batches = counted(event.batches, "unfinished batch", "unfinished batches")
            self._line(f"{batches} at the provider. Run the same command again to collect the results.")

    def _show_waiting(self, event: BatchesWaiting) -> None:
        if self._waiting is None:
            self._close()
            self._waiting = self._open.enter_context(StatusLine(delay_s=0.0))
        if event.batches:
            batches = counted(event.batches, "batch", "batches")
            requests = f"{event.done}/{counted(event.requests, 'request', 'requests')} done"
            self._waiting.show(f"waiting for {batches}: {requests}")

    def _close(self) -> None:
        self._open.close()
        self._open = ExitStack()
        self._bar = self._collecting = self._waiting = None

    def _line(self, text: str) -> None:
        if self._bar is not None:
            self._bar.print_line(f"polyjudge: {text}")
        else:
            print(f"polyjudge: {text}", file=sys.stderr)
