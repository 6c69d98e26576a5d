"""A card over several runs: earlier measurements stay, and a small run does not replace a large one."""

import pytest
from msgspec.structs import replace

from polyjudge.calibration.cards import new_card, with_agreement, with_effects, with_measurement
from polyjudge.calibration.measurement import Measurement
from polyjudge.records.calibration import (
    ControlResult,
    Effect,
    Figure,
    JudgeIdentity,
    LanguageTrust,
    MonotonicityResult,
)

JUDGE = JudgeIdentity(
    provider="claude-code",
    model="opus",
    rubric="translation",
    rubric_fingerprint="0123456789abcdef",
    prompt_sha256="aa" * 32,
    model_answered="opus-2026-01",
)
EMPTY = new_card(None, JUDGE, at="2026-01-01T00:00:00Z")


def kind(name="typos", texts=20, verdict="reliable"):
    return MonotonicityResult(perturbation=name, texts=texts, auc=Figure(0.9, 0.8, 1.0), verdict=verdict)


def trust(comparisons=100, verdict="reliable", **more):
    return LanguageTrust(verdict=verdict, comparisons=comparisons, texts=comparisons // 4, **more)


def run(languages, **more):
    return Measurement(languages, **more)


def test_a_new_card_has_only_the_judge():
    assert (EMPTY.judge, EMPTY.updated_at, EMPTY.languages, EMPTY.runs) == (JUDGE, "2026-01-01T00:00:00Z", {}, ())
    assert EMPTY.polyjudge_version


def test_a_language_that_was_not_measured_again_stays():
    card = with_measurement(EMPTY, run({"th": trust()}), {})
    card = with_measurement(card, run({"de": trust(verdict="unreliable")}), {})

    assert {tag: each.verdict for tag, each in card.languages.items()} == {"de": "unreliable", "th": "reliable"}


@pytest.mark.parametrize(
    ("first", "second", "verdict"), [(100, 20, "reliable"), (20, 100, "unreliable"), (50, 50, "unreliable")]
)
def test_the_verdict_is_that_of_the_run_with_more_comparisons_or_the_newer_one(first, second, verdict):
    card = with_measurement(EMPTY, run({"th": trust(first, "reliable")}), {})
    card = with_measurement(card, run({"th": trust(second, "unreliable")}), {})

    assert (card.languages["th"].verdict, card.languages["th"].comparisons) == (verdict, max(first, second))


def test_over_all_languages_the_larger_run_counts():
    card = with_measurement(EMPTY, run({}, perturbations={"typos": kind(texts=300)}), {})
    card = with_measurement(
        card, run({}, perturbations={"typos": kind(texts=5, verdict="unreliable"), "loop": kind("loop", 5)}), {}
    )

    assert (card.perturbations["typos"].texts, card.perturbations["loop"].texts) == (300, 5)


def test_controls_of_the_larger_run_count():
    large, small = (ControlResult(control="nfc", texts=texts, false_alarms=Figure(0.1)) for texts in (30, 3))
    card = with_measurement(
        with_measurement(EMPTY, run({}, controls={"nfc": large}), {}), run({}, controls={"nfc": small}), {}
    )

    assert card.controls["nfc"] == large


def test_languages_and_kinds_are_sorted():
    card = with_measurement(
        EMPTY, run({"th": trust(), "am": trust()}, perturbations={"typos": kind(), "loop": kind("loop")}), {}
    )

    assert (list(card.languages), list(card.perturbations)) == (["am", "th"], ["loop", "typos"])


def test_a_card_records_the_last_fifty_runs():
    card = EMPTY
    for number in range(60):
        card = with_measurement(card, run({}), {"number": number})

    assert [each["number"] for each in card.runs] == list(range(10, 60))


def test_agreement_is_added_to_the_measurements():
    card = with_measurement(EMPTY, run({"th": trust()}), {})
    card = with_agreement(
        card, {"": (40, {"kappa": Figure(0.5)}), "th": (30, {"kappa": Figure(0.4)})}, {"kind": "agreement"}
    )

    assert (card.languages["th"].verdict, card.languages["th"].labels) == ("reliable", 30)
    assert (card.labels, card.agreement["kappa"].value) == (40, 0.5)


def test_a_later_measurement_keeps_the_agreement():
    card = with_agreement(EMPTY, {"": (40, {"kappa": Figure(0.5)}), "th": (30, {"kappa": Figure(0.4)})}, {})
    card = with_measurement(card, run({"th": trust()}), {})

    assert (card.languages["th"].verdict, card.languages["th"].labels) == ("reliable", 30)
    assert card.languages["th"].agreement["kappa"].value == 0.4


def test_an_effect_replaces_its_older_measurement_and_keeps_the_others():
    first = {
        "length": Effect(name="length", about="", size=Figure(0.1)),
        "position": Effect(name="position", about="", size=Figure(0.5)),
    }
    card = with_effects(EMPTY, first, {})
    card = with_effects(card, {"length": Effect(name="length", about="", size=Figure(0.3))}, {})

    assert {name: each.size.value for name, each in card.effects.items()} == {"length": 0.3, "position": 0.5}


def test_an_effect_without_a_figure_does_not_replace_one():
    card = with_effects(EMPTY, {"length": Effect(name="length", about="", size=Figure(0.1))}, {})
    card = with_effects(
        card, {"length": Effect(name="length", about="", sentence="Not enough data: 2 comparisons, 5 are needed.")}, {}
    )

    assert card.effects["length"].size.value == 0.1


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("model", "sonnet"),
        ("provider", "x"),
        ("rubric_fingerprint", "ff"),
        ("prompt_sha256", "bb"),
        ("model_answered", "opus-2"),
    ],
)
def test_a_judge_that_has_changed_gets_a_new_card(field, value):
    card = with_measurement(EMPTY, run({"th": trust()}), {})
    fresh = new_card(card, replace(JUDGE, **{field: value}), at="2026-02-02T00:00:00Z")

    assert (fresh.languages, fresh.runs, fresh.updated_at) == ({}, (), "2026-02-02T00:00:00Z")
    assert getattr(fresh.judge, field) == value


def test_a_judge_whose_answering_model_is_not_known_this_time_keeps_the_card_and_its_model():
    card = with_measurement(EMPTY, run({"th": trust()}), {})
    again = new_card(card, replace(JUDGE, model_answered=""), at="2026-02-02T00:00:00Z")

    assert set(again.languages) == {"th"}
    assert again.judge.model_answered == "opus-2026-01"
    assert again.updated_at == "2026-02-02T00:00:00Z"


def test_a_judge_whose_prompt_is_not_known_this_time_keeps_that_of_the_card():
    assert new_card(EMPTY, replace(JUDGE, prompt_sha256=""), at="").judge.prompt_sha256 == JUDGE.prompt_sha256


def test_a_small_run_does_not_replace_a_kind_of_a_large_one():
    card = with_measurement(EMPTY, run({"th": trust(100, perturbations={"typos": kind(texts=20)})}), {})
    few = trust(1, "not enough data", perturbations={"typos": kind(texts=1, verdict="not enough data")})
    card = with_measurement(card, run({"th": few}), {})

    assert card.languages["th"].perturbations["typos"].texts == 20


def test_earlier_false_alarms_stay_if_a_run_measures_none():
    card = with_measurement(EMPTY, run({"th": trust(40, false_alarms=Figure(0.2, 0.1, 0.3))}), {})
    card = with_measurement(card, run({"th": trust(100)}), {})

    assert card.languages["th"].false_alarms.value == 0.2


def test_false_alarms_measured_by_a_run_of_controls_alone_are_added():
    card = with_measurement(EMPTY, run({"th": trust(100)}), {})
    card = with_measurement(card, run({"th": trust(0, "not enough data", false_alarms=Figure(0.2, 0.1, 0.3))}), {})

    assert card.languages["th"].false_alarms.value == 0.2


def test_an_agreement_with_fewer_labels_does_not_replace_one_with_more():
    card = with_agreement(EMPTY, {"": (100, {"kappa": Figure(0.5)}), "th": (100, {"kappa": Figure(0.5)})}, {})
    card = with_agreement(card, {"": (1, {}), "th": (1, {})}, {})

    assert (card.languages["th"].labels, card.agreement["kappa"].value) == (100, 0.5)
    assert card.languages["th"].agreement["kappa"].value == 0.5


def test_the_number_of_labels_is_that_of_the_figures():
    card = with_agreement(EMPTY, {"": (100, {"kappa": Figure(0.5)})}, {})

    assert with_agreement(card, {"": (1, {})}, {}).labels == 100


def test_labels_without_a_language_do_not_add_a_language():
    from polyjudge.calibration.agreement import AgreementOptions, Pair, agreement_by_language

    pairs = [Pair(id=str(n), judge=n % 3, people=n % 3, language="th" if n % 2 else "") for n in range(20)]
    card = with_agreement(EMPTY, agreement_by_language(pairs, AgreementOptions(resamples=100)), {})

    assert set(card.languages) <= {"th", ""}
