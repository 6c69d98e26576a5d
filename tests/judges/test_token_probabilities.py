"""Expected scores and the probabilities of verdicts, from the tokens of replies."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.folding import for_each

from polyjudge.cache.protocol import request_key
from polyjudge.judges.base import score_batch_sync
from polyjudge.judges.choice import BinaryJudge, ChoiceJudge
from polyjudge.judges.pair_items import PairJudge
from polyjudge.judges.pairwise import PairwiseJudge
from polyjudge.judges.rubric import RubricJudge
from polyjudge.providers.scripted import ScriptedProvider
from polyjudge.records.outcomes import Item, JudgeResult, outcome_row, read_outcome_row
from polyjudge.records.requests import MOST_LOGPROBS, Origin, Reply, Request, Token
from polyjudge.records.rubrics import Rubric, RubricCriterion, Scale

FIVE = Rubric(
    name="five",
    instruction="{criteria} {candidate} {context} {subscores_schema}",
    criteria=(RubricCriterion("clear", "x"), RubricCriterion("true", "x", 3.0)),
    scale=Scale(1, 5),
    overall=False,
)
HUNDRED = Rubric(name="hundred", instruction=FIVE.instruction, criteria=FIVE.criteria[:1])


def token(text, *others, share=None):
    """A token with other ones: (text, probability) each; its own probability is the rest unless given."""
    own = share if share is not None else 1 - sum(each for _, each in others)
    return Token(text, math.log(own), {name: math.log(each) for name, each in others})


def reply_of(*tokens, text=None):
    whole = "".join(each.text for each in tokens) if text is None else text
    return Reply(text=whole, model="m", tokens=tuple(tokens))


def asked(judge_type, *arguments, reply, **options):
    requests = []

    def answer(request):
        requests.append(request)
        return reply

    judge = judge_type(*arguments, provider=ScriptedProvider(answer), token_probabilities=True, **options)
    outcome = judge.score_sync("the text")
    assert {request.top_logprobs for request in requests} == {MOST_LOGPROBS}
    return outcome


def scored(*tokens, rubric=HUNDRED, text=None):
    return asked(RubricJudge, rubric, reply=reply_of(*tokens, text=text))


PLAIN = [token('{"'), token("score"), token('":')]
REST = [token(","), token(' "reason": "ok", "subscores": {"clear": 50}}')]


def test_the_expected_score_is_the_mean_of_the_numbers_at_the_token_of_the_score():
    result = scored(*PLAIN, token(" 85", (" 80", 0.3), (" 90", 0.1), (" high", 0.1)), *REST)

    assert result.score == 85
    assert result.probabilities == pytest.approx({"85": 5 / 9, "80": 3 / 9, "90": 1 / 9}, abs=1e-6)
    assert result.other_probability == pytest.approx(0.1, abs=1e-6)
    assert result.expected_score == pytest.approx((85 * 5 + 80 * 3 + 90) / 9, abs=1e-3)


def test_the_expected_score_of_a_rubric_without_an_overall_score_is_the_weighted_mean_of_the_criteria():
    tokens = [
        token('{"subscores": {"clear": '), token("4", ("5", 0.25)), token(', "true": '),
        token("2", ("3", 0.5)), token('}, "reason": "4"}'),
    ]  # fmt: skip
    result = scored(*tokens, rubric=FIVE)

    assert (result.score, result.probabilities) == ((4 + 3 * 2) / 4, {})
    assert result.expected_score == pytest.approx((4.25 + 3 * 2.5) / 4)


NOT_COMPUTABLE = {
    "a number of two tokens": [*PLAIN, token("8", ("9", 0.2)), token("5"), *REST],
    "a decimal number of three tokens": [*PLAIN, token("0"), token("."), token("5"), *REST],
    "a digit that may be the first of two": [*PLAIN, token("8", ("9", 0.2)), *REST],
    "tokens that do not spell the reply": [token("x"), token(" 85", (" 80", 0.3))],
    "the same score at two places": [
        token('{"score": '), token("85"), token("}"), *PLAIN, token(" 85", (" 80", 0.3)), *REST,
    ],
}  # fmt: skip


@for_each("name", NOT_COMPUTABLE)
def test_what_is_not_certain_has_no_expected_score(name):
    tokens = NOT_COMPUTABLE[name]
    spelt = "".join(each.text for each in tokens)
    text = spelt if "score" in spelt else '{"score": 85, "reason": "ok", "subscores": {"clear": 50}}'
    result = scored(*tokens, text=text)

    assert isinstance(result, JudgeResult)
    assert (result.expected_score, result.probabilities, result.other_probability) == (None, {}, None)
    assert not {"expectedScore", "probabilities", "otherProbability"} & outcome_row("i", result).keys()


@pytest.mark.parametrize(
    "tokens",
    [
        pytest.param([*PLAIN, token(" 85", (" 8", 0.1)), *REST], id="a token of two digits shows that 8 is whole"),
        pytest.param([token("Score: "), token("85", ("75", 0.1)), token("\nReason: fine")], id="a labelled line"),
        pytest.param([*PLAIN, token(" 85", (" 80", 0.1)), *REST, token("<|im_end|>")], id="a token of the server's"),
        pytest.param([token("thinking</think>"), *PLAIN, token(" 85", (" 80", 0.1)), *REST], id="reasoning before it"),
    ],
)
def test_a_place_is_found_where_it_is_certain(tokens):
    spelt = "".join(each.text for each in tokens)
    result = scored(*tokens, text=spelt.removeprefix("thinking</think>").removesuffix("<|im_end|>"))

    assert result.score == 85
    assert result.probabilities["85"] == pytest.approx(0.9, abs=1e-6)


def chosen(labels, *tokens, judge_type=ChoiceJudge):
    return asked(judge_type, labels, reply=reply_of(*tokens))


def test_a_choice_has_the_probability_of_each_label_where_the_labels_part():
    tokens = [
        token('{"verdict": "'), token("in", ("correct", 0.2), ("Un", 0.1)), token("correct", ("complete", 0.4)),
        token('", "reason": "in short"}'),
    ]  # fmt: skip
    result = chosen({"correct": 1.0, "incorrect": 0.0, "incomplete": 0.5}, *tokens)

    assert result.verdict == "incorrect"
    mass = {"correct": 0.2, "incorrect": 0.7 * 0.6, "incomplete": 0.7 * 0.4}
    assert result.probabilities == pytest.approx({name: each / 0.9 for name, each in mass.items()}, abs=1e-6)
    assert result.other_probability == pytest.approx(0.1, abs=1e-6)
    assert result.expected_score == pytest.approx((0.2 + 0.5 * 0.28) / 0.9, abs=1e-5)


def test_a_label_that_starts_another_one_is_known_by_the_token_after_it():
    tokens = [token('{"verdict": "'), token("yes", ("no", 0.1)), token('"', ("_but", 0.25)), token(', "reason": ""}')]
    result = chosen(["yes", "yes_but", "no"], *tokens)

    assert result.probabilities == pytest.approx({"yes": 0.675, "yes_but": 0.225, "no": 0.1}, abs=1e-6)


@pytest.mark.parametrize("labels", [("صحيح", "خطأ"), ("ถูก", "ผิด"), ("对", "错"), ("да", "нет")])
def test_bytes_of_characters_are_tokens_too(labels):
    right, wrong = (label.encode() for label in labels)
    shared = next((n for n in range(len(right)) if right[:n] != wrong[:n]), 1) - 1
    pieces = [right[: shared + 1], right[shared + 1 :]] if shared + 1 < len(right) else [right]
    first, *rest = [piece.decode(errors="surrogateescape") for piece in pieces]
    other = wrong[: shared + 1].decode(errors="surrogateescape")
    tokens = [token('{"verdict": "'), token(first, (other, 0.25)), *map(token, rest), token('", "reason": "نعم"}')]
    text = json.dumps({"verdict": labels[0], "reason": "نعم"}, ensure_ascii=False)
    result = asked(BinaryJudge, labels, reply=reply_of(*tokens, text=text))

    assert result.verdict == labels[0]
    assert result.probabilities == pytest.approx({labels[0]: 0.75, labels[1]: 0.25}, abs=1e-6)


def test_a_bare_label_has_its_probabilities():
    result = chosen(["PASS", "FAIL"], token(" **"), token("PASS", ("FAIL", 0.2), (" fail", 0.1)), token("**"))

    assert result.probabilities == pytest.approx({"PASS": 0.7, "FAIL": 0.3}, abs=1e-6)


@given(
    st.lists(st.sampled_from("ab"), min_size=1, max_size=4).map("".join),
    st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=5).map("".join), min_size=1, max_size=4),
    st.lists(st.floats(0.01, 0.3), min_size=4, max_size=4),
)
def test_probabilities_are_shares_of_the_labels_and_add_up(own, others, shares):
    labels = list(dict.fromkeys([own, *others]))
    if len(labels) < 2:
        labels.append("zz")
    options = [(name, share) for name, share in zip(labels[1:], shares, strict=False)]
    result = chosen(labels, token('{"verdict": "'), token(own, *options, share=0.5), token('", "reason": ""}'))

    if result.probabilities:
        assert sum(result.probabilities.values()) == pytest.approx(1.0, abs=1e-5)
        assert set(result.probabilities) <= set(labels)
        assert 0 <= result.other_probability <= 1


def test_a_pair_has_the_mean_of_both_orders_about_the_given_order():
    replies = {
        "A": reply_of(token('{"verdict":"'), token("A", ("B", 0.2), ("tie", 0.1)), token('","reason":""}')),
        "B": reply_of(token('{"verdict":"'), token("B", ("A", 0.4)), token('","reason":""}')),
    }

    def answer(request):
        return replies["A" if request.prompt.index("the good one") < request.prompt.index("the poor one") else "B"]

    judge = PairJudge(PairwiseJudge(provider=ScriptedProvider(answer), token_probabilities=True))
    item = Item("i", "the good one", {"otherCandidate": "the poor one"})
    [result] = score_batch_sync(judge, [item])

    assert result.verdict == "first"
    assert result.probabilities == pytest.approx({"first": 0.65, "second": 0.3, "tie": 0.05}, abs=1e-6)
    assert result.expected_score == pytest.approx(0.65 + 0.025, abs=1e-6)
    assert [member.probabilities["first"] for member in result.members] == pytest.approx([0.7, 0.6], abs=1e-6)


def test_a_row_keeps_the_probabilities():
    result = scored(*PLAIN, token(" 85", (" 80", 0.3)), *REST)

    row = json.loads(json.dumps(outcome_row("i", result)))
    assert row["probabilities"] == {"85": 0.7, "80": 0.3}
    assert read_outcome_row(row)[1] == result


def test_a_provider_without_token_probabilities_is_named_once():
    with pytest.warns(UserWarning, match="scripted/.* no token probabilities") as caught:
        judge = RubricJudge(
            HUNDRED,
            provider=ScriptedProvider(lambda _: '{"score": 85, "reason": "", "subscores": {"clear": 1}}'),
            token_probabilities=True,
        )
        results = judge.score_batch_sync(["one", "two"])

    assert len(caught) == 1
    assert [result.score for result in results] == [85, 85]


def test_requests_without_token_probabilities_keep_their_cache_keys():
    """The keys as they were before the parameter."""
    origin = Origin("openai", "https://api.openai.com/v1")
    request = Request(prompt="judge ไทย", model="gpt-5", system="s", temperature=0.0, max_tokens=7, repeat=2)

    assert request_key(origin, request) == "b982b32f2aa7108edc4b743431b479598dac5a58734916052e58dbbd37664f60"
    with_tokens = Request(
        prompt="judge ไทย", model="gpt-5", system="s", temperature=0.0, max_tokens=7, repeat=2, top_logprobs=20
    )
    assert request_key(origin, with_tokens) != request_key(origin, request)
