"""Drawing informative items with known probabilities."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyjudge.statistics.estimates import corrected_mean
from polyjudge.statistics.informative import (
    closeness_to,
    distance_to_ends,
    inclusion_probabilities,
    sizes,
    systematic_sample,
)

_SIZES = st.lists(st.floats(0.5, 50), min_size=1, max_size=40).map(np.array)


@given(_SIZES, st.integers(1, 40))
def test_probabilities_add_up_to_the_size_of_the_sample_and_none_is_above_1(
    given_sizes: np.ndarray, count: int
) -> None:
    count = min(count, len(given_sizes))
    chances = inclusion_probabilities(given_sizes, count)
    assert chances.sum() == pytest.approx(count)
    assert ((chances > 0) & (chances <= 1)).all()
    free = chances < 1 - 1e-12
    assert np.ptp(chances[free] / given_sizes[free]) < 1e-9 if free.any() else True


def test_probabilities_are_those_worked_out_by_hand() -> None:
    """Of sizes 1, 1, 2, 12 two are drawn: the last for certain, and one of the others in proportion."""
    assert inclusion_probabilities(np.array([1.0, 1.0, 2.0, 12.0]), 2).tolist() == [0.25, 0.25, 0.5, 1.0]


@given(_SIZES, st.integers(1, 40), st.integers(0, 2**32 - 1))
def test_a_sample_has_its_size_and_no_item_twice(given_sizes: np.ndarray, count: int, seed: int) -> None:
    count = min(count, len(given_sizes))
    drawn = systematic_sample(inclusion_probabilities(given_sizes, count), np.random.default_rng(seed))
    assert len(set(drawn.tolist())) == len(drawn) == count


def test_items_are_drawn_as_often_as_their_probabilities_say() -> None:
    random = np.random.default_rng(5)
    chances = inclusion_probabilities(random.gamma(1.0, size=25) + 0.2, 8)
    drawn = np.zeros(25)
    for _ in range(4_000):
        drawn[systematic_sample(chances, random)] += 1
    errors = (drawn / 4_000 - chances) / np.sqrt(np.maximum(chances * (1 - chances), 1e-9) / 4_000)
    assert np.abs(errors[chances < 1]).max() < 4
    assert (drawn[chances == 1] == 4_000).all()


@given(st.lists(st.floats(0, 100), min_size=2, max_size=30), st.floats(0, 100))
def test_no_item_has_less_than_half_of_its_plain_probability(scores: list[float], threshold: float) -> None:
    signals = {"ends": distance_to_ends(scores, (0.0, 100.0)), "threshold": closeness_to(threshold, scores)}
    found = sizes(signals, len(scores))
    assert found.mean() == pytest.approx(1)
    assert found.min() >= 0.5
    count = max(1, len(scores) // 3)
    assert inclusion_probabilities(found, count).min() >= 0.5 * count / len(scores) - 1e-12


def test_an_item_without_a_signal_counts_as_the_mean_and_a_constant_signal_says_nothing() -> None:
    assert sizes({"spread": np.array([0.0, np.nan, 2.0])}, 3).tolist() == [0.5, 1.0, 1.5]
    assert sizes({"spread": np.array([1.0, 32.0])}, 2) == pytest.approx(
        [0.5 + 1 / (1 + 32**0.7), 1.5 - 1 / (1 + 32**0.7)]
    )
    assert sizes({"spread": np.array([3.0, 3.0])}, 2).tolist() == [1.0, 1.0]
    assert sizes({"none": np.array([np.nan, np.nan])}, 2).tolist() == [1.0, 1.0]
    assert sizes({}, 2).tolist() == [1.0, 1.0]


def test_weighted_labels_of_informative_items_give_the_mean_of_all_with_an_interval_that_covers() -> None:
    """Plain means of the same labels are wrong: items with errors are drawn more often."""
    random = np.random.default_rng(11)
    judge = 100 - random.gamma(0.6, 20, 600)
    people = np.clip(100 - (100 - judge) * random.gamma(2.0, 0.5, 600), 0, 100)
    chances = inclusion_probabilities(sizes({"ends": 100 - judge}, 600), 120)
    covered, weighted, plain = 0, [], []
    for _ in range(300):
        drawn = systematic_sample(chances, random)
        found = corrected_mean(judge, judge[drawn], people[drawn], bounds=(0, 100), probabilities=chances[drawn])
        low, high, value = found.labels_only.low, found.labels_only.high, found.labels_only.value
        assert low is not None
        assert high is not None
        covered += low <= people.mean() <= high
        weighted.append(value)
        plain.append(people[drawn].mean())
    assert covered / 300 >= 0.92
    assert np.mean(weighted) == pytest.approx(people.mean(), abs=0.5)
    assert np.mean(plain) < people.mean() - 3
