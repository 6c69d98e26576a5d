"""From scores to a measurement: judged, failed and missing trials."""

import dataclasses

import pytest
from msgspec.structs import replace

from polyjudge.calibration.measurement import measure_judge
from polyjudge.calibration.trials import CLEAN, TrialOptions, TrialPlan, plan_trials
from polyjudge.formats.reference_texts import sample_texts
from polyjudge.languages.table import language_table
from polyjudge.records.calibration import Figure, ReferenceText

TABLE = language_table()
SEVERITIES = (0.5, 1.0)
TYPES = ("drop_words", "typos", "truncate", "shuffle_words", "white_space")
TEXTS = [text for text in sample_texts() if text.language in ("en", "de", "th", "hi")]


def planned(texts=TEXTS, **options):
    return plan_trials(texts, TrialOptions(**{"types": TYPES, "severities": SEVERITIES, **options}), TABLE)


def falling(trial):
    return 0.9 if trial.kind in (CLEAN, "white_space") else 0.9 - 0.6 * trial.severity


def measured(plan, score=falling):
    return measure_judge(plan, {trial.id: score(trial) for trial in plan.trials}, SEVERITIES, measured_at="now")


def test_a_judge_whose_score_falls_linearly_has_the_figures_of_that_line():
    found = measured(planned())

    assert set(found.perturbations) == set(TYPES) - {"white_space"}
    for each in found.perturbations.values():
        assert each.drop.value == pytest.approx(0.6, abs=1e-3)
        assert [point.score.value for point in each.curve] == pytest.approx([0.9, 0.6, 0.3], abs=1e-3)
    assert found.controls["white_space"].false_alarms.value == 0
    assert {trust.measured_at for trust in found.languages.values()} == {"now"}


def test_judged_and_failed_trials_add_up():
    plan = planned()
    found = measured(plan, lambda trial: None if trial.kind == "typos" else falling(trial))

    assert found.judged + found.unjudged == len(plan.trials)
    assert found.unjudged == sum(trial.kind == "typos" for trial in plan.trials)
    assert found.texts == len(TEXTS)
    assert (found.perturbations["typos"].texts, found.perturbations["typos"].verdict) == (0, "not enough data")
    assert found.perturbations["typos"].unjudged == found.unjudged
    assert found.perturbations["truncate"].unjudged == 0


def test_a_trial_that_was_never_judged_is_not_a_failure():
    plan = planned()
    scores = {trial.id: falling(trial) for trial in plan.trials if trial.severity != 0.5}
    found = measure_judge(plan, scores, SEVERITIES)

    assert found.unjudged == 0
    assert found.perturbations["typos"].unjudged == 0
    assert found.perturbations["typos"].drop.value == pytest.approx(0.6, abs=1e-3)
    assert found.perturbations["typos"].curve[1].score == Figure()


def test_without_answers_every_language_has_not_enough_data():
    found = measured(planned(), lambda _: None)

    assert {trust.verdict for trust in found.languages.values()} == {"not enough data"}
    assert {trust.discrimination for trust in found.languages.values()} == {Figure()}
    assert {trust.false_alarms for trust in found.languages.values()} == {Figure()}
    assert found.judged == 0


def test_an_empty_plan_measures_nothing():
    found = measure_judge(TrialPlan(()), {}, SEVERITIES)

    assert (found.languages, found.perturbations, found.controls, found.texts) == ({}, {}, {}, 0)


def test_fewer_than_twenty_comparisons_are_not_enough_for_a_language():
    three_kinds = measured(planned(types=TYPES[:3]))
    four_kinds = measured(planned(types=TYPES[:4]))

    assert {trust.comparisons for trust in three_kinds.languages.values()} == {15}
    assert {trust.verdict for trust in three_kinds.languages.values()} == {"not enough data"}
    assert {trust.verdict for trust in four_kinds.languages.values()} == {"reliable"}


def test_controls_do_not_count_for_the_verdict_on_a_language():
    found = measured(planned(), lambda trial: 0.1 if trial.kind == "white_space" else falling(trial))
    trust = found.languages["de"]

    assert (trust.verdict, trust.discrimination.value) == ("reliable", 1.0)
    assert trust.false_alarms.value == 1.0
    assert "white_space" not in trust.perturbations


def test_a_language_with_only_controls_has_no_verdict():
    found = measured(planned(types=("white_space",)))

    assert {trust.verdict for trust in found.languages.values()} == {"not enough data"}
    assert {trust.comparisons for trust in found.languages.values()} == {0}
    assert found.languages["de"].false_alarms.value == 0


def test_a_repeated_version_has_the_score_of_the_version_that_was_judged():
    texts = [
        ReferenceText(id=str(place), text=f"good {word}", language="en")
        for place, word in enumerate(("day", "morning"))
    ]
    plan = planned(texts, types=("drop_words", "truncate"))
    found = measured(plan, lambda trial: 0.8 if trial.kind == CLEAN else 0.3)

    assert plan.repeats
    assert {kind: each.texts for kind, each in found.perturbations.items()} == {"drop_words": 2, "truncate": 2}
    assert {each.drop.value for each in found.perturbations.values()} == {0.5}


def test_texts_without_a_language_are_measured_together():
    texts = [replace(text, language="") for text in TEXTS if text.language == "en"]
    found = measured(planned(texts))

    assert set(found.languages) == {""}
    assert found.languages[""].verdict == "reliable"


def test_the_same_answers_give_the_same_measurement():
    assert measured(planned()) == measured(planned())


def test_the_order_of_the_trials_does_not_change_a_value():
    plan = planned()
    ahead, back = measured(plan), measured(dataclasses.replace(plan, trials=plan.trials[::-1]))

    for kind, each in ahead.perturbations.items():
        other = back.perturbations[kind]
        assert (each.auc.value, each.drop.value, each.texts) == (other.auc.value, other.drop.value, other.texts)
    for tag, trust in ahead.languages.items():
        assert (trust.verdict, trust.discrimination) == (
            back.languages[tag].verdict,
            back.languages[tag].discrimination,
        )


def uneven(trial):
    """Return a different score for every text."""
    return falling(trial) * (0.6 + (sum(map(ord, trial.text.text)) % 40) / 100)


def test_the_order_of_parallel_texts_does_not_change_an_interval():
    assert measured(planned(TEXTS[::-1]), uneven).perturbations == measured(planned(TEXTS), uneven).perturbations


def test_the_order_of_the_texts_does_not_change_an_interval():
    texts = [replace(text, source="") for text in TEXTS]

    assert measured(planned(texts[::-1]), uneven).perturbations == measured(planned(texts), uneven).perturbations


def test_a_control_without_an_effect_has_a_shift_of_zero_without_a_minus():
    assert str(measured(planned()).controls["white_space"].shift.value) == "0.0"


def test_a_failed_trial_of_several_equal_versions_is_counted_once():
    texts = [ReferenceText(id="a", text="good day", language="en")]
    plan = planned(texts, types=("drop_words",))
    assert len(plan.trials) == 2
    found = measured(plan, lambda trial: 0.8 if trial.kind == CLEAN else None)

    assert found.perturbations["drop_words"].unjudged == 1
