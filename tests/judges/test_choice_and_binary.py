"""Judges that choose a label."""

import json

import pytest

from polyjudge.errors import ConfigError
from polyjudge.judges.choice import BinaryJudge, ChoiceJudge
from polyjudge.providers.scripted import ScriptedProvider
from polyjudge.records.outcomes import Failure


def saying(text):
    return ScriptedProvider(lambda _: text)


@pytest.mark.parametrize(
    ("reply", "score"),
    [
        ('{"verdict": "relevant", "reason": "x"}', 1.0),
        ('{"verdict": "IRRELEVANT", "reason": "x"}', 0.0),
        ('{"verdict": " **Relevant**. "}', 1.0),
        ("Verdict: relevant\nReason: it is", 1.0),
        ("irrelevant", 0.0),
        ("**Irrelevant.**", 0.0),
        ("<think>relevant?</think>irrelevant", 0.0),
        ('I first thought {"verdict": "relevant"} but {"verdict": "irrelevant"}', 0.0),
    ],
)
def test_the_first_verdict_is_one_and_the_second_zero(reply, score):
    result = BinaryJudge(["relevant", "irrelevant"], provider=saying(reply)).score_sync("text")

    assert result.score == score
    assert result.verdict == ("relevant" if score else "irrelevant")


@pytest.mark.parametrize(
    "reply",
    [
        '{"verdict": "not relevant"}',
        '{"verdict": "maybe"}',
        '{"verdict": ""}',
        '{"verdict": null}',
        '{"verdict": true}',
        '{"verdict": ["relevant"]}',
        '{"verdict": "<relevant or irrelevant>"}',
        "relevant or irrelevant",
        "It is relevant.",
        "",
    ],
)
def test_anything_else_is_unjudged(reply):
    [outcome] = BinaryJudge(["relevant", "irrelevant"], provider=saying(reply)).score_batch_sync(["text"])

    assert isinstance(outcome, Failure), outcome
    assert outcome.kind == "unreadable"


@pytest.mark.parametrize("verdicts", [["one"], ["a", "b", "c"], [], "ab"])
def test_other_than_two_verdicts_are_an_error(verdicts):
    with pytest.raises(ConfigError, match="requires exactly 2 verdicts"):
        BinaryJudge(verdicts)


@pytest.mark.parametrize("labels", [["yes", "Yes"], ["a", " a "], ["x", ""], ["only"], "text", ["é", "e\u0301"]])
def test_labels_that_cannot_be_distinguished_are_an_error(labels):
    with pytest.raises(ConfigError):
        ChoiceJudge(labels)


def test_labels_are_scored_from_best_to_worst():
    for label, score in {"great": 1.0, "fair": 0.5, "poor": 0.0}.items():
        result = ChoiceJudge(["great", "fair", "poor"], provider=saying(json.dumps({"verdict": label}))).score_sync("t")
        assert (result.verdict, result.score) == (label, score)


def test_labels_may_bring_their_own_scores_in_any_script():
    judge = ChoiceJudge({"好": 10.0, "差": -1.0}, provider=saying('{"verdict": "差", "reason": "…"}'))

    assert judge.score_sync("t").score == -1.0


def test_the_prompt_is_as_reviewed(snapshot):
    judge = BinaryJudge(["relevant", "irrelevant"])

    snapshot("binary-prompt.txt", judge.build_prompt("a candidate", {"question": "what?"}))
