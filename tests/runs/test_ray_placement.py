"""Shards on a cluster that is none: so many at once, lost ones again, and never over the caps."""

import asyncio
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyjudge.concurrency.pool import StopToken
from polyjudge.errors import CapReachedError, StoppedError, UnusableError
from polyjudge.files.json_lines import START
from polyjudge.records.runs import Caps, Spent
from polyjudge.rubrics.loading import load_rubric
from polyjudge.runs.ray_cluster import Finished
from polyjudge.runs.ray_placement import ShardPlacing
from polyjudge.runs.shard_orders import PROTOCOL, ShardJob, ShardOrder, ShardReport, Trouble, shares
from polyjudge.store.run_folder import ResultsPart, Shard

JOB = ShardJob(rubric=load_rubric("general"), judges=(), output=Path("results"), folder=Path())


def test_a_worker_with_other_fields_can_still_read_the_protocol_of_an_order():
    order = ShardOrder(job=JOB, shard=shard("part-00000"), share=shares(1, concurrency=1)[0])

    assert order.__reduce_ex__(2)[2][0] == PROTOCOL  # a slotted dataclass is pickled as its fields in order


def shard(name, items=10):
    return Shard(name, Path("items.jsonl"), START, items, items, name)


def part(order):
    counts = {"rows": order.shard.items, "judged": order.shard.items, "unjudged": 0}
    more = {"sha256": "", "items_file": "", "items_line": 0, "items_fingerprint": order.shard.fingerprint}
    return ResultsPart(file=f"{order.shard.name}.parquet", **counts, **more)


class Fake:
    """Does all work at once, one piece after the other; answers are kept, as a cache does."""

    def __init__(self, tokens=100, most_tokens=1000):
        self.tokens, self.most_tokens = tokens, most_tokens
        self.running = {}
        self.orders = []
        self.answered = {}
        self.most_at_once = 0
        self.losses = {}
        self.troubles = {}
        self.graces = []

    def place(self, name, work, order):
        self.orders.append(order)
        self.running[name] = order
        self.most_at_once = max(self.most_at_once, len(self.running))

    async def finished(self, wait_s):
        if not self.running:
            return []
        name, order = self.running.popitem()
        if self.losses.get(name):
            self.losses[name] -= 1
            return [Finished(name, is_lost=True)]
        return [Finished(name, self._done(order))]

    def _done(self, order):
        """Ask as a meter allows: a call is made where the most that it can take fits."""
        name, caps, spent = order.shard.name, order.caps, Spent()
        if name in self.troubles:
            return ShardReport(order.shard, None, spent, self.troubles[name])
        while self.answered.get(name, 0) < order.shard.items:
            fits = (caps.calls or math.inf) > spent.calls
            if not fits or (caps.tokens or math.inf) < spent.tokens + self.most_tokens:
                return ShardReport(order.shard, None, spent, Trouble("capped", "no room"))
            spent.calls += 1
            spent.input_tokens += self.tokens
            self.answered[name] = self.answered.get(name, 0) + 1
        return ShardReport(order.shard, part(order), spent)

    async def notes(self, grace_s):
        self.graces.append(grace_s)
        return {}

    def kill(self):
        pass


def judge(cluster, shards, *, slots=3, caps=None):
    """Return the names of the shards that were done, the stop request, what was warned of, and the placing."""
    stop, warned = StopToken(), []

    async def go():
        placing = ShardPlacing(cluster, JOB, shares(slots, concurrency=64), caps or Caps(), stop, Spent())
        reports = [report async for report in placing.judge(shards, lambda *_: None, warned.append)]
        return sorted(report.shard.name for report in reports if report.part), placing

    done, placing = asyncio.run(go())
    return done, stop, warned, placing


def test_all_shards_are_done_so_many_at_once():
    cluster, shards_ = Fake(), [shard(f"s{number}") for number in range(10)]

    done, stop, warned, placing = judge(cluster, shards_)

    assert done == sorted(each.name for each in shards_)
    assert (cluster.most_at_once, stop.requested, warned, placing.spent.calls) == (3, False, [], 100)


def test_a_lost_shard_is_done_again_and_reported():
    cluster = Fake()
    cluster.losses = {"a": 2}

    done, stop, warned, _ = judge(cluster, [shard("a"), shard("b")])

    assert (done, stop.requested) == (["a", "b"], False)
    assert warned == ["the worker that judged a was lost; its shard is judged again"] * 2


def test_a_shard_that_loses_every_worker_ends_the_run():
    cluster = Fake()
    cluster.losses = {"a": 1000}

    _, stop, _, _ = judge(cluster, [shard("a"), shard("b")], slots=1)

    assert isinstance(stop.error, StoppedError)
    assert "the worker of a was lost 10 times" in str(stop.error)


@pytest.mark.parametrize(
    ("kind", "error", "is_fatal"), [("unusable", UnusableError, False), ("config", StoppedError, True)]
)
def test_what_no_shard_can_do_without_stops_the_run_at_once(kind, error, is_fatal):
    cluster = Fake()
    cluster.troubles = {"a": Trouble(kind, "no such model")}

    done, stop, _, placing = judge(cluster, [shard("a"), *(shard(f"b{number}") for number in range(9))], slots=1)

    assert (done, type(stop.error), str(stop.error)) == ([], error, "no such model")
    assert (placing.fatal is not None) == is_fatal
    assert cluster.graces[-1] is not None


def test_bad_items_are_the_trouble_of_their_shard_alone():
    cluster = Fake()
    cluster.troubles = {"a": Trouble("items", "a.jsonl: was changed")}

    done, stop, _, _ = judge(cluster, [shard("a"), shard("b"), shard("c")], slots=1)

    assert (done, stop.requested) == (["b", "c"], False)


@given(
    items=st.lists(st.integers(1, 30), min_size=1, max_size=8),
    slots=st.integers(1, 5),
    cap=st.integers(1, 150),
    losses=st.integers(0, 2),
)
def test_a_cap_on_calls_is_never_passed_and_is_used_up(items, slots, cap, losses):
    cluster = Fake()
    cluster.losses = {"s0": losses}

    done, stop, _, placing = judge(
        cluster, [shard(f"s{number}", count) for number, count in enumerate(items)], slots=slots, caps=Caps(calls=cap)
    )

    assert placing.spent.calls == sum(cluster.answered.values()) <= cap
    if stop.requested:
        assert isinstance(stop.error, CapReachedError)
        assert losses or placing.spent.calls == cap
    else:
        assert len(done) == len(items)


@given(items=st.lists(st.integers(1, 30), min_size=1, max_size=8), slots=st.integers(1, 5), cap=st.integers(1, 9000))
def test_a_cap_on_tokens_ends_a_run_only_where_no_call_fits_any_more(items, slots, cap):
    cluster = Fake(tokens=100, most_tokens=1000)

    done, stop, _, placing = judge(
        cluster, [shard(f"s{number}", count) for number, count in enumerate(items)], slots=slots, caps=Caps(tokens=cap)
    )

    assert placing.spent.tokens <= cap
    if stop.requested:
        assert placing.spent.tokens + 1000 > cap
        assert "tokens" in str(stop.error)
    else:
        assert len(done) == len(items)


@given(slots=st.integers(1, 50), concurrency=st.integers(1, 200))
def test_shares_add_up_to_the_whole(slots, concurrency):
    parts = shares(slots, concurrency=concurrency, rpm=600, tpm=None)

    assert sum(each.concurrency for each in parts) == concurrency
    assert len(parts) == min(slots, concurrency)
    assert sum(each.rpm or 0 for each in parts) == pytest.approx(600)
    assert max(each.concurrency for each in parts) - min(each.concurrency for each in parts) <= 1
