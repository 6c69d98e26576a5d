"""Every state that a language can be in, and the borders between them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyjudge.languages.table import language_table
from polyjudge.records.translation import LanguageResult, LanguageScore, PromptResult, PromptScore
from polyjudge.verdicts.items import scores_pass
from polyjudge.verdicts.translation import STATUSES, VerdictMaker, is_enough, is_must_have

TABLE = language_table()
MAKER = VerdictMaker(TABLE)
HINDI = [
    "मुझे आपकी मदद की ज़रूरत है, कृपया डॉक्टर को बुलाइए।",
    "सबसे नज़दीकी रेलवे स्टेशन कहाँ है और वहाँ कैसे पहुँचा जाए?",
    "यह कितने का है? क्या आप थोड़ा कम कर सकते हैं?",
    "मुझे पानी की एक बोतल चाहिए, धन्यवाद।",
    "आज मौसम बहुत अच्छा है, हम बाहर घूमने जा रहे हैं।",
]
MARATHI = [
    "मला तुमची मदत हवी आहे, कृपया डॉक्टरांना बोलवा.",
    "सर्वात जवळचे रेल्वे स्थानक कुठे आहे आणि तिथे कसे जायचे?",
    "याची किंमत किती आहे? तुम्ही थोडी कमी करू शकता का?",
    "मला पाण्याची एक बाटली हवी आहे, धन्यवाद.",
    "आज हवामान खूप छान आहे, आम्ही बाहेर फिरायला जात आहोत.",
]
GOOD = {"script_score": 5, "grammar_score": 4, "coherence_score": 4, "is_correct_language": True}


def language(outputs=MARATHI, *, name="Marathi", code="mr", script=None, **more):
    prompts = [PromptResult(generated_output=output, script_validation_passed=script) for output in outputs]
    return LanguageResult(language_name=name, language_code=code, prompts=tuple(prompts), **more)


def with_script(passed, failed):
    """Return a language of which the file says how many outputs are in the right script."""
    prompts = [PromptResult(generated_output="x", script_validation_passed=True)] * passed
    prompts += [PromptResult(generated_output="x", script_validation_passed=False)] * failed
    return LanguageResult(language_name="Marathi", language_code="mr", prompts=tuple(prompts))


def score(**values):
    return LanguageScore(language_name="Marathi", **{**GOOD, **values})


def unjudged(error="refused: no"):
    return LanguageScore(language_name="Marathi", error=error)


def verdict(of, **scores):
    return MAKER.verdict(of, MAKER.checks(of), scores)


def test_without_judges_the_right_script_passes_and_says_that_it_was_script_alone():
    made = verdict(language())

    assert (made.status, made.script_only, made.reason) == ("PASS", True, "")
    assert (made.prompts, made.script_checked, made.script_passed) == (5, 5, 5)


def test_without_judges_the_wrong_script_fails_by_script_alone():
    made = verdict(language(["I need your help, please call a doctor."] * 5))

    assert (made.status, made.script_only) == ("FAIL", True)
    assert made.reason == "wrong script in 5 of 5 outputs"


def test_scores_of_three_in_the_right_language_pass_and_are_not_by_script_alone():
    made = verdict(language(), quick=score(script_score=3, grammar_score=3, coherence_score=3))

    assert (made.status, made.script_only) == ("PASS", False)


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"script_score": 2}, "quick: script 2/5"),
        ({"grammar_score": 2.9}, "quick: grammar 2.9/5"),
        ({"coherence_score": 1, "grammar_score": 1}, "quick: grammar 1/5, coherence 1/5"),
        ({"is_correct_language": False}, "quick: wrong language"),
        ({"script_score": 1, "is_correct_language": False}, "quick: script 1/5, wrong language"),
    ],
)
def test_a_score_below_three_or_a_wrong_language_fails(values, reason):
    made = verdict(language(), quick=score(**values))

    assert (made.status, made.script_only, made.reason) == ("FAIL", False, reason)


def test_the_wrong_script_fails_whatever_a_judge_says():
    made = verdict(with_script(3, 2), quick=score())

    assert (made.status, made.script_only) == ("FAIL", False)


@pytest.mark.parametrize(
    ("passed", "failed", "status"),
    [
        (4, 1, "PASS"),
        (3, 1, "FAIL"),
        (28, 7, "PASS"),
        (27, 8, "FAIL"),
        (8, 2, "PASS"),
        (79, 21, "FAIL"),
        (80, 20, "PASS"),
        (1, 0, "PASS"),
        (0, 1, "FAIL"),
        (44, 11, "PASS"),
        (56, 14, "PASS"),
    ],
)
def test_four_fifths_in_the_right_script_are_enough_and_one_less_is_not(passed, failed, status):
    assert verdict(with_script(passed, failed)).status == status


@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_the_needed_share_is_exact_for_all_counts(part, more):
    assert is_enough(part, part + more) == (5 * part >= 4 * (part + more))


def test_what_the_file_says_of_the_script_goes_before_our_own_check():
    assert verdict(language(script=False)).status == "FAIL"
    assert verdict(language(["only English here"] * 5, script=True)).status == "PASS"


def test_a_language_without_a_usable_prompt_is_skipped():
    for scores in ({}, {"quick": score()}, {"quick": unjudged()}):
        made = verdict(language([]), **scores)

        assert (made.status, made.script_only, made.reason) == ("SKIPPED", False, "no usable prompt")


def test_a_judge_without_an_answer_leaves_the_language_unjudged():
    made = verdict(language(), quick=unjudged("refused: I cannot"))

    assert (made.status, made.script_only, made.reason) == ("UNJUDGED", False, "refused: I cannot")
    assert verdict(language(), quick=LanguageScore(language_name="Marathi")).status == "UNJUDGED"


def test_one_answer_of_two_judges_is_a_verdict():
    assert verdict(language(), quick=unjudged(), full=score()).status == "PASS"
    assert verdict(language(), quick=score(grammar_score=1), full=unjudged()).status == "FAIL"
    assert verdict(language(), quick=unjudged(), full=unjudged()).status == "UNJUDGED"


def test_one_judge_that_fails_it_is_enough():
    made = verdict(language(), quick=score(), full=score(coherence_score=2))

    assert (made.status, made.reason) == ("FAIL", "full: coherence 2/5")


def test_a_judge_that_passes_hindi_for_marathi_is_in_conflict_with_the_check():
    made = verdict(language(HINDI), quick=score())

    assert made.status == "CONFLICT"
    assert made.looks_like == "Hindi"
    assert "Hindi" in made.reason
    assert made.disagreements == ("quick says that it is Marathi, the check is sure that it is Hindi",)


def test_a_judge_that_fails_hindi_for_marathi_is_in_no_conflict():
    made = verdict(language(HINDI), quick=score(is_correct_language=False))

    assert (made.status, made.looks_like, made.disagreements) == ("FAIL", "Hindi", ())


def test_without_judges_another_language_is_no_conflict_but_is_told():
    made = verdict(language(HINDI))

    assert (made.status, made.script_only, made.looks_like) == ("PASS", True, "Hindi")
    assert made.problems["wrong_language"] >= 4


def test_without_an_answer_there_is_no_conflict():
    assert verdict(language(HINDI), quick=unjudged()).status == "UNJUDGED"


@pytest.mark.parametrize(("wrong", "status"), [(1, "PASS"), (2, "CONFLICT")])
def test_one_in_five_outputs_may_be_another_language_and_two_may_not(wrong, status):
    assert verdict(language(HINDI[:wrong] + MARATHI[wrong:]), quick=score()).status == status


def test_a_language_that_nobody_knows_and_nobody_judged_does_not_pass():
    made = verdict(language(["blip blop"], name="Klingon", code="tlh"))

    assert (made.status, made.script_only) == ("UNJUDGED", False)
    assert (made.script_checked, made.script_passed) == (0, 0)


def test_a_language_that_nobody_knows_goes_by_the_file_and_by_its_judges():
    unknown = {"name": "Klingon", "code": "tlh"}

    assert verdict(language(["blip"], **unknown, script=True)).status == "PASS"
    assert verdict(language(["blip"], **unknown, script=False)).status == "FAIL"
    assert verdict(language(["blip"], **unknown), quick=score()).status == "PASS"
    assert verdict(language(["blip"], **unknown), quick=score(script_score=1)).status == "FAIL"


def test_judges_that_come_to_different_verdicts_disagree():
    made = verdict(language(), quick=score(), full=score(grammar_score=2))

    assert made.disagreements == ("quick says PASS, full says FAIL", "grammar: quick 4, full 2")


def test_scores_two_points_apart_are_a_disagreement_and_less_is_none():
    assert verdict(language(), quick=score(script_score=3), full=score(script_score=5)).disagreements == (
        "script: quick 3, full 5",
    )
    assert verdict(language(), quick=score(script_score=3), full=score(script_score=4.9)).disagreements == ()


def test_a_judge_without_an_answer_disagrees_with_nobody():
    assert verdict(language(), quick=unjudged(), full=score(grammar_score=1)).disagreements == ()
    assert verdict(language(), quick=score(script_score=None), full=score(script_score=5)).disagreements == ()


@pytest.mark.parametrize("priority", ["must-have", "mustHave", "must have", "MUST_HAVE", "Must-Have"])
def test_the_highest_priority_may_be_spelled_in_many_ways(priority):
    assert is_must_have(priority)
    assert verdict(language(priority=priority)).is_priority


@pytest.mark.parametrize("priority", ["", "standard", "nice-to-have", "must", "not must-have", "mustHave2!x"])
def test_no_other_priority_is_the_highest(priority):
    assert not is_must_have(priority)


@pytest.mark.parametrize(("given", "family"), [("cjk", "CJK"), ("CJK", "CJK"), ("", "CJK"), ("own", "own")])
def test_a_script_family_is_written_in_one_spelling(given, family):
    assert verdict(language(["水"], name="Chinese", code="zh", script_family=given)).family == family


def test_the_mean_speed_is_of_the_prompts_that_have_one():
    prompts = [PromptResult(generated_output="x", tokens_per_second=each) for each in (10.0, None, 20.0, 0.0)]

    assert verdict(LanguageResult(language_name="Marathi", prompts=tuple(prompts))).tokens_per_second == 10.0
    assert verdict(language()).tokens_per_second is None


SCORES = st.builds(
    LanguageScore,
    language_name=st.just("Marathi"),
    script_score=st.none() | st.floats(1, 5),
    grammar_score=st.none() | st.floats(1, 5),
    coherence_score=st.none() | st.floats(1, 5),
    is_correct_language=st.none() | st.booleans(),
    error=st.sampled_from(["", "", "timeout"]),
)


@given(st.integers(0, 12), st.integers(0, 12), st.dictionaries(st.sampled_from(["quick", "full"]), SCORES))
def test_a_language_passes_only_by_the_rules_of_the_report(passed, failed, scores):
    made = verdict(with_script(passed, failed), **scores)

    assert made.status in STATUSES
    if made.status == "PASS":
        assert 5 * passed >= 4 * (passed + failed) > 0
        assert all(scores_pass(each) is not False for each in scores.values())
        assert made.script_only == (not scores)
    if made.status in ("FAIL", "UNJUDGED", "SKIPPED"):
        assert made.reason
    if made.status == "UNJUDGED":
        assert all(scores_pass(each) is None for each in scores.values())


@given(SCORES)
def test_the_rule_for_scores_is_the_same_for_a_prompt_and_a_language(of_language):
    names = ("script_score", "grammar_score", "coherence_score", "is_correct_language", "error")
    of_prompt = PromptScore(index=0, **{name: getattr(of_language, name) for name in names})

    assert scores_pass(of_prompt) == scores_pass(of_language)


@given(SCORES)
def test_no_verdict_is_never_a_fail_and_an_error_is_no_verdict(given_score):
    found = [
        value
        for value in (given_score.script_score, given_score.grammar_score, given_score.coherence_score)
        if value is not None
    ]
    passed = scores_pass(given_score)

    if given_score.error or (not found and given_score.is_correct_language is None):
        assert passed is None
    elif any(value < 3 for value in found) or given_score.is_correct_language is False:
        assert passed is False


def test_the_unjudged_and_the_skipped_are_in_no_rate(make_report):
    rows = [
        {"languageName": name, "prompts": [{"generatedOutput": "x", "scriptValidationPassed": name != "French"}]}
        for name in ("Spanish", "German", "French", "Thai")
    ]
    rows.append({"languageName": "Lao", "prompts": []})

    report = make_report(rows, quick=[{"languageName": "Thai", "error": "timeout"}])

    assert [report.count(status) for status in STATUSES] == [2, 1, 0, 0, 1, 1]
    assert (report.total, report.judged) == (5, 3)
    assert [(row.family, row.rate, row.other) for row in report.families() if row.rate is None] == [
        ("Lao", None, 1),
        ("Thai", None, 1),
    ]
