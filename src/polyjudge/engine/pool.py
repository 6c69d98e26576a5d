"""A bounded pool: so many at a time, results in the order of the items, and an orderly end when asked to stop."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Iterable, Iterator
from typing import Any, Generic, TypeVar

from polyjudge.errors import ConfigError, StoppedError

Item = TypeVar("Item")
Result = TypeVar("Result")

_GRACE_S = 30.0
_WINDOW = 8
"""Results that may wait for a slow one before them, in multiples of the concurrency; it bounds memory."""


class Stop:
    """A wish to stop: nothing new is begun, and what is under way may end in peace."""

    def __init__(self) -> None:
        self.requested = False
        self.error: StoppedError | None = None
        """Why, where it was not a person's wish."""
        self._on_request: list[Callable[[float | None], None]] = []

    def request(self, error: StoppedError | None = None, *, grace_s: float | None = None) -> None:
        """Stop; what is under way is cancelled after `grace_s`, or not at all. A second wish may shorten the grace."""
        if not self.requested:
            self.requested, self.error = True, error
        for react in self._on_request:
            react(grace_s)

    def on_request(self, react: Callable[[float | None], None]) -> None:
        """Have a function called, with the grace, when the wish is uttered."""
        self._on_request.append(react)


class _NotDone:
    """Stands for the result of work that was not begun or not finished."""


_NOT_DONE = _NotDone()


async def in_order(
    work: Callable[[Item], Awaitable[Result]], items: Iterable[Item], *, concurrency: int, stop: Stop | None = None
) -> AsyncGenerator[Result]:
    """Yield the result of `work` for each item, in order.

    An error stops what is under way and is raised, except a `StoppedError`: that is a wish to stop, for `stop` to
    remember. After such a wish the results end with the last one that has all before it. After an error nothing more is
    begun: what comes before it may end and be handed out, then it is raised.
    """
    if concurrency < 1:
        raise ConfigError(f"concurrency must be at least 1, not {concurrency}")
    pool = _Pool(work, concurrency, stop or Stop())
    try:
        for item in pool.until_stopped(items):
            pool.begin(item)
            if pool.is_full():
                if isinstance(result := await pool.next(), _NotDone):
                    break
                yield result
        else:
            while pool.tasks and not isinstance(result := await pool.next(), _NotDone):
                yield result
        await pool.drain()
    finally:
        await pool.cancel()
    if stop is None and pool.stop.error is not None:
        raise pool.stop.error


class _Pool(Generic[Item, Result]):
    def __init__(self, work: Callable[[Item], Awaitable[Result]], concurrency: int, stop: Stop) -> None:
        self.tasks: deque[asyncio.Task[Result | _NotDone]] = deque()
        self.stop = stop
        self._error: BaseException | None = None
        self._work = work
        self._places = asyncio.Semaphore(concurrency)
        self._most = concurrency * _WINDOW
        stop.on_request(self._cancel_later)

    def begin(self, item: Item) -> None:
        self.tasks.append(asyncio.create_task(self._do(item)))

    def until_stopped(self, items: Iterable[Item]) -> Iterator[Item]:
        for item in items:
            if self._is_over:
                return
            yield item

    def is_full(self) -> bool:
        return len(self.tasks) >= self._most

    async def next(self) -> Result | _NotDone:
        """Return the result of the earliest item; once one is not done, neither are those after it."""
        task = self.tasks[0]  # it stays among the tasks while it is waited for, so that it can be cancelled with them
        try:
            return await task
        except asyncio.CancelledError:
            if task.cancelled() and self._error is not None:
                raise self._error from None
            if task.cancelled() and self.stop.requested:
                return _NOT_DONE
            raise
        finally:
            if task.done():
                self.tasks.popleft()

    async def drain(self) -> None:
        """Wait for what is still under way."""
        while self.tasks:
            await self.next()

    async def cancel(self) -> None:
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)

    async def _do(self, item: Item) -> Result | _NotDone:
        async with self._places:
            if self._is_over:
                return _NOT_DONE
            try:
                return await self._work(item)
            except StoppedError as error:
                # What is in flight is paid for and may end; what only waits to try again is not waited for.
                self.stop.request(error, grace_s=_GRACE_S)
                return _NOT_DONE
            except asyncio.CancelledError:
                raise
            except BaseException as error:
                # A cache on a full disk, say: what is asked from now on would be paid for and lost.
                self._error = self._error or error
                self._cancel_later(_GRACE_S)
                raise

    @property
    def _is_over(self) -> bool:
        return self.stop.requested or self._error is not None

    def _cancel_later(self, grace_s: float | None) -> None:
        if grace_s is not None:
            asyncio.get_running_loop().call_later(grace_s, lambda: [task.cancel() for task in self.tasks])


async def unless_stopped(work: Coroutine[Any, Any, Result], stop: Stop) -> Result | None:
    """Wait for something that is nobody's loss: a wish to stop ends the waiting at once, and there is no result."""
    task = asyncio.create_task(work)

    def give_up(_: float | None) -> None:
        task.cancel()

    stop.on_request(give_up)
    try:
        return await task
    except asyncio.CancelledError:
        if stop.requested and task.cancelled():
            return None
        task.cancel()
        raise


async def together(work: Iterable[Coroutine[Any, Any, Result]]) -> list[Result]:
    """Do several things at once and return all results; when one raises, the others are stopped before it goes on.

    A `StoppedError` says that nothing more shall be begun: what the others have in flight is paid for, and may end.
    """
    tasks = [asyncio.create_task(each) for each in work]
    try:
        return await asyncio.gather(*tasks)
    except StoppedError:
        await asyncio.wait(tasks, timeout=_GRACE_S)
        raise
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
