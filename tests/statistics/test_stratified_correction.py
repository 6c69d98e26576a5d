"""The overall estimate weights groups by their items, for any distribution of labels."""

import numpy as np
import pytest

from polyjudge.statistics.estimates import corrected_mean
from polyjudge.statistics.group_correction import GroupSample, stratified_mean


def run(random, sizes=(1400, 100), biases=(0.1, 1.1), levels=(4.0, 2.2), labels=40):
    """Return two languages with different biases of the judge, and the overall mean of people."""
    groups, truths = {}, []
    for name, size, bias, level in zip("ab", sizes, biases, levels, strict=True):
        people = np.clip(np.round(random.normal(level, 1.0, size)), 1, 5)
        judge = np.clip(np.round(people + bias + random.normal(0, 0.6, size)), 1, 5)
        chosen = random.choice(size, labels, replace=False)
        groups[name] = GroupSample(judge.tolist(), judge[chosen].tolist(), people[chosen].tolist())
        truths.append(people)
    return groups, float(np.concatenate(truths).mean())


def test_the_interval_covers_the_truth_with_uneven_labels():
    random, covered, plainly = np.random.default_rng(5), 0, 0
    for _ in range(200):
        groups, truth = run(random)
        found = stratified_mean(groups)
        covered += found.figure.low <= truth <= found.figure.high
        parts = [[x for group in groups.values() for x in getattr(group, name)] for name in GroupSample.__slots__[:3]]
        plain = corrected_mean(*parts)
        plainly += plain.figure.low <= truth <= plain.figure.high

    assert 184 <= covered <= 200
    assert plainly < covered


def test_the_interval_is_narrower_than_that_of_the_labels_alone():
    random = np.random.default_rng(6)
    found = [stratified_mean(run(random)[0]) for _ in range(50)]

    widths = [(each.figure.high - each.figure.low, each.labels_only.high - each.labels_only.low) for each in found]
    assert np.mean([own for own, _ in widths]) < np.mean([labels for _, labels in widths])


def test_one_group_gives_about_the_same_as_no_groups():
    random = np.random.default_rng(7)
    group = run(random)[0]["a"]

    alone, plain = (
        stratified_mean({"a": group}),
        corrected_mean(group.judged, group.labelled_judge, group.labelled_people),
    )

    assert alone.figure.value == pytest.approx(plain.figure.value)
    assert alone.figure.low == pytest.approx(plain.figure.low, abs=0.05)


@pytest.mark.parametrize("groups", [{}, {"a": GroupSample([1.0, 2.0], [1.0], [2.0])}])
def test_a_group_with_fewer_than_two_labels_gives_no_estimate(groups):
    assert stratified_mean(groups) is None


def test_the_interval_covers_if_one_group_has_five_labels_and_the_others_have_many():
    covered, counts = [], (5, 40, 40, 40)
    for seed in range(300):
        random, groups, truths = np.random.default_rng(seed), {}, []
        for name, labels in enumerate(counts):
            quality = random.normal(0.8 + random.normal(0, 0.4), 1.0, 100)
            people, judge = (quality + random.normal(0, 0.6, (2, 100)) > 0).astype(float)
            chosen = random.choice(100, labels, replace=False)
            groups[str(name)] = GroupSample(judge, judge[chosen], people[chosen])
            truths.append(people)
        found = stratified_mean(groups, only_these=True).figure
        covered.append(found.low <= np.concatenate(truths).mean() <= found.high)
    assert np.mean(covered) >= 0.92
