"""Estimates of several systems: unbiased for each, with tests of the common correction that keep their level."""

import math

import numpy as np
import pytest

from polyjudge.statistics.estimates import corrected_mean
from polyjudge.statistics.system_correction import (
    FEWEST_CLUSTERS,
    SystemSample,
    difference_of,
    figure_of,
    mean_of,
    noticeable_shift,
    pooled_skewness,
    shift_of,
    slope_of,
    why_not_reliable,
)

BOUNDS = (0.0, 10.0)


def sample(judge, people, places, *, strata=None, clusters=None, drawn=None):
    judge, places = np.asarray(judge, dtype=float), np.asarray(places)
    return SystemSample(
        judged=judge,
        strata=np.zeros(len(judge), dtype=np.int64) if strata is None else np.asarray(strata),
        places=places,
        people=np.asarray(people, dtype=float),
        clusters=np.arange(len(judge)) if clusters is None else np.asarray(clusters),
        drawn=np.full(len(places), len(places) / len(judge)) if drawn is None else np.asarray(drawn),
    )


def world(random, count=400, bias=0.5, level=6.0, labels=50, first_cluster=0):
    """Return a system whose judge is too kind, and people's mean of all its items."""
    people = np.clip(random.normal(level, 1.5, count), 0, 10)
    judge = np.clip(0.8 * people + bias + random.normal(0, 0.8, count), 0, 10)
    places = np.sort(random.choice(count, labels, replace=False))
    own = sample(judge, people[places], places, clusters=first_cluster + np.arange(count))
    return own, float(people.mean())


def test_the_slope_is_that_of_a_regression_with_a_constant_for_each_system():
    # numpy.linalg.lstsq of people on the judge and one column for each system.
    one = sample([1, 2, 4, 5, 7], [2, 2, 5, 4, 9], range(5))
    other = sample([3, 6, 8, 9, 9], [1, 3, 6, 5, 6], range(5))
    judge, people = np.concatenate([one.judge, other.judge]), np.concatenate([one.people, other.people])
    columns = np.column_stack([judge, [1] * 5 + [0] * 5, [0] * 5 + [1] * 5])
    [slope, *_], [squares], *_ = np.linalg.lstsq(columns, people, rcond=None)
    found = slope_of([one, other], step=0.0)
    assert found.value == pytest.approx(slope)
    # Residual degrees: 10 labels, two constants and a slope.
    assert found.spread == pytest.approx(squares / 7)
    assert found.variance == pytest.approx(squares / 7 * np.linalg.inv(columns.T @ columns)[0, 0])


def test_with_all_items_labelled_the_estimate_is_the_plain_mean_for_any_slope():
    random = np.random.default_rng(1)
    judge, people = random.normal(5, 1, 30), random.normal(4, 1, 30)
    whole = sample(judge, people, range(30))
    for slope in (0.0, 0.4, 1.7):
        found = mean_of(whole, slope, 0.0)
        assert found.value == pytest.approx(people.mean())
        assert math.sqrt(found.variance()) == pytest.approx(people.std(ddof=1) / math.sqrt(30), rel=0.02)
        exact = figure_of(mean_of(whole, slope, 0.0, only_these=True), None, BOUNDS, whole)
        assert [exact.low, exact.value, exact.high] == pytest.approx([people.mean()] * 3)


def test_the_estimate_of_one_system_is_that_of_prediction_powered_inference():
    random = np.random.default_rng(2)
    own, _ = world(random)
    slope = slope_of([own], 0.0)
    found = corrected_mean(own.judged, own.judge, own.people, bounds=BOUNDS)
    assert slope.value == pytest.approx(found.weight)
    estimate = figure_of(mean_of(own, slope.value, 0.1), slope, BOUNDS, own)
    assert estimate.value == pytest.approx(found.figure.value)
    assert estimate.low == pytest.approx(found.figure.low, abs=0.02)
    assert estimate.high == pytest.approx(found.figure.high, abs=0.02)


def test_the_error_of_clusters_is_that_of_their_sums():
    # The linearised error of a mean over clusters: c / (c - 1) * sum of squared cluster sums of (y - m) / n.
    people, clusters = np.array([1.0, 2, 2, 5, 5, 6, 9, 9]), [0, 0, 0, 1, 1, 2, 3, 3]
    own = sample(people, people, range(8), clusters=clusters)
    sums = np.bincount(clusters, weights=(people - people.mean()) / 8)
    assert mean_of(own, 0.0, 0.0).variance() == pytest.approx(4 / 3 * (sums**2).sum())


def test_each_language_counts_by_its_items():
    judge = [5.0] * 90 + [2.0] * 10
    own = sample(judge, [6, 4, 5, 2, 3, 1], [0, 1, 2, 90, 91, 92], strata=[0] * 90 + [1] * 10)
    assert mean_of(own, 0.0, 0.0).value == pytest.approx(0.9 * 5 + 0.1 * 2)
    few = sample(judge, [6, 4, 5, 2], [0, 1, 2, 90], strata=[0] * 90 + [1] * 10)
    assert mean_of(few, 0.0, 0.0).value == pytest.approx(17 / 4)


def test_estimates_are_unbiased_and_their_intervals_cover_for_equal_and_unequal_probabilities():
    errors, covered = [], []
    for seed in range(400):
        random = np.random.default_rng(seed)
        people = np.clip(random.normal(6, 1.5, 500), 0, 10)
        judge = np.clip(people + 2 * (people < 5) + random.normal(0, 0.8, 500), 0, 10)
        chances = np.minimum(np.where(judge < 6, 0.25, 0.08), 1)
        chosen = np.flatnonzero(random.random(500) < chances)
        own = sample(judge, people[chosen], chosen, drawn=chances[chosen])
        found = figure_of(mean_of(own, 0.5, 0.1, only_these=True), None, BOUNDS, own)
        errors.append(found.value - people.mean())
        covered.append(found.low <= people.mean() <= found.high)
    assert abs(np.mean(errors)) < 3 * np.std(errors) / 20
    assert 0.92 <= np.mean(covered) <= 0.98


def test_the_difference_of_systems_with_the_same_items_is_paired():
    random = np.random.default_rng(5)
    people = random.normal(5, 2, 60)
    one = sample(people, people, range(60))
    other = sample(people, people - 0.5 + random.normal(0, 0.2, 60), range(60))
    apart = sample(people, other.people, range(60), clusters=range(100, 160))
    first = mean_of(one, 0.0, 0.0)
    paired = difference_of(first, mean_of(other, 0.0, 0.0), 0.0)
    unpaired = difference_of(first, mean_of(apart, 0.0, 0.0), 0.0)
    rest = one.people - other.people
    assert [paired.value, unpaired.value] == pytest.approx([rest.mean()] * 2)
    assert paired.error == pytest.approx(rest.std(ddof=1) / math.sqrt(60))
    # Welch's error for two independent samples.
    assert unpaired.error == pytest.approx(math.sqrt((one.people.var(ddof=1) + other.people.var(ddof=1)) / 60))
    assert paired.p < 1e-6 < 0.05 < unpaired.p


def test_the_test_and_the_interval_of_a_difference_agree():
    for seed in range(60):
        random = np.random.default_rng(seed)
        one, _ = world(random, labels=20)
        other, _ = world(random, labels=20, level=6.8, first_cluster=1000)
        found = difference_of(mean_of(one, 0.5, 0.1), mean_of(other, 0.5, 0.1), 0.0)
        assert (found.p < 0.05) == (found.figure.low > 0 or found.figure.high < 0)
        assert found.is_within(100)
        assert not found.is_within(1e-9)


def test_a_correction_that_holds_is_refused_as_rarely_as_stated_and_a_large_shift_is_noticed():
    refused, noticed, stated = 0, 0, []
    for seed in range(400):
        random = np.random.default_rng(seed)
        others = [world(random, first_cluster=1000 * number)[0] for number in range(1, 4)]
        same = shift_of(world(random)[0], others, 0.1)
        refused += same.p < 0.05
        noticed += shift_of(world(random, bias=0.5 - 0.55)[0], others, 0.1).p < 0.05
        stated.append(noticeable_shift(same, 0.05, 1))
    assert 0.03 < refused / 400 < 0.08
    # A shift of the judge's error by 0.55 moves people's mean given the judge by about as much as is stated.
    assert 0.35 < np.mean(stated) < 0.65
    assert 0.65 < noticed / 400 < 0.95


def _by_document(random, documents, labels, first=0):
    """Return a system of forty documents of ten texts, in each of which the judge errs in its own way."""
    document = np.arange(400) // 10
    people = random.normal(6, 1.5, 400)
    judge = people + random.normal(0, 0.5, 40)[document] + random.normal(0, 0.5, 400)
    chosen = random.choice(40, documents, replace=False)
    places = np.flatnonzero(np.isin(document, chosen) & (np.arange(400) % 10 < labels // documents))
    return sample(judge, people[places], places, clusters=first + document)


def test_a_correction_that_holds_is_rarely_refused_by_labels_of_as_few_documents_as_are_checked():
    refused = 0
    for seed in range(300):
        random = np.random.default_rng(seed)
        others = [_by_document(random, 20, 40, first=1000 * number) for number in range(1, 4)]
        own = _by_document(random, FEWEST_CLUSTERS, 10)
        assert own.can_be_checked
        refused += shift_of(own, others, 0.1).p < 0.05
    assert refused / 300 < 0.085


def test_labels_that_are_too_few_or_all_the_same_are_not_reliable():
    random = np.random.default_rng(7)
    normal, _ = world(random, labels=12)
    assert why_not_reliable(normal, 0.5, BOUNDS) == ""
    assert why_not_reliable(normal, 3.0, BOUNDS) == (
        "12 labels are too few for scores this skewed (3.0); about 23 are needed"
    )
    few, _ = world(random, labels=9)
    assert why_not_reliable(few, 0.0, BOUNDS) == "9 labels are too few; about 10 are needed"
    same = sample(range(40), [0.0] * 20, range(20))
    assert "all 20 labels are 0" in why_not_reliable(same, 0.0, BOUNDS)
    verdicts = sample([1.0, 0.0] * 20, [1.0] * 20, range(20))
    assert why_not_reliable(verdicts, 9.0, (0.0, 1.0)) == ""
    documents = sample(range(40), range(20), range(20), clusters=np.arange(40) // 5)
    assert why_not_reliable(documents, 0.0, BOUNDS) == "20 labels in 4 clusters are too few; about 10 are needed"
    assert why_not_reliable(sample(range(4), range(4), range(4)), 9.0, BOUNDS, only_these=True) == ""


def test_the_skewness_is_that_of_the_remainders_of_all_systems():
    one, other = sample([1, 2, 3], [0, 0, 3], range(3)), sample([1, 2, 3], [5, 5, 8], range(3), clusters=[3, 4, 5])
    both = np.array([-1.0, -1, 2, -1, -1, 2])
    biased = (both**3).mean() / (both**2).mean() ** 1.5
    assert pooled_skewness([one, other], 0.0) == pytest.approx(biased * math.sqrt(6 * 5) / 4)


def test_a_noisy_judge_errs_differently_on_a_worse_system_which_is_noticed():
    # Given the same score of the judge, a text of a worse system is worse: regression to the mean.
    random = np.random.default_rng(3)
    others = [world(random, labels=200, first_cluster=1000 * number)[0] for number in range(1, 4)]
    found = shift_of(world(random, level=4.5, labels=200)[0], others, 0.1)
    assert found.value < 0
    assert found.p < 0.001


def _bilingual(random, share, labels=120, first=0):
    """Return a system with a share of its items in a language in which the judge is much too kind."""
    tags = (random.random(400) < share).astype(np.int64)
    people = random.normal(6, 1, 400)
    judge = people + 1.5 * tags + random.normal(0, 0.5, 400)
    places = np.sort(random.choice(400, labels, replace=False))
    return sample(judge, people[places], places, strata=tags, clusters=first + np.arange(400))


def test_languages_in_which_the_judge_errs_differently_are_compared_with_themselves():
    refused = 0
    for seed in range(100):
        random = np.random.default_rng(seed)
        others = [_bilingual(random, 0.5, first=1000 * number) for number in (1, 2)]
        refused += shift_of(_bilingual(random, 0.1), others, 0.1).p < 0.05
    assert refused <= 12
    # Without labels of its language there is nothing to compare with but all of them.
    only = [_bilingual(np.random.default_rng(number), 0.0, first=1000 * number) for number in (1, 2)]
    assert shift_of(_bilingual(np.random.default_rng(0), 1.0), only, 0.1).p < 0.001


def test_few_labels_of_a_language_that_are_alike_do_not_count_as_certain():
    tags = np.arange(200) % 2
    places = np.flatnonzero(tags == 0)[:5].tolist() + np.flatnonzero(tags == 1)[:40].tolist()
    people = np.concatenate([np.full(5, 4.0), np.tile([3.0, 5.0], 20)])
    order = np.argsort(places)
    found = mean_of(sample(np.full(200, 4.0), people[order], np.sort(places), strata=tags), 0.0, 0.1)
    pooled = 40 / 43
    assert found.variance() >= 0.25 * (10 / 14 * pooled / 5 + pooled / 40)
