"""Paired differences: interval, p-value and detectable difference, compared with other packages."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyjudge.records.calibration import Figure
from polyjudge.statistics.paired import (
    MANY_CLUSTERS,
    Clustered,
    clustered,
    detectable_difference,
    difference_figure,
    group_mean_figure,
    group_weighted,
    in_file_order,
    sign_flip_p,
)

FELL = [-1, 0, -0.5, -2, 0.5, -1, -1.5, 0, -0.25, 1.0]
DIFFERENCES = st.lists(st.integers(-8, 8).map(lambda number: number / 2), min_size=1, max_size=40)


# scipy 1.17.1, stats.permutation_test(permutation_type="samples", n_resamples=inf), which uses all signs.
@pytest.mark.parametrize(
    ("sums", "p"),
    [
        (FELL, 0.1640625),
        ([-1, -2, -3, -1, -2, -1.0], 0.03125),
        ([-1.0, -2.5, -0.5, 1.0, -1.5, 0.25, -3.0, 0.5], 0.171875),
    ],
)
def test_with_few_clusters_p_is_that_of_scipy_over_all_signs(sums, p):
    assert sign_flip_p(np.array(sums)) == pytest.approx(p, abs=1e-12)


def test_with_many_clusters_p_is_near_that_of_scipy():
    sums = np.arange(40) % 7 - 3.4

    # scipy 1.17.1 with two million draws
    assert sign_flip_p(sums, permutations=200_000) == pytest.approx(0.10657, abs=0.02)
    assert sign_flip_p(sums - 0.3, permutations=1000) == pytest.approx(sign_flip_p(sums - 0.3), abs=0.02)


def test_a_p_from_draws_is_never_0_and_depends_on_their_number():
    sums = np.full(40, -1.0)

    assert sign_flip_p(sums, permutations=999) == 1 / 1000
    assert sign_flip_p(sums) == 1 / 10_001
    assert sign_flip_p(np.zeros(40)) == 1
    assert sign_flip_p(np.zeros(0)) == 1


def test_all_signs_and_drawn_signs_give_the_same_p():
    sums = np.array([0.5, -1.5, -2, 1, -0.5, -1, -1, 2, -1.5, -3, -0.25])

    assert sign_flip_p(sums, permutations=2047) == pytest.approx(sign_flip_p(sums, permutations=2048), abs=0.03)


@given(DIFFERENCES, st.integers(0, 5))
@settings(max_examples=60, deadline=None)
def test_exchanging_the_runs_changes_only_the_sign(differences, seed):
    there, back = clustered(differences), clustered([-each for each in differences])

    assert sign_flip_p(there.sums, permutations=500, seed=seed) == sign_flip_p(back.sums, permutations=500, seed=seed)
    assert there.mean == -back.mean
    assert detectable_difference(there) == pytest.approx(detectable_difference(back))
    one, other = (difference_figure(each, resamples=100, seed=seed) for each in (there, back))
    assert (one.low, one.high) == pytest.approx((_less(other.high), _less(other.low)), abs=1e-9)


def _less(value):
    return None if value is None else -value


@given(DIFFERENCES)
@settings(max_examples=60, deadline=None)
def test_p_is_a_probability_and_zero_differences_are_no_evidence(differences):
    p = sign_flip_p(clustered(differences).sums, permutations=500)

    assert 0 < p <= 1
    assert p >= 2.0 ** (1 - sum(each != 0 for each in differences)) or p >= 1 / 501


def test_the_false_positive_rate_is_at_most_the_level():
    random = np.random.default_rng(7)
    found = np.array([sign_flip_p(random.normal(size=30), permutations=4000, seed=(1, index)) for index in range(1000)])

    for level in (0.01, 0.05, 0.1, 0.2):
        assert (found <= level).mean() <= level + 3 * (level * (1 - level) / 1000) ** 0.5


def test_items_of_one_cluster_are_one_observation():
    differences = np.repeat([-1.0, -1.2, -0.8, 0.9, -1.1, 0.8, -0.9, -0.7], 50)
    clusters = np.repeat(np.arange(8), 50)

    assert sign_flip_p(clustered(differences).sums) < 0.001
    assert sign_flip_p(clustered(differences, clusters).sums) > 0.05
    alone, together = (difference_figure(each) for each in (clustered(differences), clustered(differences, clusters)))
    assert alone.value == pytest.approx(together.value)
    assert together.high - together.low > 4 * (alone.high - alone.low)


def test_the_interval_is_that_of_scipy():
    found = difference_figure(clustered(np.arange(200) % 7 - 3.2), resamples=20_000)

    # scipy 1.17.1, stats.bootstrap(method="percentile", n_resamples=100_000)
    assert found.value == pytest.approx(-0.23)
    assert (found.low, found.high) == pytest.approx((-0.505, 0.045), abs=0.01)


def test_the_spread_between_clusters_is_that_of_statsmodels():
    values, groups = np.arange(60) * 7 % 11 - 5.2, np.minimum(np.arange(60) // 4, 9)

    # statsmodels 0.15.0, OLS on a constant with cov_type="cluster"
    assert clustered(values, groups).standard_error == pytest.approx(0.23377383463791865, rel=1e-9)


# statsmodels 0.15.0, stats.power.tt_solve_power(nobs=n, alpha=alpha, power=0.8): in standard deviations.
@pytest.mark.parametrize(
    ("count", "alpha", "smallest"),
    [
        (10, 0.05, 0.9960019107624178),
        (20, 0.05, 0.6604416544380312),
        (50, 0.05, 0.4041829997377859),
        (100, 0.05, 0.2829117119690806),
        (20, 0.01, 0.8384472461638419),
        (100, 0.01, 0.3475879364913354),
    ],
)
def test_the_detectable_difference_is_that_of_statsmodels(count, alpha, smallest):
    values = np.random.default_rng(3).normal(size=count)
    values = (values - values.mean()) / values.std(ddof=1)

    assert detectable_difference(clustered(values), alpha=alpha) == pytest.approx(smallest, rel=0.01)


def test_the_detectable_difference_is_detected_in_four_of_five_runs():
    random = np.random.default_rng(11)
    smallest = 0.4041829997377859
    runs = (random.normal(smallest, 1, 50) for _ in range(400))

    share = np.mean(
        [sign_flip_p(values, permutations=1000, seed=(2, index)) < 0.05 for index, values in enumerate(runs)]
    )

    assert 0.74 < share < 0.86


@pytest.mark.parametrize(
    ("values", "alpha"), [([1.0] * 30, 0.05), ([1.0], 0.05), ([1, 2, 3, 4, 5.0], 0.05), (FELL, 0.001)]
)
def test_without_a_detectable_difference_there_is_no_number(values, alpha):
    assert detectable_difference(clustered(values), alpha=alpha) is None


def test_groups_have_equal_weight_whatever_their_size():
    differences = np.array([-1.0] * 90 + [1.0] * 10)
    clusters, groups = np.arange(100), np.array([0] * 90 + [1] * 10)

    assert clustered(differences).mean == pytest.approx(-0.8)
    assert group_mean_figure(differences, clusters, groups).value == pytest.approx(0)
    assert group_weighted(differences, clusters, groups).mean == pytest.approx(0)
    assert group_weighted(differences[5:], clusters[5:], groups[5:] * 0).mean == pytest.approx(differences[5:].mean())


def test_a_cluster_in_several_groups_is_drawn_for_all_of_them():
    content = np.random.default_rng(2).normal(size=30)
    differences, groups = np.tile(content, 20), np.repeat(np.arange(20), 30)

    together = group_mean_figure(differences, np.tile(np.arange(30), 20), groups)
    apart = group_mean_figure(differences, np.arange(600), groups)

    assert together.value == pytest.approx(content.mean())
    assert together.high - together.low > 3 * (apart.high - apart.low)


def test_without_pairs_there_is_no_number():
    nothing = np.zeros(0, dtype=np.int64)

    assert difference_figure(clustered([], nothing)) == Figure()
    assert group_mean_figure([], nothing, nothing) == Figure()
    assert Clustered(np.ones(1), np.ones(1)).standard_error is None
    with pytest.raises(ValueError, match="2 clusters for 3 differences"):
        clustered([1, 2, 3], np.array([0, 1]))


def test_a_hundred_thousand_clusters_in_slices_give_the_sum_of_all():
    sums = np.random.default_rng(4).normal(size=100_003)

    assert sign_flip_p(sums, permutations=100) == pytest.approx(sign_flip_p(sums, permutations=1000), abs=0.2)
    assert sign_flip_p(sums - 0.02, permutations=1000) == 1 / 1001


def test_intervals_over_many_clusters_agree_with_the_bootstrap():
    random = np.random.default_rng(4)
    values, groups = random.exponential(1, MANY_CLUSTERS + 1) - 0.9, random.integers(3, 9, MANY_CLUSTERS + 1)
    alone = np.arange(len(values))
    normal = (difference_figure(clustered(values, alone)), group_mean_figure(values, alone, groups))
    fewer = slice(0, MANY_CLUSTERS - 1)
    bootstrap = (
        difference_figure(clustered(values[fewer], alone[fewer])),
        group_mean_figure(values[fewer], alone[fewer], groups[fewer]),
    )

    for one, other in zip(normal, bootstrap, strict=True):
        assert one.value == pytest.approx(other.value, abs=1e-3)
        assert [one.low, one.high] == pytest.approx([other.low, other.high], abs=0.1 * (one.high - one.low))


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 99)), min_size=1, max_size=60, unique_by=lambda row: row[1])
)
def test_clusters_are_numbered_in_the_order_of_the_file(rows):
    clusters, places = (np.array(column) for column in zip(*rows, strict=True))
    numbered = in_file_order(clusters, places)[np.argsort(places)]

    assert list(dict.fromkeys(numbered.tolist())) == list(range(len(set(clusters.tolist()))))
    assert len(set(zip(numbered.tolist(), clusters[np.argsort(places)].tolist(), strict=True))) == numbered.max() + 1
