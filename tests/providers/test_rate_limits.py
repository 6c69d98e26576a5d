"""The rate of calls: limited, lowered by rate limits, and by no other errors."""

import asyncio
import random

import pytest
from tests.virtual_time import run_in_virtual_time

from polyjudge.errors import RateLimitedError, StoppedError, TransientError
from polyjudge.providers.rate_limits import RateLimitedProvider, RateLimiter, likely_tokens
from polyjudge.providers.retrying import RetryingProvider
from polyjudge.providers.scripted import ScriptedProvider
from polyjudge.records.requests import Request

REQUEST = Request(prompt="p", model="m")


def run(script, pace, count):
    provider = RateLimitedProvider(ScriptedProvider(script), pace)

    async def all_at_once():
        return await asyncio.gather(*(provider.complete(REQUEST) for _ in range(count)), return_exceptions=True)

    return asyncio.run(all_at_once())


def counting(delay=0.002, error=None):
    state = {"now": 0, "most": 0, "calls": 0}

    async def script(_):
        state["now"] += 1
        state["calls"] += 1
        state["most"] = max(state["most"], state["now"])
        await asyncio.sleep(delay)
        state["now"] -= 1
        if error is not None:
            raise error("x")
        return "answer"

    return script, state


def test_calls_in_flight_grow_to_the_most_allowed_and_not_beyond():
    script, state = counting()
    run(script, RateLimiter(20), 200)

    assert state["most"] == 20


def test_it_starts_with_a_few_calls():
    script, state = counting(delay=0.05)
    provider, pace = ScriptedProvider(script), RateLimiter(100)

    async def a_run():
        tasks = [asyncio.create_task(RateLimitedProvider(provider, pace).complete(REQUEST)) for _ in range(100)]
        await asyncio.sleep(0.02)
        started = state["most"]
        await asyncio.gather(*tasks)
        return started

    assert asyncio.run(a_run()) == 8


def test_other_errors_do_not_lower_the_rate():
    script, state = counting(error=TransientError)
    pace = RateLimiter(8)
    run(script, pace, 100)
    started, state["calls"] = state["calls"], 0
    good, after = counting()
    run(good, pace, 100)

    assert (started, after["most"]) == (100, 8)


@pytest.mark.slow
def test_refused_calls_release_their_slots():
    script, _ = counting(error=RateLimitedError)
    errors = run(script, RateLimiter(4), 12)

    assert [type(error) for error in errors] == [RateLimitedError] * 12


def test_cancelled_calls_release_their_slots():
    script, _ = counting(delay=0.05)
    pace = RateLimiter(2)
    provider = RateLimitedProvider(ScriptedProvider(script), pace)

    async def cancel_most():
        tasks = [asyncio.create_task(provider.complete(REQUEST)) for _ in range(10)]
        await asyncio.sleep(0.01)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return await asyncio.wait_for(asyncio.gather(*(provider.complete(REQUEST) for _ in range(4))), 20)

    assert len(asyncio.run(cancel_most())) == 4


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rate", "size", "latency_s"), [(150.0, 30.0, 0.02), (40.0, 10.0, 0.1), (40.0, 5.0, 0.3), (600.0, 60.0, 0.05)]
)
def test_nine_tenths_of_a_token_bucket_are_used_with_few_refusals(rate, size, latency_s):
    """In virtual time, so that the numbers are the algorithm's; long enough for the first overshoot to count little."""
    count = round(rate * 90)

    async def use_it():
        clock = asyncio.get_running_loop().time
        state = {"tokens": size, "filled": clock(), "refused": 0}

        async def bucket(_):
            await asyncio.sleep(latency_s)
            state["tokens"] = min(size, state["tokens"] + (clock() - state["filled"]) * rate)
            state["filled"] = clock()
            if state["tokens"] < 1:
                state["refused"] += 1
                raise RateLimitedError("too many")
            state["tokens"] -= 1
            return "answer"

        provider = RetryingProvider(RateLimitedProvider(ScriptedProvider(bucket), RateLimiter(64, clock=clock)))
        places = asyncio.Semaphore(64)

        async def one():
            async with places:
                await provider.complete(REQUEST)

        await asyncio.gather(*(one() for _ in range(count)))
        return count / rate / clock(), state["refused"] / count

    used, refused = run_in_virtual_time(use_it())

    assert used >= 0.9
    assert refused < 0.02


@pytest.mark.parametrize("limit", ["rpm", "tpm"])
def test_a_stated_limit_spaces_the_calls(limit):
    started = []

    def script(_):
        started.append(asyncio.get_running_loop().time())
        return "answer"

    # Sixty calls a second: sixteen or seventeen milliseconds apart, whatever the machine is doing besides.
    value = 3600 if limit == "rpm" else 3600 * likely_tokens(REQUEST)
    run(script, RateLimiter(50, **{limit: value}), 20)

    assert started[-1] - started[0] >= 17 / 60 - 0.06


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.3, 0.6, 1.0])
@pytest.mark.parametrize("storm_s", [1.0, 60.0])
def test_a_storm_that_refuses_at_any_rate_is_forgotten_when_it_is_over(storm_s, share):
    """In virtual time: a minute of it once left a run at a call in twenty seconds for good."""
    count, calls_per_s, chance = 10_000, 16 / 0.04, random.Random(5)

    async def use_it():
        clock = asyncio.get_running_loop().time
        storm_begins = clock() + 2

        async def vendor(_):
            await asyncio.sleep(0.04)
            if storm_begins <= clock() < storm_begins + storm_s and chance.random() < share:
                raise RateLimitedError("too many")
            return "answer"

        provider = RetryingProvider(RateLimitedProvider(ScriptedProvider(vendor), RateLimiter(16, clock=clock)))
        places = asyncio.Semaphore(16)

        async def one():
            async with places:
                await provider.complete(REQUEST)

        await asyncio.gather(*(one() for _ in range(count)))
        return clock()

    assert run_in_virtual_time(use_it()) < 4 * (count / calls_per_s + storm_s)


def test_after_a_stop_no_call_starts_and_waiting_calls_end_with_an_error():
    async def waits():
        limiter = RateLimiter(2)
        await limiter.enter()
        await limiter.enter()
        waiting = [asyncio.create_task(limiter.enter()) for _ in range(3)]
        await asyncio.sleep(0)
        limiter.stop()
        ended = await asyncio.gather(*waiting, return_exceptions=True)
        limiter.leave()
        with pytest.raises(StoppedError):
            await limiter.enter()
        return ended

    assert [type(error) for error in asyncio.run(waits())] == [StoppedError] * 3
