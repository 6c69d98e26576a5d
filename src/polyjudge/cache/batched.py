"""Many hand over one thing each; whatever arrived while the last query was under way goes out together."""

import asyncio
import threading
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

Thing = TypeVar("Thing")

_LARGEST = 500


class Batched(Generic[Thing]):
    """Collects things from any thread, and does the work on them in one loop, a batch at a time."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        work: Callable[[list[Thing]], Awaitable[None]],
        failed: Callable[[list[Thing], Exception], None],
    ) -> None:
        self._loop = loop
        self._work = work
        self._failed = failed
        self._arrived: deque[Thing] = deque()
        self._guard = threading.Lock()
        self._awake = self._closed = False
        self._task: asyncio.Task[None] | None = None

    def hand_over(self, thing: Thing) -> bool:
        """Have something done, soon; False where it is too late for that."""
        with self._guard:
            if self._closed:
                return False
            self._arrived.append(thing)
            if not self._awake:  # woken once a batch and not once a thing: waking another thread is dear
                self._awake = True
                self._loop.call_soon_threadsafe(self._start)
            return True

    def waiting(self) -> list[Thing]:
        """Return what has arrived and is not begun yet."""
        with self._guard:
            return list(self._arrived)

    async def finish(self) -> None:
        """Take nothing more, and do what is there; to be called in the loop."""
        with self._guard:
            self._closed = True
        self._start()
        if self._task is not None:
            await self._task

    def _start(self) -> None:
        if self._task is None or self._task.done():
            self._task = self._loop.create_task(self._run())

    async def _run(self) -> None:
        await asyncio.sleep(0)  # whoever woke us has more to hand over, and a batch of one is a waste
        while batch := self._next():
            try:
                await self._work(batch)
            except Exception as error:  # noqa: BLE001 - whatever it is belongs to those who wait, in their own threads
                self._failed(batch, error)

    def _next(self) -> list[Thing]:
        with self._guard:
            batch = [self._arrived.popleft() for _ in range(min(len(self._arrived), _LARGEST))]
            self._awake = bool(batch)
            return batch
