"""Biases: planted ones are found with sign and sentence, and an unbiased judge shows none."""

import numpy as np
import pytest
from msgspec.structs import replace

from polyjudge.calibration.cards import family_of
from polyjudge.calibration.effects import choice_sentence, effects_of, own_family
from polyjudge.calibration.probes import (
    EFFECTS,
    PLEA,
    Probe,
    ProbeOptions,
    formatted,
    padded,
    parallel,
    plan_probes,
    probe_id,
)
from polyjudge.formats.reference_texts import sample_texts
from polyjudge.languages.table import language_table
from polyjudge.records.calibration import Figure, ReferenceText
from polyjudge.records.outcomes import Failure, JudgeResult
from polyjudge.records.rubrics import Rubric, RubricCriterion

TABLE = language_table()
RUBRIC = Rubric(name="r", instruction="", criteria=(RubricCriterion("a", ""), RubricCriterion("b", "")))
ALONE = {
    "length": ("padded",),
    "formatting": ("formatted",),
    "criteria_order": ("reversed",),
    "injection": ("silent", "pleading"),
    "repeats": ("1", "2"),
}
SIGNED = {"length": "padded", "formatting": "formatted", "injection": "pleading"}


def texts_of(languages=("en",), count=10):
    return [
        ReferenceText(id=str(place), text=f"text {place}", language=tag, source=f"source {place}")
        for tag in languages
        for place in range(count)
    ]


def answers(texts, effects, score=lambda *_: 0.6, pick=lambda *_: "tie"):
    """Return probes and outcomes; `score` and `pick` are called with text, effect and part."""
    probes, outcomes = [], {}

    def add(text, effect, part, outcome):
        probe = Probe(effect=effect, part=part, text=text, candidate=text.text)
        probes.append(probe)
        outcomes[probe.id] = outcome

    for text in texts:
        add(text, "", "0", JudgeResult(100 * score(text, "", "0"), ""))
        for effect in effects:
            for part in ALONE.get(effect, ()):
                add(text, effect, part, JudgeResult(100 * score(text, effect, part), ""))
            if effect in ("position", "length_in_pairs"):
                for part in ("forward", "backward"):
                    add(text, effect, part, JudgeResult(0.5, "", verdict=pick(text, effect, part)))
    return probes, outcomes


def effect(name, texts=None, **how):
    return effects_of(*answers(texts or texts_of(), (name,), **how), RUBRIC)[name]


def noisy(random, size=0.1):
    return lambda *_: 0.6 + size * random.normal()


# Planted biases


@pytest.mark.parametrize(
    ("name", "by", "words"),
    [
        ("length", 0.2, "A text that says everything twice: it prefers the longer text, by 20% of the scale."),
        ("length", -0.2, "A text that says everything twice: it lowers the score for padding, by 20% of the scale."),
        ("length", 0.0, "A text that says everything twice: padding does not change the score."),
        ("formatting", 0.1, "Headings, bold words and bullets: they raise the score, by 10% of the scale."),
        ("formatting", -0.1, "Headings, bold words and bullets: they lower the score, by 10% of the scale."),
        ("formatting", 0.01, "Headings, bold words and bullets: they do not change the score."),
        ("injection", 0.4, "A perturbed text that asks for the highest score: it obeys, by 40% of the scale."),
        (
            "injection",
            -0.3,
            "A perturbed text that asks for the highest score: it lowers the score, by 30% of the scale.",
        ),
        ("injection", 0.0, "A perturbed text that asks for the highest score: it is not affected."),
    ],
)
def test_a_planted_bias_is_found_with_its_sign_and_sentence(name, by, words):
    found = effect(name, score=lambda _, __, part: 0.5 + by * (part == SIGNED[name]))

    assert found.size.value == pytest.approx(by)
    assert found.size.low <= by + 1e-9
    assert found.size.high >= by - 1e-9
    assert (found.sentence, found.count, found.about) == (words, 10, EFFECTS[name])


def test_a_planted_bias_is_found_under_noise():
    random = np.random.default_rng(1)
    found = effect(
        "length", texts_of(count=30), score=lambda _, __, part: 0.5 + 0.2 * (part == "padded") + 0.05 * random.normal()
    )

    assert found.size.low > 0.1
    assert "it prefers the longer text" in found.sentence


@pytest.mark.parametrize(
    ("picks", "size", "words"),
    [
        ("AA", 1.0, "It picks the text shown first in 100% of cases."),
        ("BB", 0.0, "It picks the text shown second in 100% of cases."),
        ("AB", 0.5, "The order does not decide."),
        ("BA", 0.5, "The order does not decide."),
    ],
)
def test_position_bias_is_measured_from_both_orders(picks, size, words):
    found = effect("position", pick=lambda _, __, part: picks[part == "backward"])

    assert (found.size.value, found.sentence) == (size, words)


@pytest.mark.parametrize(
    ("picks", "size", "words"),
    [
        ("BA", 1.0, "It picks the longer text in 100% of cases."),
        ("AB", 0.0, "It picks the shorter text in 100% of cases."),
        ("AA", 0.5, "Length does not decide."),
    ],
)
def test_length_bias_in_pairs_is_measured_from_both_orders(picks, size, words):
    found = effect("length_in_pairs", pick=lambda _, __, part: picks[part == "backward"])

    assert (found.size.value, found.sentence) == (size, words)


def test_a_tie_counts_as_half_a_pick():
    assert effect("position").size.value == 0.5


def test_repeats_count_the_texts_with_different_scores():
    found = effect("repeats", score=lambda text, _, part: 0.6 + 0.1 * (part == "2" and text.id in "012"))

    assert found.size.value == pytest.approx(0.03)
    assert (
        found.sentence
        == "The same question asked again: 3 of 10 texts got different scores, 3.0% of the scale apart on average."
    )


def test_an_order_of_criteria_without_an_effect_is_reported_as_such():
    assert effect("criteria_order").sentence.startswith("The order of the criteria does not change the score")


def test_an_order_of_criteria_that_changes_the_score_either_way_is_reported_with_its_size():
    found = effect(
        "criteria_order", score=lambda text, effect, _: 0.5 + bool(effect) * (0.2 if int(text.id) % 2 else -0.2)
    )

    assert found.size.value == pytest.approx(0.2)
    assert "changes the score by 20% of the scale" in found.sentence


def test_a_language_that_scores_lower_on_the_same_content_is_named():
    texts = texts_of(("en", "th", "de"))
    found = effects_of(*answers(texts, (), score=lambda text, *_: 0.9 - 0.3 * (text.language == "th")), RUBRIC)[
        "language"
    ]

    assert found.size.value == pytest.approx(0.3, abs=1e-3)
    assert found.by_language["th"].value == pytest.approx(-0.2)
    assert found.sentence.startswith("On the same content it scores th below ")


def test_languages_with_equal_scores_are_reported_as_equal():
    found = effects_of(*answers(texts_of(("en", "th")), ()), RUBRIC)["language"]

    assert found.sentence == "On the same content no language differs noticeably from the others."


def test_an_effect_is_reported_by_language_if_there_are_enough_texts():
    texts = [*texts_of(("en", "th"), 6), *texts_of(("de",), 3)]
    found = effect(
        "length", texts, score=lambda text, _, part: 0.5 + 0.3 * (part == "padded" and text.language == "th")
    )

    assert {tag: round(each.value, 3) for tag, each in found.by_language.items()} == {"en": 0.0, "th": 0.3}


# Not enough data


@pytest.mark.parametrize("count", [1, 2, 4])
@pytest.mark.parametrize("name", ["length", "formatting", "injection", "criteria_order", "repeats", "position"])
def test_too_few_comparisons_give_no_figure(name, count):
    found = effect(name, texts_of(count=count))

    assert (found.size, found.count) == (Figure(), count)
    assert found.sentence == f"Not enough data: {count} comparisons, 5 are needed."


def test_failures_are_excluded_and_not_counted():
    probes, outcomes = answers(texts_of(), ("length", "position"), pick=lambda *_: "A")
    for place in range(3):
        outcomes[probe_id(probes[0].text, "length", "padded").replace("|0|", f"|{place}|")] = Failure("no")
        outcomes[probe_id(probes[0].text, "position", "backward").replace("|0|", f"|{place}|")] = Failure("no")
    found = effects_of(probes, outcomes, RUBRIC)

    assert (found["length"].count, found["position"].count) == (7, 7)
    assert found["position"].size.value == 1.0


def test_missing_answers_are_excluded():
    probes, outcomes = answers(texts_of(), ("length",))

    assert effects_of(probes, {}, RUBRIC)["length"].count == 0
    del outcomes[probes[0].id]
    assert effects_of(probes, outcomes, RUBRIC)["length"].count == 9


def test_without_probes_there_are_no_effects():
    assert effects_of([], {}, RUBRIC) == {}


# An unbiased judge


def found_biased(sentence):
    return "It picks" in sentence or ("of the scale" in sentence and "not enough data" not in sentence)


@pytest.mark.parametrize("name", ["length", "formatting", "injection"])
def test_an_unbiased_judge_shows_no_bias_over_thirty_texts(name):
    random = np.random.default_rng(2)
    times = sum(found_biased(effect(name, texts_of(count=30), score=noisy(random)).sentence) for _ in range(60))

    assert times <= 4


@pytest.mark.parametrize("name", ["position", "length_in_pairs"])
def test_a_judge_that_picks_by_chance_shows_no_bias_over_thirty_texts(name):
    random = np.random.default_rng(2)
    times = sum(
        found_biased(effect(name, texts_of(count=30), pick=lambda *_: str(random.choice(["A", "B"]))).sentence)
        for _ in range(60)
    )

    assert times <= 4


def test_an_unbiased_judge_shows_no_bias_over_the_minimum_number_of_texts():
    random = np.random.default_rng(3)
    times = sum(found_biased(effect("length", texts_of(count=5), score=noisy(random)).sentence) for _ in range(100))

    assert times <= 8


def test_a_judge_without_a_favourite_language_is_not_reported_to_have_one():
    random = np.random.default_rng(4)
    texts, times = texts_of(("en", "de", "th", "hi", "ru", "ar", "ja", "ko"), 5), 0
    for _ in range(20):
        times += "lowest" in effects_of(*answers(texts, (), score=noisy(random)), RUBRIC)["language"].sentence

    assert times <= 2


def test_a_noisy_judge_that_ignores_the_order_of_criteria_shows_no_effect_of_it():
    random = np.random.default_rng(5)
    texts = texts_of(count=30)
    times = sum(
        "changes the score by"
        in effects_of(*answers(texts, ("criteria_order", "repeats"), score=noisy(random)), RUBRIC)[
            "criteria_order"
        ].sentence
        for _ in range(40)
    )

    assert times <= 2


def test_the_interval_of_a_few_picks_that_agree_is_not_empty():
    found = effect("position", texts_of(count=5), pick=lambda *_: "A")

    assert found.size.low < 0.9


def test_two_texts_of_one_source_are_two_comparisons():
    texts = [
        ReferenceText(id=str(place), text=f"text {place}", language="en", source="the same") for place in range(10)
    ]

    assert effect("length", texts).count == 10


def test_a_content_judged_in_only_one_language_does_not_count_for_languages():
    texts = texts_of(("en", "th"))
    probes, outcomes = answers(texts, (), score=lambda text, *_: 0.9 - 0.3 * (text.language == "th"))
    for probe in probes:
        if probe.text.language == "en" and int(probe.text.id) >= 5:
            outcomes[probe.id] = Failure("no")

    assert effects_of(probes, outcomes, RUBRIC)["language"].by_language["th"].value == pytest.approx(-0.15)


def test_only_the_requested_effects_are_computed():
    texts = [text for text in sample_texts() if text.language in ("en", "th")]
    probes = plan_probes(texts, ProbeOptions(effects=("length",)), TABLE, compares=True, reorders=True)
    outcomes = {probe.id: JudgeResult(50, "") for probe in probes}

    assert set(effects_of(probes, outcomes, RUBRIC, ("length",))) == {"length"}


# Own family


def test_a_judge_that_favours_its_own_family_is_detected():
    found = own_family([0.3] * 10, [0.0] * 10, "claude")

    assert (found.size.value, found.count) == (pytest.approx(0.3), 10)
    assert found.sentence == "Relative to people's scores it favours its own family, by 30% of the scale."
    assert "harder on its own family" in own_family([-0.3] * 10, [0.0] * 10, "claude").sentence
    assert "treats its own family like others" in own_family([0.1] * 10, [0.1] * 10, "claude").sentence


@pytest.mark.parametrize(("own", "others"), [(0, 0), (4, 50), (50, 4)])
def test_too_few_texts_of_a_family_give_no_figure(own, others):
    found = own_family([0.3] * own, [0.0] * others, "claude")

    assert found.size == Figure()
    assert "Not enough" in found.sentence


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("claude-code/opus", "claude"),
        ("anthropic/claude-sonnet-4", "claude"),
        ("", ""),
        ("/", ""),
        ("nosuch/knows", ""),
    ],
)
def test_the_family_follows_from_the_name_of_the_model(model, family):
    assert family_of(model) == family


# Probes


def probes_of(budget=None, **more):
    texts = [text for text in sample_texts() if text.language in ("en", "th", "ja")]
    return plan_probes(texts, ProbeOptions(budget=budget), TABLE, **{"compares": True, "reorders": True, **more})


def test_probe_ids_are_unique():
    probes = probes_of()

    assert len({probe.id for probe in probes}) == len(probes)


def test_pairs_are_shown_in_both_orders():
    pairs = {probe.id: probe for probe in probes_of() if probe.asks == "pair"}

    assert pairs
    for name, probe in pairs.items():
        other = pairs[name.replace("forward", "x").replace("backward", "forward").replace("x", "backward")]
        assert (probe.candidate, probe.other) == (other.other, other.candidate)


def test_pairs_and_reordered_criteria_are_skipped_for_a_judge_without_them():
    asked = {probe.effect for probe in probes_of(compares=False, reorders=False)}

    assert asked.isdisjoint({"position", "length_in_pairs", "criteria_order"})


@pytest.mark.parametrize("budget", [1, 13, 14, 40, 1000])
def test_a_budget_of_probes_is_never_exceeded_and_each_text_has_all_its_probes_or_none(budget):
    probes, whole = probes_of(budget), probes_of()

    assert len(probes) <= budget
    assert probes == whole[: len(probes)]
    counts = {(probe.text.language, probe.text.id): 0 for probe in probes}
    for probe in probes:
        counts[probe.text.language, probe.text.id] += 1
    assert len(set(counts.values())) <= 1


def test_padding_says_everything_twice():
    for text in sample_texts():
        assert padded(text.text).startswith(text.text)
        assert padded(text.text).endswith(text.text)


def signs(text):
    return [sign for sign in text if not sign.isspace() and sign not in "#*-"]


def test_formatting_changes_no_word_and_no_mark():
    changed = [text.text for text in sample_texts() if signs(formatted(text.text)) != signs(text.text)]

    assert changed == []


def test_a_perturbed_text_is_judged_with_and_without_the_injected_request():
    by_part = {
        (probe.text.language, probe.text.id, probe.part): probe for probe in probes_of() if probe.effect == "injection"
    }

    for (language, name, part), probe in by_part.items():
        if part == "pleading":
            assert probe.candidate == f"{by_part[language, name, 'silent'].candidate}\n\n{PLEA}"


def test_parallel_texts_are_those_with_the_same_source_in_several_languages():
    texts = [*texts_of(("en", "th"), 2), replace(texts_of()[0], source="alone"), replace(texts_of()[0], source="")]

    assert {source: len(group) for source, group in parallel(texts).items()} == {"source 0": 2, "source 1": 2}


def test_the_sentence_on_picks_never_contradicts_its_interval():
    cases = [
        ((0.59, 0.529, 0.65), "It picks A in 59% of cases."),
        ((0.41, 0.35, 0.47), "It picks B in 59% of cases."),
        ((0.51, 0.502, 0.518), "It picks A in 51% of cases, a difference too small to matter."),
        ((0.52, 0.46, 0.58), "The order does not decide."),
        ((0.59, 0.49, 0.69), "Not enough data to say whether the order decides."),
    ]
    for interval, sentence in cases:
        assert choice_sentence(Figure(*interval), "A", "B", "the order") == sentence
