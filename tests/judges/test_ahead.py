"""A judge without a model that works in several processes, ahead of the run."""

import asyncio

import pytest
from tests.checks.test_checker import CLEAN, SOURCE

from polyjudge.judges.ahead import AheadJudge
from polyjudge.judges.offline import OfflineJudge, offline_judge
from polyjudge.records.outcomes import Item
from polyjudge.rubrics.loading import load_rubric
from polyjudge.runs.run import Run

RUBRIC = load_rubric("translation")
ITEMS = [
    Item(id=f"{language}:{place}", candidate=text, language=language, context={"source": SOURCE})
    for language in ("de", "th", "ar", "xx")
    for place, text in enumerate([*CLEAN.values(), "", "OK"])
]


def outcomes_of(judge, items=ITEMS):
    async def asked():
        try:
            return [await judge.judge(item) for item in items]
        finally:
            await judge.aclose()

    return asyncio.run(asked())


@pytest.mark.parametrize("jobs", [1, 3])
def test_the_outcomes_are_those_of_the_judge_itself(jobs):
    alone = OfflineJudge(RUBRIC)
    expected = [asyncio.run(alone.judge(item)) for item in ITEMS]
    ahead = AheadJudge(offline_judge, (RUBRIC, None), ITEMS * 10, jobs=jobs, few=150)

    assert (ahead.fingerprint, ahead.rubric) == (alone.fingerprint, alone.rubric)
    assert ahead.policy.digest == alone.policy.digest
    assert outcomes_of(ahead, ITEMS * 10) == expected * 10


def test_a_run_writes_the_same_rows_and_a_resumed_one_judges_only_what_is_left(tmp_path):
    ahead = AheadJudge(offline_judge, (RUBRIC, None), ITEMS, jobs=2, few=0)
    Run(ITEMS, OfflineJudge(RUBRIC), output=tmp_path / "whole.jsonl").execute()
    Run(ITEMS, ahead, output=tmp_path / "rows.jsonl").execute()

    assert (tmp_path / "rows.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()

    judge = AheadJudge(offline_judge, (RUBRIC, None), ITEMS, jobs=1)
    asyncio.run(judge.prepare([(item.id, None) for item in ITEMS[:40]], concurrency=1, stop=None))
    assert outcomes_of(judge, ITEMS[40:]) == [asyncio.run(OfflineJudge(RUBRIC).judge(item)) for item in ITEMS[40:]]


def waiting_judge(_):
    class Waiting:
        async def judge(self, item, *, repeat=0):
            await asyncio.sleep(0)

    return Waiting()


def test_a_judge_that_waits_is_refused():
    with pytest.raises(RuntimeError, match="waits for something"):
        outcomes_of(AheadJudge(waiting_judge, None, ITEMS, jobs=1))
