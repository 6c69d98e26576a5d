"""Summing up a run: what was judged, what was not, and how sure that is."""

import asyncio

import pytest

from polyjudge.concurrency.pool import StopToken
from polyjudge.errors import CapReachedError
from polyjudge.judges.base import as_item_judge
from polyjudge.records.outcomes import Failure, Item, JudgeResult
from polyjudge.rubrics.loading import load_rubric
from polyjudge.runs.execution import judge_in_order
from polyjudge.runs.summary import Tally

SUBSCORES = {"script": 5.0, "grammar": 4.0, "coherence": 3.0}


def result(score, *, right=True, members=(), cached=False):
    return JudgeResult(score, "", SUBSCORES, flags={"isCorrectLanguage": right}, members=members, cached=cached)


def test_what_could_not_be_judged_is_counted_and_left_out():
    tally = Tally(load_rubric("translation"))
    for outcome in (
        result(2.0),
        result(4.0, right=False, cached=True),
        Failure("x", "refused"),
        Failure("y", "refused"),
    ):
        tally.add(outcome)

    summary = tally.summary(items=6)

    assert (summary.judged, summary.unjudged, summary.not_reached) == (2, 2, 2)
    assert summary.unjudged_by_kind == {"refused": 2}
    assert (summary.mean, summary.passed, summary.cached) == (3.0, 1, 1)
    assert summary.pass_interval is not None
    assert 0 < summary.pass_interval.low < 0.5 < summary.pass_interval.high < 1


def test_nothing_judged_has_no_mean():
    summary = Tally(load_rubric("general")).summary(items=3)

    assert (summary.mean, summary.interval, summary.passed) == (None, None, None)


def test_answers_that_disagree_about_passing_flip():
    tally = Tally(load_rubric("translation"))
    tally.add(result(3.0, members=(result(2.0), result(4.0, right=False))))
    tally.add(result(3.0, members=(result(3.0), result(3.0), Failure("x"))))

    summary = tally.summary(items=2)

    assert (summary.mean_spread, summary.flipped) == (1.0, 0.5)


class Answering:
    """A judge that gives each candidate's number as its score, and stops the run at one of them."""

    def __init__(self, stops_at=None):
        self.stops_at = stops_at

    async def outcome(self, candidate, context=None, *, repeat=0):
        await asyncio.sleep(0.001 * (int(candidate) % 3))
        if self.stops_at is not None and int(candidate) == self.stops_at:
            raise CapReachedError("enough")
        return JudgeResult(float(candidate), "")


def run(judge, count, stop, **options):
    async def collect():
        items = (Item(str(number), str(number)) for number in range(count))
        return [
            pair
            async for pair in judge_in_order(as_item_judge(judge).judge, items, concurrency=4, stop=stop, **options)
        ]

    return asyncio.run(collect())


def test_items_come_with_their_outcomes_in_order_and_known_ones_are_not_asked_about():
    known = {"3": JudgeResult(99.0, "known")}

    pairs = run(Answering(), 8, StopToken(), known=known)

    assert [(item.id, outcome.score) for item, outcome in pairs if isinstance(outcome, JudgeResult)] == [
        (str(number), 99.0 if number == 3 else float(number)) for number in range(8)
    ]


@pytest.mark.parametrize("stops_at", [0, 7, 40])
def test_a_cap_ends_the_results_with_the_last_that_has_all_before_it(stops_at):
    stop = StopToken()

    pairs = run(Answering(stops_at), 200, stop)

    assert [item.id for item, _ in pairs] == [str(number) for number in range(stops_at)]
    assert isinstance(stop.error, CapReachedError)
