"""Batches of a run, with a vendor in memory: each request is submitted exactly once, even after kills and errors."""

import asyncio
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.virtual_time import run_in_virtual_time

from polyjudge.batches.client import BatchLimits, BatchStatus, canceled, expired, missing
from polyjudge.batches.journal import BatchJournal
from polyjudge.batches.provider import Batches
from polyjudge.batches.results import PollingPolicy
from polyjudge.cache.protocol import request_key
from polyjudge.cache.sqlite import JudgeCache
from polyjudge.clock import utc_now
from polyjudge.errors import (
    CapReachedError,
    ConfigError,
    DataError,
    NotRecordedError,
    ProviderError,
    RateLimitedError,
    RefusedError,
    TransientError,
    UnusableError,
)
from polyjudge.providers.budget import Budget
from polyjudge.records.requests import ItemFailure, ModelName, Price, Reply, Request
from polyjudge.records.runs import Caps

NAME = ModelName("openai", "gpt-4o")
PRICE = Price(1.0, 10.0)
POLLING = PollingPolicy()


class KilledError(BaseException):
    """Simulates a kill of the process."""


@dataclass
class Vendor:
    """A vendor in memory; `faults` are raised in turn, by kind of call."""

    faults: dict[str, list[object]] = field(default_factory=lambda: defaultdict(list))
    batches: dict[str, tuple[str, dict[str, Request]]] = field(default_factory=dict)
    accepted: Counter[str] = field(default_factory=Counter)
    results_of: dict[str, ItemFailure | Reply] = field(default_factory=dict)
    omitted: set[str] = field(default_factory=set)
    """Prompts for which no result is returned."""
    state: str = "ended"
    calls: Counter[str] = field(default_factory=Counter)
    without_temperature: bool = False

    def raise_fault(self, what: str) -> None:
        self.calls[what] += 1
        if self.faults[what] and (fault := self.faults[what].pop(0)):
            raise fault


class Client:
    """A batch client of the vendor."""

    limits = BatchLimits()

    def __init__(self, vendor: Vendor) -> None:
        self._vendor = vendor

    def body(self, request):
        return {"prompt": request.prompt}

    async def submit(self, tag, requests):
        self._vendor.raise_fault("submit")
        number = f"batch_{len(self._vendor.batches) + 1}"
        self._vendor.batches[number] = tag, dict(requests)
        self._vendor.accepted.update(request.prompt for request in requests.values())
        self._vendor.raise_fault("answer")
        return number

    async def find(self, query):
        self._vendor.raise_fault("find")
        for number, (tag, _) in self._vendor.batches.items():
            if tag == query.tag and number not in query.known:
                return number
        return None

    async def status(self, batch_id):
        self._vendor.raise_fault("status")
        running = bool(self._vendor.faults["running"]) and self._vendor.faults["running"].pop(0)
        state = "running" if running else self._vendor.state
        rest = {"expired": expired, "canceled": canceled}.get(state, missing)("openai", batch_id)
        total = len(self._vendor.batches[batch_id][1])
        return BatchStatus(state, 0 if running else total, total, rest)

    async def results(self, batch_id, form):
        self._vendor.raise_fault("results")
        return self._each(batch_id)

    def _each(self, batch_id):
        for name, request in self._vendor.batches[batch_id][1].items():
            self._vendor.raise_fault("line")
            if request.prompt in self._vendor.omitted:
                continue
            rejected = ItemFailure(kind="refused", reason="Unsupported parameter: temperature")
            answer = Reply(text=f"to {request.prompt}", model="m", input_tokens=10, output_tokens=2)
            if self._vendor.without_temperature and request.temperature is not None:
                yield name, rejected
            else:
                yield name, self._vendor.results_of.get(request.prompt, answer)

    async def cancel(self, batch_id):
        self._vendor.raise_fault("cancel")

    async def aclose(self):
        pass


@pytest.fixture
def vendor():
    return Vendor()


@pytest.fixture
def place(tmp_path):
    return tmp_path


def questions(count):
    return [Request(prompt=f"q{number}", model=NAME.model, temperature=0.0) for number in range(count)]


async def ask_in_batches(vendor, place: Path, requests, *, caps=None, started_at="", since="", **settings):
    """Do what a run does: collect and wait until there is nothing to collect, then ask."""
    meter = Budget(caps)
    with JudgeCache(place / "cache.sqlite") as cache:
        batches = Batches(BatchJournal(place / "batches"), started_at=started_at, **{"polling": POLLING, **settings})
        provider = batches.open(NAME, cache=cache.replies, meter=meter, price=PRICE, since=since, client=Client(vendor))
        await batches.find_lost()
        more = True
        while more:
            batches.start_collecting()
            for request in requests:
                await outcome(provider, request)
            more = await batches.finish_collecting()
            await batches.wait(lambda _: None)
        return [await outcome(provider, request) for request in requests], meter.spent


async def outcome(provider, request):
    try:
        return await provider.complete(request)
    except (ProviderError, CapReachedError) as error:
        return error
    except UnusableError as error:
        if is_collecting(provider):
            raise
        return error


def is_collecting(provider):
    return provider._batches.collecting


def run(*given, **more):
    return run_in_virtual_time(ask_in_batches(*given, **more))


def texts(outcomes):
    return [each.text if isinstance(each, Reply) else type(each).__name__ for each in outcomes]


def test_requests_are_submitted_in_batches_of_the_allowed_size_and_answered(vendor, place):
    outcomes, spent = run(vendor, place, questions(7), limits=BatchLimits(requests=3))

    assert texts(outcomes) == [f"to q{number}" for number in range(7)]
    assert [len(requests) for _, requests in vendor.batches.values()] == [3, 3, 1]
    assert {each.batch for each in outcomes} == {"batch_1", "batch_2", "batch_3"}
    assert not any(each.cached for each in outcomes)
    assert (spent.calls, spent.input_tokens, spent.output_tokens) == (7, 70, 14)
    assert spent.cost_usd == pytest.approx(7 * (10 * 1.0 + 2 * 10.0) / 1e6)
    assert outcomes[0].cost_usd == pytest.approx(30e-6)


def test_batches_do_not_exceed_the_allowed_bytes(vendor, place):
    size = len(b'{"prompt": "q0"}')

    run(vendor, place, questions(5), limits=BatchLimits(bytes=2 * size))
    assert [len(requests) for _, requests in vendor.batches.values()] == [2, 2, 1]


def test_a_request_too_large_for_any_batch_is_submitted_alone(vendor, place):
    large = Request(prompt="x" * 500, model=NAME.model, temperature=0.0)

    outcomes, _ = run(vendor, place, [*questions(2), large, *questions(4)[2:]], limits=BatchLimits(bytes=100))

    assert all(isinstance(each, Reply) for each in outcomes)
    assert [len(requests) for _, requests in vendor.batches.values()] == [2, 1, 2]


def test_cached_replies_are_not_asked_for_and_cost_nothing(vendor, place):
    run(vendor, place, questions(3))
    outcomes, spent = run(vendor, place, questions(5))

    assert [each.cached for each in outcomes] == [True, True, True, False, False]
    assert set(vendor.accepted.values()) == {1}
    assert spent.calls == 2


def test_a_repeated_question_is_asked_once_and_then_answered_from_the_cache(vendor, place):
    outcomes, spent = run(vendor, place, [*questions(2), *questions(2)])

    assert [each.cached for each in outcomes] == [False, False, True, True]
    assert vendor.accepted == {"q0": 1, "q1": 1}
    assert spent.calls == 2


def test_a_reply_from_a_batch_has_the_key_of_a_single_call(vendor, place):
    [reply], _ = run(vendor, place, questions(1))
    from polyjudge.providers.services import origin_of

    with JudgeCache(place / "cache.sqlite") as cache:
        stored = cache.get_reply(request_key(origin_of("openai"), questions(1)[0]))
    assert stored is not None
    assert (stored.text, stored.batch) == (reply.text, "batch_1")


ITEM_FAILURES = {
    "q0": (ItemFailure(kind="refused", reason="invalid"), RefusedError),
    "q1": (ItemFailure(kind="transient", reason="overloaded"), TransientError),
    "q2": (expired("openai", "batch_1"), TransientError),
    "q3": (canceled("openai", "batch_1"), TransientError),
    "q4": (ItemFailure(kind="provider_error", reason="unexpected"), ProviderError),
}


def test_each_failed_item_raises_its_own_error(vendor, place):
    vendor.results_of = {prompt: failure for prompt, (failure, _) in ITEM_FAILURES.items()}
    vendor.omitted = {"q5"}

    outcomes, spent = run(vendor, place, questions(8))

    for error, (failure, kind) in zip(outcomes, ITEM_FAILURES.values(), strict=False):
        assert type(error) is kind
        assert str(error) == failure.reason
    assert type(outcomes[5]) is ProviderError
    assert "returned no result for this item in batch batch_1" in str(outcomes[5])
    assert "retry the failures" in str(outcomes[2])
    assert texts(outcomes[6:]) == ["to q6", "to q7"]
    assert spent.calls == 5  # not what expired, was canceled or is missing
    assert set(vendor.accepted.values()) == {1}


@pytest.mark.parametrize(
    ("state", "message"), [("expired", "before batch batch_1 expired"), ("canceled", "canceled this item with batch")]
)
def test_the_finished_results_of_a_batch_that_ended_early_are_stored(vendor, place, state, message):
    vendor.state, vendor.omitted = state, {"q1", "q2"}

    outcomes, _ = run(vendor, place, questions(4))

    assert texts(outcomes) == ["to q0", "TransientError", "TransientError", "to q3"]
    assert message in str(outcomes[1])


def test_a_reply_that_was_cut_off_is_returned_and_not_stored(vendor, place):
    vendor.results_of["q0"] = Reply(text="half", model="m", finish="length", input_tokens=1, output_tokens=1)

    [first], _ = run(vendor, place, questions(1), started_at="2026-01-01T00:00:00.000Z")
    [same], spent = run(vendor, place, questions(1), started_at="2026-01-01T00:00:00.000Z")
    assert (first.text, first.finish, same.text, spent.calls) == ("half", "length", "half", 0)

    [again], _ = run(vendor, place, questions(1), started_at=utc_now())
    assert again.text == "half"
    assert vendor.accepted == {"q0": 2}


def test_a_resumed_run_remembers_failures_and_a_new_run_asks_again(vendor, place):
    started_at = "2026-01-01T00:00:00.000Z"
    vendor.results_of["q0"] = ItemFailure(kind="transient", reason="overloaded")

    assert texts(run(vendor, place, questions(2), started_at=started_at)[0]) == ["TransientError", "to q1"]
    assert texts(run(vendor, place, questions(2), started_at=started_at)[0]) == ["TransientError", "to q1"]
    assert vendor.accepted == {"q0": 1, "q1": 1}
    vendor.results_of.clear()
    assert texts(run(vendor, place, questions(2), started_at=utc_now())[0]) == ["to q0", "to q1"]
    assert vendor.accepted == {"q0": 2, "q1": 1}


def test_a_refresh_replaces_stored_replies(vendor, place):
    run(vendor, place, questions(1))
    vendor.results_of["q0"] = Reply(text="another", model="m", input_tokens=1, output_tokens=1)
    since = (datetime.now(UTC) + timedelta(milliseconds=1)).isoformat(timespec="milliseconds").replace("+00:00", "Z")

    assert texts(run(vendor, place, questions(1), started_at=since, since=since)[0]) == ["another"]
    assert texts(run(vendor, place, questions(1))[0]) == ["another"]


def test_items_that_fail_for_an_unsupported_parameter_are_asked_again_without_it(vendor, place):
    vendor.without_temperature = True

    outcomes, _ = run(vendor, place, questions(3))

    assert texts(outcomes) == ["to q0", "to q1", "to q2"]
    assert {each.dropped for each in outcomes} == {("temperature",)}
    assert len(vendor.batches) == 2


def test_a_batch_rejected_for_an_unsupported_parameter_is_submitted_without_it(vendor, place):
    vendor.faults["submit"] = [RefusedError("openai answered 400: temperature is not supported")]

    outcomes, _ = run(vendor, place, questions(2))

    assert {each.dropped for each in outcomes} == {("temperature",)}
    assert set(vendor.accepted.values()) == {1}


def test_a_text_with_a_lone_surrogate_fails_alone(vendor, place):
    bad = Request(prompt="a\ud800b", model=NAME.model)

    outcomes, _ = run(vendor, place, [questions(1)[0], bad])

    assert texts(outcomes) == ["to q0", "ProviderError"]
    assert list(vendor.accepted) == ["q0"]


# Trouble with the calls themselves


@pytest.mark.parametrize("what", ["status", "results", "line"])
def test_temporary_errors_are_retried_and_nothing_is_counted_twice(vendor, place, what):
    vendor.faults[what] = [None, TransientError("busy"), RateLimitedError("slow down", retry_after_s=1.0)]
    vendor.faults["running"] = [True, True, True]

    outcomes, spent = run(vendor, place, questions(5))

    assert texts(outcomes) == [f"to q{number}" for number in range(5)]
    assert (spent.calls, spent.input_tokens) == (5, 50)


def test_a_submission_that_timed_out_but_succeeded_is_not_repeated(vendor, place):
    vendor.faults["answer"] = [TransientError("took too long", may_be_charged=True)]

    run(vendor, place, questions(2))
    assert vendor.accepted == {"q0": 1, "q1": 1}


def test_a_submitted_batch_is_found_although_the_list_lags_behind(vendor, place):
    vendor.faults["answer"] = [TransientError("took too long")]
    vendor.faults["find"] = [TransientError("busy"), None]

    run(vendor, place, questions(2))
    assert set(vendor.accepted.values()) == {1}


def test_a_failed_submission_is_repeated(vendor, place):
    vendor.faults["submit"] = [TransientError("broke off"), RateLimitedError("slow down"), TransientError("busy")]

    outcomes, _ = run(vendor, place, questions(2))

    assert texts(outcomes) == ["to q0", "to q1"]
    assert set(vendor.accepted.values()) == {1}


@pytest.mark.parametrize("error", [RefusedError("openai answered 400: no"), TransientError("busy")])
def test_a_batch_that_cannot_be_submitted_stops_the_run_and_is_submitted_by_the_next_run(vendor, place, error):
    vendor.faults["submit"] = [error] * 5

    with pytest.raises(UnusableError, match="batch"):
        run(vendor, place, questions(2))
    vendor.faults.clear()
    assert texts(run(vendor, place, questions(2))[0]) == ["to q0", "to q1"]
    assert set(vendor.accepted.values()) == {1}


def test_an_unreachable_provider_stops_the_run_and_the_next_run_gets_the_results(vendor, place):
    vendor.faults["status"] = [TransientError("unreachable")] * 1000

    with pytest.raises(UnusableError, match="unreachable"):
        run(vendor, place, questions(2))
    vendor.faults.clear()
    assert texts(run(vendor, place, questions(2))[0]) == ["to q0", "to q1"]
    assert set(vendor.accepted.values()) == {1}


def test_an_item_with_an_unknown_model_raises_and_is_asked_again_by_the_next_run(vendor, place):
    vendor.results_of["q0"] = ItemFailure(kind="unusable", reason="no such model")

    outcomes, _ = run(vendor, place, questions(2))
    assert type(outcomes[0]) is UnusableError
    vendor.results_of.clear()
    assert texts(run(vendor, place, questions(2))[0]) == ["to q0", "to q1"]
    assert vendor.accepted == {"q0": 2, "q1": 1}


# Caps


def test_no_more_requests_are_submitted_than_the_cap_allows(vendor, place):
    outcomes, spent = run(vendor, place, questions(5), caps=Caps(calls=3))

    assert texts(outcomes) == ["to q0", "to q1", "to q2", "CapReachedError", "CapReachedError"]
    assert (spent.calls, len(vendor.accepted)) == (3, 3)
    assert texts(run(vendor, place, questions(5), caps=Caps(calls=2))[0]) == [f"to q{number}" for number in range(5)]
    assert set(vendor.accepted.values()) == {1}


def test_budget_that_was_not_used_is_available_for_more_batches(vendor, place):
    most = 2 + 64 + 4096

    outcomes, spent = run(vendor, place, questions(6), caps=Caps(tokens=2 * most + 48))

    assert texts(outcomes)[:4] == ["to q0", "to q1", "to q2", "to q3"]
    assert next(len(requests) for _, requests in vendor.batches.values()) == 2
    assert spent.tokens <= 2 * most + 48
    assert all(request.max_tokens == 4096 for _, batch in vendor.batches.values() for request in batch.values())


def test_no_batch_is_submitted_for_the_few_requests_that_a_cap_still_allows(vendor, place):
    most = 3 + 64 + 4096
    for number in range(40):
        vendor.results_of[f"q{number}"] = Reply(text="t", model="m", input_tokens=67, output_tokens=3950)

    outcomes, spent = run(vendor, place, questions(40), caps=Caps(tokens=20 * most))

    sizes = [len(requests) for _, requests in vendor.batches.values()]
    assert sizes[0] == 20
    assert sum(isinstance(each, Reply) for each in outcomes) == sum(sizes) == 20
    assert spent.tokens <= 20 * most


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cost=st.floats(0.0, 0.5), count=st.integers(1, 12))
def test_the_cap_on_cost_is_never_exceeded(tmp_path_factory, cost, count):
    vendor = Vendor()
    vendor.results_of = {
        f"q{number}": Reply(text="t", model="m", input_tokens=66, output_tokens=4096) for number in range(count)
    }

    outcomes, spent = run(vendor, tmp_path_factory.mktemp("p"), questions(count), caps=Caps(cost_usd=cost))

    assert spent.cost_usd <= cost
    assert sum(isinstance(each, Reply) for each in outcomes) == len(vendor.accepted)
    assert len(vendor.accepted) == count or spent.cost_usd + 0.0411 > cost


def test_unfinished_batches_of_an_earlier_run_count_against_the_caps(vendor, place):
    vendor.faults["status"] = [KilledError()]
    with pytest.raises(KilledError):
        run(vendor, place, questions(3))

    outcomes, spent = run(vendor, place, questions(6), caps=Caps(calls=4))

    assert texts(outcomes) == ["to q0", "to q1", "to q2", "to q3", "CapReachedError", "CapReachedError"]
    assert spent.calls == 4


def test_unfinished_batches_with_other_questions_do_not_count_against_the_caps(vendor, place):
    vendor.faults["status"] = [KilledError()]
    with pytest.raises(KilledError):
        run(vendor, place, questions(3))
    others = [Request(prompt=f"other {number}", model=NAME.model) for number in range(4)]

    outcomes, _ = run(vendor, place, others, caps=Caps(calls=4))

    assert all(isinstance(each, Reply) for each in outcomes)
    assert not next(BatchJournal(place / "batches").jobs()).stored_in  # no run waits for what no run needs


def test_a_cap_on_cost_needs_a_price(vendor, place):
    with JudgeCache(place / "c.sqlite") as cache, pytest.raises(ConfigError, match="needs a price"):
        meter = Budget(Caps(cost_usd=1.0))
        Batches(BatchJournal(place / "b")).open(
            NAME, cache=cache.replies, meter=meter, price=None, client=Client(vendor)
        )


# Whatever happens, whenever

CALLS = ["submit", "answer", "find", "status", "results", "line"]
FAULTS = st.sampled_from(
    [None, None, KilledError, lambda: TransientError("busy"), lambda: RateLimitedError("slow down")]
)


@settings(max_examples=60, deadline=None)
@given(
    faults=st.dictionaries(st.sampled_from(CALLS), st.lists(FAULTS, max_size=6), max_size=6),
    running=st.lists(st.booleans(), max_size=6),
    count=st.integers(1, 9),
    most=st.integers(1, 4),
)
def test_a_run_killed_at_any_time_and_repeated_submits_every_request_once(
    tmp_path_factory, faults, running, count, most
):
    vendor, place = Vendor(), tmp_path_factory.mktemp("run")
    vendor.faults.update({what: [fault and fault() for fault in each] for what, each in faults.items()})
    vendor.faults["running"] = list(running)

    for _ in range(60):
        try:
            outcomes, _ = run(vendor, place, questions(count), limits=BatchLimits(requests=most))
        except (KilledError, UnusableError):
            continue
        break

    assert texts(outcomes) == [f"to q{number}" for number in range(count)]
    assert vendor.accepted == Counter({f"q{number}": 1 for number in range(count)})


def test_two_concurrent_runs_cannot_both_submit(vendor, place):
    journal = BatchJournal(place / "batches")

    with journal.writer_lock(), pytest.raises(DataError, match="another run"), journal.writer_lock():
        raise AssertionError("two writers")


def test_a_request_that_was_not_collected_is_never_sent_as_a_single_call(vendor, place):
    async def answered():
        with JudgeCache(place / "cache.sqlite") as cache:
            batches = Batches(BatchJournal(place / "batches"))
            provider = batches.open(NAME, cache=cache.replies, meter=Budget(), price=None, client=Client(vendor))
            await provider.complete(questions(1)[0])

    with pytest.raises(NotRecordedError):
        asyncio.run(answered())
    assert not vendor.calls
