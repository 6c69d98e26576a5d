"""Intervals of skewed means hold, and agree with their tests."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyjudge.statistics.estimates import corrected_mean
from polyjudge.statistics.skewed import distances, labels_needed, least_quantile, skewness_of_mean, student

SKEWNESS = st.floats(-2, 2).filter(lambda number: abs(number) > 1e-6)


def test_the_transformation_is_halls():
    # P. Hall (1992), "On the removal of skewness by transformation": t + s t^2 / 3 + s^2 t^3 / 27 + s / 6, where s is
    # the skewness of the mean; at t = 2.5 and s = 0.3 that is 2.5 + 0.625 + 0.0520833 + 0.05 = 3.2270833.
    assert least_quantile(-2.5, -0.3) == pytest.approx(2.5)
    assert least_quantile(2.5, -0.3) == pytest.approx(2.5 - 0.625 + 0.0520833333 - 0.05)
    below, above = distances(3.2270833333, -0.3)
    assert (below, above) == (pytest.approx(_root(3.2270833333, -0.3)), pytest.approx(3.2270833333))


def _root(wanted, skewness):
    """Return the t whose transformed value is wanted, by bisection."""
    low, high = 0.0, 1000.0
    for _ in range(200):
        middle = (low + high) / 2
        value = middle + skewness * middle**2 / 3 + skewness**2 * middle**3 / 27 + skewness / 6
        low, high = (middle, high) if value < wanted else (low, middle)
    return low


def test_the_skewness_of_a_mean_is_that_of_its_scores_by_the_root_of_their_number():
    # The adjusted Fisher-Pearson skewness, by hand: 63.6 / 12.4^1.5 * sqrt(5 * 4) / 3.
    scores = np.array([1.0, 1, 1, 2, 10])
    assert skewness_of_mean(scores - scores.mean()) * math.sqrt(5) == pytest.approx(2.1712925, abs=1e-6)
    assert skewness_of_mean(np.zeros(5)) == skewness_of_mean(np.array([-1.0, 1.0])) == 0


@given(st.floats(0.5, 8), SKEWNESS)
def test_no_side_is_shorter_than_students_and_a_mirror_swaps_the_sides(quantile, skewness):
    below, above = distances(quantile, skewness)
    assert min(below, above) >= quantile
    assert distances(quantile, -skewness) == (pytest.approx(above), pytest.approx(below))
    assert distances(quantile, 0.0) == (quantile, quantile)


@given(st.floats(-20, 20), SKEWNESS, st.floats(1, 5))
def test_the_test_of_zero_agrees_with_the_interval(errors, skewness, quantile):
    below, above = distances(quantile, skewness)
    excludes = errors - below > 0 or errors + above < 0
    statistic = least_quantile(errors, skewness)
    if abs(statistic - quantile) > 1e-6:
        assert excludes == (statistic > quantile)


def test_more_skewed_scores_need_more_labels():
    assert [labels_needed(skewness) for skewness in (0, 1, 2, -3, 10)] == [10, 10, 10, 23, 250]


DRAWS = {
    "normal": (lambda random, count: random.normal(size=count), 0.0),
    "beta": (lambda random, count: random.beta(8, 2, count), 0.8),
    "exponential": (lambda random, count: random.exponential(size=count), 1.0),
    "log-normal": (lambda random, count: np.exp(random.normal(size=count)), math.exp(0.5)),
    "penalties": (lambda random, count: -random.exponential(size=count) * (random.random(count) < 0.3), -0.3),
}


@pytest.mark.slow
@pytest.mark.parametrize("labels", [25, 50, 100])
@pytest.mark.parametrize("kind", DRAWS)
def test_the_interval_of_labels_covers_the_mean_of_skewed_scores(kind, labels):
    draw, truth = DRAWS[kind]
    covered, plainly = 0, 0
    for seed in range(1000):
        scores = draw(np.random.default_rng(seed), labels)
        found = corrected_mean([0.0] * 1000, [0.0] * labels, scores).labels_only
        covered += found.low <= truth <= found.high
        half = student(labels - 1) * scores.std(ddof=1) / math.sqrt(labels)
        plainly += abs(scores.mean() - truth) <= half
    assert 0.925 <= covered / 1000 <= 0.99
    assert covered >= plainly


def test_the_interval_of_the_judged_items_narrows_to_nothing_as_all_are_labelled():
    random = np.random.default_rng(3)
    people = random.exponential(size=60)
    judge = people + random.normal(0, 0.3, 60)
    widths = []
    for labels in (20, 40, 55, 60):
        found = corrected_mean(judge, judge[:labels], people[:labels], only_these=True)
        widths.append(found.figure.high - found.figure.low)
        assert widths[-1] <= found.labels_only.high - found.labels_only.low
    assert widths == sorted(widths, reverse=True)
    assert widths[-1] == 0
    assert [found.figure.value, found.labels_only.value] == pytest.approx([people.mean()] * 2)
