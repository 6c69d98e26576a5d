"""Every reply of the corpus is read as the one thing it means, or not at all."""

import tomllib
from pathlib import Path

from tests.folding import for_each

from polyjudge.judges.rubric import RubricJudge
from polyjudge.providers.scripted import ScriptedProvider
from polyjudge.records.outcomes import Failure, JudgeResult
from polyjudge.records.rubrics import RubricCriterion

REPLIES = tomllib.loads((Path(__file__).parent / "hostile_replies.toml").read_text(encoding="utf-8"))["reply"]


@for_each("case", REPLIES, ids=lambda case: case["name"])
def test_a_reply_means_one_score_or_none(case):
    judge = RubricJudge(
        [RubricCriterion("accuracy", "Is it right?")], provider=ScriptedProvider(lambda _: case["text"])
    )

    [outcome] = judge.score_batch_sync(["candidate"])

    if "score" in case:
        assert isinstance(outcome, JudgeResult), outcome
        assert outcome.score == case["score"]
        assert outcome.parse_method == case.get("parse_method", outcome.parse_method)
    else:
        assert isinstance(outcome, Failure), outcome
        assert outcome.kind == "unreadable"
    assert outcome.raw == case["text"]


def test_the_corpus_is_large_and_its_names_are_different():
    assert len(REPLIES) >= 100
    assert len({case["name"] for case in REPLIES}) == len(REPLIES)
