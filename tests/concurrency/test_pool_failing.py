"""What the pool does when the work itself fails, as with a cache on a full disk: each further call would be lost."""

import asyncio

import pytest
from tests.virtual_time import run_in_virtual_time

from polyjudge.concurrency.pool import in_order


def started_until_the_end(slow_s: float) -> tuple[int, float]:
    """Return how much was started, and when it ended, where the first takes long and the fourth fails."""
    started = []

    async def work(number):
        started.append(number)
        await asyncio.sleep(slow_s if number == 0 else 1.0)
        if number == 3:
            raise ZeroDivisionError
        return number

    async def run():
        with pytest.raises(ZeroDivisionError):
            async for _ in in_order(work, range(1000), concurrency=4):
                pass
        return asyncio.get_running_loop().time()

    ended = run_in_virtual_time(run())
    return len(started), ended


def test_after_a_failure_nothing_more_is_started_however_long_an_item_before_it_takes():
    started, ended = started_until_the_end(slow_s=20.0)

    assert started <= 4 + 3
    assert ended == pytest.approx(20.0)


def test_an_item_before_the_failure_is_not_waited_for_without_end():
    _, ended = started_until_the_end(slow_s=3600.0)

    assert ended <= 60


def test_what_was_done_before_the_failure_is_handed_out():
    async def work(number):
        if number == 3:
            raise ZeroDivisionError
        await asyncio.sleep(1.0)
        return number

    async def run():
        done = []
        with pytest.raises(ZeroDivisionError):
            async for result in in_order(work, range(9), concurrency=9):
                done.append(result)  # noqa: PERF401 - the error comes in the middle
        return done

    assert run_in_virtual_time(run()) == [0, 1, 2]


def test_an_error_of_the_items_themselves_comes_after_the_results_before_it():
    def items():
        yield from range(5)
        raise ZeroDivisionError

    async def work(number):
        await asyncio.sleep(number)
        return number

    async def run():
        done = []
        with pytest.raises(ZeroDivisionError):
            async for result in in_order(work, items(), concurrency=3):
                done.append(result)  # noqa: PERF401 - the error comes in the middle
        return done

    assert run_in_virtual_time(run()) == [0, 1, 2, 3, 4]


def test_work_that_cancels_itself_does_not_keep_the_others_waiting():
    async def work(number):
        if number == 2:
            raise asyncio.CancelledError
        return number

    async def run():
        done = []
        with pytest.raises(asyncio.CancelledError):
            async for result in in_order(work, range(9), concurrency=3):
                done.append(result)  # noqa: PERF401 - the error comes in the middle
        return done

    assert run_in_virtual_time(run()) == [0, 1]
