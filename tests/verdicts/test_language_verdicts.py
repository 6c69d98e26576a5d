"""Every status of a language, and the limits between them."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyjudge.checks.checker import TextChecker
from polyjudge.languages.table import language_table
from polyjudge.records.translation import LanguageResult, LanguageScore, PromptResult, PromptScore
from polyjudge.verdicts.items import STATUSES
from polyjudge.verdicts.translation import (
    family_totals,
    is_enough,
    is_must_have,
    language_verdict,
    scores_pass,
    status_label,
    totals,
)

TABLE = language_table()
CHECKER = TextChecker(TABLE)
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
    """Return a language with so many outputs in the right script by its file."""
    prompts = [PromptResult(generated_output=MARATHI[0], script_validation_passed=True)] * passed
    prompts += [PromptResult(generated_output=MARATHI[0], script_validation_passed=False)] * failed
    return LanguageResult(language_name="Marathi", language_code="mr", prompts=tuple(prompts))


def score(**values):
    return LanguageScore(language_name="Marathi", **{**GOOD, **values})


def unjudged(error="refused: no"):
    return LanguageScore(language_name="Marathi", error=error)


def verdict(of, **scores):
    return language_verdict(of, CHECKER.check_outputs(of), scores, TABLE)


def test_without_judges_a_clean_language_is_checked_and_names_what_was_not_judged():
    made = verdict(language())

    assert (made.status, made.script_only, made.reason) == ("CHECKED", True, "")
    assert made.not_judged == ("grammar", "meaning")
    assert status_label(made) == "CHECKED (script-only; grammar, meaning not judged)"
    assert (made.prompts, made.script_checked, made.script_passed) == (5, 5, 5)


@pytest.mark.parametrize("values", [{}, {"coherence_score": 5}, {"coherence_score": 1, "is_correct_language": False}])
def test_the_scores_of_offline_do_not_count_as_a_judge(values):
    made = verdict(language(), full=score(**{"grammar_score": None, "judge": "offline"} | values))

    assert (made.status, made.script_only) == ("CHECKED", True)
    assert verdict(language(HINDI), full=score(judge="offline")).status == "FAIL"
    nothing = LanguageScore(language_name="Marathi", error="nothing to see", judge="offline")
    assert verdict(language(), full=nothing).status == "CHECKED"
    assert verdict(language(), full=score(judge="offline"), quick=score()).status == "PASS"


def test_without_judges_the_wrong_script_fails_by_the_checks():
    made = verdict(language(["I need your help, please call a doctor."] * 5))

    assert (made.status, made.script_only) == ("FAIL", True)
    assert made.reason == "5 of 5 outputs fail the checks (wrong script 5)"


@pytest.mark.parametrize("scores", [{}, {"quick": score()}, {"quick": unjudged()}])
@pytest.mark.parametrize(("bad", "fails"), [(1, False), (2, True)])
def test_findings_of_any_kind_fail_a_language_with_and_without_scores(scores, bad, fails):
    outputs = ["मदत " * 60, ""][:bad] + MARATHI[bad:]

    made = verdict(language(outputs), **scores)

    assert (made.checked_outputs, made.failing_outputs, made.passes_checks) == (5, bad, not fails)
    assert (made.status == "FAIL") is fails
    if fails:
        assert made.reason == "2 of 5 outputs fail the checks (empty 1, repetition 1)"


def test_a_pass_without_a_trust_card_is_labelled():
    assert status_label(verdict(language(), quick=score())) == "PASS (judge not calibrated)"


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


def test_the_wrong_script_fails_with_any_scores():
    made = verdict(with_script(3, 2), quick=score())

    assert (made.status, made.script_only) == ("FAIL", False)
    assert made.reason == "2 of 5 outputs fail the checks (wrong script 2)"


@pytest.mark.parametrize(
    ("passed", "failed", "status"),
    [
        (4, 1, "CHECKED"),
        (3, 1, "FAIL"),
        (28, 7, "CHECKED"),
        (27, 8, "FAIL"),
        (8, 2, "CHECKED"),
        (79, 21, "FAIL"),
        (80, 20, "CHECKED"),
        (1, 0, "CHECKED"),
        (0, 1, "FAIL"),
        (44, 11, "CHECKED"),
        (56, 14, "CHECKED"),
    ],
)
def test_four_fifths_in_the_right_script_are_enough_and_one_less_is_not(passed, failed, status):
    assert verdict(with_script(passed, failed)).status == status


@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_the_needed_share_is_exact_for_all_counts(part, more):
    assert is_enough(part, part + more) == (5 * part >= 4 * (part + more))


def test_a_script_that_the_file_or_our_own_check_finds_wrong_fails():
    assert verdict(language(script=False)).status == "FAIL"
    assert verdict(language(["only English here"] * 5, script=True)).status == "FAIL"
    assert verdict(language(["only English here"] * 5, script=True)).script_passed == 5


def test_a_language_without_a_usable_prompt_is_skipped():
    for scores in ({}, {"quick": score()}, {"quick": unjudged()}):
        made = verdict(language([]), **scores)

        assert (made.status, made.script_only, made.reason) == ("SKIPPED", False, "no usable prompt")


def test_a_judge_without_an_answer_leaves_the_language_unjudged():
    made = verdict(language(), quick=unjudged("refused: I cannot"))

    assert (made.status, made.script_only, made.reason) == ("UNJUDGED", False, "refused: I cannot")
    assert verdict(language(), quick=LanguageScore(language_name="Marathi")).status == "UNJUDGED"


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"grammar_score": None}, "quick: no grammar"),
        ({"grammar_score": None, "coherence_score": None}, "quick: no grammar, coherence"),
        ({"is_correct_language": None}, "quick: no answer about the language"),
    ],
)
def test_a_missing_score_prevents_a_pass(values, reason):
    made = verdict(language(), quick=score(**values))

    assert (made.status, made.reason) == ("UNJUDGED", reason)
    assert verdict(language(), quick=score(**values | {"script_score": 1})).status == "FAIL"


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
    assert made.disagreements == ("quick says that it is Marathi, the language check identifies Hindi",)


def test_a_judge_that_fails_hindi_for_marathi_does_not_conflict_with_the_check():
    made = verdict(language(HINDI), quick=score(is_correct_language=False))

    assert (made.status, made.looks_like, made.disagreements) == ("FAIL", "Hindi", ())
    assert made.reason.endswith("(wrong language 5); quick: wrong language")


def test_without_judges_another_language_fails():
    made = verdict(language(HINDI))

    assert (made.status, made.script_only, made.looks_like) == ("FAIL", True, "Hindi")
    assert made.problems["wrong_language"] >= 4


def test_without_an_answer_there_is_no_conflict():
    assert verdict(language(HINDI), quick=unjudged()).status == "FAIL"


def test_findings_about_anything_but_the_language_are_no_conflict():
    assert verdict(language(["", "", *HINDI[2:]]), quick=score()).status == "FAIL"
    assert verdict(language(["", *HINDI[1:]]), quick=score()).status == "CONFLICT"


@pytest.mark.parametrize(("wrong", "status"), [(1, "PASS"), (2, "CONFLICT")])
def test_one_in_five_outputs_may_be_another_language_and_two_may_not(wrong, status):
    assert verdict(language(HINDI[:wrong] + MARATHI[wrong:]), quick=score()).status == status


def test_an_unknown_language_without_scores_does_not_pass():
    made = verdict(language(["blip blop"], name="Klingon", code="tlh"))

    assert (made.status, made.script_only) == ("UNJUDGED", False)
    assert (made.script_checked, made.script_passed, made.passes_checks) == (0, 0, None)


def test_an_unknown_language_is_decided_by_its_file_and_judges():
    unknown = {"name": "Klingon", "code": "tlh"}

    by_file = verdict(language(["blip"], **unknown, script=True))

    assert (by_file.status, by_file.not_judged) == ("CHECKED", ("language", "grammar", "meaning"))
    assert verdict(language(["blip"], **unknown, script=False)).status == "FAIL"
    assert verdict(language(["blip"], **unknown), quick=score()).status == "PASS"
    assert verdict(language(["blip"], **unknown), quick=score(script_score=1)).status == "FAIL"


def test_judges_with_different_verdicts_disagree():
    made = verdict(language(), quick=score(), full=score(grammar_score=2))

    assert made.disagreements == ("quick says PASS, full says FAIL", "grammar: quick 4, full 2")


def test_a_difference_of_two_points_is_a_disagreement_and_less_is_not():
    assert verdict(language(), quick=score(script_score=3), full=score(script_score=5)).disagreements == (
        "script: quick 3, full 5",
    )
    assert verdict(language(), quick=score(script_score=3), full=score(script_score=4.9)).disagreements == ()


def test_a_judge_without_an_answer_does_not_disagree():
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


def test_the_mean_speed_is_over_prompts_with_a_speed():
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
def test_a_language_passes_exactly_by_the_pass_rule(passed, failed, scores):
    made = verdict(with_script(passed, failed), **scores)

    assert made.status in STATUSES
    if made.status in ("PASS", "CHECKED"):
        assert 5 * passed >= 4 * (passed + failed) > 0
        assert all(scores_pass(each) is not False for each in scores.values())
        assert made.script_only == (not scores) == (made.status == "CHECKED")
    if made.status == "PASS":
        assert any(scores_pass(each) for each in scores.values())
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


def test_the_unjudged_and_the_skipped_are_in_no_rate():
    thai = LanguageResult(language_name="Thai", prompts=(PromptResult(generated_output="สวัสดีครับ"),))
    found = totals(
        [
            verdict(language()),
            verdict(language(), quick=score()),
            verdict(with_script(0, 5)),
            verdict(thai, quick=unjudged("timeout")),
            verdict(LanguageResult(language_name="Lao")),
        ]
    )

    assert dict(found.counts) == {
        "PASS": 1,
        "CHECKED": 1,
        "FAIL": 1,
        "CONFLICT": 0,
        "UNRELIABLE": 0,
        "UNJUDGED": 1,
        "SKIPPED": 1,
    }
    assert (found.languages, found.decided, found.without_failure, found.rate) == (5, 3, 2, 2 / 3)
    assert found.interval("UNJUDGED") is None
    assert totals([]).rate is None


@given(st.lists(st.tuples(st.sampled_from(STATUSES), st.sampled_from(["Latin", "Thai", ""]))))
def test_totals_by_family_add_up_to_the_totals(pairs):
    made = [replace(verdict(language([])), status=status, family=family) for status, family in pairs]
    families, overall = family_totals(made), totals(made)

    assert sum(each.languages for each in families.values()) == overall.languages == len(pairs)
    for status in STATUSES:
        assert sum(each.counts[status] for each in families.values()) == overall.counts[status]
    assert overall.fails_gate == any(status in ("FAIL", "CONFLICT", "UNRELIABLE") for status, _ in pairs)
