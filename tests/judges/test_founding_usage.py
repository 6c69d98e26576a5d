"""The public usage of the founding judge library runs unchanged but for the package's name."""

import asyncio
import json
from pathlib import Path

import pytest

from polyjudge.cache.sqlite import JudgeCache
from polyjudge.judges.choice import BinaryJudge
from polyjudge.judges.parsing import parse_judge_json
from polyjudge.judges.rubric import RubricJudge
from polyjudge.providers.scripted import ScriptedProvider
from polyjudge.records.outcomes import JudgeResult
from polyjudge.records.rubrics import RubricCriterion


class TestParseJudgeJson:
    def test_clean_json(self):
        assert parse_judge_json('{"score": 80, "reason": "good"}') == {"score": 80, "reason": "good"}

    def test_invalid_json_raises(self):
        with pytest.raises((json.JSONDecodeError, ValueError)):
            parse_judge_json("not json at all")


class TestRubricJudgePromptTemplate:
    def test_custom_template_used(self):
        criteria = [RubricCriterion(name="accuracy", description="Is it accurate?")]
        template = """Reference: {context}

Candidate: {candidate}

Criteria: {criteria}

Score JSON: {{"score": <0-100>, "subscores": {{{subscores_schema}}}}}"""
        judge = RubricJudge(criteria=criteria, prompt_template=template)
        prompt = judge._build_prompt("test candidate", {"reference": "gold standard"})
        assert "Reference:" in prompt
        assert "test candidate" in prompt
        assert "accuracy" in prompt


def test_judges_are_built_as_in_the_founding_code_and_asked_async(tmp_path: Path):
    answer = json.dumps({"score": 75, "reason": "decent", "subscores": {"clarity": 80, "depth": 70}})
    judge = RubricJudge(
        criteria=[
            RubricCriterion(name="clarity", description="Clear?"),
            RubricCriterion(name="depth", description="Deep?", weight=2.0),
        ],
        model="opus",
        system="You are strict.",
        cache_db=tmp_path / "cache.db",
        provider=ScriptedProvider(lambda request: answer if request.system == "You are strict." else "wrong system"),
    )

    async def both():
        return await judge.score("a candidate"), await judge.score("a candidate", {})

    first, second = asyncio.run(both())

    assert (first.score, first.reason, first.subscores) == (75.0, "decent", {"clarity": 80.0, "depth": 70.0})
    assert (first.model, first.cached, second.cached) == ("opus", False, True)


def test_batches_keep_their_order():
    provider = ScriptedProvider(lambda request: json.dumps({"score": int(request.prompt.split("#")[1]), "reason": ""}))
    judge = RubricJudge([RubricCriterion(name="a", description="b")], provider=provider)

    results = asyncio.run(judge.score_batch([(f"#{number}#", {"k": "v"}) for number in range(20)], concurrency=5))

    assert [result.score for result in results if isinstance(result, JudgeResult)] == list(range(20))


def test_binary_verdicts():
    with pytest.raises(ValueError, match="exactly 2"):
        BinaryJudge(verdicts=["only"])
    judge = BinaryJudge(verdicts=["repair", "not_repair"], provider=ScriptedProvider(lambda _: '{"verdict": "Repair"}'))
    assert asyncio.run(judge.score("x")).score == 1.0


def test_the_cache_stands_alone(tmp_path: Path):
    cache = JudgeCache(tmp_path / "sub" / "cache.db")
    key = JudgeCache.hash_key("opus", "prompt", "candidate")
    assert cache.get(key) is None
    cache.put(key, JudgeResult(score=80.0, reason="good", subscores={"a": 1.0}, model="opus", duration_ms=12))
    result = cache.get(key)
    assert result == JudgeResult(
        score=80.0, reason="good", subscores={"a": 1.0}, model="opus", duration_ms=12, cached=True
    )
    cache.close()
