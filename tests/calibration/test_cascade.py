"""Learning at which confidence the judges of a cascade answer."""

import random
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyjudge.calibration.cascade import CascadeItem, answering, guaranteed, learn, policies, trial


def made(seed, count, labelled, *, judges=(0.75, 0.9), language="", honest=True):
    """Items of judges whose confidence says how often they are right or, if it is not honest, the opposite."""
    chance, items = random.Random(seed), []
    for place in range(count):
        sure = [chance.random() for _ in judges]
        right = [
            chance.random() < skill + (each if honest else 1 - each) * (1 - skill) * 0.9
            for each, skill in zip(sure, judges, strict=True)
        ]
        agrees = tuple(right) if place < labelled else None
        items.append(CascadeItem(f"{language}{place}", language, tuple(sure), agrees, (1.0, 10.0)))
    return items


def test_the_first_judge_that_is_sure_enough_answers():
    assert answering((0.8, 0.5), (0.9, 0.9)) == 0
    assert answering((0.8, 0.5), (0.7, 0.5)) == 1
    assert answering((0.8, 0.5), (0.7, 0.4)) is None
    assert answering((None, 0.5), (1.0, 0.6)) == 1
    assert answering((0.8, 0.0), (None, 0.0)) == 1
    assert answering((0.8, 0.0), (None, None)) is None


@given(st.integers(0, 100), st.integers(1, 3))
def test_policies_go_from_few_answers_to_many_and_the_last_asks_for_no_confidence(seed, judges):
    placing = made(seed, 50, 0, judges=(0.7,) * judges)
    placing = [CascadeItem(each.id, "", each.confidences[:judges]) for each in placing]
    found = policies(placing, judges)
    answered = [{each.id for each in placing if answering(policy, each.confidences) is not None} for policy in found]

    assert all(one <= other for one, other in pairwise(answered))
    assert len(answered[-1]) == 50


def test_labels_play_no_part_in_the_policies_that_are_tested():
    items = made(1, 300, 200)
    tested = policies([each for each in items if each.agrees is None], 2)
    found = set()
    for seed, errors in enumerate((0.3, 0.5, 0.7)):
        draw = random.Random(seed)
        labelled = [
            each
            if each.agrees is None
            else replace(each, agrees=tuple(draw.random() > errors * (1 - sure) for sure in each.confidences))
            for each in items
        ]
        found |= {guaranteed(labelled, target, 0.1) for target in (0.7, 0.8, 0.9)} - {None}
    assert len(found) > 3
    assert found <= set(tested)


@pytest.mark.parametrize("labelled", [150, 600])
def test_more_labels_give_more_answers_and_unlabelled_items_place_the_thresholds(labelled):
    learnt = learn(made(2, labelled + 400, labelled), 0.85, 0.1)
    group = learnt.groups[""]

    assert learnt.placed_by == 400
    assert group.labels == labelled
    assert group.agreement.value >= 0.85
    assert group.agreement.low < group.agreement.value < group.agreement.high
    assert sum(group.answered) > 0.3 * labelled


def test_without_unlabelled_items_every_fifth_label_places_the_thresholds():
    learnt = learn(made(3, 200, 200), 0.8, 0.1)

    assert (learnt.placed_by, learnt.groups[""].labels) == (40, 160)


def test_what_cannot_be_guaranteed_is_said_with_what_can_be_and_how_many_labels_it_takes():
    few = learn(made(4, 500, 25), 0.9, 0.1)
    assert few.groups == {}
    assert few.unguaranteed[""].reachable < 0.9
    assert few.unguaranteed[""].needed > 25

    hopeless = learn(made(4, 500, 300, judges=(0.2, 0.2), honest=False), 0.95, 0.1).unguaranteed[""]
    assert hopeless.needed is None
    assert hopeless.best < 0.95


def test_languages_with_labels_enough_have_thresholds_of_their_own():
    items = [
        *made(5, 500, 300, language="de"),
        *made(6, 500, 300, judges=(0.2, 0.25), language="th"),
        *made(7, 60, 4, language="sw"),
    ]
    learnt = learn(items, 0.85, 0.1, by_language=True)

    assert "de" in learnt.groups
    assert set(learnt.unguaranteed) == {"th", ""}
    assert learnt.languages == ("sw",)


def test_a_guarantee_for_few_items_is_harder_than_one_for_the_long_run():
    items = made(9, 500, 300)
    answers = [
        sum(found.answered) if (found := learn(items, 0.85, 0.1, coming=coming).groups.get("")) else 0
        for coming in ({"": 30}, {"": 200}, {"": 100_000}, None)
    ]
    assert answers == sorted(answers)
    assert answers[0] < answers[-1]


@pytest.mark.slow
def test_the_share_among_the_other_items_is_reached_in_nine_of_ten_random_halves():
    """Of the same 240 items again and again, of which another half is labelled each time."""
    whole, failed = made(10, 240, 240, judges=(0.6, 0.72)), 0
    chance = random.Random(1)
    for _ in range(400):
        order = chance.sample(whole, 240)
        labelled, others = order[:120], order[120:]
        found = guaranteed([*labelled, *(replace(each, agrees=None) for each in others)], 0.8, 0.1, 120)
        if found is not None:
            tested = trial(found, others)
            failed += tested.errors > 0.2 * tested.answered + 1e-9
    assert failed / 400 <= 0.1


def test_the_curve_falls_and_knows_the_cost():
    curve = learn(made(8, 900, 500), 0.8, 0.1).curve
    shares = [sum(point.answered) for point in curve]

    assert shares == sorted(shares, reverse=True)
    first = curve[0]
    assert first.cost == pytest.approx((first.asked[0] * 1 + first.asked[1] * 10) / 10)
    assert first.asked[0] == 1.0


@pytest.mark.parametrize("honest", [True, False])
@pytest.mark.slow
def test_the_guarantee_holds_in_nine_of_ten_samples(honest):
    """Whether confidence says something or the opposite, on items that were not seen."""
    others = made(99, 5_000, 5_000, honest=honest)
    failed = 0
    for seed in range(300):
        found = learn(made(seed, 250, 150, honest=honest), 0.85, 0.1).groups
        if not found:
            continue
        places = [(each, answering(found[""].thresholds, each.confidences)) for each in others]
        right = [each.agrees[place] for each, place in places if place is not None]
        failed += sum(right) < 0.85 * len(right)
    assert failed / 300 <= 0.1 + 3 * (0.09 / 300) ** 0.5
