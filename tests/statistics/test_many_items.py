"""Intervals for very many items: groups of clusters are left out instead of resampling."""

import numpy as np
import pytest

from polyjudge.statistics.agreement_intervals import agreement_figures
from polyjudge.statistics.resampling import LeftOutGroups, Resamples, draws, figure, resampled_mean


def sample(count, clusters, seed=1):
    random = np.random.default_rng(seed)
    own = random.integers(0, clusters, count)
    shift = random.normal(0, 0.7, clusters)[own]
    judge = random.normal(size=count) + shift
    people = 0.6 * judge + random.normal(0, 0.8, count) + 0.5 * shift
    return np.clip(np.round(judge + 3), 1, 5), np.clip(np.round(people + 3), 1, 5), own


def bootstrapped(judge, people, clusters, measure):
    drawn = Resamples(clusters, len(judge), resamples=600, seed=4)
    return figure(np.concatenate([measure(weights) for weights in drawn]))


def test_groups_are_left_out_of_many_items_in_many_clusters_only():
    assert isinstance(draws(None, 10_001), LeftOutGroups)
    assert isinstance(draws(None, 10_000), Resamples)
    assert isinstance(draws(list(range(1_000)) * 11, 11_000), LeftOutGroups)
    assert isinstance(draws(list(range(999)) * 12, 11_988), Resamples)
    assert isinstance(draws(None, 10_001, resamples=0), Resamples)


def test_each_item_is_left_out_once_together_with_its_cluster():
    clusters = [place % 1_500 for place in range(12_000)]
    blocks = np.concatenate(list(draws(clusters, 12_000)))
    assert (blocks[0] == 1).all()
    assert len(blocks) == 101
    assert (blocks[1:].sum(axis=0) == 99).all()
    for cluster in (0, 700, 1_499):
        assert (blocks[:, cluster::1_500] == blocks[:, [cluster]]).all()


def test_the_standard_error_of_a_mean_is_the_usual_one():
    values = np.random.default_rng(2).beta(2, 1, 20_000)
    found = resampled_mean(values.tolist())
    usual = values.std(ddof=1) / np.sqrt(len(values))
    assert found.value == pytest.approx(values.mean())
    assert (found.high - found.low) / 2 == pytest.approx(1.984 * usual, rel=0.25)  # 99 degrees of freedom: 7% each way


@pytest.mark.parametrize("clustered", [False, True])
def test_intervals_are_those_of_the_bootstrap(clustered):
    judge, people, own = sample(12_000, 2_000)
    clusters = own.tolist() if clustered else None
    found = agreement_figures(judge, people, clusters=clusters, pass_from=(3.0, 3.0))
    expected_of = of_the_bootstrap(judge, people, clusters)
    for name, expected in expected_of.items():
        assert found[name].value == pytest.approx(expected.value)
        width = expected.high - expected.low
        assert found[name].high - found[name].low == pytest.approx(width, rel=0.3)
        assert found[name].low == pytest.approx(expected.low, abs=0.3 * width)


def of_the_bootstrap(judge, people, clusters):
    def accuracy(weights):
        return weights @ ((judge >= 3) == (people >= 3)) / weights.sum(axis=1)

    def pearson(weights):
        count = weights.sum(axis=1)
        one, other = (weights @ each / count for each in (judge, people))
        product = weights @ (judge * people) / count - one * other
        squares = [weights @ each**2 / count - mean**2 for each, mean in ((judge, one), (people, other))]
        return product / np.sqrt(squares[0] * squares[1])

    measures = {"accuracy": accuracy, "pearson": pearson}
    return {name: bootstrapped(judge, people, clusters, measure) for name, measure in measures.items()}


def test_an_interval_ends_where_the_measure_does():
    judge = np.ones(20_000)
    judge[::10_000] = 0
    found = agreement_figures(judge, np.ones(20_000), pass_from=(0.5, 0.5))
    assert found["accuracy"].value == pytest.approx(0.9999)
    assert found["accuracy"].high <= 1


@pytest.mark.slow
def test_intervals_cover():
    judge, people, _ = sample(1_000_000, 114_000, 999)
    truth = np.corrcoef(judge, people)[0, 1]
    found = []
    for seed in range(60):
        judge, people, own = sample(10_001, 1_200, seed)
        found.append(agreement_figures(judge, people, clusters=own.tolist())["pearson"])
    assert sum(each.low <= truth <= each.high for each in found) >= 52
