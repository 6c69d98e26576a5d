"""What many tasks ask for is worked on together, and each gets its own answer back."""

import asyncio

import pytest

from polyjudge.cache.postgres_writer import Grouped


class Doubling:
    """Doubles numbers, a group at a time."""

    def __init__(self, *, must_finish: bool = False) -> None:
        self.groups: list[int] = []
        self.done: list[int] = []
        self.grouped: Grouped[int, int] = Grouped(self._work, must_finish=must_finish)

    async def _work(self, numbers: list[int]) -> list[int | Exception]:
        self.groups.append(len(numbers))
        await asyncio.sleep(0.005)
        if any(number < 0 for number in numbers):
            raise ValueError("below nothing")
        self.done += numbers
        return [ArithmeticError("odd") if number % 2 else 2 * number for number in numbers]

    async def double(self, number: int) -> int:
        return await self.grouped.add(number)


def test_what_arrives_meanwhile_goes_out_together_and_never_too_much_at_once():
    doubling = Doubling()

    async def many():
        return await asyncio.gather(*(doubling.double(number) for number in range(0, 4_000, 2)))

    assert asyncio.run(many()) == [2 * number for number in range(0, 4_000, 2)]
    assert len(doubling.groups) < 30
    assert max(doubling.groups) == 500


def test_an_error_reaches_all_of_its_group_and_the_next_one_works():
    async def fail_and_go_on():
        doubling = Doubling()
        both = await asyncio.gather(doubling.double(-1), doubling.double(2), return_exceptions=True)
        return both, await doubling.double(4)

    both, after = asyncio.run(fail_and_go_on())

    assert [type(error) for error in both] == [ValueError, ValueError]
    assert after == 8


def test_an_error_of_one_is_raised_to_that_one_alone():
    async def several():
        doubling = Doubling()
        return await asyncio.gather(*(doubling.double(number) for number in range(3)), return_exceptions=True)

    first, second, third = asyncio.run(several())

    assert (first, third) == (0, 4)
    assert isinstance(second, ArithmeticError)


@pytest.mark.parametrize("number", [1, 2])
def test_one_that_is_cancelled_is_done_all_the_same_and_disturbs_no_other(number):
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
    assert isinstance(doubling.grouped.unheard, ArithmeticError if number % 2 else type(None))


@pytest.mark.parametrize(("must_finish", "done"), [(True, list(range(0, 1_200, 2))), (False, [])])
def test_where_the_loop_ends_only_what_must_be_done_is_done(must_finish, done):
    doubling = Doubling(must_finish=must_finish)

    async def leave_at_work():
        for number in range(0, 1_200, 2):
            doubling.grouped.add(number)
        await asyncio.sleep(0)

    asyncio.run(leave_at_work())

    assert doubling.done == done


def test_finishing_waits_for_what_was_added_meanwhile():
    doubling = Doubling()

    async def finish():
        first = doubling.grouped.add(2)
        await asyncio.sleep(0)
        second = doubling.grouped.add(4)
        await doubling.grouped.finish()
        return first.result(), second.result()

    assert asyncio.run(finish()) == (4, 8)
    assert doubling.groups == [1, 1]
