"""Which of several policies may answer: exact tests, and the probability that a policy passes which should not."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.folding import for_each

from polyjudge.statistics.confidence_thresholds import (
    Trial,
    binomial_tail,
    certified,
    fewest_labels,
    highest_rate,
    labels_needed,
    most_errors,
    p_value,
)

STARTS = (0, 1, 2)
TAILS = [
    (0, 22, 0.1, 0.0984770902183611),
    (3, 40, 0.2, 0.028462094459744576),
    (14, 100, 0.2, 0.08044372113805115),
    (10, 120, 0.15, 0.02168356582423198),
    (60, 241, 0.25, 0.5197724518210658),
    (1, 3, 0.5, 0.5),
    (200, 1000, 0.2, 0.5189114355587436),
    (0, 1, 0.05, 0.95),
    (999, 1000, 0.5, 1.0),
    (5, 5000, 0.002, 0.06689677137130322),
]
LIMITS = [
    (0, 22, 0.1, 0.09937197978872149),
    (3, 40, 0.1, 0.15944931303445956),
    (14, 100, 0.05, 0.2101739253131604),
    (10, 120, 0.0333, 0.14361460769917606),
    (60, 241, 0.025, 0.3085256705985452),
    (0, 1, 0.1, 0.9),
    (4, 5, 0.05, 0.9897937816869885),
    (500, 5000, 0.01, 0.11028902384286902),
]


@for_each(("errors", "count", "rate", "expected"), TAILS)
def test_the_binomial_tail_is_that_of_scipy(errors, count, rate, expected):
    """The values are those of scipy.stats.binom.cdf."""
    assert binomial_tail(errors, count, rate) == pytest.approx(expected, rel=1e-9, abs=1e-15)


@for_each(("errors", "count", "level", "expected"), LIMITS)
def test_the_upper_limit_is_clopper_and_pearsons(errors, count, level, expected):
    """The values are the quantiles of scipy.stats.beta."""
    assert highest_rate(errors, count, level) == pytest.approx(expected, abs=1e-9)


def test_the_tail_is_one_for_all_and_nothing_below_none():
    assert (binomial_tail(5, 5, 0.3), binomial_tail(0, 0, 0.3), binomial_tail(-1, 5, 0.3)) == (1.0, 1.0, 0.0)
    assert highest_rate(5, 5, 0.05) == 1.0


def test_a_policy_that_passes_hands_its_share_to_the_next():
    good, poor = Trial(60, 0), Trial(60, 30)
    assert certified([], 0.2, 0.1, STARTS) is None
    assert certified([good] * 8, 0.2, 0.1, STARTS) == 7
    assert certified([good] * 4 + [poor] * 4, 0.2, 0.1, STARTS) == 3
    assert certified([poor] * 4 + [good] * 4, 0.2, 0.1, STARTS) is None
    assert certified([poor] * 4 + [good] * 4, 0.2, 0.1, (0, 2, 4)) == 7
    assert certified([poor] * 8, 0.2, 0.1, STARTS) is None
    assert certified([Trial(0, 0)] * 8, 0.2, 0.1, STARTS) is None
    # One error more than a third of the allowed error permits, but not than two thirds.
    third, two_thirds = (most_errors(200, 0.2, share * 0.1) for share in (1 / 3, 2 / 3))
    assert third < two_thirds
    near, good = Trial(200, two_thirds), Trial(200, 0)
    assert certified([near, near, near, near], 0.2, 0.1, STARTS) is None
    assert certified([good, near, near, near], 0.2, 0.1, STARTS) == 3
    assert certified([good, near, near, near], 0.2, 0.1, (0, 2, 2)) == 3
    assert certified([good, near, near, near], 0.2, 0.1, (0, 4, 4)) == 0
    assert certified([good, near, near, near], 0.2, 0.1, (0, 0, 2)) == 3
    assert certified([near, good, good, good], 0.2, 0.1, (0, 0, 0)) == 3


OTHERS = [
    (60, 4, 60, 0.2, 0.016937105584633134),
    (100, 10, 50, 0.15, 0.2098246826070498),
    (100, 10, 1000, 0.15, 0.10646624613490079),
    (30, 0, 30, 0.1, 0.05619982158786798),
    (150, 20, 7, 0.2, 0.2544503224813944),
    (90, 9, 91, 0.1, 0.5875301552709268),
]


@for_each(("answered", "errors", "others", "limit", "expected"), OTHERS)
def test_the_test_of_the_other_items_is_hypergeometric(answered, errors, others, limit, expected):
    """The values are those of scipy.stats.hypergeom.sf."""
    assert p_value(Trial(answered, errors, others), limit) == pytest.approx(expected, rel=1e-8)


@given(st.integers(1, 200), st.integers(0, 60), st.integers(1, 500), st.floats(0.02, 0.6))
def test_a_statement_about_other_items_is_no_easier_than_one_about_the_long_run(answered, errors, others, limit):
    errors = min(errors, answered)
    alone, both = (p_value(Trial(answered, errors, count), limit) for count in (0, others))
    assert 0 <= alone <= both <= 1 + 1e-9


def test_many_other_items_have_the_rate_of_the_long_run():
    assert p_value(Trial(100, 10, 1_000_000), 0.15) == pytest.approx(binomial_tail(10, 100, 0.15), rel=1e-3)


@given(st.integers(1, 400), st.floats(0.02, 0.6), st.floats(0.001, 0.3))
def test_the_most_errors_pass_and_one_more_does_not(count, limit, level):
    most = most_errors(count, limit, level)
    assert most < 0 or binomial_tail(most, count, limit) <= level
    assert binomial_tail(most + 1, count, limit) > level


@pytest.mark.parametrize(("limit", "delta"), [(0.2, 0.1), (0.1, 0.1), (0.05, 0.01)])
def test_fewer_labels_than_the_fewest_pass_nothing(limit, delta):
    fewest = fewest_labels(limit, delta / 3)
    assert certified([Trial(fewest, 0)] * 4, limit, delta, STARTS) is not None
    assert most_errors(fewest - 1, limit, delta / 3) == -1


def test_the_labels_that_are_said_to_be_needed_are_enough():
    """With an error rate of 10% and a limit of 15%, as many answers pass in four of five cases."""
    needed = labels_needed([Trial(50, 5)], 100, 0.15, 0.1 / 3)
    chance, answers = random.Random(5), needed // 2
    allowed = most_errors(answers, 0.15, 0.1 / 3)
    passed = sum(sum(chance.random() < 0.1 for _ in range(answers)) <= allowed for _ in range(1_000))

    assert passed / 1_000 == pytest.approx(0.8, abs=0.05)
    assert labels_needed([Trial(50, 8)], 100, 0.15, 0.1 / 3) is None
    assert labels_needed([Trial(0, 0)], 100, 0.15, 0.1 / 3) is None


PROFILES = {
    "just above the limit everywhere": [0.205] * 8,
    "rising past the limit": [0.1, 0.12, 0.15, 0.2, 0.3, 0.5, 0.5, 0.5],
    "worst where the confidence is highest": [0.9, 0.3, 0.1, 0.05, 0.05, 0.3, 0.3, 0.3],
    "up and down": [0.25, 0.1, 0.4, 0.05, 0.4, 0.05, 0.6, 0.1],
}


@pytest.mark.parametrize("name", PROFILES)
def test_a_policy_above_the_limit_passes_no_more_often_than_allowed(name):
    """Eight parts of equal size, answered from the first on: whatever the error rates, at most 10% of 4,000 samples."""
    rates, chance, limit, wrong = PROFILES[name], random.Random(name), 0.2, 0
    true_rates = [sum(rates[: place + 1]) / (place + 1) for place in range(8)]
    for _ in range(4_000):
        trials, answered, errors = [], 0, 0
        for place, rate in enumerate(rates):
            part = (
                sum(chance.random() < 1 / 8 for _ in range(80))
                if place
                else sum(chance.random() < 0.5 for _ in range(20))
            )
            answered, errors = answered + part, errors + sum(chance.random() < rate for _ in range(part))
            trials.append(Trial(answered, errors))
        found = certified(trials, limit, 0.1, (1, 3, 5))
        wrong += found is not None and true_rates[found] > limit
    assert wrong / 4_000 <= 0.1 + 3 * (0.09 / 4_000) ** 0.5
