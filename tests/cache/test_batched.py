"""Things handed over by many are worked on together, and everybody gets their own answer back."""

import asyncio
import threading

import pytest

from polyjudge.cache.cross_thread import CrossThreadFuture, wake
from polyjudge.cache.loop_thread import LoopThread
from polyjudge.cache.postgres_writer import Batched


class Doubling:
    """Doubles numbers, a batch at a time."""

    def __init__(self, thread: LoopThread) -> None:
        self.batches: list[int] = []
        self.batched: Batched[tuple[int, CrossThreadFuture[int]]] = Batched(thread.loop, self._work, self._failed)

    async def _work(self, things: list[tuple[int, CrossThreadFuture[int]]]) -> None:
        self.batches.append(len(things))
        await asyncio.sleep(0.005)
        if any(number < 0 for number, _ in things):
            raise ValueError("below nothing")
        wake((waiting, 2 * number) for number, waiting in things)

    def _failed(self, things: list[tuple[int, CrossThreadFuture[int]]], error: Exception) -> None:
        wake((waiting, error) for _, waiting in things)

    async def double(self, number: int) -> int:
        waiting: CrossThreadFuture[int] = CrossThreadFuture(asyncio.get_running_loop())
        assert self.batched.hand_over((number, waiting))
        return await waiting


@pytest.fixture
def doubling():
    thread = LoopThread("test")
    doubling = Doubling(thread)
    yield doubling
    thread.finish(doubling.batched.finish())


def test_what_arrives_meanwhile_goes_out_together_and_never_too_much_at_once(doubling):
    async def many():
        return await asyncio.gather(*(doubling.double(number) for number in range(2_000)))

    assert asyncio.run(many()) == [2 * number for number in range(2_000)]
    assert len(doubling.batches) < 30
    assert max(doubling.batches) == 500


def test_loops_and_threads_each_get_their_own_answers(doubling):
    wrong = []

    def in_a_loop(start: int):
        async def several():
            return await asyncio.gather(*(doubling.double(number) for number in range(start, start + 50)))

        wrong.extend(answer for answer in asyncio.run(several()) if not 2 * start <= answer < 2 * start + 100)

    def in_a_thread(start: int):
        for number in range(start, start + 10):
            waiting: CrossThreadFuture[int] = CrossThreadFuture(None)
            doubling.batched.hand_over((number, waiting))
            wrong.extend([] if waiting.result() == 2 * number else [number])

    works = [threading.Thread(target=work, args=(1_000 * n,)) for n in range(4) for work in (in_a_loop, in_a_thread)]
    for work in works:
        work.start()
    for work in works:
        work.join()

    assert wrong == []


def test_an_error_reaches_all_of_its_batch_and_the_next_one_works(doubling):
    with pytest.raises(ValueError, match="below nothing"):
        asyncio.run(doubling.double(-1))
    assert asyncio.run(doubling.double(4)) == 8


def test_one_who_waits_no_more_is_in_nobodys_way(doubling):
    async def cancel_one():
        tasks = [asyncio.create_task(doubling.double(number)) for number in range(3)]
        await asyncio.sleep(0)
        tasks[1].cancel()
        return await asyncio.gather(*tasks, return_exceptions=True)

    first, second, third = asyncio.run(cancel_one())

    assert (first, third) == (0, 4)
    assert isinstance(second, asyncio.CancelledError)


def test_those_whose_loop_is_closed_are_named():
    loop = asyncio.new_event_loop()
    waiting: CrossThreadFuture[int] = CrossThreadFuture(loop)
    loop.close()

    assert wake([(waiting, 1)]) == [waiting]


def test_what_comes_too_late_is_refused():
    thread = LoopThread("test")
    doubling = Doubling(thread)
    thread.finish(doubling.batched.finish())

    assert not doubling.batched.hand_over((1, CrossThreadFuture(None)))
