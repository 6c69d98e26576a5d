"""The scores of a language are computed from those of its prompts."""

import pytest

from polyjudge.formats.translation_scores import language_score
from polyjudge.records.outcomes import Failure, JudgeResult, Provenance
from polyjudge.records.translation import LanguageResult, PromptResult
from polyjudge.verdicts.translation import scores_pass

THAI = LanguageResult(language_name="Thai", language_code="th", prompts=(PromptResult(generated_output="x"),) * 20)
FROM = Provenance(provider="p", model="m", rubric="translation", rubric_fingerprint="f", prompt_sha256="h")


def result(script=5, grammar=5, coherence=5, right=True, reason=""):
    named = {"script": script, "grammar": grammar, "coherence": coherence}
    return JudgeResult(
        score=3,
        reason=reason,
        subscores={name: float(value) for name, value in named.items() if value is not None},
        flags={} if right is None else {"isCorrectLanguage": right},
        provenance=FROM,
    )


def scored(*outcomes):
    return language_score(THAI, dict(enumerate(outcomes)), "m")


def grammars(*values):
    return scored(*(result(grammar=value) for value in values)).grammar_score


@pytest.mark.parametrize(
    ("values", "score"),
    [
        ([4], 4),
        ([5, 1], 1),
        ([5, 5, 5, 5, 1], 5),
        ([5, 5, 5, 2, 1], 2),
        ([5, 5, 5, 1], 1),
        ([5, 4, 4, 4, 1], 4),
        ([5] * 8 + [1] * 2, 5),
        ([5] * 7 + [1] * 3, 1),
        ([4.5, 4.5, 4.5, 4.5, 1], 4.5),
        ([1, 5, 5, 5, 5], 5),
    ],
)
def test_a_score_is_the_highest_that_four_fifths_of_the_prompts_reach(values, score):
    assert grammars(*values) == score


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        ([True] * 4 + [False], True),
        ([True] * 3 + [False] * 2, False),
        ([False], False),
        ([None], None),
        ([None, True], None),
        ([None, True, True, True, True], True),
        ([None] * 9 + [False], None),
        ([None, False, False, False, False], False),
    ],
)
def test_the_language_is_correct_if_four_fifths_of_the_prompts_are(flags, said):
    assert scored(*(result(right=flag) for flag in flags)).is_correct_language is said


def test_unjudged_prompts_are_counted_and_left_out_of_every_score():
    broken = Failure("overloaded", "transient", provenance=FROM)
    score = scored(result(grammar=4), broken, broken, result(grammar=4), broken)

    assert (score.grammar_score, score.is_correct_language) == (4, True)
    assert (score.judged, score.unjudged, score.error) == (2, 3, "")
    assert score.means == {"script": 5, "grammar": 4, "coherence": 5}
    assert [prompt.error for prompt in score.prompts] == [
        "",
        *["transient: overloaded"] * 2,
        "",
        "transient: overloaded",
    ]
    assert score.prompts[1].grammar_score is None
    assert [prompt.provenance for prompt in score.prompts] == [FROM] * 5


def test_a_language_without_verdicts_has_no_score_and_the_most_common_reason():
    score = scored(Failure("no", "refused"), Failure("what?", "unreadable"), Failure("what?", "unreadable"))

    assert (score.script_score, score.grammar_score, score.coherence_score) == (None, None, None)
    assert score.is_correct_language is None
    assert score.error == "unreadable: what?"
    assert score.means == {}
    assert scores_pass(score) is None


def test_a_language_with_nothing_to_judge_has_an_error():
    score = scored()

    assert (score.error, score.judged, score.unjudged) == ("no prompt to judge", 0, 0)


def test_an_unknown_score_is_left_out_of_the_mean():
    score = scored(result(grammar=None, coherence=None, right=None), result(grammar=None, coherence=2))

    assert (score.script_score, score.grammar_score, score.coherence_score) == (5, None, 2)
    assert score.means == {"script": 5, "coherence": 2}
    assert score.prompts[0].is_correct_language is None


def test_an_unknown_value_counts_neither_as_pass_nor_as_fail():
    """If the result depends on an unknown value, there is none."""
    unknown, good, bad = result(grammar=None), result(grammar=5), result(grammar=1)

    assert scored(*[unknown] * 9, bad).grammar_score is None
    assert scored(unknown, *[bad] * 9).grammar_score == 1
    assert scored(unknown, *[good] * 9).grammar_score == 5


def test_the_notes_are_those_of_the_worst_prompts_without_duplicates():
    score = scored(
        result(reason="fine"),
        result(grammar=2, reason="awkward"),
        result(right=False, reason="this is Lao"),
        result(grammar=1, reason="word salad"),
        result(grammar=2, reason="awkward"),
        result(script=2, reason="mixed"),
    )

    assert score.notes == "this is Lao | word salad | awkward"


def test_if_all_prompts_pass_the_note_is_from_the_first():
    assert scored(Failure("no"), result(reason="fluent"), result(reason="also")).notes == "fluent"
    assert scored(Failure("no")).notes == ""


def test_prompts_are_in_the_order_of_the_file_with_their_index():
    score = language_score(THAI, {7: result(grammar=3), 2: result(grammar=4)}, "m", {"batchSize": 4})

    assert [(prompt.index, prompt.grammar_score) for prompt in score.prompts] == [(2, 4), (7, 3)]
    assert (score.language_name, score.language_code, score.judge) == ("Thai", "th", "m")
    assert score.batching == {"batchSize": 4}


def test_the_mean_is_returned_with_the_score():
    assert scored(result(grammar=5), result(grammar=4), result(grammar=4)).means["grammar"] == pytest.approx(4.3333)
