"""Pairs are asked in both orders, and a judge that goes by position is found out."""

import json

import pytest

from polyjudge.errors import UnreadableReplyError
from polyjudge.judges.pairwise import PairwiseJudge, PositionBias, position_bias
from polyjudge.providers.scripted import ScriptedProvider
from polyjudge.records.outcomes import Failure, PairwiseResult

PAIRS = [("short", "a longer answer"), ("one", "two two"), ("x", "yyyy")]


def always(verdict):
    return PairwiseJudge(provider=ScriptedProvider(lambda _: json.dumps({"verdict": verdict, "reason": ""})))


def prefers_longer(request):
    first, second = (part.split(">\n")[1].split("\n</")[0] for part in request.prompt.split("Answer ")[1:3])
    return json.dumps({"verdict": "A" if len(first) > len(second) else "B", "reason": ""})


@pytest.mark.parametrize(("verdict", "shown_first"), [("A", 1.0), ("B", 0.0)])
def test_a_judge_that_goes_by_position_gets_only_ties_and_a_bias_of_one(verdict, shown_first):
    outcomes = always(verdict).compare_batch_sync(PAIRS)

    assert [outcome.preference for outcome in outcomes if isinstance(outcome, PairwiseResult)] == ["tie"] * 3
    assert position_bias(outcomes) == PositionBias(pairs=3, bias=1.0, first_shown_wins=shown_first)


def test_a_judge_that_goes_by_content_has_no_bias():
    outcomes = PairwiseJudge(provider=ScriptedProvider(prefers_longer)).compare_batch_sync(PAIRS)

    assert [outcome.preference for outcome in outcomes if isinstance(outcome, PairwiseResult)] == ["second"] * 3
    assert position_bias(outcomes) == PositionBias(pairs=3, bias=0.0, first_shown_wins=0.5)


def test_two_ties_are_a_consistent_tie():
    result = always("tie").compare_sync("a", "b")

    assert (result.preference, result.consistent) == ("tie", True)


def test_a_tie_and_a_pick_disagree():
    def script(request):
        first_shown = request.prompt.split("Answer A:")[1].split("\n")[2]
        return json.dumps({"verdict": "A" if first_shown == "x" else "tie"})

    result = PairwiseJudge(provider=ScriptedProvider(script)).compare_sync("x", "y")

    assert (result.preference, result.consistent) == ("tie", False)


def test_one_order_without_a_verdict_leaves_the_pair_unjudged_and_keeps_the_other():
    def script(request):
        return "hm" if request.prompt.index("\nx\n") > request.prompt.index("\ny\n") else '{"verdict": "A"}'

    judge = PairwiseJudge(provider=ScriptedProvider(script))
    [outcome] = judge.compare_batch_sync([("x", "y")])

    assert isinstance(outcome, Failure)
    assert [type(member).__name__ for member in outcome.members] == ["JudgeResult", "Failure"]
    assert position_bias([outcome]) == PositionBias(0, None, None)
    with pytest.raises(UnreadableReplyError):
        judge.compare_sync("x", "y")


def test_the_context_of_a_pair_reaches_the_judge_and_the_prompt_is_as_reviewed(snapshot):
    seen = []
    provider = ScriptedProvider(lambda request: seen.append(request.prompt) or '{"verdict": "tie"}')

    PairwiseJudge(provider=provider).compare_batch_sync([("first text", "second text", {"question": "what?"})])

    assert len(seen) == 2
    assert all("what?" in prompt for prompt in seen)
    snapshot("pairwise-prompt.txt", PairwiseJudge().build_prompt("first text", "second text", {"question": "what?"}))
