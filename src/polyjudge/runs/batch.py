"""Ask in batches: submit the requests, wait for the batches, and store their results in the cache."""

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from polyjudge.batches.provider import Batches, BatchProgress
from polyjudge.concurrency.pool import StopToken, in_order, unless_stopped
from polyjudge.errors import StoppedError
from polyjudge.records.runs import BatchesFinished, BatchesLeft, BatchesSearched, BatchesWaiting, Event


async def wait_for_batches(
    batches: Batches, collect: Callable[[], Awaitable[object]], stop: StopToken, emit: Callable[[Event], None]
) -> None:
    """Submit batches and wait for them until no request is missing from the cache.

    `collect` makes all requests of the run; those that the cache cannot answer go into batches.
    """

    def waiting(progress: BatchProgress) -> None:
        emit(BatchesWaiting(progress.done, progress.requests, progress.jobs))

    if batches.lost:
        emit(BatchesSearched(batches.lost))
    await _unless_stopped(batches.find_lost, stop)
    while not stop.requested:
        batches.start_collecting()
        await collect()
        if stop.requested or not await _submit(batches, stop):
            break
        await _unless_stopped(lambda: batches.wait(waiting), stop)
        emit(BatchesFinished())
    batches.collecting = False
    if stop.requested and (left := len(batches.unfinished)):
        emit(BatchesLeft(left))


async def _submit(batches: Batches, stop: StopToken) -> bool:
    """Submit what was collected; return whether there may be more to collect after the batches have ended."""

    async def submit(collected: Batches) -> bool:
        return await collected.finish_collecting()

    return any([more async for more in in_order(submit, [batches], concurrency=1, stop=stop)])


async def _unless_stopped(work: Callable[[], Coroutine[Any, Any, None]], stop: StopToken) -> None:
    """Wait for work at the provider; an error that stops the run is a stop request."""
    if stop.requested:
        return
    try:
        await unless_stopped(work(), stop)
    except StoppedError as error:
        stop.request(error)
