"""Measures of agreement equal those of other packages and published tables, in the sample and in resamples."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyjudge.records.calibration import Figure
from polyjudge.statistics.agreement import cohen_kappa, krippendorff_alpha
from polyjudge.statistics.agreement_intervals import NAMES, agreement_figures
from polyjudge.statistics.resampling import Resamples

JUDGE = [4, 5, 3, 3, 2, 5, 4, 1, 3, 4, 5, 2, 4, 4, 3, 5, 1, 2, 4, 3]
PEOPLE = [4, 4, 3, 2, 2, 5, 3, 1, 3, 5, 5, 1, 4, 3, 3, 4, 2, 2, 5, 3]

GOLDEN = {
    # scikit-learn 1.9.1: accuracy_score, cohen_kappa_score with and without weights, f1_score, recall_score of scores
    # from 4 on
    "kappa": 0.4267515923566879,
    "kappa_linear": 0.6785714285714286,
    "kappa_quadratic": 0.8553054662379421,
    "accuracy": 0.9,
    "macro_f1": 0.5397402597402597,
    "true_positive_rate": 1.0,
    "true_negative_rate": 0.8333333333333334,
    # krippendorff 0.9.0: alpha
    "alpha_nominal": 0.4384,
    "alpha_ordinal": 0.8678814814814815,
    "alpha_interval": 0.8584106494554256,
    # scipy 1.17.1: pearsonr, spearmanr, kendalltau
    "pearson": 0.8615861961680542,
    "spearman": 0.878764970408355,
    "kendall_tau_b": 0.7910008736619669,
}

SYMMETRIC = [
    "accuracy",
    "kappa",
    "kappa_linear",
    "kappa_quadratic",
    "alpha_nominal",
    "alpha_ordinal",
    "alpha_interval",
    "macro_f1",
    "pearson",
    "spearman",
    "kendall_tau_b",
    "pairwise_accuracy",
]
OF_ORDER = ["spearman", "kendall_tau_b", "pairwise_accuracy", "pairwise_decided_accuracy"]
OF_NAMES = ["accuracy", "kappa", "alpha_nominal", "macro_f1"]
RATINGS = st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=1, max_size=30)


def _values(first, second, **more):
    figures = agreement_figures(first, second, resamples=0, **more)
    return {name: found.value for name, found in figures.items()}


def _split(ratings):
    return [list(side) for side in zip(*ratings, strict=True)]


@pytest.mark.parametrize("name", GOLDEN)
def test_measures_equal_those_of_other_packages(name):
    assert _values(JUDGE, PEOPLE, pass_from=(4, 4))[name] == pytest.approx(GOLDEN[name], abs=1e-12)


def test_the_plain_accuracy_is_the_share_of_equal_scores():
    assert _values(JUDGE, PEOPLE)["accuracy"] == 0.55


def test_rates_and_means_are_plain_sums():
    values = _values(JUDGE, PEOPLE, pass_from=(4, 4))
    assert (values["base_rate"], values["judge_rate"]) == (0.4, 0.5)
    assert values["mean_difference"] == pytest.approx(np.mean(JUDGE) - np.mean(PEOPLE))


def test_continuous_scores_give_the_correlations_of_scipy():
    first = [0.0, 0.3, -0.27, -0.89, -0.45, -0.99, 0.06, 1.34, -0.49, -0.62, 0.49, 0.36]
    second = [0.08, -0.56, -0.19, 0.02, -1.35, -0.96, -1.48, -0.23, -1.77, -0.56, -0.72, 0.43]
    values = _values(first, second)  # scipy 1.17.1
    assert values["pearson"] == pytest.approx(0.27086804543377924)
    assert values["spearman"] == pytest.approx(0.22416846986827083)
    assert values["kendall_tau_b"] == pytest.approx(0.1679438245519263)


def test_measures_reproduce_published_examples():
    # K. Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011), sections A and B: two observers.
    binary = _values([0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0])
    assert binary["alpha_nominal"] == pytest.approx(0.095, abs=0.0005)
    named = _values([1, 1, 2, 2, 4, 3, 3, 3, 5, 4, 4, 1], [2, 1, 2, 2, 2, 3, 3, 3, 5, 4, 4, 4])
    assert named["alpha_nominal"] == pytest.approx(0.692, abs=0.0005)
    # J. L. Fleiss, "Statistical Methods for Rates and Proportions" (1981), chapter 13: 100 subjects, kappa .68.
    table = [[75, 1, 4], [5, 4, 1], [0, 0, 10]]
    cells = [(row, column) for row in range(3) for column in range(3) for _ in range(table[row][column])]
    diagnoses = _values(*_split(cells))
    assert diagnoses["kappa"] == pytest.approx(0.68, abs=0.005)
    assert diagnoses["kappa_linear"] == pytest.approx(0.7222222222222222)  # scikit-learn 1.9.1
    assert diagnoses["kappa_quadratic"] == pytest.approx(0.7553191489361702)
    # The textbook example of intelligence and hours of television: -29/165.
    iq, hours = [106, 100, 86, 101, 99, 103, 97, 113, 112, 110], [7, 27, 2, 50, 28, 29, 20, 12, 6, 17]
    assert _values(iq, hours)["spearman"] == pytest.approx(-29 / 165)
    assert _values(iq, hours)["kendall_tau_b"] == pytest.approx(-1 / 9)


@settings(deadline=None, max_examples=60)
@given(RATINGS)
def test_kappa_and_alpha_equal_those_of_the_module_without_numpy(ratings):
    first, second = _split(ratings)
    values = _values(first, second)
    assert values["kappa"] == _close(cohen_kappa(ratings))
    for level in ("nominal", "ordinal", "interval"):
        assert values[f"alpha_{level}"] == _close(krippendorff_alpha(ratings, level))


def _close(value):
    return None if value is None else pytest.approx(value, abs=1e-9)


@settings(deadline=None, max_examples=40)
@given(RATINGS)
def test_exchanging_the_raters_changes_no_symmetric_measure(ratings):
    first, second = _split(ratings)
    one, other = _values(first, second), _values(second, first)
    assert all(one[name] == _close(other[name]) for name in SYMMETRIC)


@settings(deadline=None, max_examples=40)
@given(RATINGS)
def test_rank_measures_depend_only_on_order_and_nominal_ones_only_on_equality(ratings):
    first, second = _split(ratings)
    plain = _values(first, second)
    stretched = _values([score**3 for score in first], [2.5**score for score in second])
    assert all(plain[name] == _close(stretched[name]) for name in OF_ORDER)
    renamed = {1: 4, 2: 1, 3: 5, 4: 2, 5: 3}
    other = _values([renamed[score] for score in first], [renamed[score] for score in second])
    assert all(plain[name] == _close(other[name]) for name in OF_NAMES)
    shifted = _values([2 * score + 7 for score in first], [2 * score + 7 for score in second])
    assert all(plain[name] == _close(shifted[name]) for name in SYMMETRIC)


def test_a_resample_is_the_sample_with_items_repeated():
    random = np.random.default_rng(2)
    first = np.sort(random.integers(1, 6, 40)).astype(float)
    second = np.clip(first + random.integers(-1, 2, 40), 1, 5).astype(float)
    order = np.lexsort((second, first))
    first, second = first[order], second[order]
    drawn = np.concatenate(list(Resamples(None, 40, resamples=60, seed=4)))[1:].astype(int)
    figures = agreement_figures(first, second, pass_from=(4, 4), resamples=60, seed=4)
    repeated = [_values(np.repeat(first, row), np.repeat(second, row), pass_from=(4, 4)) for row in drawn]
    # An item does not form a pair with its own copy, which matters only for this measure.
    for name in set(NAMES) - {"pairwise_accuracy"}:
        low, high = np.quantile([values[name] for values in repeated], [0.025, 0.975])
        if low == high:
            continue
        assert (figures[name].low, figures[name].high) == (pytest.approx(low), pytest.approx(high))


def test_a_measure_that_no_resample_changes_has_no_interval_of_no_width():
    figures = agreement_figures([1, 2, 3], [1, 2, 3], resamples=60)
    assert figures["accuracy"].value == figures["kappa"].value == figures["pearson"].value == 1
    assert (figures["accuracy"].low, figures["accuracy"].high) == (
        pytest.approx(0.4385, abs=1e-4),
        1.0,
    )  # Wilson, 3 of 3
    for name in ("kappa", "alpha_ordinal", "pearson", "spearman", "pairwise_accuracy", "mean_difference"):
        assert (figures[name].low, figures[name].high) == (None, None), name
    passing = agreement_figures([1, 5, 5], [1, 5, 5], pass_from=(3, 3), resamples=60)
    assert passing["true_positive_rate"].low == pytest.approx(0.3424, abs=1e-4)  # 2 of 2
    assert passing["true_negative_rate"].low == pytest.approx(0.2065, abs=1e-4)  # 1 of 1


def test_the_order_of_items_does_not_matter():
    order = np.random.default_rng(1).permutation(20)
    clusters = np.arange(20) // 3
    plain = agreement_figures(JUDGE, PEOPLE, clusters=clusters.tolist())
    other = agreement_figures(np.array(JUDGE)[order], np.array(PEOPLE)[order], clusters=clusters[order].tolist())
    assert {name: found.low for name, found in plain.items()} == {
        name: None if found.low is None else pytest.approx(found.low) for name, found in other.items()
    }


def test_a_constant_rater_leaves_correlations_undefined_and_not_zero():
    values = _values([3, 3, 3, 3], [1, 2, 3, 4])
    assert [values[name] for name in ("pearson", "spearman", "kendall_tau_b")] == [None, None, None]
    assert values["kappa"] == 0
    assert values["pairwise_decided_accuracy"] == 0
    same = _values([0.1, 0.1, 0.1], [0.1, 0.1, 0.1])
    assert [same[name] for name in ("kappa", "alpha_nominal", "alpha_ordinal", "alpha_interval")] == [None] * 4
    assert same["pairwise_decided_accuracy"] is None
    assert same["accuracy"] == 1


def test_without_items_there_are_no_values_and_with_one_only_few():
    assert agreement_figures([], []) == dict.fromkeys(NAMES, Figure(None))
    one = agreement_figures([2], [3])
    assert one["mean_difference"] == Figure(-1.0)
    assert one["pairwise_accuracy"] == Figure(None)


def test_a_scale_of_many_values_has_no_categories_but_may_have_verdicts():
    random = np.random.default_rng(0)
    first, second = random.normal(size=(2, 300))
    values = _values(first, second)
    assert [name for name in NAMES if values[name] is None][:7] == list(NAMES[:7])
    assert _values(first, second, pass_from=(0, 0))["accuracy"] == np.mean((first >= 0) == (second >= 0))


def test_pairs_are_formed_within_groups_only():
    values = _values([1, 2, 11, 12], [1, 2, -2, -1], groups=["a", "a", "b", "b"])
    assert values["pairwise_accuracy"] == values["kendall_tau_b"] == 1
    assert _values([1, 2, 11, 12], [1, 2, -2, -1])["kendall_tau_b"] < 0


def test_groups_drawn_whole_are_averaged_exactly():
    random = np.random.default_rng(6)
    groups = np.repeat(np.arange(60), 4)
    first, second = random.normal(size=(2, 240)) + np.repeat(random.normal(size=60), 4)
    found = agreement_figures(first, second, groups=groups.tolist(), clusters=groups.tolist(), seed=3)
    each = [_values(first[groups == group], second[groups == group])["pairwise_accuracy"] for group in range(60)]
    drawn = np.concatenate(list(Resamples(None, 60, seed=3)))
    means = drawn @ np.array(each) / 60
    assert found["pairwise_accuracy"].value == pytest.approx(means[0])
    assert found["pairwise_accuracy"].low == pytest.approx(np.quantile(means[1:], 0.025))


@pytest.mark.slow
def test_the_interval_has_about_its_nominal_coverage():
    hits = 0
    for seed in range(150):
        random = np.random.default_rng(seed)
        first = random.normal(size=120)
        second = 0.6 * first + 0.8 * random.normal(size=120)
        found = agreement_figures(first, second, resamples=200)
        # For a normal pair Kendall's tau is 2/pi times the arc sine of the correlation.
        hits += found["kendall_tau_b"].low <= 2 / np.pi * np.arcsin(0.6) <= found["kendall_tau_b"].high
    assert 0.88 <= hits / 150 <= 0.99


def test_scores_must_be_of_the_same_items():
    with pytest.raises(ValueError, match="the numbers must be equal"):
        agreement_figures([1, 2], [1])
    with pytest.raises(ValueError, match="the numbers must be equal"):
        agreement_figures([1, 2], [1, 2], groups=["a"])
