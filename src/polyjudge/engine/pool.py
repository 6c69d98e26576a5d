"""A bounded pool: so many at a time, results in the order of the items."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from typing import TypeVar

from polyjudge.errors import ConfigError

Item = TypeVar("Item")
Result = TypeVar("Result")

_WINDOW = 8
"""Results that may wait for a slow one before them, in multiples of the concurrency; it bounds memory."""


async def in_order(
    work: Callable[[Item], Awaitable[Result]], items: Iterable[Item], *, concurrency: int
) -> AsyncIterator[Result]:
    """Yield the result of `work` for each item, in order; an error stops what is under way and is raised."""
    if concurrency < 1:
        raise ConfigError(f"concurrency must be at least 1, not {concurrency}")
    places = asyncio.Semaphore(concurrency)

    async def do(item: Item) -> Result:
        async with places:
            return await work(item)

    waiting: deque[asyncio.Task[Result]] = deque()
    try:
        for item in items:
            waiting.append(asyncio.create_task(do(item)))
            if len(waiting) >= concurrency * _WINDOW:
                yield await waiting.popleft()
        while waiting:
            yield await waiting.popleft()
    finally:
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
