"""Bootstrap intervals are correct and need little memory."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyjudge.records.calibration import Figure
from polyjudge.statistics.resampling import Resamples, figure, mean_error, ratio, resampled_mean, scores_of


def _all(resamples):
    return np.concatenate(list(resamples))


def mean_figure(values, clusters=None, *, resamples=1000):
    scores = scores_of(values)
    blocks = Resamples(clusters, len(scores), resamples=resamples)
    return figure(np.concatenate([ratio(weights @ scores, weights.sum(axis=1)) for weights in blocks]))


def test_the_first_row_is_the_sample_itself():
    weights = _all(Resamples(None, 7, resamples=50))
    assert weights.shape == (51, 7)
    assert (weights[0] == 1).all()


@settings(deadline=None, max_examples=40)
@given(st.lists(st.sampled_from("abcd"), min_size=1, max_size=30), st.integers(0, 5))
def test_whole_clusters_are_drawn_as_many_as_there_are(clusters, seed):
    for row in _all(Resamples(clusters, len(clusters), resamples=20, seed=seed)):
        drawn = {name: {row[index] for index, own in enumerate(clusters) if own == name} for name in set(clusters)}
        assert all(len(weights) == 1 for weights in drawn.values())
        assert sum(weights.pop() for weights in drawn.values()) == len(set(clusters))


def test_blocks_are_small_for_any_number_of_items():
    blocks = iter(Resamples(None, 400_000, resamples=1000))
    assert max(next(blocks).nbytes for _ in range(3)) <= 8_000_000


def test_the_same_seed_gives_the_same_draws_and_another_seed_others():
    first, again, other = (_all(Resamples(None, 30, resamples=30, seed=seed)) for seed in (1, 1, 2))
    assert (first == again).all()
    assert not (first == other).all()


def test_one_cluster_has_a_value_but_no_interval():
    assert mean_figure([1, 2, 3], ["a", "a", "a"]) == Figure(2.0)
    assert mean_figure([5]) == Figure(5.0)
    assert mean_figure([]) == Figure(None)


def test_the_interval_of_a_mean_is_as_wide_as_theory_says():
    values = np.random.default_rng(3).normal(size=400)
    found = mean_figure(values, resamples=4000)
    assert found.value == pytest.approx(values.mean())
    assert (found.high - found.low) / 2 == pytest.approx(1.96 * values.std() / 20, rel=0.05)


def test_equal_items_in_a_cluster_count_once():
    values = np.repeat(np.random.default_rng(3).normal(size=100), 25)
    wide, narrow = mean_figure(values, np.repeat(np.arange(100), 25).tolist()), mean_figure(values)
    assert (wide.high - wide.low) / (narrow.high - narrow.low) == pytest.approx(5, rel=0.15)


def test_undefined_resamples_are_excluded_from_the_interval():
    assert figure(np.array([np.nan, 1.0, 2.0])) == Figure(None)
    assert figure(np.array([1.0, 2.0])) == Figure(1.0)
    assert figure(np.array([0.5] + [0.0, 1.0, np.nan] * 100)) == Figure(0.5, 0.0, 1.0)
    assert figure(np.array([0.5] + [1.0, np.nan, np.nan] * 100)) == Figure(0.5)


def test_percentiles_are_those_of_numpy():
    found = figure(np.array([50.0, *range(101)]))
    assert (found.low, found.high) == (pytest.approx(2.5), pytest.approx(97.5))


def test_wrong_lengths_and_missing_numbers_are_refused():
    with pytest.raises(ValueError, match="2 clusters for 3 items"):
        Resamples(["a", "b"], 3)
    with pytest.raises(ValueError, match="score number 1 is not a finite number"):
        mean_figure([1.0, float("nan")])


def test_a_standard_error_is_that_of_scipy_for_single_items():
    # scipy 1.17.1: sem, and t.interval with 4 degrees of freedom
    found = mean_error([0.2, 0.5, 0.9, 0.4, 0.4])
    assert (found.items, found.mean, found.standard_error) == (
        5,
        pytest.approx(0.48),
        pytest.approx(0.11575836902790225),
    )
    assert (found.low, found.high) == (pytest.approx(0.15860324292680095), pytest.approx(0.801396757073199))


def test_a_standard_error_counts_items_that_belong_together_as_one():
    alone, together = mean_error([0.0, 1.0, 0.5]), mean_error([0.0, 0.0, 1.0, 1.0, 0.5, 0.5], list("aabbcc"))
    assert together.standard_error == pytest.approx(alone.standard_error)


def test_a_mean_of_nothing_and_a_standard_error_of_one_item_are_not_known():
    assert (mean_error([]).mean, mean_error([3.0]).mean, mean_error([3.0]).standard_error) == (None, 3.0, None)


def test_shares_have_an_interval_that_is_not_empty_if_all_are_equal():
    some, all_right, none = resampled_mean([1, 0, 1, 1]), resampled_mean([1.0] * 8), resampled_mean([])
    assert (some.value, all_right.value, none.value) == (0.75, 1.0, None)
    assert all_right.low is not None
    assert all_right.low < 0.8
