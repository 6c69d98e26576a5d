"""Replies to the judges that ask for more than a score: read right, or not at all."""

import asyncio
import json

import pytest

from polyjudge.errors import ConfigError, UnreadableReplyError
from polyjudge.judges.choice import ChoiceJudge
from polyjudge.judges.critique import parse_critique
from polyjudge.judges.pairwise import PairwiseJudge
from polyjudge.judges.parsing import parse_judge_json
from polyjudge.judges.rubric import RubricJudge
from polyjudge.providers.scripted import ScriptedProvider
from polyjudge.records.outcomes import Failure, JudgeResult
from polyjudge.records.requests import Reply
from polyjudge.records.rubrics import RubricCriterion
from polyjudge.rubrics.loading import load_rubric

GOOD = '{"reason": "x", "subscores": {"script": 5, "grammar": 4, "coherence": 3}, "isCorrectLanguage": true}'


def translation(text, finish="stop"):
    provider = ScriptedProvider(lambda _: Reply(text=text, model="m", finish=finish))
    [outcome] = RubricJudge(load_rubric("translation"), provider=provider).score_batch_sync(["t"])
    return outcome


def choice(labels, text, finish="stop"):
    provider = ScriptedProvider(lambda _: Reply(text=text, model="m", finish=finish))
    [outcome] = ChoiceJudge(labels, provider=provider).score_batch_sync(["t"])
    return outcome.verdict if isinstance(outcome, JudgeResult) else None


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        '{"script": 5, "grammar": 4, "coherence": 3, "isCorrectLanguage": true, "reason": "x"}',
        "Script: 5\nGrammar: 4/5\nCoherence: 3\nisCorrectLanguage: true.\nReason: x",
        "| Script | 5 |\n| Grammar | 4 |\n| Coherence | 3 |\n| Is correct language | yes |",
        '{"Subscores": {"Script": 5, "Grammar": 4, "Coherence": 3}, "IsCorrectLanguage": true}',
        GOOD + "\nScript: 5\nIs correct language: yes",
    ],
)
def test_a_translation_verdict_is_read_in_its_many_shapes(text):
    outcome = translation(text)

    assert isinstance(outcome, JudgeResult), outcome
    assert (outcome.subscores, outcome.flags) == (
        {"script": 5, "grammar": 4, "coherence": 3}, {"isCorrectLanguage": True},
    )  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        GOOD + "\nisCorrectLanguage: false",
        GOOD + "\nCorrection:\nScript: 1\nGrammar: 1\nCoherence: 1",
        GOOD + '\nActually: {"isCorrectLanguage": false}',
        GOOD + '\nActually, no: {"subscores": {"script": 1, "grammar": 1, "coherence": 1}}',
        '{"subscores": {"script": 1, "grammar": 1, "coherence": 1}, "isCorrectLanguage": false, "note": "it says "'
        + GOOD
        + '""}',
        GOOD.replace('"grammar"', '"Script": 1, "grammar"'),
        "Script: 5\nGrammar: 4\nCoherence: 3",
    ],
)
def test_a_translation_verdict_that_is_taken_back_is_none(text):
    outcome = translation(text)

    assert isinstance(outcome, Failure), outcome
    assert outcome.kind == "unreadable"


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ('{"verdict":"PASS"}\nVerdict: FAIL', None),
        ('{"verdict":"PASS"}\nVerdict: pass', "PASS"),
        ("Verdict: FAIL\n\nThe candidate said:\n> Verdict: PASS", "FAIL"),
        ('{"verdict": "FAIL", "reason":"says {"verdict": "PASS"}"}', None),
        ('{"verdict": PASS}', "PASS"),
        ('{"Verdict": "PASS"}', "PASS"),
    ],
)
def test_a_label_is_read_right_or_not_at_all(text, verdict):
    assert choice(["PASS", "FAIL"], text) == verdict


def test_a_label_that_may_be_cut_is_none():
    assert choice(["correct", "correct but terse"], '{"verdict": "correct') is None
    assert choice(["A", "A+"], "A", finish="length") is None
    assert choice(["A", "A+"], "Verdict: A", finish="length") is None
    assert choice(["A", "A+"], "A") == "A"


def test_a_score_that_may_be_cut_is_none():
    def score(text, finish):
        provider = ScriptedProvider(lambda _: Reply(text=text, model="m", finish=finish))
        [outcome] = RubricJudge([RubricCriterion("a", "b")], provider=provider).score_batch_sync(["t"])
        return outcome.score if isinstance(outcome, JudgeResult) else None

    assert score("Score: 8", "length") is None
    assert score("Score: 8", "stop") == 8
    assert score('{"score": 80, "reason": "x"} {"', "length") is None
    assert score('{"score": 80, "reason": "x"} {"', "stop") == 80


def test_a_pair_may_be_judged_in_the_words_of_the_prompt():
    def script(request):
        shown_first = request.prompt.index("\nx\n") < request.prompt.index("\ny\n")
        return json.dumps({"verdict": "Answer A" if shown_first else "Answer B"})

    provider = ScriptedProvider(script)

    assert PairwiseJudge(provider=provider).compare_sync("x", "y").preference == "first"


@pytest.mark.parametrize("text", ['{"a": 1,}', "{'a': 1}", "Well: {'a': 1, 'b': {'c': 2},}"])
def test_broken_json_is_repaired_without_wanted_keys_where_there_is_only_one_object(text):
    assert parse_judge_json(text)["a"] == 1


def test_two_broken_objects_without_wanted_keys_are_none():
    with pytest.raises(UnreadableReplyError):
        parse_judge_json("{'a': 1} or {'a': 2}")


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("Score: 85\nCritique: The text says Score: 100 in it.", 85.0),
        ("High score: 99 was reached by the hero. My rating: 40", None),
        ("Score: 1,000", None),
        ("Score: 90-95", None),
        ("Score: 8/10.5", None),
        ('I would use {"a": 1} here.\nScore: 85\nCritique: ok', 85.0),
        ('{"score": "85/100"}', 85.0),
        ('{"score": ' + "1" * 400 + "}", 100.0),
        ('{"score":' * 500 + "1" + "}" * 500, None),
    ],
)
def test_a_critique_is_not_read_into_prose(text, score):
    assert parse_critique(text).score == score


def test_a_critique_keeps_its_words_whole():
    assert (
        parse_critique("Score: 85\nCritique: The text says Score: 100 in it.").reason
        == "The text says Score: 100 in it."
    )


@pytest.mark.parametrize("names", [("Script", "script"), ("score",), ("Reason",), ("subscores",)])
def test_names_that_a_reply_cannot_keep_apart_are_refused(names):
    with pytest.raises(ConfigError, match="used twice"):
        RubricJudge([RubricCriterion(name, "?") for name in names])


def test_what_is_asked_is_deterministic_and_repeats_are_distinguished():
    seen = []
    judge = RubricJudge(
        [RubricCriterion("a", "b")], provider=ScriptedProvider(lambda r: seen.append(r) or '{"score": 1}')
    )

    asyncio.run(judge.outcome("t", repeat=3))

    assert (seen[0].temperature, seen[0].repeat) == (0.0, 3)


def test_an_item_that_is_no_text_fails_alone():
    judge = RubricJudge([RubricCriterion("a", "b")], provider=ScriptedProvider(lambda _: '{"score": 1, "reason": ""}'))

    outcomes = judge.score_batch_sync(["fine", None, ("fine", {}), 5, ("a", {}, 3)])  # type: ignore[list-item]

    assert [getattr(outcome, "kind", "judged") for outcome in outcomes] == [
        "judged", "bad_item", "judged", "bad_item", "bad_item",
    ]  # fmt: skip
