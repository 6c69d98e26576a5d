"""The items of many tasks are handled in groups, and each task gets its own answer."""

import asyncio

import pytest

from polyjudge.cache.postgres_writer import GroupedCalls


class Doubling:
    """Doubles numbers, a group at a time."""

    def __init__(self, *, must_finish: bool = False) -> None:
        self.groups: list[int] = []
        self.done: list[int] = []
        self.calls: GroupedCalls[int, int] = GroupedCalls(self._work, must_finish=must_finish)

    async def _work(self, numbers: list[int]) -> list[int | Exception]:
        self.groups.append(len(numbers))
        await asyncio.sleep(0.005)
        if any(number < 0 for number in numbers):
            raise ValueError("negative")
        self.done += numbers
        return [ArithmeticError("odd") if number % 2 else 2 * number for number in numbers]

    async def double(self, number: int) -> int:
        return await self.calls.add(number)


def test_items_added_during_a_call_are_grouped_up_to_a_limit():
    doubling = Doubling()

    async def many():
        return await asyncio.gather(*(doubling.double(number) for number in range(0, 4_000, 2)))

    assert asyncio.run(many()) == [2 * number for number in range(0, 4_000, 2)]
    assert len(doubling.groups) < 30
    assert max(doubling.groups) == 500


def test_an_error_is_raised_for_its_whole_group_and_the_next_group_works():
    async def fail_and_continue():
        doubling = Doubling()
        both = await asyncio.gather(doubling.double(-1), doubling.double(2), return_exceptions=True)
        return both, await doubling.double(4)

    both, after = asyncio.run(fail_and_continue())

    assert [type(error) for error in both] == [ValueError, ValueError]
    assert after == 8


def test_an_error_of_one_item_is_raised_for_it_alone():
    async def several():
        doubling = Doubling()
        return await asyncio.gather(*(doubling.double(number) for number in range(3)), return_exceptions=True)

    first, second, third = asyncio.run(several())

    assert (first, third) == (0, 4)
    assert isinstance(second, ArithmeticError)


@pytest.mark.parametrize("number", [1, 2])
def test_a_cancelled_item_is_still_handled_and_does_not_affect_others(number):
    doubling = Doubling()

    async def cancel_one():
        tasks = [asyncio.create_task(doubling.double(each)) for each in (0, number, 4)]
        await asyncio.sleep(0)
        tasks[1].cancel()
        return await asyncio.gather(*tasks, return_exceptions=True)

    first, second, third = asyncio.run(cancel_one())

    assert (first, third) == (0, 8)
    assert isinstance(second, asyncio.CancelledError)
    assert doubling.done == [0, number, 4]
    assert isinstance(doubling.calls.unreported, ArithmeticError if number % 2 else type(None))


@pytest.mark.parametrize(("must_finish", "done"), [(True, list(range(0, 1_200, 2))), (False, [])])
def test_at_the_end_of_the_loop_items_are_handled_only_with_must_finish(must_finish, done):
    doubling = Doubling(must_finish=must_finish)

    async def end_while_writing():
        for number in range(0, 1_200, 2):
            doubling.calls.add(number)
        await asyncio.sleep(0)

    asyncio.run(end_while_writing())

    assert doubling.done == done


def test_finish_waits_for_items_added_in_the_meantime():
    doubling = Doubling()

    async def finish():
        first = doubling.calls.add(2)
        await asyncio.sleep(0)
        second = doubling.calls.add(4)
        await doubling.calls.finish()
        return first.result(), second.result()

    assert asyncio.run(finish()) == (4, 8)
    assert doubling.groups == [1, 1]
