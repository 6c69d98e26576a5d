"""Futures that are resolved from another thread."""

import asyncio
from collections.abc import Generator, Iterable, Sequence
from concurrent.futures import Future
from typing import Any, Generic, TypeVar

Answer = TypeVar("Answer")


class CrossThreadFuture(Generic[Answer]):
    """What one waits for: with `await` in a task, with `result` in a thread."""

    __slots__ = ("_done", "loop")

    def __init__(self, loop: asyncio.AbstractEventLoop | None) -> None:
        self.loop = loop
        """The loop of the task that waits, where it is a task."""
        self._done: Any = Future[Answer]() if loop is None else loop.create_future()

    def __await__(self) -> Generator[Any, None, Answer]:
        return self._done.__await__()

    def result(self) -> Answer:
        """Wait in this thread."""
        return self._done.result()

    @property
    def is_given_up(self) -> bool:
        """Nobody waits any more."""
        return self._done.cancelled()

    def tell(self, answer: Answer | Exception) -> None:
        """Give the answer, or have the error raised; who was cancelled meanwhile hears nothing."""
        if self._done.done():
            return
        if isinstance(answer, Exception):
            self._done.set_exception(answer)
        else:
            self._done.set_result(answer)


def wake(answered: Iterable[tuple[CrossThreadFuture[Answer], Answer | Exception]]) -> list[CrossThreadFuture[Answer]]:
    """Tell each their answer where they wait; return those whose loop is closed, who cannot be told."""
    by_loop: dict[asyncio.AbstractEventLoop | None, list[tuple[CrossThreadFuture[Answer], Answer | Exception]]] = {}
    for pair in answered:
        by_loop.setdefault(pair[0].loop, []).append(pair)
    unreached: list[CrossThreadFuture[Answer]] = []
    for loop, pairs in by_loop.items():
        if loop is None:
            _tell(pairs)
            continue
        try:
            loop.call_soon_threadsafe(_tell, pairs)
        except RuntimeError:
            unreached += [waiting for waiting, _ in pairs]
    return unreached


def _tell(answered: Sequence[tuple[CrossThreadFuture[Answer], Answer | Exception]]) -> None:
    for waiting, answer in answered:
        waiting.tell(answer)
