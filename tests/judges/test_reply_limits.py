"""A judge that answers with one word is not waited for without end, and one that thinks first has room for it."""

import asyncio
from contextlib import closing

import pytest

from polyjudge.cache.sqlite import JudgeCache
from polyjudge.errors import NotRecordedError
from polyjudge.judges.choice import BinaryJudge, ChoiceJudge
from polyjudge.judges.pairwise import PairwiseJudge
from polyjudge.judges.rubric import RubricJudge
from polyjudge.judges.word_verdicts import WordJudge, load_wording
from polyjudge.providers.caching import CachedProvider, ReplayProvider
from polyjudge.records.outcomes import Failure
from polyjudge.records.requests import Origin, Reply, Request
from polyjudge.rubrics.loading import load_rubric

WORDING = load_wording("es")


class Model:
    """A provider of some name that keeps what it is asked, and answers by a function of the limit."""

    def __init__(self, provider, answer=lambda _: Reply(text="correcto", model="m")):
        self.origin = Origin(provider)
        self.asked = []
        self._answer = answer

    async def complete(self, request):
        self.asked.append(request.max_tokens)
        return self._answer(request.max_tokens)


def judged(provider, times=1, **options):
    judge = WordJudge(WORDING, "m", provider, **options)

    async def ask():
        return [await judge.outcome(f"prompt {number}") for number in range(times)]

    return asyncio.run(ask())


@pytest.mark.parametrize(
    ("provider", "limit"),
    [("local", 512), ("openai", 4096), ("anthropic", 4096), ("google", 4096), ("claude", None), ("scripted", None)],
)
def test_a_reply_of_one_word_is_limited_by_who_gives_it(provider, limit):
    model = Model(provider)

    [outcome] = judged(model)

    assert outcome.verdict == "correct"
    assert model.asked == [limit]


def test_a_limit_that_is_given_counts():
    model = Model("local", lambda _: Reply(text="", model="m", finish="length"))

    [outcome] = judged(model, max_tokens=7)

    assert isinstance(outcome, Failure)
    assert model.asked == [7]


def test_a_verdict_before_a_ramble_that_was_cut_off_is_read():
    ramble = "correcto. La definición dice lo mismo con otras palabras, " * 50
    model = Model("local", lambda _: Reply(text=ramble, model="m", finish="length"))

    [outcome] = judged(model)

    assert (outcome.verdict, model.asked) == ("correct", [512])


def test_a_ramble_without_a_verdict_is_not_asked_for_again():
    model = Model("local", lambda _: Reply(text="La palabra es bonita " * 50, model="m", finish="length"))

    [outcome] = judged(model)

    assert isinstance(outcome, Failure)
    assert "cut off" in outcome.reason
    assert model.asked == [512]


@pytest.mark.parametrize(
    "cut",
    [
        Reply(text="", model="m", reasoning="Hmm, so the word", finish="length"),
        Reply(text="<think>\nHmm, so the word", model="m", finish="length"),
        Reply(text="", model="m", finish="length"),
    ],
)
def test_a_judge_that_is_cut_off_while_it_thinks_is_given_more_room_from_then_on(cut):
    model = Model("local", lambda most: cut if most < 8192 else Reply(text="incorrecto", model="m"))

    outcomes = judged(model, times=3)

    assert [outcome.verdict for outcome in outcomes] == ["incorrect"] * 3
    assert model.asked == [512, 8192, 8192, 8192]


@pytest.mark.parametrize("kept", [512, 8192, None, 99])
def test_a_replay_finds_replies_that_were_kept_with_more_room_or_without_a_limit(kept, tmp_path):
    model = Model("local")
    with closing(JudgeCache(tmp_path / "cache.sqlite")) as cache:
        request = Request(prompt="prompt 0", model="m", temperature=0.0, max_tokens=kept)
        asyncio.run(CachedProvider(model, cache).complete(request))

        [outcome] = judged(ReplayProvider(model.origin, cache))

    assert getattr(outcome, "verdict", "") == ("" if kept == 99 else "correct")


def test_a_provider_that_has_no_answer_yet_is_asked_once():
    """A dry run counts the questions, and a batch collects them."""

    def answer(_):
        raise NotRecordedError("a dry run makes no calls")

    model = Model("local", answer)
    [outcome] = judged(model)

    assert (outcome.kind, model.asked) == ("not_recorded", [512])


@pytest.mark.parametrize(("provider", "limit"), [("local", 2048), ("openai", None)])
def test_a_label_with_its_reason_has_more_room(provider, limit):
    model = Model(provider, lambda _: Reply(text='{"verdict": "A", "reason": ""}', model="m"))

    assert ChoiceJudge(["A", "B"], "m", provider=model).score_sync("x").verdict == "A"
    assert BinaryJudge(["A", "B"], "m", provider=model).score_sync("x").verdict == "A"
    PairwiseJudge(model="m", provider=model).compare_sync("x", "y")

    assert model.asked == [limit] * 4


def test_other_judges_have_no_limit_of_their_own():
    model = Model("local", lambda _: Reply(text='{"score": 5, "reason": "", "subscores": {}}', model="m"))

    RubricJudge(load_rubric("general"), "m", provider=model).score_batch_sync(["x"])

    assert model.asked == [None]
