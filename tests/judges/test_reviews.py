"""The end of every review of the corpus is read as the two scores and the verdict it means, or not at all."""

import asyncio
import tomllib
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.folding import for_each

from polyjudge.errors import UnreadableReplyError
from polyjudge.judges.session_review import ReviewJudge, due_verdict, read_review, review_prompt
from polyjudge.providers.scripted import ScriptedProvider
from polyjudge.records.outcomes import Failure, JudgeResult

HERE = Path(__file__).parent
REVIEWS = tomllib.loads((HERE / "reviews.toml").read_text(encoding="utf-8"))["review"]
HOSTILE = tomllib.loads((HERE / "hostile_reviews.toml").read_text(encoding="utf-8"))["review"]
VERDICTS = ("PASS", "FAIL_AGENT", "FAIL_SYSTEM", "FAIL_BOTH")
SCORES = st.integers(0, 100)
# Prose that names no label and no number: what a model writes around the lines must not matter.
PROSE = st.text(st.characters(exclude_categories=["Cs", "Nd", "No"]), max_size=200).filter(
    lambda text: not any(word in text.lower() for word in ("score", "verdict", "<", "[think", "◁"))
)
FRAMES = ("{}", "**{}**", "- {}", "> {}", "### {}", "`{}`", "| {} |", "- [x] {}", "🤖 {}", "  {}  ", "1. {}")


def of(review):
    return review.agent_score, review.system_score, review.verdict, review.derived, review.contradictory


def lines(agent, system, verdict=None):
    written = [f"AGENT_SCORE: {agent}/100", f"SYSTEM_SCORE: {system}/100"]
    return written + ([] if verdict is None else [f"VERDICT: {verdict}"])


@for_each("case", REVIEWS, ids=lambda case: case["name"])
def test_a_review_means_two_scores_and_a_verdict_or_nothing(case):
    if "verdict" not in case:
        with pytest.raises(UnreadableReplyError) as caught:
            read_review(case["text"])
        assert caught.value.text == case["text"]
        return

    meant = (case["agent"], case["system"], case["verdict"])
    assert of(read_review(case["text"])) == (*meant, case.get("derived", False), case.get("contradictory", False))


@pytest.mark.parametrize("case", HOSTILE, ids=lambda case: case["name"])
def test_what_a_review_quotes_supposes_or_takes_back_is_not_its_verdict(case):
    judge = ReviewJudge("scripted", ScriptedProvider(lambda _: case["text"]))

    outcome = asyncio.run(judge.outcome(review_prompt(case.get("session", "nothing happened"))))

    if "verdict" in case:
        assert isinstance(outcome, JudgeResult), outcome
        found = (outcome.subscores["agent"], outcome.subscores["system"], outcome.verdict)
        assert found == (case["agent"], case["system"], case["verdict"])
    else:
        assert isinstance(outcome, Failure), outcome
        assert (outcome.kind, outcome.raw) == ("unreadable", case["text"])


def test_the_corpus_is_large_and_its_names_are_different():
    assert len(REVIEWS) >= 100
    assert len({case["name"] for case in REVIEWS}) == len(REVIEWS)
    assert sum("verdict" not in case for case in REVIEWS) >= 30


@for_each("case", REVIEWS, ids=lambda case: case["name"])
def test_the_judge_keeps_the_whole_review_whatever_its_verdict(case):
    judge = ReviewJudge("scripted", ScriptedProvider(lambda _: case["text"]))

    outcome = asyncio.run(judge.outcome("Review this."))

    assert outcome.raw == case["text"]
    if "verdict" in case:
        assert isinstance(outcome, JudgeResult), outcome
        assert outcome.subscores == {"agent": case["agent"], "system": case["system"]}
        assert outcome.verdict == case["verdict"]
        assert outcome.score == min(case["agent"], case["system"])
        assert outcome.flags == {
            "derived": case.get("derived", False),
            "contradictory": case.get("contradictory", False),
        }
    else:
        assert isinstance(outcome, Failure), outcome
        assert outcome.kind == "unreadable"
        assert outcome.reason


def test_a_review_without_scores_is_unjudged_and_names_what_is_missing():
    judge = ReviewJudge("scripted", ScriptedProvider(lambda _: "The agent read the file and then"))

    outcome = asyncio.run(judge.outcome("Review this."))

    assert isinstance(outcome, Failure)
    assert "AGENT_SCORE" in outcome.reason


@pytest.mark.parametrize(("agent", "system"), list(product((0, 74.99, 75, 100), repeat=2)))
def test_the_verdict_that_is_due_asks_for_75_of_each(agent, system):
    due = {(True, True): "PASS", (False, True): "FAIL_AGENT", (True, False): "FAIL_SYSTEM", (False, False): "FAIL_BOTH"}
    assert due_verdict(agent, system) == due[agent >= 75, system >= 75]


@given(agent=SCORES, system=SCORES, verdict=st.sampled_from(VERDICTS))
def test_three_lines_are_read_as_they_are_written(agent, system, verdict):
    contradictory = verdict != due_verdict(agent, system)

    assert of(read_review("\n".join(lines(agent, system, verdict)))) == (agent, system, verdict, False, contradictory)


@given(agent=SCORES, system=SCORES)
def test_two_lines_without_a_verdict_give_the_one_that_is_due_and_say_that_it_is_derived(agent, system):
    review = read_review("\n".join(lines(agent, system)))

    assert of(review) == (agent, system, due_verdict(agent, system), True, False)


@given(agent=SCORES, system=SCORES, verdict=st.sampled_from(VERDICTS), before=PROSE, after=PROSE)
def test_prose_around_the_lines_changes_nothing(agent, system, verdict, before, after):
    text = f"{before}\n\n" + "\n".join(lines(agent, system, verdict)) + f"\n\n{after}"

    assert of(read_review(text))[:3] == (agent, system, verdict)


@given(
    agent=SCORES,
    system=SCORES,
    verdict=st.sampled_from(VERDICTS),
    frames=st.tuples(*[st.sampled_from(FRAMES)] * 3),
    newline=st.sampled_from(["\n", "\r\n", "\n\n"]),
)
def test_markdown_around_the_lines_changes_nothing(agent, system, verdict, frames, newline):
    framed = [frame.format(line) for frame, line in zip(frames, lines(agent, system, verdict), strict=True)]

    assert of(read_review(newline.join(framed)))[:3] == (agent, system, verdict)


@given(rounds=st.lists(st.tuples(SCORES, SCORES, st.sampled_from(VERDICTS)), min_size=1, max_size=6))
def test_of_several_rounds_the_last_counts(rounds):
    text = "\n\n".join("\n".join(lines(*each)) for each in rounds)

    assert of(read_review(text))[:3] == rounds[-1]


@given(order=st.permutations(lines(62, 91, "FAIL_AGENT")))
def test_the_order_of_the_lines_does_not_matter(order):
    assert of(read_review("\n".join(order)))[:3] == (62, 91, "FAIL_AGENT")


@given(text=PROSE)
def test_a_text_without_labels_is_an_error_that_keeps_it(text):
    with pytest.raises(UnreadableReplyError) as caught:
        read_review(text)
    assert caught.value.text == text


PIECES = ("AGENT_SCORE", "SYSTEM_SCORE", "VERDICT", ":", " ", "\n", "|", "/", "100", "85", "-5", ".", "PASS", "FAIL")
PIECES += ("FAIL_AGENT", "[x]", "[ ]", "**", "`", "#", "✅", "or", "N/A", "<think>", "</think>", "٨٥", "_", "~", "word")


@given(pieces=st.lists(st.sampled_from(PIECES), max_size=40))
def test_any_heap_of_pieces_of_the_form_is_a_review_on_the_scale_or_an_error(pieces):
    try:
        review = read_review("".join(pieces))
    except UnreadableReplyError:
        return
    assert 0 <= review.agent_score <= 100
    assert 0 <= review.system_score <= 100
    assert review.verdict in VERDICTS
    assert not (review.derived and review.contradictory)
    assert review.contradictory == (review.verdict != due_verdict(review.agent_score, review.system_score))


@given(agent=st.integers(101, 10**6) | st.integers(-(10**6), -1), system=SCORES)
def test_a_score_off_the_scale_is_no_score(agent, system):
    with pytest.raises(UnreadableReplyError, match="AGENT_SCORE"):
        read_review("\n".join(lines(agent, system, "PASS")))


@given(score=st.integers(0, 1000), out_of=st.integers(1, 1000).filter(lambda number: number != 100))
def test_a_score_out_of_anything_but_a_hundred_is_no_score(score, out_of):
    with pytest.raises(UnreadableReplyError, match="SYSTEM_SCORE"):
        read_review(f"AGENT_SCORE: 80/100\nSYSTEM_SCORE: {score}/{out_of}\nVERDICT: PASS")


@given(cut=st.integers(0, len("AGENT_SCORE: 85/100\nSYSTEM_SCORE: ")))
def test_a_review_cut_off_before_the_second_score_is_none(cut):
    with pytest.raises(UnreadableReplyError):
        read_review("AGENT_SCORE: 85/100\nSYSTEM_SCORE: 90/100\nVERDICT: PASS"[:cut])


@pytest.mark.parametrize(
    "flood",
    [
        "AGENT_SCORE " * 20_000,
        "VERDICT:\n" * 20_000,
        "[ ] " * 50_000,
        "AGENT_SCORE SYSTEM_SCORE" + "|" * 50_000 + "\n" + "|" * 50_000,
        "AGENT_SCORE: " + "1." * 50_000 + "x",
        "AGENT_SCORE: " + "9" * 50_000,
        "AGENT_SCORE" + " " * 50_000 + "x",
        "_" * 50_000 + "AGENT_SCORE",
        "VERDICT: PASS" + "|" * 50_000 + "x FAIL",
        "AGENT_SCORE: 1/100\n" * 20_000,
        "> AGENT_SCORE: 1/100\n\nword\n" * 20_000,
        "AGENT_SCORE: 1/100\nword\n```\n" * 20_000,
    ],
    ids=lambda flood: flood[:24].replace("\n", " "),
)
def test_a_flood_of_pieces_of_the_form_is_no_review(flood):
    with pytest.raises(UnreadableReplyError) as caught:
        read_review(flood)
    assert len(str(caught.value)) < 200
