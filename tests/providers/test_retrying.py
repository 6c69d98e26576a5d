"""Retries: decided by the class of the error, after the requested wait, and limited in number."""

import asyncio

import pytest

from polyjudge.errors import RateLimitedError, RefusedError, TransientError, UnusableError
from polyjudge.judges.rubric import RubricJudge
from polyjudge.providers.retrying import RetryingProvider, RetryPolicy
from polyjudge.providers.scripted import ScriptedProvider
from polyjudge.records.outcomes import Failure
from polyjudge.records.requests import Request
from polyjudge.records.rubrics import RubricCriterion

REQUEST = Request(prompt="p", model="m")


def retrying(answers, **policy):
    waits = []
    left = iter(answers)

    def script(_):
        answer = next(left)
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def sleep(seconds):
        waits.append(seconds)

    return RetryingProvider(ScriptedProvider(script), RetryPolicy(**policy), sleep=sleep), waits


def test_temporary_errors_are_retried_with_growing_waits_and_jitter():
    provider, waits = retrying(
        [TransientError("a"), TransientError("b"), TransientError("c"), "answer"], first_wait_s=1.0
    )

    reply = asyncio.run(provider.complete(REQUEST))

    assert (reply.text, reply.attempts) == ("answer", 4)
    assert [low <= wait <= high for wait, (low, high) in zip(waits, [(0.5, 1), (1, 2), (2, 4)], strict=True)] == [
        True
    ] * 3


def test_a_wait_from_the_provider_replaces_our_own():
    provider, waits = retrying([RateLimitedError("slow down", retry_after_s=30.0), "answer"])

    asyncio.run(provider.complete(REQUEST))

    assert 30 <= waits[0] <= 30.2


def test_a_refusal_is_final():
    provider, waits = retrying([RefusedError("no"), "answer"])

    with pytest.raises(RefusedError):
        asyncio.run(provider.complete(REQUEST))
    assert waits == []


def test_the_number_of_tries_is_limited_and_in_the_failure():
    provider, waits = retrying([TransientError("busy")] * 9, attempts=3)
    [outcome] = RubricJudge([RubricCriterion("a", "b")], provider=provider).score_batch_sync(["t"])

    assert isinstance(outcome, Failure)
    assert (outcome.kind, len(waits)) == ("transient", 2)
    assert outcome.provenance is not None
    assert outcome.provenance.attempts == 3


def test_a_refusal_after_temporary_errors_counts_all_tries():
    provider, _ = retrying([TransientError("busy"), RateLimitedError("wait"), RefusedError("no")])

    with pytest.raises(RefusedError) as refused:
        asyncio.run(provider.complete(REQUEST))
    assert refused.value.attempts == 3


def test_rate_limits_do_not_use_up_the_tries():
    provider, _ = retrying([RateLimitedError("wait")] * 20 + [TransientError("x"), "answer"], attempts=2)

    assert asyncio.run(provider.complete(REQUEST)).attempts == 22


def test_waits_do_not_grow_beyond_the_longest():
    provider, waits = retrying([TransientError("x")] * 30 + ["answer"], attempts=40, longest_wait_s=5.0)

    asyncio.run(provider.complete(REQUEST))

    assert max(waits) <= 5


def test_a_server_that_was_never_reached_stops_the_run_after_a_few_tries_of_all_calls():
    provider, _ = retrying([TransientError("refused", unreachable=True)] * 20, attempts=3)
    for _ in range(3):
        with pytest.raises(TransientError):
            asyncio.run(provider.complete(REQUEST))

    with pytest.raises(UnusableError, match="no answer from .*Is the server running"):
        asyncio.run(provider.complete(REQUEST))


def test_a_server_that_has_answered_before_may_be_unreachable_for_a_while():
    away = [TransientError("refused", unreachable=True)] * 12
    provider, _ = retrying(["first", *away, "second"], attempts=20)

    assert asyncio.run(provider.complete(REQUEST)).text == "first"
    assert asyncio.run(provider.complete(REQUEST)).text == "second"
