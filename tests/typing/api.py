"""Never run, only checked, by two type checkers: the types are part of the API."""

from pathlib import Path
from typing import assert_type

from polyjudge.cache.sqlite import JudgeCache
from polyjudge.judges.choice import BinaryJudge, ChoiceJudge
from polyjudge.judges.critique import parse_critique
from polyjudge.judges.jury import Jury
from polyjudge.judges.pairwise import PairwiseJudge
from polyjudge.judges.parsing import parse_judge_json
from polyjudge.judges.rubric import RubricJudge
from polyjudge.providers.base import Provider
from polyjudge.providers.scripted import ScriptedProvider
from polyjudge.records.outcomes import Failure, JudgeResult, PairwiseResult
from polyjudge.records.requests import Reply, Request
from polyjudge.records.rubrics import RubricCriterion
from polyjudge.rubrics.loading import load_rubric


class MyProvider:
    """A provider of one's own needs no base class."""

    def __init__(self) -> None:
        from polyjudge.records.requests import Origin

        self.origin = Origin("mine")

    async def complete(self, request: Request) -> Reply:
        return Reply(text=request.prompt, model=request.model)


provider: Provider = MyProvider()
scripted: Provider = ScriptedProvider(lambda request: request.prompt)

judge = RubricJudge([RubricCriterion("a", "b", weight=2.0)], model="opus", cache_db=Path("c.sqlite"), provider=provider)
assert_type(judge.score_sync("text", {"source": "x"}), JudgeResult)
assert_type(judge.score_batch_sync([("text", {}), "text"], concurrency=3), list[JudgeResult | Failure])
RubricJudge(load_rubric("translation"))

jury = Jury([judge, BinaryJudge(["yes", "no"]), ChoiceJudge({"a": 1.0, "b": 0.0}), Jury([judge])])
assert_type(jury.score_sync("text"), JudgeResult)
assert_type(PairwiseJudge().compare_sync("a", "b"), PairwiseResult)


async def asked() -> None:
    """The async side."""
    assert_type(await judge.score("text"), JudgeResult)
    assert_type(await judge.score_batch(["text"]), list[JudgeResult | Failure])


with JudgeCache("c.sqlite") as cache:
    assert_type(cache.get(JudgeCache.hash_key("m", "p", "c", seed=1)), JudgeResult | None)

assert_type(parse_critique("Score: 5").score, float | None)
parse_judge_json("{}", wanted=["score"])["score"]
