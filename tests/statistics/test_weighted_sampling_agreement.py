"""Agreement on labels whose items had unequal probabilities of being labelled."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyjudge.calibration.agreement import AgreementOptions, agreement_by_language
from polyjudge.calibration.matching import Pair
from polyjudge.statistics.agreement_intervals import agreement_figures
from polyjudge.statistics.informative import inclusion_probabilities, sizes, systematic_sample
from polyjudge.statistics.intervals import wilson_interval
from polyjudge.statistics.rankings import ordering_figure
from polyjudge.statistics.resampling import mean_error, resampled_mean

_WEIGHTED = ("accuracy", "kappa", "kappa_quadratic", "macro_f1", "pearson", "spearman", "mean_difference")


@given(st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5), st.integers(1, 4)), min_size=4, max_size=25))
def test_an_item_of_weight_k_counts_as_k_items(rows: list[tuple[int, int, int]]) -> None:
    judge, people, counts = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    weighted = agreement_figures(judge, people, weights=counts / counts.mean(), resamples=0)
    copied = agreement_figures(np.repeat(judge, counts.astype(int)), np.repeat(people, counts.astype(int)), resamples=0)
    for name in _WEIGHTED:
        assert weighted[name].value == pytest.approx(copied[name].value, abs=1e-4), name


@given(st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=4, max_size=25))
def test_equal_weights_change_nothing(rows: list[tuple[int, int]]) -> None:
    judge, people = np.array(rows, dtype=float).T
    weights = np.ones(len(rows))
    assert agreement_figures(judge, people, weights=weights, resamples=30) == agreement_figures(
        judge, people, resamples=30
    )
    assert mean_error(judge, weights=weights) == mean_error(judge)


def test_weighted_agreement_of_an_informative_sample_is_that_of_all_items_with_an_interval_that_covers() -> None:
    random = np.random.default_rng(4)
    judge = random.integers(1, 6, 2_000).astype(float)
    doubtful = np.abs(judge - 3) < 1.5
    people = np.clip(judge + np.where(doubtful, random.integers(-1, 2, 2_000), 0), 1, 5)
    truth = float((judge == people).mean())
    chances = inclusion_probabilities(sizes({"doubt": doubtful * 4.0}, 2_000), 150)
    covered, values = 0, []
    for seed in range(120):
        drawn = systematic_sample(chances, random)
        weights = 1 / chances[drawn]
        found = agreement_figures(
            judge[drawn], people[drawn], weights=weights / weights.mean(), resamples=200, seed=seed
        )["accuracy"]
        assert found.value is not None
        assert found.low is not None
        assert found.high is not None
        covered += found.low <= truth <= found.high
        values.append(found.value)
    assert covered / 120 >= 0.9
    assert np.mean(values) == pytest.approx(truth, abs=0.01)


def test_a_rate_of_1_over_unequal_weights_has_the_interval_of_the_equal_items_that_say_as_much() -> None:
    chances = [0.1] * 10 + [0.9] * 10
    pairs = [
        Pair(id=f"i{n}", judge=1.0, people=1.0, language="th", cluster=f"i{n}", probability=chance)
        for n, chance in enumerate(chances)
    ]
    _, figures = agreement_by_language(pairs, AgreementOptions((1.0, 1.0), resamples=50))["th"]
    weights = 1 / np.array(chances)
    equal = round(weights.sum() ** 2 / (weights @ weights))
    interval = wilson_interval(equal, equal)
    assert interval is not None
    assert (figures["accuracy"].value, figures["accuracy"].low) == (1.0, interval.low)


@given(st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5), st.integers(1, 4)), min_size=2, max_size=25))
def test_an_order_counts_an_item_of_weight_k_as_k_items(rows: list[tuple[int, int, int]]) -> None:
    judge, people, times = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    copies = np.repeat(np.arange(len(rows)), times.astype(int))
    weighted = ordering_figure(
        judge, people, groups=[""] * len(rows), clusters=range(len(rows)), resamples=0, weights=times / times.mean()
    )
    repeated = ordering_figure(
        judge[copies], people[copies], groups=[""] * len(copies), clusters=range(len(copies)), resamples=0
    )
    assert weighted.value == pytest.approx(repeated.value)


@given(st.lists(st.floats(0.02, 1), min_size=3, max_size=30), st.booleans())
def test_a_share_of_0_or_1_over_unequal_weights_never_has_an_interval_of_no_width(
    chances: list[float], is_right: bool
) -> None:
    weights = 1 / np.array(chances)
    weights /= weights.mean()
    equal = round(weights.sum() ** 2 / (weights @ weights))
    found = resampled_mean([float(is_right)] * len(chances), resamples=20, weights=weights)
    interval = wilson_interval(equal * is_right, equal)
    assert interval is not None
    assert (found.value, found.low, found.high) == (float(is_right), interval.low, interval.high)
    pairs = [
        Pair(id=f"i{n}", judge=float(is_right), people=1.0, language="th", cluster=f"i{n}", probability=chance)
        for n, chance in enumerate(chances)
    ]
    _, figures = agreement_by_language(pairs, AgreementOptions((1.0, 1.0), resamples=20))["th"]
    assert (figures["accuracy"].value, figures["accuracy"].low) == (float(is_right), interval.low)


@given(st.lists(st.tuples(st.integers(1, 2), st.integers(1, 2), st.floats(0.02, 1)), min_size=3, max_size=12))
def test_resamples_without_a_difference_are_undefined_and_not_a_rounding_error(
    rows: list[tuple[int, int, float]],
) -> None:
    judge, people, chances = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    weights = (1 / chances) / (1 / chances).mean()
    with np.errstate(all="raise"):
        found = agreement_figures(judge, people, weights=weights, resamples=60)
    for name in ("pearson", "spearman", "kendall_tau_b", "pairwise_decided_accuracy"):
        for value in (found[name].value, found[name].low, found[name].high):
            assert value is None or abs(value) <= 1 + 1e-9
    if len(set(people)) == 1:
        assert found["spearman"].value is found["kendall_tau_b"].value is None
