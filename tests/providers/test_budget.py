"""Caps hold at any concurrency, because room is reserved before a call is made."""

import asyncio
import json

import pytest

from polyjudge.errors import CapReachedError, ConfigError, MalformedResponseError, RateLimitedError, TransientError
from polyjudge.providers.budget import Budget, BudgetedProvider
from polyjudge.providers.models import parse_price, price_of
from polyjudge.providers.scripted import ScriptedProvider
from polyjudge.records.requests import ModelName, Price, Reply, Request
from polyjudge.records.runs import Caps

PRICE = Price(input=10.0, output=100.0)
REQUEST = Request(prompt="p" * 100, model="m", max_tokens=50)


def run(budget, script, count=200, price=PRICE):
    provider = BudgetedProvider(ScriptedProvider(script), budget, price)

    async def all_at_once():
        return await asyncio.gather(*(provider.complete(REQUEST) for _ in range(count)), return_exceptions=True)

    return asyncio.run(all_at_once())


async def answer(_):
    await asyncio.sleep(0.001)
    return Reply(text="x", model="m", input_tokens=90, output_tokens=30)


def test_usage_is_recorded_and_the_reply_has_its_cost():
    budget = Budget()
    replies = run(budget, answer, count=3)

    assert (budget.spent.calls, budget.spent.input_tokens, budget.spent.output_tokens) == (3, 270, 90)
    assert budget.spent.cost_usd == pytest.approx(3 * (90 * 10 + 30 * 100) / 1e6)
    assert replies[0].cost_usd == pytest.approx((90 * 10 + 30 * 100) / 1e6)


def test_the_cap_on_cost_is_never_passed_with_two_hundred_at_once():
    cap = 0.1
    budget = Budget(Caps(cost_usd=cap))
    replies = run(budget, answer)

    stopped = [reply for reply in replies if isinstance(reply, CapReachedError)]
    assert stopped
    assert cap - 0.007 < budget.spent.cost_usd <= cap
    assert len(replies) - len(stopped) == budget.spent.calls


def test_the_caps_on_calls_and_tokens_hold():
    calls = Budget(Caps(calls=17))
    run(calls, answer)
    assert calls.spent.calls == 17

    tokens = Budget(Caps(tokens=5_000))
    run(tokens, answer)
    assert 4_500 < tokens.spent.tokens <= 5_000


def test_a_cap_too_small_for_one_call_stops_at_once_with_the_reason():
    [error] = run(Budget(Caps(cost_usd=0.0001)), answer, count=1)

    assert isinstance(error, CapReachedError)
    assert "the next call may cost $0.0066" in str(error)


def test_lost_calls_count_for_the_cap_but_not_as_spent():
    def broken(_):
        raise TransientError("lost", may_be_charged=True)

    budget = Budget(Caps(cost_usd=0.05))
    run(budget, broken)

    assert budget.spent.cost_usd == 0
    assert budget.spent.lost_calls == budget.spent.calls == 7
    assert budget.spent.lost_cost_usd <= 0.05


def test_a_malformed_response_counts_as_charged():
    budget = Budget(Caps(cost_usd=0.1))

    async def odd(_):
        raise MalformedResponseError("no completion")

    replies = run(budget, odd)

    assert isinstance(replies[-1], CapReachedError)
    assert (budget.spent.calls, budget.spent.lost_calls) == (
        sum(isinstance(each, MalformedResponseError) for each in replies),
    ) * 2


def test_a_call_without_a_connection_is_not_counted():
    budget = Budget(Caps(calls=3))

    async def unreachable(_):
        raise TransientError("refused", unreachable=True)

    replies = run(budget, unreachable, count=10)

    assert not any(isinstance(each, CapReachedError) for each in replies)
    assert (budget.spent.calls, budget.spent.lost_calls) == (0, 0)


def test_rate_limited_calls_cost_nothing():
    def limited(_):
        raise RateLimitedError("slow down")

    budget = Budget(Caps(cost_usd=0.05))
    run(budget, limited, count=30)

    assert (budget.spent.rate_limited, budget.spent.lost_cost_usd) == (30, 0)


def test_a_cap_on_cost_needs_a_price():
    with pytest.raises(ConfigError, match="needs a price, and the price of some/model is not known"):
        BudgetedProvider(ScriptedProvider(answer), Budget(Caps(cost_usd=1.0)), None, name="some/model")


def test_a_cap_sets_a_token_limit_for_replies_without_one():
    seen = []

    def script(request):
        seen.append(request.max_tokens)
        return Reply(text="x", model="m", input_tokens=1, output_tokens=1)

    provider = BudgetedProvider(ScriptedProvider(script), Budget(Caps(tokens=100_000)), PRICE)
    asyncio.run(provider.complete(Request(prompt="p", model="m")))

    assert seen == [4096]


def test_a_price_is_cached_until_the_table_is_newer(in_folder):
    memory = in_folder / ".polyjudge" / "prices.json"
    opus = ModelName("anthropic", "claude-opus-4-6")
    known = price_of(opus)
    cached = json.loads(memory.read_text(encoding="utf-8"))

    assert known is not None
    cached["prices"][str(opus)] = [1.0, 2.0]
    memory.write_text(json.dumps(cached), encoding="utf-8")
    assert price_of(opus) == Price(1.0, 2.0)
    memory.write_text(json.dumps({**cached, "edition": "older"}), encoding="utf-8")
    assert price_of(opus) == known
    memory.write_text("damaged", encoding="utf-8")
    assert price_of(opus) == known


def test_default_models_have_prices_and_the_users_own_server_is_free(in_folder):
    for name in ("anthropic/claude-opus-4-6", "openai/gpt-5", "google/gemini-3.6-flash"):
        price = price_of(ModelName(*name.split("/")))
        assert price is not None
        assert 0 < price.input < price.output
    assert price_of(ModelName("local", "anything")) == Price(0.0, 0.0)
    assert price_of(ModelName("openai", "no-such-model-at-all")) is None


@pytest.mark.parametrize("text", ["", "1", "1,2,3", "a,b", "-1,2", "nan,1", "inf,1"])
def test_a_bad_price_is_refused(text):
    with pytest.raises(ConfigError, match="invalid price"):
        parse_price(text)
    assert parse_price("3, 15") == Price(3.0, 15.0)
