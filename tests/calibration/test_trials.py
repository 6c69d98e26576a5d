"""Which trials are planned, in which order, and how many."""

import pytest

from polyjudge.calibration.measurement import share_of_scale, text_context, trial_item
from polyjudge.calibration.perturbations import CONTROL_TYPES, PERTURBATION_TYPES
from polyjudge.calibration.trials import CLEAN, TrialOptions, chosen_texts, edit_context, plan_trials
from polyjudge.errors import ConfigError
from polyjudge.formats.reference_texts import sample_texts
from polyjudge.languages.table import language_table
from polyjudge.records.calibration import ReferenceText
from polyjudge.records.outcomes import Failure, JudgeResult
from polyjudge.records.rubrics import PassRule, Rubric, RubricCriterion, Scale

TABLE = language_table()
SAMPLE = sample_texts()
FEW = [text for text in SAMPLE if text.language in ("en", "de", "th", "hi", "ja")]
TYPES = ("drop_words", "typos", "truncate", "shuffle_words")


def plan(texts=FEW, **options):
    return plan_trials(texts, TrialOptions(**{"types": TYPES, "severities": (0.5, 1.0), **options}), TABLE)


def by_text(trials):
    found = {}
    for trial in trials:
        found.setdefault((trial.text.language, trial.text.id), []).append(trial)
    return found


def test_no_trial_is_planned_twice_and_ids_are_unique():
    trials = plan(types=(*PERTURBATION_TYPES, *CONTROL_TYPES)).trials

    assert len({trial.id for trial in trials}) == len(trials)
    for asked in by_text(trials).values():
        assert len({trial.candidate for trial in asked}) == len(asked)


def test_every_text_has_a_clean_trial_before_its_others():
    for asked in by_text(plan().trials).values():
        assert (asked[0].kind, asked[0].severity, asked[0].candidate) == (CLEAN, 0.0, asked[0].text.text)
        assert all(trial.kind != CLEAN and trial.candidate != trial.text.text for trial in asked[1:])


def test_a_text_that_no_perturbation_changes_has_no_trials():
    texts = [ReferenceText(id="a", text="12", language="en"), ReferenceText(id="b", text="   ", language="en")]

    assert plan(texts, types=("shuffle_sentences",)).trials == ()


def test_a_repeated_version_refers_to_the_trial_of_the_same_text():
    texts = [ReferenceText(id="a", text="good morning", language="en")]
    found = plan(texts, types=("drop_words", "truncate"), severities=(0.25, 0.5, 0.75, 1.0))
    names = {trial.id for trial in found.trials}

    assert found.repeats
    assert all(known in names for _, known in found.repeats)


def test_controls_have_one_trial_per_text():
    trials = plan(types=("white_space",), severities=(0.25, 0.5, 1.0)).trials

    assert {trial.severity for trial in trials if trial.kind == "white_space"} == {1.0}


def test_texts_per_language_are_limited_to_the_same_contents_everywhere():
    chosen = chosen_texts(SAMPLE, 2, seed=3)
    whole = {tag: texts for tag, texts in chosen.items() if sum(text.language == tag for text in SAMPLE) == 5}

    assert {len(texts) for texts in chosen.values()} == {2}
    assert len({tuple(text.source for text in texts) for texts in whole.values()}) == 1
    assert chosen_texts(SAMPLE, 2, seed=4) != chosen


def test_the_order_of_texts_does_not_change_the_plan():
    assert {trial.id for trial in plan(FEW).trials} == {trial.id for trial in plan(FEW[::-1]).trials}
    assert {trial.candidate for trial in plan(FEW).trials} == {trial.candidate for trial in plan(FEW[::-1]).trials}


def test_the_same_options_give_the_same_plan_and_another_seed_another():
    assert plan() == plan()
    assert plan(seed=1) != plan()


# Budget


def test_a_budget_that_is_large_enough_keeps_all_trials():
    whole = plan()

    assert plan(budget=len(whole.trials)) == whole
    assert (plan(budget=10**6).left_out, whole.left_out) == (0, 0)


@pytest.mark.parametrize("budget", [1, 2, 5, 6, 7, 11, 20, 40, 80])
def test_a_budget_is_never_exceeded_and_excluded_trials_are_counted(budget):
    found, whole = plan(budget=budget), plan()

    assert len(found.trials) <= budget
    assert len(found.trials) + found.left_out == len(whole.trials)


@pytest.mark.parametrize("budget", [11, 20, 40, 80])
def test_within_a_budget_every_clean_text_has_a_perturbed_one(budget):
    for asked in by_text(plan(budget=budget).trials).values():
        assert asked[0].kind == CLEAN
        assert any(trial.kind != CLEAN for trial in asked)


def test_a_small_budget_has_only_full_severity():
    perturbed = [trial for trial in plan(budget=60).trials if trial.kind != CLEAN]

    assert {trial.severity for trial in perturbed} == {1.0}


def test_a_small_budget_covers_every_language_and_every_kind():
    found = plan(budget=15)

    assert found.languages == ("de", "en", "hi", "ja", "th")
    assert {trial.kind for trial in found.trials} - {CLEAN} == set(TYPES)


def test_texts_with_more_possible_perturbations_come_first():
    texts = [
        ReferenceText(id="poor", text="12 14", language="en"),
        ReferenceText(id="rich", text="On 3 May Anna did not come. She was ill and stayed in bed.", language="en"),
    ]
    found = plan(texts, types=PERTURBATION_TYPES, budget=2)

    assert {trial.text.id for trial in found.trials} == {"rich"}


@pytest.mark.parametrize("budget", [10, 70, 100])
def test_a_budget_is_used(budget):
    found = plan(SAMPLE, types=("drop_words", "typos"), severities=(1.0,), budget=budget)

    assert len(found.trials) >= 0.8 * budget


# Options


@pytest.mark.parametrize("severities", [(), (0.0, 1.0), (0.5, 1.5), (-0.1, 1.0), (0.5,), (float("nan"), 1.0)])
def test_severities_outside_0_to_1_or_without_1_are_refused(severities):
    with pytest.raises(ConfigError):
        TrialOptions(severities=severities)


def test_an_unknown_kind_is_refused_with_the_known_ones():
    with pytest.raises(ConfigError, match="drop_words"):
        TrialOptions(types=("drop_wrds",))


# The context of a perturbation


def test_a_perturbation_has_the_source_a_neighbouring_language_and_other_texts():
    chosen = chosen_texts(SAMPLE, 5, 0)
    shared = {text.source for tag in ("mr", "ne") for text in chosen[tag]}
    text = next(text for text in chosen["hi"] if text.source in shared)
    around = edit_context(text, chosen, TABLE)

    assert around.source == text.source
    assert around.neighbour in {other.text for tag in ("mr", "ne") for other in chosen[tag]}
    assert set(around.others) == {other.text for other in chosen["hi"] if other is not text}


def test_texts_without_a_source_can_be_perturbed_with_one_another():
    texts = [
        ReferenceText(id=str(place), text=f"{start} goes to the old town. It is a long way there.", language="en")
        for place, start in enumerate(("Anna", "The train", "Nobody", "My friend"))
    ]
    kinds = {trial.kind for trial in plan(texts, types=("other_text", "add_sentence")).trials}

    assert kinds == {CLEAN, "other_text", "add_sentence"}


def test_two_texts_with_one_id_are_refused_within_a_language():
    texts = [ReferenceText(id="a", text=f"{start} goes to town today.", language="en") for start in ("Anna", "Nobody")]
    try:
        trials = plan(texts).trials
    except ConfigError:
        return
    assert len({trial.id for trial in trials}) == len(trials)


# What a judge is shown, and the share of the scale


def test_a_model_is_shown_the_name_of_the_language_and_the_checks_only_its_tag():
    text = ReferenceText(id="a", text="x", language="th", source="Hello", context={"context": "a shop"})

    assert text_context(text, TABLE, by_tag=False) == {"language": "Thai (ไทย)", "source": "Hello", "context": "a shop"}
    assert text_context(text, TABLE, by_tag=True) == {"source": "Hello", "context": "a shop"}
    assert text_context(ReferenceText(id="a", text="x", language="tlh-x"), TABLE, by_tag=False)["language"] == "tlh-x"


def test_a_judge_does_not_see_that_a_text_was_perturbed():
    for trial in plan().trials[:40]:
        item = trial_item(trial, TABLE, by_tag=False)
        assert not any(trial.kind and trial.kind in value for value in item.context.values())


def test_a_score_is_converted_to_its_share_of_the_scale():
    rubric = Rubric(
        name="r",
        instruction="",
        criteria=(RubricCriterion("c", ""),),
        scale=Scale(1, 5),
        passing=PassRule(3, ("isCorrectLanguage",)),
    )

    assert [share_of_scale(rubric, JudgeResult(score, "")) for score in (1, 3, 5)] == [0, 0.5, 1]
    assert share_of_scale(rubric, JudgeResult(5, "", flags={"isCorrectLanguage": False})) == 0
    assert share_of_scale(rubric, JudgeResult(5, "", flags={"isCorrectLanguage": True, "other": False})) == 1
    assert share_of_scale(rubric, Failure("no")) is None
