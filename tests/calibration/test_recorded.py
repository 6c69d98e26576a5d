"""What recorded verdicts show of their judge: the figures of scipy, and no claim without what it needs.

scipy 1.17.1: `somersd`, `spearmanr`, `rankdata`, on the numbers below.
"""

import pytest
from msgspec.structs import replace

from polyjudge.calibration.agreement import AgreementOptions, measure_agreement
from polyjudge.calibration.cards import new_card, with_measurement
from polyjudge.calibration.matching import match
from polyjudge.calibration.measurement import Measurement
from polyjudge.calibration.recorded import NEEDS_QUESTIONS, measure_recorded, with_recorded
from polyjudge.formats.ratings import Rating
from polyjudge.records.calibration import LanguageTrust, recorded_judge
from polyjudge.statistics.rankings import ordering_figure

JUDGE = [int(digit) for digit in "4544552254521432151544525151112251434525"]
PEOPLE = [int(digit) for digit in "3544351254531532151325323151131141435523"]
_LENGTHS = (
    "96 140 92 129 103 117 41 45 119 101 100 86 68 159 67 48 35 145 26 60 43 129 111 71 71 63 "
    "135 32 48 92 32 66 129 28 106 101 124 107 65 86"
)
LENGTH = [int(number) for number in _LENGTHS.split()]
CARD = new_card(None, recorded_judge("openai/gpt-5"), at="2026-01-01T00:00:00Z")


def scores(values=JUDGE, **more):
    return [Rating(id=str(item), value=value, lengths=(LENGTH[item], 0), **more) for item, value in enumerate(values)]


def labels(values=PEOPLE, annotator=""):
    return [Rating(id=str(item), value=value, annotator=annotator) for item, value in enumerate(values)]


def measured(judged, labelled=(), *, preferences=False, model="openai/gpt-5"):
    how = "majority" if preferences else "mean"
    agreement = None
    if labelled:
        options = AgreementOptions(resamples=100, preferences=preferences)
        agreement = measure_agreement(judged, match(judged, labelled, how), how, options)
    return measure_recorded(judged, agreement, model=model, preferences=preferences, resamples=200)


def pairs(orders, *, lengths=(10, 20), **more):
    """Return preferences of which both orders are recorded."""
    return [
        Rating(id=str(item), value=(given + swapped) / 2, verdict=round(given + swapped) / 2, orders=(given, swapped),
               lengths=lengths, **more)
        for item, (given, swapped) in enumerate(orders)
    ]  # fmt: skip


def test_the_figures_are_those_of_scipy():
    judged = [replace(each, system="gpt-4o" if item % 4 == 0 else "x") for item, each in enumerate(scores())]
    found = measured(judged, labels())

    assert found.verdicts.ordering.value == pytest.approx(0.8416)
    assert found.effects["longer_recorded"].size.value == pytest.approx(0.7047032004550572)
    assert found.effects["longer_beyond_people"].size.value == pytest.approx(-0.008976874959754844)
    assert found.effects["own_family_recorded"].size.value == pytest.approx(0.095)


def test_longer_texts_that_people_rate_alike_are_no_bias():
    effects = measured(scores(), labels()).effects
    assert effects["longer_recorded"].sentence == "Longer texts get higher scores."
    assert effects["longer_beyond_people"].sentence == "No relation to the length is certain."


def test_a_language_with_longer_texts_and_lower_scores_is_no_bias_of_length():
    judged = [
        replace(each, language=tag, value=each.value + more, lengths=(LENGTH[item] + 1000 * more, 0))
        for item, each in enumerate(scores())
        for tag, more in (("de" if item % 2 else "th", 5 * (item % 2)),)
    ]
    within = measured(judged).effects["longer_recorded"].size.value
    assert within == pytest.approx(0.70, abs=0.1)


def test_a_stricter_judge_does_not_seem_to_favour_a_better_family():
    judged = [
        replace(each, value=2 * each.value, system="gpt-4o" if each.value > 3 else "x") for each in scores(PEOPLE)
    ]
    found = measured(judged, labels())
    assert found.effects["own_family_recorded"].sentence == "It ranks its own family as people do."


def test_the_order_and_length_of_pairs_are_measured_against_people():
    judged = pairs([(1, 0)] * 10 + [(1, 1)] * 5 + [(0, 0)] * 5)
    found = measured(
        judged, [Rating(id=str(i), value=float(i % 2), is_preference=True) for i in range(20)], preferences=True
    )

    assert found.effects["position_recorded"].size.value == 0.75
    assert found.effects["order_changes"].sentence == "10 of 20 verdicts differ between the orders."
    assert found.effects["longer_beyond_people"].size.value == pytest.approx(0.0)
    assert found.verdicts.orders["changed"].value == 10


def test_its_own_family_in_pairs_is_compared_with_what_people_prefer():
    judged = pairs([(1, 1)] * 12, system="gpt-4o", other_system="claude-3")
    people = [Rating(id=str(item), value=float(item < 6), is_preference=True) for item in range(12)]
    effect = measured(judged, people, preferences=True).effects["own_family_recorded"]
    assert (effect.size.value, effect.count) == (0.5, 12)
    assert effect.sentence == "It prefers its own family 50% more often than people do."


def test_a_language_that_the_judge_ranks_lower_than_people_do_is_named():
    tags = ["sw" if item % 2 else "de" for item in range(40)]
    judged = [
        replace(each, language=tag, value=each.value - 3 * (tag == "sw"))
        for each, tag in zip(scores(), tags, strict=True)
    ]
    effect = measured(judged, labels()).effects["language_recorded"]
    assert "sw lower" in effect.sentence
    assert effect.by_language["sw"].high < 0 < effect.by_language["de"].low


def test_repeats_of_one_judge_show_its_stability():
    judged = [replace(each, repeats=(1.0, 3.0) if item < 10 else (2.0, 2.0)) for item, each in enumerate(scores()[:20])]
    effect = measured(judged).effects["repeats_recorded"]
    assert effect.size.value == 0.5
    assert "10 of 20 texts got different scores" in effect.sentence


def test_coverage_counts_every_item_and_failures_by_kind():
    judged = [replace(each, value=None, failure="refused") if item < 3 else each for item, each in enumerate(scores())]
    found = measured([*judged[:39], replace(judged[39], value=None)]).verdicts
    assert (found.items, found.verdicts.value, found.failures) == (40, 0.9, {"refused": 3, "not_recorded": 1})


def test_the_ceiling_is_how_far_one_person_agrees_with_the_others():
    people = [*labels(annotator="a"), *labels(annotator="b"), *labels(JUDGE, annotator="c")]
    found = measured(scores(), people).verdicts
    assert found.ceiling.keys() == {"pearson", "spearman", "kendall_tau_b", "krippendorff_alpha"}
    assert found.people["a and b"]["pearson"].value == pytest.approx(1.0)
    assert found.ceiling["pearson"].value > found.people["judge and a"]["pearson"].value


def test_what_was_not_measured_is_said_with_the_reason():
    found = measured(scores()).verdicts.not_measured
    assert NEEDS_QUESTIONS.items() <= found.items()
    assert found["agreement with people"] == "there are no labels of people"
    assert found["position_recorded"] == "the judge scores single texts"
    assert found["repeats_recorded"] == "each question was asked once"
    assert found["own_family_recorded"].endswith("may just be better")
    assert "longer_recorded" not in found


@pytest.mark.parametrize("count", [0, 1, 2, 4])
def test_few_items_are_measured_without_a_claim(count):
    found = measured(scores(JUDGE[:count]), labels(PEOPLE[:count]))
    assert not [name for name, effect in found.effects.items() if effect.size.value is not None]


# the verdict


def test_labels_give_a_verdict_where_no_perturbed_texts_were_judged():
    judged = [replace(each, language="de") for each in scores()]
    card = with_recorded(CARD, measured(judged, labels()), {})
    known = card.languages["de"]
    assert (known.verdict, known.verdict_from, known.labels) == ("reliable", "labels", 40)


@pytest.mark.parametrize(
    ("values", "count", "verdict"),
    [
        (PEOPLE, 40, "reliable"),
        (PEOPLE, 19, "not enough data"),
        ([-each for each in PEOPLE], 40, "unreliable"),
        ([3.0] * 40, 40, "unreliable"),
    ],
)
def test_the_verdict_is_that_of_the_order_of_items_with_enough_labels(values, count, verdict):
    judged = [replace(each, language="de") for each in scores(values[:count])]
    card = with_recorded(CARD, measured(judged, labels(PEOPLE[:count])), {})
    assert card.languages["de"].verdict == verdict


@pytest.mark.parametrize("preferences", [False, True])
def test_labels_of_an_informative_sample_count_by_the_inverse_of_their_probability(preferences):
    # Of 100 items, the judge is right on 80; its errors are drawn four times as often.
    right = [Rating(id=f"r{n}", value=float(n % 2), probability=0.1) for n in range(8)]
    wrong = [Rating(id=f"w{n}", value=float(n % 2), probability=0.4) for n in range(8)]
    judged = [*right, *(replace(each, value=1 - each.value) for each in wrong)]
    labelled = [replace(each, is_preference=preferences) for each in (*right, *wrong)]
    found = measured(judged, labelled, preferences=preferences).verdicts.ordering
    plain = [replace(each, probability=None) for each in labelled]
    assert found.value == pytest.approx(0.8)
    assert measured(judged, plain, preferences=preferences).verdicts.ordering.value == pytest.approx(0.5)


def test_labels_on_which_people_themselves_differ_do_not_make_a_judge_unreliable():
    judged = [replace(each, language="de") for each in scores([-each for each in PEOPLE])]
    noise = [PEOPLE[(item * 7 + 3) % 40] for item in range(40)]
    one = with_recorded(CARD, measured(judged, labels()), {}).languages["de"]
    several = with_recorded(CARD, measured(judged, [*labels(annotator="a"), *labels(noise, "b")]), {}).languages["de"]
    assert (one.verdict, one.people_ordering) == ("unreliable", None)
    assert several.people_ordering < 0.6
    assert several.verdict == "not enough data"


def test_without_labels_there_is_no_verdict():
    card = with_recorded(CARD, measured([replace(each, language="de") for each in scores()]), {})
    known = card.languages["de"]
    assert (known.verdict, known.verdict_from, known.verdicts.value) == ("not enough data", "", 1)


def test_a_verdict_from_perturbed_texts_is_never_changed_by_labels():
    of_texts = LanguageTrust(verdict="unreliable", comparisons=100, texts=25)
    result = measured([replace(each, language="de") for each in scores()], labels())
    for card in (
        with_recorded(with_measurement(CARD, Measurement({"de": of_texts}), {}), result, {}),
        with_measurement(with_recorded(CARD, result, {}), Measurement({"de": of_texts}), {}),
    ):
        known = card.languages["de"]
        assert (known.verdict, known.verdict_from, known.labels) == ("unreliable", "", 40)
        assert known.ordering.value == pytest.approx(0.8416)


def test_a_smaller_file_replaces_nothing_on_the_card():
    judged = [replace(each, language="de") for each in scores()]
    large = with_recorded(CARD, measured(judged, labels()), {})
    small = with_recorded(large, measured(judged[:10], labels(PEOPLE[:10])), {})
    assert (small.recorded, small.effects, small.agreement) == (large.recorded, large.effects, large.agreement)
    assert small.languages == large.languages


def test_shares_of_verdicts_of_a_smaller_file_without_labels_replace_nothing_either():
    judged = [replace(each, language="de") for each in scores()]
    large = with_recorded(CARD, measured(judged), {})
    small = with_recorded(large, measured([replace(each, value=None) for each in judged[:10]]), {})
    assert (large.languages["de"].verdicts.value, small.languages) == (1.0, large.languages)


def test_a_card_keeps_the_newest_fifty_runs():
    card = CARD
    for number in range(60):
        card = with_recorded(card, measured(scores()[:5]), {"number": number})
    assert [run["number"] for run in card.runs] == list(range(10, 60))


def test_pass_and_fail_make_the_order_the_area_under_the_curve():
    passes = [float(each >= 4) for each in PEOPLE]
    won = sum(
        (one > other) + (one == other) / 2
        for one, good in zip(JUDGE, passes, strict=True)
        for other, bad in zip(JUDGE, passes, strict=True)
        if good > bad
    )
    found = ordering_figure(JUDGE, passes, groups=[""] * 40, clusters=range(40), resamples=100)
    assert found.value == pytest.approx(won / (sum(passes) * (40 - sum(passes))))
