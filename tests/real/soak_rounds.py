"""Many rounds with one judge through whatever weather there is, some of them given up in the middle, in one process.

Says as JSON what was open before and after: `python -m tests.real.soak_rounds CACHE ROUNDS`.
"""

import asyncio
import gc
import json
import random
import sys
import threading
from pathlib import Path

from polyjudge.cache.sqlite import JudgeCache
from polyjudge.judges.rubric import RubricJudge
from polyjudge.providers.retrying import RetryPolicy
from polyjudge.records.outcomes import Failure, JudgeResult
from polyjudge.records.requests import ModelName
from polyjudge.records.rubrics import RubricCriterion
from polyjudge.runs.stack import ProviderStack

ITEMS = 24
CRITERIA = [RubricCriterion("clear", "Is it clear?")]


def opened() -> dict[str, int]:
    """Count what is open now."""
    gc.collect()
    return {"files": len(list(Path("/proc/self/fd").iterdir())), "threads": threading.active_count()}


async def rounds(judge: RubricJudge, count: int, chance: random.Random) -> int:
    """Return how many rounds came to their end; whatever the end, no task is left."""
    whole = 0
    for number in range(count):
        texts = [f"item-{number * ITEMS + each} " for each in range(ITEMS)]
        batch = asyncio.create_task(judge.score_batch(texts, concurrency=8))
        timeout_s = chance.uniform(0, 0.3) if number % 3 == 0 else None
        done, _ = await asyncio.wait([batch], timeout=timeout_s)
        if done:
            assert [type(outcome) in (JudgeResult, Failure) for outcome in batch.result()] == [True] * ITEMS
            whole += 1
        else:
            batch.cancel()
            await asyncio.wait([batch])
        if number % 10 == 0:
            await judge.aclose()
        left = asyncio.all_tasks() - {asyncio.current_task()}
        assert not left, left
    await judge.aclose()
    return whole


def use(cache_path: Path, count: int) -> int:
    """Do rounds in loops of their own, as scripts and notebooks do, and in one that lasts."""
    chance = random.Random(count)
    retries = RetryPolicy(attempts=3, rate_limited_attempts=5, first_wait_s=0.02, longest_named_wait_s=0.5)
    with JudgeCache(cache_path) as cache:
        access = ProviderStack(cache=cache.replies, timeout_s=0.3, retries=retries)
        judge = RubricJudge(CRITERIA, model="m", provider=access.open(ModelName("local", "m")))
        for number in range(3):
            judge.score_batch_sync([f"item-{number} "])
        return asyncio.run(rounds(judge, count, chance))


def main() -> None:
    cache, count = Path(sys.argv[1]), int(sys.argv[2])
    use(cache.with_name("first.sqlite"), 2)  # what is imported and opened once for all
    before = opened()
    whole = use(cache, count)
    sys.stdout.write(json.dumps({"before": before, "after": opened(), "whole": whole}))


if __name__ == "__main__":
    main()
