"""Run many tasks at once with bounded concurrency, in order, until the stop token is set."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Generator, Iterable
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

from polyjudge.errors import ConfigError, StoppedError

Item = TypeVar("Item")
Result = TypeVar("Result")

_GRACE_S = 30.0
_WINDOW = 8
"""Results that may wait for a slow one before them, in multiples of the concurrency; it bounds memory."""


class StopToken:
    """Request a graceful stop: start no new calls, let in-flight calls finish within a grace period."""

    def __init__(self) -> None:
        self.requested = False
        self.error: StoppedError | None = None
        """The reason, unless a person requested the stop."""
        self._on_request: list[Callable[[float | None], None]] = []

    def request(self, error: StoppedError | None = None, *, grace_s: float | None = None) -> None:
        """Stop; in-flight calls are cancelled after `grace_s`, or never. A second request may shorten the grace."""
        if not self.requested:
            self.requested, self.error = True, error
        for react in self._on_request:
            react(grace_s)

    def on_request(self, react: Callable[[float | None], None]) -> None:
        """Call a function, with the grace, when a stop is requested."""
        self._on_request.append(react)


class Slots:
    """The number of tasks that may work at once; a task that only waits lends its slot to another."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.on_lend: Callable[[], None] | None = None

    async def sleep(self, seconds: float) -> None:
        """Wait while another task works."""
        with self.lent():
            await asyncio.sleep(seconds)

    @contextmanager
    def lent(self) -> Generator[None]:
        """Let another task work in the meantime."""
        self.most += 1
        if self.on_lend is not None:
            self.on_lend()
        try:
            yield
        finally:
            self.most -= 1


class _NotDone:
    """The result of work that was not started or not finished."""


_NOT_DONE = _NotDone()


async def in_order(
    work: Callable[[Item], Awaitable[Result]],
    items: Iterable[Item],
    *,
    concurrency: int | Slots,
    stop: StopToken | None = None,
    window: int | None = None,
) -> AsyncGenerator[Result]:
    """Yield the result of `work` for each item, in order.

    `window` is the most results that may wait for a slow one before them, eight times the concurrency by default. An
    error stops the run: nothing more is started, results before it are yielded, in-flight work may finish, then it is
    raised. A `StoppedError` is a stop request instead, which `stop` remembers; the results end with the last one that
    has all before it. If the caller takes no more results, nothing more is started, and in-flight work may finish.
    """
    slots = concurrency if isinstance(concurrency, Slots) else Slots(concurrency)
    if slots.most < 1:
        raise ConfigError(f"concurrency must be at least 1, not {slots.most}")
    pool = _Pool(work, items, slots, stop or StopToken(), window or slots.most * _WINDOW)
    try:
        while (turn := await pool.next()) is not None and not isinstance(turn.result, _NotDone):
            yield turn.result
        await pool.drain()
    except (GeneratorExit, Exception):
        await pool.leave()
        raise
    finally:
        await pool.cancel()
    if stop is None and pool.stop.error is not None:
        raise pool.stop.error


class _Turn(Generic[Result]):
    """The place of one item in the order, and its result."""

    __slots__ = ("error", "is_over", "result")

    def __init__(self) -> None:
        self.is_over = False
        self.error: BaseException | None = None
        self.result: Result | _NotDone = _NOT_DONE


class _Pool(Generic[Item, Result]):
    """Workers that each take the next item when they have finished one.

    A task for every item, waiting for a semaphore, would take three times as long.
    """

    def __init__(
        self,
        work: Callable[[Item], Awaitable[Result]],
        items: Iterable[Item],
        slots: Slots,
        stop: StopToken,
        window: int,
    ) -> None:
        self.stop = stop
        self._slots = slots
        self._work = work
        self._items = iter(items)
        self._turns: deque[_Turn[Result]] = deque()
        self._most = window
        self._error: BaseException | None = None
        self._is_left = False
        self._changed = asyncio.Event()
        """Set when the earliest item is over, or the last worker has ended."""
        self._room = asyncio.Event()
        stop.on_request(self._end)
        self._workers: set[asyncio.Task[None]] = set()
        self._at_work = 0
        slots.on_lend = self._add_worker
        for _ in range(slots.most):
            self._add_worker()

    def _add_worker(self) -> None:
        if not self._is_over and self._at_work < self._slots.most:
            self._at_work += 1
            worker = asyncio.create_task(self._take_turns())
            self._workers.add(worker)
            worker.add_done_callback(self._workers.discard)

    async def next(self) -> _Turn[Result] | None:
        """Return the result of the earliest item, or None when there are no more; raise its error."""
        turns = self._turns
        while not (turns and turns[0].is_over):
            if not turns and not self._at_work:
                return None
            self._changed.clear()
            await self._changed.wait()
        turn = turns.popleft()
        if len(turns) < self._most // 2:
            self._room.set()
        if turn.error is not None:
            raise turn.error
        return turn

    async def drain(self) -> None:
        """Wait for in-flight work."""
        while await self.next() is not None:
            pass

    async def leave(self) -> None:
        """Start nothing more, and give in-flight work some time to finish."""
        self._is_left = True
        self._end(_GRACE_S)
        if self._workers:
            await asyncio.wait(self._workers)

    async def cancel(self) -> None:
        workers = [worker for worker in self._workers if not worker.done()]
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)

    async def _take_turns(self) -> None:
        try:
            while not self._is_over and self._at_work <= self._slots.most:
                if len(self._turns) >= self._most:
                    self._room.clear()
                    await self._room.wait()
                elif not await self._take_turn():
                    break
        finally:
            self._at_work -= 1
            if not self._at_work:
                self._changed.set()

    async def _take_turn(self) -> bool:
        """Process the next item; return whether there was one."""
        turn: _Turn[Result] = _Turn()
        self._turns.append(turn)
        try:
            item = next(self._items, _NOT_DONE)
            if isinstance(item, _NotDone):
                self._turns.pop()
                return False
            turn.result = await self._work(item)
        except StoppedError as error:
            # In-flight calls are paid for and may finish; waits between tries are cancelled.
            self.stop.request(error, grace_s=_GRACE_S)
        except asyncio.CancelledError as error:
            if not self._is_over:
                turn.error = error
                raise
            turn.error = self._error
        except BaseException as error:  # noqa: BLE001 - it is raised where the results are taken
            # For example a full disk: calls made from now on would be paid for and lost.
            turn.error = error
            self._error = self._error or error
            self._end(_GRACE_S)
        finally:
            turn.is_over = True
            if self._turns and turn is self._turns[0]:
                self._changed.set()
        return True

    @property
    def _is_over(self) -> bool:
        return self.stop.requested or self._is_left or self._error is not None

    def _end(self, grace_s: float | None) -> None:
        """End the workers that wait, and after the grace period the others."""
        self._room.set()
        if grace_s is not None:
            asyncio.get_running_loop().call_later(grace_s, lambda: [worker.cancel() for worker in list(self._workers)])


async def unless_stopped(work: Coroutine[Any, Any, Result], stop: StopToken) -> Result | None:
    """Wait for work that may be abandoned: a stop request cancels it at once, and there is no result."""
    task = asyncio.create_task(work)

    def cancel(_: float | None) -> None:
        task.cancel()

    stop.on_request(cancel)
    try:
        return await task
    except asyncio.CancelledError:
        if stop.requested and task.cancelled():
            return None
        task.cancel()
        raise


async def together(work: Iterable[Coroutine[Any, Any, Result]]) -> list[Result]:
    """Run coroutines at once and return all results; an error of one is raised after the others have been cancelled.

    After a `StoppedError` the others get some time to finish: their in-flight calls are paid for.
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
