"""Counts of pairs equal those of direct counting."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyjudge.statistics.rankings import PairCounts, item_pair_counts, pair_rates, tie_calibrated_accuracy

SCORES = st.integers(0, 5)
ROWS = st.lists(st.tuples(SCORES, SCORES, st.integers(0, 2), st.integers(0, 3)), min_size=1, max_size=25)


def _kind(one, other):
    """Return the five counts of a single pair."""
    first, second = np.sign(one[0] - other[0]), np.sign(one[1] - other[1])
    return np.array([first * second > 0, first * second < 0, first == 0, second == 0, first == second == 0], float)


def _columns(rows):
    return [np.array(column, dtype=np.int64) for column in zip(*rows, strict=True)]


@settings(deadline=None, max_examples=80)
@given(ROWS)
def test_the_pair_counts_of_each_item_equal_direct_counting(rows):
    first, second, groups, _ = _columns(rows)
    expected = np.zeros((len(rows), 5))
    for one, other in combinations(range(len(rows)), 2):
        if rows[one][2] == rows[other][2]:
            expected[[one, other]] += _kind(rows[one], rows[other])
    np.testing.assert_array_equal(item_pair_counts(first, second, groups), expected)


def test_many_items_are_counted_like_a_matrix():
    random = np.random.default_rng(5)
    first, second, groups = random.integers(0, 300, 1500), random.integers(0, 300, 1500), random.integers(0, 3, 1500)
    signs = np.sign(first[:, None] - first) * np.sign(second[:, None] - second) * (groups[:, None] == groups)
    counts = item_pair_counts(first, second, groups)
    np.testing.assert_array_equal(counts[:, 0], (signs > 0).sum(axis=1))
    np.testing.assert_array_equal(counts[:, 1], (signs < 0).sum(axis=1))


@settings(deadline=None, max_examples=80)
@given(ROWS, st.integers(0, 1000))
def test_pairs_of_clusters_have_the_product_of_weights_and_pairs_within_one_its_weight(rows, seed):
    first, second, groups, clusters = _columns(rows)
    weights = np.random.default_rng(seed).integers(0, 4, 4)[clusters].astype(float)
    expected = np.zeros(5)
    for one, other in combinations(range(len(rows)), 2):
        if rows[one][2] == rows[other][2]:
            together = rows[one][3] == rows[other][3]
            expected += _kind(rows[one], rows[other]) * weights[one] * (1 if together else weights[other])
    np.testing.assert_allclose(PairCounts(first, second, groups, clusters)(weights[None])[0], expected, atol=1e-9)


def test_linearised_counts_give_the_intervals_of_exact_counts():
    random = np.random.default_rng(8)
    first = np.round(random.normal(size=600), 1)
    second = np.round(0.6 * first + 0.8 * random.normal(size=600), 1)
    codes = [np.unique(scores, return_inverse=True)[1] for scores in (first, second)]
    weights = random.multinomial(600, np.full(600, 1 / 600), 1500).astype(float)
    groups = np.zeros(600, dtype=np.int64)
    exact = pair_rates(PairCounts(*codes, groups, None), weights)
    line = pair_rates(PairCounts(*codes, groups, None, exact_up_to=0), weights)
    for name, values in exact.items():
        assert np.corrcoef(values, line[name])[0, 1] > 0.995
        np.testing.assert_allclose(
            np.quantile(line[name], [0.025, 0.975]), np.quantile(values, [0.025, 0.975]), atol=0.004
        )


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(SCORES, SCORES, st.integers(0, 3)), min_size=2, max_size=20))
def test_no_threshold_is_better_than_the_one_found(rows):
    first, second, groups = zip(*rows, strict=True)
    within = [(a, b) for a, b in combinations(range(len(rows)), 2) if groups[a] == groups[b]]
    found = tie_calibrated_accuracy(first, second, groups)
    if not within:
        assert found is None
        return
    tried = {}
    for threshold in sorted({0.0, *(abs(first[a] - first[b]) for a, b in within)}):
        right = {group: [] for group in {groups[a] for a, _ in within}}
        for a, b in within:
            gap = first[a] - first[b]
            order = 0 if abs(gap) <= threshold else np.sign(gap)
            right[groups[a]].append(order == np.sign(second[a] - second[b]))
        tried[threshold] = np.mean([np.mean(each) for each in right.values()])
    assert found[0] == pytest.approx(max(tried.values()))
    assert tried[found[1]] == pytest.approx(found[0])


def test_a_judge_that_is_almost_tied_where_people_tie_gains_by_a_threshold():
    accuracy, threshold = tie_calibrated_accuracy([1.0, 1.1, 2.0, 2.05], [1, 1, 2, 2])
    assert (accuracy, threshold) == (1.0, pytest.approx(0.1))
