"""What a run must reach: the mean, the pass rate, and either in every language."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyjudge.errors import ConfigError
from polyjudge.records.outcomes import Failure, JudgeResult
from polyjudge.records.runs import FailUnder
from polyjudge.rubrics.loading import load_rubric
from polyjudge.runs.summary import Tally
from polyjudge.verdicts.score_gate import parse_fail_under, refuse_unfit, score_gate

GOOD, BAD = 5.0, 2.0


def result(points, *, complete=True):
    subscores = {"script": points, "grammar": points, **({"coherence": points} if complete else {})}
    return JudgeResult(points, "", subscores, flags={"isCorrectLanguage": True})


def summary(outcomes, rubric="translation"):
    """Sum up pairs of language and outcome."""
    tally = Tally(load_rubric(rubric))
    for language, outcome in outcomes:
        tally.add(outcome, language)
    return tally.summary(len(outcomes))


def gate(outcomes, rule, *, max_unjudged=0.2, rubric="translation"):
    return score_gate(summary(outcomes, rubric), parse_fail_under([rule]), max_unjudged)


def test_a_value_that_is_reached_exactly_passes():
    outcomes = [("th", result(GOOD)), ("th", result(BAD))]

    assert gate(outcomes, "mean:3.5").status == "passed"
    assert gate(outcomes, "pass:50%").status == "passed"
    assert gate(outcomes, "pass:0.5").status == "passed"
    assert gate(outcomes, "mean:3.51").exit_code == 1
    assert gate(outcomes, "pass:51%").exit_code == 1


def test_the_reason_has_the_number_of_items_and_never_looks_like_the_limit():
    outcomes = [("th", result(GOOD))] * 1999 + [("th", result(BAD))]

    [found] = gate(outcomes, "mean:5").results
    assert found.sentence == "the mean score of 2,000 judged items is 4.998, below 5"
    [found] = gate(outcomes, "pass:100%").results
    assert found.sentence == "1,999 of 2,000 judged items pass (99.95%), below 100%"


def test_each_language_that_fails_is_named_and_the_others_are_not():
    outcomes = [("th", result(GOOD))] * 4 + [("hi", result(BAD))] * 4 + [("ar", result(GOOD)), ("ar", result(BAD))]

    found = gate(outcomes, "language:80%")
    assert found.exit_code == 1
    assert {each.language: each.sentence for each in found.results} == {
        "ar": "1 of 2 judged items pass (50.0%), below 80%",
        "hi": "0 of 4 judged items pass (0.0%), below 80%",
    }
    assert gate(outcomes, "language:0").results[0].sentence == "all 3 languages have at least 0% passing"


def test_without_a_pass_rule_a_language_needs_its_mean():
    outcomes = [("th", JudgeResult(90, "")), ("hi", JudgeResult(40, ""))]

    found = gate(outcomes, "language:50", rubric="general")
    assert [(each.language, each.sentence) for each in found.results] == [
        ("hi", "the mean score of 1 judged item is 40.00, below 50")
    ]


def test_a_single_item_is_named_in_the_singular():
    [found] = gate([("th", result(BAD))], "pass:80%").results
    assert found.sentence == "0 of 1 judged item passes (0.0%), below 80%"
    [found] = gate([("th", result(GOOD))], "mean:3").results
    assert found.sentence == "the mean score of 1 judged item is 5.00, at least 3 is required"


def test_too_few_verdicts_take_precedence_over_a_value_that_is_missed():
    outcomes = [("th", result(BAD))] * 9 + [("hi", Failure("no", "refused"))]

    assert gate(outcomes, "pass:90%").exit_code == 1
    found = gate(outcomes, "language:90%")
    assert (found.exit_code, found.status) == (3, "undecided")
    assert {each.language: each.status for each in found.results} == {"hi": "undecided", "th": "failed"}
    assert found.results[0].sentence == "no verdict for 1 of 1 items; at most 20% may lack one"


def test_missing_scores_decide_nothing_unless_they_make_no_difference():
    outcomes = [("th", result(GOOD))] * 6 + [("th", result(BAD))] * 2 + [("th", result(GOOD, complete=False))] * 2

    assert [gate(outcomes, f"pass:{share}%").status for share in (60, 61, 80, 81)] == [
        "passed", "undecided", "undecided", "failed",
    ]  # fmt: skip


@given(
    st.lists(st.tuples(st.sampled_from(["th", "hi", ""]), st.integers(1, 5)), min_size=1),
    st.integers(0, 100),
)
def test_a_stricter_value_never_passes_where_a_milder_one_fails(pairs, percent):
    outcomes = [(language, result(float(points))) for language, points in pairs]
    scores = summary(outcomes)
    milder, stricter = (
        score_gate(scores, FailUnder(pass_rate=share, mean=1 + 4 * share), 0.2).exit_code
        for share in (percent / 200, percent / 100)
    )

    assert milder <= stricter


@given(st.lists(st.integers(1, 5), min_size=1))
def test_a_mean_of_equal_languages_is_that_of_all(points):
    outcomes = [(language, JudgeResult(float(each), "")) for language in ("th", "hi") for each in points]
    scores = summary(outcomes, "general")

    assert score_gate(scores, FailUnder(language=scores.mean), 0.2).status == "passed"


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("pass", "expected mean:X"),
        ("drop:1", "expected mean:X"),
        ("mean:nan", "expected mean:X"),
        ("mean:50%", "expected mean:X"),
        ("pass:", "expected mean:X"),
        ("pass:90", "share of items that pass"),
        ("pass:-1%", "share of items that pass"),
        ("language:3", "share of items that pass"),
        ("mean:6", "a number from 1 to 5"),
    ],
)
def test_a_value_that_could_not_decide_is_refused(rule, words):
    with pytest.raises(ConfigError, match=words):
        refuse_unfit(parse_fail_under([rule]), load_rubric("translation").scale, has_rule=True, languages=["th"])


def test_a_requirement_that_the_rubric_or_the_items_do_not_allow_is_refused():
    scale = load_rubric("general").scale
    with pytest.raises(ConfigError, match="needs a rubric with a pass rule"):
        refuse_unfit(FailUnder(pass_rate=0.9), scale, has_rule=False, languages=["th"])
    with pytest.raises(ConfigError, match="needs items with a language"):
        refuse_unfit(FailUnder(language=50), scale, has_rule=False, languages=[""])
    with pytest.raises(ConfigError, match="from 0 to 100"):
        refuse_unfit(FailUnder(language=101), scale, has_rule=False, languages=["th"])
    with pytest.raises(ConfigError, match="given twice"):
        parse_fail_under(["mean:1", "mean:2"])
