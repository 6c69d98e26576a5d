"""Scales that differ are noticed, and mapped only if both are given."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyjudge.calibration.agreement import AgreementOptions, measure_agreement, on_judges_scale, scales_of
from polyjudge.calibration.matching import Pair, match
from polyjudge.errors import ConfigError
from polyjudge.formats.ratings import Rating

EQUAL_SCALE = ("accuracy", "kappa", "kappa_quadratic", "alpha_interval", "alpha_ordinal", "macro_f1", "mean_difference")


def pairs(judge, people):
    given_pairs = enumerate(zip(judge, people, strict=True))
    return [Pair(id=str(place), judge=ours, people=theirs) for place, (ours, theirs) in given_pairs]


@pytest.mark.parametrize(
    ("judge", "people", "differ"),
    [
        ([1, 3, 5], [10, 55, 98], True),
        ([0.2, 0.9, 1.0], [1, 3, 5], True),
        ([0.8, 0.9], [-5.0, -0.5], True),
        ([1, 3, 5], [2, 7, 10], False),
        ([3, 4, 5], [1, 3, 4], False),
        ([0.7, 0.8], [0.1, 1.0], False),
        ([90, 95], [10, 100], False),
    ],
)
def test_scales_differ_if_their_tops_are_far_apart_or_only_one_is_negative(judge, people, differ):
    found = scales_of(pairs(judge, people))
    assert found is not None
    assert found.differ is differ


def test_a_single_score_does_not_show_its_scale():
    assert scales_of(pairs([1, 1, 1], [20, 50, 90])) is None


def rated(values):
    return [Rating(id=str(place), value=float(value)) for place, value in enumerate(values)]


def measured(judge, people, mapped=None):
    ratings = rated(judge)
    return measure_agreement(
        ratings, match(ratings, rated(people)), "mean", AgreementOptions(resamples=100), mapped
    ).found[""][1]


def test_only_measures_of_order_are_given_on_scales_that_differ():
    figures = measured([1, 2, 3, 4, 5, 5], [0, 20, 55, 70, 100, 95])

    assert [figures[name].value for name in EQUAL_SCALE] == [None] * len(EQUAL_SCALE)
    assert figures["spearman"].value > 0.9
    assert figures["pairwise_accuracy"].value is not None


def test_labels_that_are_mapped_are_compared_with_the_scores():
    figures = measured([1, 2, 3, 4, 5, 5], [0, 25, 50, 75, 100, 100], ((1.0, 5.0), (0.0, 100.0)))

    assert (figures["accuracy"].value, figures["alpha_interval"].value, figures["mean_difference"].value) == (1, 1, 0)


def test_a_label_that_is_not_on_its_scale_is_refused():
    with pytest.raises(ConfigError, match="The label 120 is not on the scale 0 to 100"):
        on_judges_scale(pairs([1], [120]), (1, 5), (0, 100))


@given(st.lists(st.floats(0, 100), min_size=1, max_size=10))
def test_the_ends_of_both_scales_meet_and_the_order_stays(labels):
    moved = [pair.people for pair in on_judges_scale(pairs([3] * len(labels), labels), (1, 5), (0, 100))]

    assert all(1 <= value <= 5 for value in moved)
    assert all(moved[a] <= moved[b] for a in range(len(labels)) for b in range(len(labels)) if labels[a] <= labels[b])
