"""Corrected estimates have their nominal coverage, with fewer labels than labels alone would need."""

import numpy as np
import pytest

from polyjudge.calibration.correction import usual_scale
from polyjudge.records.calibration import Figure
from polyjudge.statistics.estimates import corrected_mean, rogan_gladen, separate_mean
from polyjudge.statistics.group_correction import GroupSample, corrected_by_group

JUDGE = [4, 5, 3, 3, 2, 5, 4, 1, 3, 4, 5, 2]
PEOPLE = [4, 4, 3, 2, 2, 5, 3, 1, 3, 5, 5, 1]
OTHERS = [4, 5, 3, 3, 2, 5, 4, 1, 3, 4, 5, 2, 4, 4, 3, 5, 1, 2, 4, 3, 5, 4, 3, 4]
LABELS, JUDGED, RUNS = 80, 1500, 400


def _world(random, count, bias=0.45, shift=0.0):
    """Return scores of a lenient judge and of people from 1 to 5, with a correlation of 0.7."""
    quality = random.normal(3.2 + shift, 1.0, count)
    people = np.clip(np.round(quality + random.normal(0, 0.45, count)), 1, 5)
    judge = np.clip(np.round(quality + bias + random.normal(0, 0.7, count)), 1, 5)
    return judge, people


def _passes(judge, people):
    return (judge >= 3).astype(float), (people >= 3).astype(float)


def _covers(figure, truth):
    return figure.low <= truth <= figure.high


def _width(figure):
    return figure.high - figure.low


def _simulate(view, worthless=False):
    """Return coverage of the corrected, naive and plain interval, and the relative width of the first."""
    truth = view(*_world(np.random.default_rng(99), 1_000_000))[1].mean()
    found = []
    for seed in range(RUNS):
        random = np.random.default_rng(seed)
        judge, people = view(*_world(random, JUDGED))
        judge = random.permutation(judge) if worthless else judge
        found.append(corrected_mean(judge, judge[:LABELS], people[:LABELS]))
    kinds = [[getattr(one, kind) for one in found] for kind in ("figure", "naive", "labels_only")]
    covered = [np.mean([_covers(each, truth) for each in kind]) for kind in kinds]
    widths = [np.mean([_width(each) for each in kind]) for kind in kinds]
    return *covered, widths[0] / widths[2]


@pytest.mark.parametrize("view", [lambda *both: both, _passes], ids=["scores", "pass rates"])
def test_the_interval_covers_the_truth_and_is_narrower_than_that_of_labels(view):
    corrected, naive, _, width = _simulate(view)
    assert 0.92 <= corrected <= 0.97
    assert naive < 0.1
    assert width < 0.92


@pytest.mark.parametrize("view", [lambda *both: both, _passes], ids=["scores", "pass rates"])
def test_an_uninformative_judge_does_not_widen_the_interval(view):
    corrected, _, plain, width = _simulate(view, worthless=True)
    assert corrected >= min(plain, 0.92)
    assert width < 1.02


@pytest.mark.parametrize("labels", [2, 3, 5, 6, 10])
def test_the_interval_of_few_labels_covers_the_truth(labels):
    truth = _world(np.random.default_rng(99), 1_000_000)[1].mean()
    covered = 0
    for seed in range(200):
        judge, people = _world(np.random.default_rng(seed), 300)
        covered += _covers(corrected_mean(judge, judge[:labels], people[:labels]).figure, truth)
    assert covered / 200 >= 0.92


def test_the_estimate_is_that_of_the_ppi_package():
    # ppi-python 0.2.3: ppi_mean_pointestimate of the 24 others gives 3.19603, tuned on slightly other sums.
    found = corrected_mean(OTHERS + JUDGE, JUDGE, PEOPLE)
    assert found.weight == 1
    assert found.figure.value == pytest.approx(3.1960, abs=0.002)
    assert (found.judged, found.labelled) == (36, 12)


def test_with_many_labels_the_interval_is_that_of_the_ppi_package():
    index = np.arange(2000)
    judge = index * 7919 % 101 / 100
    people = 0.6 * judge + 0.2 + 0.3 * (index * 104729 % 97 / 96 - 0.5)
    found = corrected_mean(judge, judge[:400], people[:400]).figure
    # ppi-python 0.2.3: ppi_mean_pointestimate and ppi_mean_ci, which use the normal quantile.
    assert found.value == pytest.approx(0.49895744, abs=1e-5)
    assert (found.low, found.high) == (pytest.approx(0.48741418, abs=1e-4), pytest.approx(0.51050069, abs=1e-4))


def test_the_interval_of_labels_alone_is_that_of_statsmodels():
    # statsmodels 0.15.0: proportion_confint(10, 12, method="wilson").
    found = corrected_mean([1] * 30 + [0] * 20, [1] * 12, [1] * 10 + [0] * 2).labels_only
    assert (found.low, found.high) == (pytest.approx(0.5519691377470265), pytest.approx(0.9530348578161462))


def test_with_a_constant_judge_only_the_labels_count():
    found = corrected_mean([3.0] * 50, [3.0] * 8, [1, 2, 3, 4, 5, 3, 2, 4])
    assert found.figure == found.labels_only
    assert found.weight == 0


def test_labels_that_all_agree_still_have_an_interval():
    for people in ([5.0] * 5, [5.0] * 30):
        judge = [5.0, 4.0] * 100
        found = corrected_mean(judge, judge[: len(people)], people, bounds=(1, 5)).figure
        assert found.high == 5
        assert found.low < 5
    verdicts = corrected_mean([1] * 40, [1] * 10, [1] * 10).figure
    assert verdicts.value == verdicts.high == 1
    assert 0.6 < verdicts.low < 0.9


def test_without_labels_there_is_no_value_and_with_one_no_interval():
    assert corrected_mean([1, 2, 3], [], []).figure == Figure(None)
    single = corrected_mean([1, 2, 3], [2], [3]).figure
    assert single.value == 3
    assert single.low is None
    assert corrected_mean([2.0, 2.0], [2.0, 2.0], [2.0, 2.0]).figure == Figure(2.0)


def test_estimates_stay_on_the_scale():
    found = corrected_mean([0] * 90 + [1] * 10, [1, 1, 0, 0, 0, 1], [0, 0, 0, 0, 0, 1])
    assert 0 <= found.figure.low <= found.figure.value <= found.figure.high <= 1


def test_wrong_lengths_are_refused():
    with pytest.raises(ValueError, match="the numbers must be equal"):
        corrected_mean([1, 2], [1], [1, 2])
    with pytest.raises(ValueError, match="no scores of the judge"):
        corrected_mean([], [], [])


def test_a_pass_rate_is_corrected_by_the_error_rates_of_the_judge():
    # The expected rate is (0.6 + 0.8 - 1) / (0.9 + 0.8 - 1) = 4/7.
    found = rogan_gladen(600, 1000, 90, 100, 80, 100)
    assert found.value == pytest.approx(4 / 7)
    # The delta method gives a standard error of 0.046.
    assert (found.high - found.low) / 3.92 == pytest.approx(0.046, rel=0.1)
    assert found == rogan_gladen(600, 1000, 90, 100, 80, 100)


def test_a_judge_no_better_than_chance_corrects_nothing():
    assert rogan_gladen(50, 100, 50, 100, 50, 100) == Figure(None)
    assert rogan_gladen(50, 100, 30, 100, 40, 100) == Figure(None)
    assert rogan_gladen(5, 10, 0, 0, 5, 10) == Figure(None)
    vague = rogan_gladen(5, 10, 2, 3, 2, 3)
    assert vague.high - vague.low > 0.9


def test_a_perfect_judge_needs_no_correction():
    found = rogan_gladen(300, 1000, 500, 500, 500, 500)
    assert found.value == pytest.approx(0.3)
    assert found.high - found.low < 0.08


def _groups(seed, labels=6, languages=12, unlabelled=0, spread=0.3):
    random = np.random.default_rng(seed)
    samples, truths = {}, {}
    for number in range(languages + unlabelled):
        judge, people = _world(random, 10_000, 0.45 + random.normal(0, spread), random.normal(0, 0.4))
        own = labels if number < languages else 0
        samples[f"language {number}"] = GroupSample(judge[:300], judge[:own], people[:own])
        truths[f"language {number}"] = people.mean()
    return samples, truths


@pytest.mark.slow
@pytest.mark.parametrize("spread", [0.0, 0.3, 0.8])
def test_languages_with_few_labels_borrow_from_the_others(spread):
    covered, widths, plain = [], [], []
    for seed in range(60):
        samples, truths = _groups(seed, spread=spread)
        for name, found in corrected_by_group(samples).items():
            covered.append(_covers(found.figure, truths[name]))
            widths.append(_width(found.figure))
            plain.append(_width(found.labels_only))
    assert 0.9 <= np.mean(covered) <= 0.99
    assert np.mean(widths) < 0.7 * np.mean(plain)


def test_a_language_without_labels_gets_the_common_bias_and_a_wider_interval():
    covered, with_labels, without = [], [], []
    for seed in range(60):
        samples, truths = _groups(seed, unlabelled=2)
        for name, found in corrected_by_group(samples).items():
            (with_labels if found.labelled else without).append(_width(found.figure))
            if not found.labelled:
                assert found.labels_only == Figure(None)
                covered.append(_covers(found.figure, truths[name]))
    assert np.mean(covered) >= 0.9
    assert np.mean(without) > 1.2 * np.mean(with_labels)


def test_a_language_with_many_labels_keeps_its_own_estimate():
    random = np.random.default_rng(4)
    samples, _ = _groups(1)
    judge, people = _world(random, 600, bias=-1.2)
    samples["other"] = GroupSample(judge, judge[:300], people[:300])
    found = corrected_by_group(samples)["other"].figure
    assert found.value == pytest.approx(corrected_mean(judge, judge[:300], people[:300]).figure.value, abs=0.05)


def test_verdicts_by_language_stay_between_0_and_1():
    samples, truths = _groups(2)
    verdicts = {
        name: GroupSample(
            *((np.asarray(part) >= 3) * 1.0 for part in (own.judged, own.labelled_judge, own.labelled_people))
        )
        for name, own in samples.items()
    }
    for found in corrected_by_group(verdicts).values():
        assert 0 <= found.figure.low <= found.figure.value <= found.figure.high <= 1
    assert set(verdicts) == set(truths)


def test_without_any_label_no_language_has_a_value():
    found = corrected_by_group({"de": GroupSample([1, 2, 3]), "fr": GroupSample([2, 3])})
    assert [each.figure for each in found.values()] == [Figure(None), Figure(None)]
    same = corrected_by_group({"de": GroupSample([2.0, 2.0], [2.0], [2.0]), "fr": GroupSample([2.0])})
    assert same["fr"].figure == Figure(2.0)


def test_the_estimate_with_weight_one_adds_the_judges_bias_and_both_variances():
    # numpy: mean(unlabelled) + mean(people - judge); root of var / n of both, added
    found = separate_mean([0.3, 0.8, 0.6, 0.7], [0.5, 0.9, 0.4], [0.4, 1.0, 0.1])
    assert (found.items, found.mean, found.standard_error) == (7, pytest.approx(0.5), pytest.approx(0.158113883008419))


def test_with_only_labelled_items_the_estimate_is_the_mean_of_the_labels():
    found = separate_mean([], [0.5, 0.9], [0.4, 1.0])
    assert (found.items, found.mean) == (2, pytest.approx(0.7))


def test_an_interval_does_not_depend_on_the_scale_of_the_judge():
    judge, people = _world(np.random.default_rng(5), 300)
    for labels in (10, 25, 50):
        same = corrected_mean(judge, judge[:labels], people[:labels])
        wide = corrected_mean(judge * 20, judge[:labels] * 20, people[:labels])
        assert _width(wide.labels_only) == pytest.approx(_width(same.labels_only))
        assert _width(wide.figure) < 1.1 * _width(same.labels_only)


def test_a_score_that_exceeds_a_scale_by_a_rounding_error_is_on_it():
    assert usual_scale([0.0, 100.00000000000004]) == (0.0, 100.0)
    assert usual_scale([0.0, 100.1]) is None
    assert usual_scale([-0.1, 0.5]) is None
    assert usual_scale([]) == (0.0, 1.0)
