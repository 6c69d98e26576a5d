"""Show the events of a run: a bar on a terminal, a plain line now and then elsewhere; always on stderr."""

import sys
from collections.abc import Callable
from contextlib import ExitStack
from types import TracebackType
from typing import Self

from polyjudge.records.outcomes import Failure, Item, RunOutcome
from polyjudge.records.runs import (
    BatchesFinished,
    BatchesLeft,
    BatchesSearched,
    BatchesWaiting,
    Event,
    ItemCollected,
    ItemFinished,
    Progressed,
    Resumed,
    Spent,
    Started,
    Warned,
)
from polyjudge.text.display import harmless

from .progress import CountShow, ProgressShow
from .wait_show import WaitShow, counted


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
