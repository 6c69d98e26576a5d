"""Tests without named documents: false alarms, power, and the numbers of scipy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyjudge.statistics.intervals import two_sided_p, variance_ratio_p
from polyjudge.statistics.neighbours import FEWEST, FEWEST_RELATED, neighbour_error
from polyjudge.statistics.paired import sign_flip_p

SETTINGS = [(length, share) for length in (2, 4, 8, 16, None) for share in (0.1, 0.3, 0.6, 0.9)]
"""The length of documents, or None for 1 to 16 by chance, and the share of the spread that is theirs."""


def differences(random, count, length=1, share=0.0):
    """Return null differences along a file whose first document may have started before it."""
    if length is None:
        codes = np.repeat(np.arange(count), random.integers(1, 17, count))[random.integers(0, 8) :][:count]
    else:
        codes = (np.arange(count) + random.integers(0, length)) // length
    own = random.normal(size=count)
    return np.sqrt(share) * random.normal(size=count + 1)[codes] + np.sqrt(1 - share) * own


def p_of(values):
    """Return the p of a mean as `compare` computes it without documents."""
    near = neighbour_error(values, np.ones(len(values))).p(values.sum())
    return near if near >= 0.05 else max(near, sign_flip_p(values, permutations=1_000))


def alarms(seed, count, length, share, *, times):
    random = np.random.default_rng(seed)
    return sum(p_of(differences(random, count, length, share)) < 0.05 for _ in range(times)) / times


def test_the_error_and_p_are_those_of_scipy():
    """scipy 1.17.1: fft.dct(norm="ortho"), the mean square of the seven slowest waves, and stats.t, for 120 items."""
    values = np.array([((i * 37) % 23 - 10) / 5 + 0.9 for i in range(120)])

    found = neighbour_error(values, np.ones(120))

    assert (found.degrees, found.needed) == (7, FEWEST)
    assert found.error == pytest.approx(3.188030437037383, rel=1e-12)
    assert found.p(values.sum()) == pytest.approx(1.346498425307127e-09, rel=1e-9)


def test_the_probabilities_are_those_of_scipy():
    t = [two_sided_p(*each) for each in ((2.5, 3), (1.1, 48), (30, 7))]
    f = [variance_ratio_p(*each) for each in ((1.7, 6, 41), (0.8, 12, 83), (3.2, 144, 1007))]

    assert t == pytest.approx([0.08770664700806556, 0.27681840525163903, 1.1788468880733144e-08])
    assert f == pytest.approx([0.14550065438779006, 0.6493269175314333, 1.1543065594903222e-26], rel=1e-9)


def test_with_few_items_nothing_is_said():
    random = np.random.default_rng(1)

    assert neighbour_error(random.normal(size=47) + 9, np.ones(47)).p(9 * 47) == 1
    assert neighbour_error(np.zeros(0), np.zeros(0)).needed == FEWEST
    few_documents = np.repeat([1.0, -1.0, 2.0, -2.0, 0.5], 16) + random.normal(0, 0.1, 80)
    assert neighbour_error(few_documents, np.ones(80)) == neighbour_error(few_documents * 7, np.ones(80))
    assert neighbour_error(few_documents, np.ones(80)).needed == FEWEST_RELATED


def test_items_of_unequal_weight_count_as_fewer():
    random = np.random.default_rng(2)
    shares = np.where(np.arange(400) % 10, 0.1, 10)
    values = random.normal(size=400) * shares

    assert neighbour_error(values, shares).degrees == 0
    assert neighbour_error(values[:, None].repeat(3, axis=1).ravel(), np.ones(1200)).degrees > 0


@given(st.floats(-3, 3), st.integers(48, 120), st.integers(0, 9))
def test_a_constant_change_and_a_change_of_scale_leave_the_error_and_p_as_they_are(shift, count, seed):
    values = np.random.default_rng(seed).normal(size=count)
    found, moved = (neighbour_error(each, np.ones(count)) for each in (values, values + shift))
    scaled = neighbour_error(values * 8, np.ones(count))

    assert moved.error == pytest.approx(found.error)
    assert scaled.error == pytest.approx(8 * found.error)
    assert scaled.p(8 * values.sum()) == pytest.approx(found.p(values.sum()))


def test_equal_differences_have_no_error():
    found = neighbour_error(np.full(60, 0.1), np.ones(60))

    assert found.p(6.0) == 0
    assert neighbour_error(np.zeros(60), np.ones(60)).p(0.0) == 1


@pytest.mark.parametrize(("count", "length", "share"), [(24, 8, 0.9), (50, 16, 0.9), (50, 4, 0.1), (120, 8, 0.6)])
def test_null_comparisons_give_at_most_one_false_alarm_in_twenty(count, length, share):
    assert alarms(3, count, length, share, times=1_000) <= 0.05 + 2 * (0.05 * 0.95 / 1_000) ** 0.5


@pytest.mark.slow
@pytest.mark.parametrize("count", [12, 24, 48, 64, 96, 120, 200, 500])
def test_the_rate_of_false_alarms_is_kept_for_documents_of_any_length(count):
    found = {setting: alarms(4, count, *setting, times=2_000) for setting in [(1, 0.0), *SETTINGS]}

    # The largest of 21 rates that are all 5% would be about 6.1% in so many simulations.
    assert max(found.values()) < 0.065, found
    assert np.mean(list(found.values())) < 0.05


@pytest.mark.slow
@pytest.mark.parametrize(("count", "least"), [(50, 0.33), (100, 0.48), (200, 0.58), (500, 0.65), (5_000, 0.7)])
def test_independent_items_keep_most_of_the_power(count, least):
    """Of differences that a t-test finds in four of five cases."""
    random = np.random.default_rng(5)
    found = [p_of(random.normal(2.8 / np.sqrt(count), 1, count)) < 0.05 for _ in range(600)]

    assert np.mean(found) >= least
