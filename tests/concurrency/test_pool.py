"""The bounded pool."""

import asyncio

import pytest
from tests.virtual_time import run_in_virtual_time

from polyjudge.concurrency.pool import Slots, StopToken, in_order
from polyjudge.errors import ConfigError


async def collect(work, items, concurrency):
    return [result async for result in in_order(work, items, concurrency=concurrency)]


def test_results_come_in_order_whatever_takes_longest():
    async def work(number):
        await asyncio.sleep(0.001 * ((number * 7) % 5))
        return number

    assert asyncio.run(collect(work, range(200), 8)) == list(range(200))


def test_a_long_stream_is_not_read_ahead_of_its_results():
    taken = 0

    def endless():
        nonlocal taken
        while True:
            taken += 1
            yield taken

    async def work(number):
        return number

    async def first_ten():
        results = in_order(work, endless(), concurrency=2)
        first = [await anext(results) for _ in range(10)]
        await results.aclose()
        return first

    assert asyncio.run(first_ten()) == list(range(1, 11))
    assert taken <= 10 + 2 * 8


def test_an_error_stops_what_is_in_flight():
    ended = []

    async def work(number):
        if number == 3:
            await asyncio.sleep(0)  # the others are running
            raise ZeroDivisionError
        try:
            await asyncio.sleep(60 if number > 3 else 0)
        finally:
            ended.append(number)

    with pytest.raises(ZeroDivisionError):
        run_in_virtual_time(collect(work, range(6), 6))
    assert sorted(ended) == [0, 1, 2, 4, 5]


def test_a_pool_without_workers_is_refused():
    with pytest.raises(ConfigError, match="at least 1"):
        asyncio.run(collect(asyncio.sleep, [0], 0))


@pytest.mark.parametrize(("requests", "ended_at"), [([(1.0, 5.0)], 6.0), ([(1.0, 5.0), (2.0, 0.0)], 2.0), ([], 100.0)])
def test_what_is_in_flight_gets_its_grace_and_a_second_request_shortens_it(requests, ended_at):
    async def run():
        stop, loop = StopToken(), asyncio.get_running_loop()
        for at_s, grace_s in requests:
            loop.call_later(at_s, lambda grace_s=grace_s: stop.request(grace_s=grace_s))
        done = [result async for result in in_order(lambda _: asyncio.sleep(100), range(3), concurrency=3, stop=stop)]
        return len(done), loop.time()

    done, ended = run_in_virtual_time(run())

    assert ended == pytest.approx(ended_at)
    assert done == (0 if requests else 3)


@pytest.mark.parametrize(
    ("takes_s", "second_request_s", "ended", "left_at"),
    [(20.0, None, [0, 1, 2, 3], 21.0), (100.0, None, [0], 31.0), (20.0, 3.0, [0], 3.0)],
)
def test_what_is_in_flight_may_end_when_no_more_results_are_taken(takes_s, second_request_s, ended, left_at):
    """Where the results' disk is full, say; nothing more is started, and who does not want to wait need not."""
    done: list[int] = []

    async def work(number: int) -> None:
        await asyncio.sleep(takes_s if number else 1.0)
        done.append(number)

    async def run() -> float:
        stop, loop = StopToken(), asyncio.get_running_loop()
        if second_request_s is not None:
            loop.call_later(second_request_s, lambda: stop.request(grace_s=0.0))
        results = in_order(work, range(9), concurrency=3, stop=stop)
        await anext(results)
        await results.aclose()
        return loop.time()

    assert run_in_virtual_time(run()) == pytest.approx(left_at)
    assert done == ended


def test_a_task_that_only_waits_lends_its_slot():
    slots, working, most = Slots(2), 0, 0

    async def work(number):
        nonlocal working, most
        if number % 5 == 0:
            await slots.sleep(0.02)
        working += 1
        most = max(most, working)
        await asyncio.sleep(0.001)
        working -= 1
        return number

    async def collect():
        return [result async for result in in_order(work, range(200), concurrency=slots, window=200)]

    assert asyncio.run(collect()) == list(range(200))
    assert slots.most == 2
    assert most >= 2
