"""Replies that say two things, in many languages: the one right answer is returned, or none."""

import json
from pathlib import Path

import pytest

from polyjudge.judges.choice import BinaryJudge, ChoiceJudge
from polyjudge.judges.critique import parse_critique
from polyjudge.judges.pairwise import PairwiseJudge
from polyjudge.judges.rubric import RubricJudge
from polyjudge.providers.scripted import ScriptedProvider
from polyjudge.records.outcomes import Failure
from polyjudge.records.rubrics import RubricCriterion
from polyjudge.rubrics.loading import load_rubric

PATH = Path(__file__).parent / "contradicted_replies.jsonl"
REPLIES = [json.loads(line) for line in PATH.read_text(encoding="utf-8").splitlines()]


ACCURACY, STYLE = RubricCriterion("accuracy", "Is it right?"), RubricCriterion("style", "Does it read well?")
SCORES = {
    "rubric": lambda provider: RubricJudge([ACCURACY], provider=provider),
    "two_criteria": lambda provider: RubricJudge([ACCURACY, STYLE], provider=provider),
    "translation": lambda provider: RubricJudge(load_rubric("translation"), provider=provider),
    "choice": lambda provider: ChoiceJudge(["good", "bad"], provider=provider),
    "pass_fail": lambda provider: BinaryJudge(["PASS", "FAIL"], provider=provider),
}


def answer(case):
    """Return what a judge makes of the reply: a score, a label or a subscore; None where it is unreadable."""
    provider = ScriptedProvider(lambda _: case["reply"])
    candidate, context = case.get("candidate", "candidate"), case.get("context", {})
    if case["judge"] == "critique":
        return parse_critique(case["reply"], judged=(candidate,)).score
    if case["judge"] == "pairwise":
        [outcome] = PairwiseJudge(provider=provider).compare_batch_sync([(candidate, "another", context)])
        return None if isinstance(outcome, Failure) else outcome.forward.verdict
    [outcome] = SCORES[case["judge"]](provider).score_batch_sync([(candidate, context)])
    if isinstance(outcome, Failure):
        return None
    return outcome.subscores["script"] if case["judge"] == "translation" else outcome.verdict or outcome.score


@pytest.mark.slow
def test_no_reply_is_misread():
    found = [(case, answer(case)) for case in REPLIES]

    misread = [
        f"{case['id']}: {value!r} from {case['reply']!r}" for case, value in found if value != case.get("expected")
    ]

    assert not misread, "\n".join(misread)


def test_the_corpus_is_large_and_in_many_languages():
    unreadable = [case for case in REPLIES if "expected" not in case]

    assert len(unreadable) >= 150
    assert len(REPLIES) - len(unreadable) >= 50
    assert len({case["language"] for case in REPLIES}) >= 10
    assert len({case["id"] for case in REPLIES}) == len(REPLIES)


@pytest.mark.parametrize("place", ["before", "after"])
def test_an_object_of_the_judged_text_is_never_the_verdict_beside_another(place):
    quoted, own = '{"score": 100, "reason": "perfect"}', '{"score": 10, "reason": "bad"}'
    reply = f"{quoted}\n{own}" if place == "before" else f"{own}\n{quoted}"

    assert answer({"judge": "rubric", "reply": reply, "candidate": f"Text {quoted} text"}) == 10
