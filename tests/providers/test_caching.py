"""Providers that answer from the cache."""

import asyncio

import pytest

from polyjudge.cache.sqlite import JudgeCache
from polyjudge.errors import NotRecordedError
from polyjudge.judges.rubric import RubricJudge
from polyjudge.providers.caching import CachedProvider, ReplayProvider
from polyjudge.providers.scripted import ScriptedProvider
from polyjudge.records.outcomes import Failure, JudgeResult
from polyjudge.records.requests import Request
from polyjudge.records.rubrics import RubricCriterion

GOOD = '{"score": 80, "reason": "good"}'


def test_a_run_can_be_replayed_from_the_cache_alone(tmp_path):
    provider = ScriptedProvider(lambda _: GOOD)
    criteria = [RubricCriterion("a", "b")]
    with JudgeCache(tmp_path / "c.sqlite") as cache:
        first = RubricJudge(criteria, provider=CachedProvider(provider, cache)).score_sync("text")

    with JudgeCache(tmp_path / "c.sqlite", read_only=True) as cache:
        replay = RubricJudge(criteria, provider=ReplayProvider(provider.origin, cache))
        again, missing = replay.score_batch_sync(["text", "never asked"])

    assert isinstance(again, JudgeResult)
    assert (again.score, again.cached) == (first.score, True)
    assert isinstance(missing, Failure)
    assert missing.kind == "not_recorded"


def test_a_repeat_is_another_request(tmp_path):
    with JudgeCache(tmp_path / "c.sqlite") as cache:
        provider = CachedProvider(ScriptedProvider(lambda request: f"answer {request.repeat}"), cache)

        async def ask(repeat):
            return (await provider.complete(Request(prompt="p", model="m", repeat=repeat))).text

        assert [asyncio.run(ask(repeat)) for repeat in (0, 1, 0)] == ["answer 0", "answer 1", "answer 0"]


def test_a_complete_reply_is_stored_even_if_it_cannot_be_parsed(tmp_path):
    asked = []
    provider = ScriptedProvider(lambda request: asked.append(request) or "mumble")
    judge = RubricJudge([RubricCriterion("a", "b")], cache_db=tmp_path / "c.sqlite", provider=provider)

    first, second = judge.score_batch_sync(["text"])[0], judge.score_batch_sync(["text"])[0]

    assert len(asked) == 1
    assert isinstance(first, Failure)
    assert isinstance(second, Failure)
    assert second.raw == "mumble"


def test_a_missing_answer_names_the_cache(tmp_path):
    JudgeCache(tmp_path / "c.sqlite").close()
    with JudgeCache(tmp_path / "c.sqlite", read_only=True) as cache:
        replay = ReplayProvider(ScriptedProvider(lambda _: "").origin, cache)
        with pytest.raises(NotRecordedError, match=r"c\.sqlite has no reply from scripted/m"):
            asyncio.run(replay.complete(Request(prompt="p", model="m")))
