"""Labels that were drawn with unequal, known probabilities give unbiased estimates with valid intervals."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyjudge.statistics.estimates import corrected_mean
from polyjudge.statistics.group_correction import GroupSample, corrected_by_group, stratified_mean


def _world(random, count=600):
    """Return scores of a judge and of people from 1 to 5; the judge errs most, and too kindly, on bad texts."""
    people = np.clip(np.round(random.normal(3.4, 1.1, count)), 1, 5)
    judge = np.clip(np.round(people + 0.5 * (people < 3) + random.normal(0, 0.4 + 0.8 * (people < 3))), 1, 5)
    return judge, people


def _drawn(random, judge, size=60):
    """Return a sample with more of the items with a low score, and the probability of each."""
    wanted = np.where(judge < 3, 3.0, 1.0)
    chances = np.minimum(wanted * size / wanted.sum(), 1)
    chosen = random.random(len(judge)) < chances
    return chosen, chances[chosen]


def test_the_weighted_mean_and_its_error_are_those_of_a_survey():
    # R's survey 4.4, svymean(~y, svydesign(~1, weights = ~w)), by its formula: the linearised variance
    # n / (n - 1) * sum((w * (y - m) / sum(w))^2), with w = 1 / probability.
    people, chances = [4.0, 2.0, 5.0, 3.0, 1.0, 4.0], [0.5, 0.1, 0.5, 0.25, 0.1, 0.2]
    found = corrected_mean([3.0] * 40, [3.0] * 6, people, probabilities=chances).labels_only
    assert found.value == pytest.approx(2.4242424242, abs=1e-9)
    # Weights 2, 10, 2, 4, 10, 5 have an effective number of 1089 / 249 = 4.37: three degrees of freedom.
    # The scores are skewed, so one side is longer.
    shorter = min(found.high - found.value, found.value - found.low)
    assert shorter == pytest.approx(3.182446305 * 0.5981553046, abs=1e-6)


@given(st.floats(0.01, 1), st.integers(0, 1000))
def test_equal_probabilities_change_nothing(chance, seed):
    judge, people = _world(np.random.default_rng(seed), 80)
    own = judge[:20], people[:20]
    plain, weighted = corrected_mean(judge, *own), corrected_mean(judge, *own, probabilities=[chance] * 20)
    assert weighted.figure.value == pytest.approx(plain.figure.value)
    assert weighted.figure.low == pytest.approx(plain.figure.low)
    assert weighted.labels_only.high == pytest.approx(plain.labels_only.high)
    groups = {name: GroupSample(judge, *own) for name in "ab"}
    same = {name: GroupSample(judge, *own, [chance] * 20) for name in "ab"}
    assert stratified_mean(same).figure.value == pytest.approx(stratified_mean(groups).figure.value)
    assert corrected_by_group(same)["a"].figure.high == pytest.approx(corrected_by_group(groups)["a"].figure.high)


@pytest.mark.parametrize("view", [lambda scores: scores, lambda scores: (scores >= 3) * 1.0], ids=["means", "rates"])
def test_a_sample_with_more_bad_texts_gives_unbiased_estimates(view):
    found, truths, plain = [], [], []
    for seed in range(300):
        random = np.random.default_rng(seed)
        judge, people = _world(random)
        chosen, chances = _drawn(random, judge)
        sample = view(judge), view(judge[chosen]), view(people[chosen])
        found.append(corrected_mean(*sample, probabilities=chances))
        plain.append(corrected_mean(*sample))
        truths.append(view(people).mean())
    for kind in ("figure", "labels_only"):
        figures = [getattr(each, kind) for each in found]
        errors = np.array([each.value for each in figures]) - truths
        assert abs(errors.mean()) < 3 * errors.std() / np.sqrt(len(errors))
        assert np.mean([each.low <= truth <= each.high for each, truth in zip(figures, truths, strict=True)]) >= 0.91
    biased = np.array([each.labels_only.value for each in plain]) - truths
    assert abs(biased.mean()) > 10 * biased.std() / np.sqrt(len(biased))


def test_groups_are_corrected_with_their_own_probabilities():
    errors, covered = [], []
    for seed in range(200):
        random, groups, truths = np.random.default_rng(seed), {}, []
        for name in "abc":
            judge, people = _world(random, 400)
            chosen, chances = _drawn(random, judge, 40)
            groups[name] = GroupSample(judge, judge[chosen], people[chosen], chances)
            truths.append(people.mean())
        over_all, by_group = stratified_mean(groups), corrected_by_group(groups)
        errors.append(over_all.figure.value - np.mean(truths))
        each = zip(truths, by_group.values(), strict=True)
        covered.append([found.figure.low <= truth <= found.figure.high for truth, found in each])
    assert abs(np.mean(errors)) < 3 * np.std(errors) / np.sqrt(len(errors))
    assert np.mean(covered) >= 0.92


@pytest.mark.parametrize("chances", [[0.5], [0.5, 0.0], [0.5, 1.5], [0.5, float("nan")]])
def test_wrong_probabilities_are_refused(chances):
    with pytest.raises(ValueError, match="probabilit|finite"):
        corrected_mean([1, 2, 3], [1, 2], [1, 2], probabilities=chances)
