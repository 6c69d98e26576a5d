"""Bradley–Terry strengths: published tables, other packages, and what must hold for any comparisons."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyjudge.statistics.bradley_terry import standard_errors, strengths_of, win_rate
from polyjudge.statistics.comparisons import Comparisons

# Wins and losses of the American League in 1987, in the order Milwaukee, Detroit, Toronto, New York, Boston, Cleveland,
# Baltimore (Agresti 2002, table 10.10). The coefficients are those of the R package BradleyTerry2.
BASEBALL = [[7, 9, 7, 7, 9, 11], [7, 5, 11, 9, 9], [7, 7, 8, 12], [6, 7, 10], [7, 12], [6]]
BASEBALL_STRENGTHS = [1.5814, 1.4364, 1.2945, 1.2476, 1.1077, 0.6839, 0.0]
# Citations between Biometrika, Communications in Statistics, JASA and JRSS-B (Stigler 1994), from the same package.
CITATIONS = [[730, 498, 221], [68, 17], [142]]
CITED_BY = [[33, 320, 284], [813, 276], [325]]
CITATION_STRENGTHS = [0.0, -2.9491, -0.4796, 0.2690]


def wins_of(won, lost):
    size = len(won) + 1
    wins = np.zeros((size, size))
    for first in range(size - 1):
        for place, second in enumerate(range(first + 1, size)):
            wins[first, second], wins[second, first] = won[first][place], lost[first][place]
    return wins


def comparisons(systems, rows, clusters=None):
    first, second, share = (np.array(each) for each in zip(*rows, strict=True))
    where = np.arange(len(rows)) if clusters is None else np.array(clusters)
    return Comparisons(systems, first, second, share.astype(float), where)


def some_rows():
    """Sixty comparisons of four systems in twelve clusters, with ties."""
    shares = [1, 0.5, 0, 1, 1, 0, 0.5, 1, 0, 1, 1, 0.5]
    return [(i % 4, (i % 4 + 1 + (i // 4) % 3) % 4, shares[(i * 7 + i // 3) % 12]) for i in range(60)]


def test_the_strengths_of_baseball_teams_are_the_published_ones():
    wins = wins_of(BASEBALL, [[13 - each for each in row] for row in BASEBALL])

    found = strengths_of(wins)

    assert found.values - found.values[-1] == pytest.approx(BASEBALL_STRENGTHS, abs=5e-5)
    assert not found.is_limited


def test_the_strengths_of_journals_are_the_published_ones():
    found = strengths_of(wins_of(CITATIONS, CITED_BY))

    assert found.values - found.values[0] == pytest.approx(CITATION_STRENGTHS, abs=5e-5)


def test_the_strengths_are_those_of_choix():
    wins = wins_of([[3, 4, 2], [2, 5], [3]], [[2, 1, 1], [2, 1], [2]])

    assert strengths_of(wins).values == pytest.approx([0.6925361, 0.3023189, -0.24288538, -0.75196962], abs=1e-6)


def test_strengths_and_errors_with_ties_and_clusters_are_those_of_a_logistic_regression():
    """By statsmodels: GLM with a binomial family and errors by cluster, times 12/11."""
    found = comparisons(4, some_rows(), [i // 5 for i in range(60)])

    strengths = strengths_of(found.wins)

    assert strengths.values == pytest.approx([0.05055323, 0.05055323, -0.25249976, 0.1513933], abs=1e-7)
    errors = standard_errors(found, strengths)
    assert errors == pytest.approx([0.24044109, 0.22340186, 0.26133661, 0.30391311], abs=1e-7)


def test_errors_do_not_depend_on_how_many_clusters_are_summed_at_once():
    random = np.random.default_rng(0)
    rows = [(0, 1, float(random.integers(0, 3)) / 2) for _ in range(1_500)]
    found = comparisons(2, rows, sorted(random.integers(0, 700, 1_500).tolist()))
    found = found.among(np.ones(1_500, dtype=bool))

    [error, _] = standard_errors(found, strengths_of(found.wins))

    rate, rate_error = win_rate(found, 0)
    assert error == pytest.approx(rate_error / (rate.value * (1 - rate.value)) / 2)


def test_a_system_that_won_everything_gets_the_strength_of_half_a_win_more_on_both_sides():
    found = comparisons(2, [(0, 1, 1.0)] * 8)

    strengths = strengths_of(found.wins)

    assert strengths.is_limited
    assert strengths.values[0] - strengths.values[1] == pytest.approx(math.log(8.5 / 0.5))
    assert standard_errors(found, strengths) is None


def test_systems_that_nothing_connects_are_parts_of_their_own():
    found = comparisons(5, [(0, 1, 1.0), (1, 0, 1.0), (2, 3, 0.5)])

    strengths = strengths_of(found.wins)

    assert strengths.components.tolist() == [0, 0, 1, 1, 2]
    assert strengths.values[:4].tolist() == pytest.approx([0.0] * 4)
    assert math.isnan(strengths.values[4])


def test_the_error_of_a_win_rate_is_that_of_a_mean():
    shares = [1.0, 0.0, 0.25, 0.5, 0.0, 1.0, 0.125, 0.0]

    rate, error = win_rate(comparisons(2, [(0, 1, share) for share in shares]), 0)

    assert rate.value == pytest.approx(np.mean(shares))
    assert error == pytest.approx(np.std(shares, ddof=1) / math.sqrt(8))
    assert 0 <= rate.low < rate.value < rate.high <= 1


def test_a_system_that_won_everything_has_an_interval_of_its_win_rate():
    rate, error = win_rate(comparisons(2, [(0, 1, 1.0)] * 10), 0)

    assert error == 0
    # Wilson's lower limit is n / (n + t²), with the quantile of Student's t for nine degrees of freedom.
    assert (rate.low, rate.high) == (pytest.approx(10 / (10 + 2.262157**2), abs=1e-6), 1)


ROWS = st.lists(
    st.tuples(st.integers(0, 3), st.integers(1, 3), st.sampled_from([0.0, 0.5, 1.0, 0.3])), min_size=1, max_size=30
).map(lambda rows: [(first, (first + step) % 4, share) for first, step, share in rows])


@given(ROWS, st.permutations(range(4)))
def test_other_names_of_the_systems_give_the_same_strengths(rows, names):
    found = strengths_of(comparisons(4, rows).wins)
    renamed = strengths_of(comparisons(4, [(names[a], names[b], share) for a, b, share in rows]).wins)

    assert renamed.values[list(names)] == pytest.approx(found.values, abs=1e-6, nan_ok=True)


@given(ROWS)
def test_the_order_of_a_pair_makes_no_difference(rows):
    found = strengths_of(comparisons(4, rows).wins)
    turned = strengths_of(comparisons(4, [(b, a, 1 - share) for a, b, share in rows]).wins)

    assert turned.values == pytest.approx(found.values, abs=1e-6, nan_ok=True)


@given(ROWS, st.sampled_from([0, 1, 2, 3]), st.sampled_from([0, 1, 2, 3]))
def test_one_more_win_never_lowers_a_strength(rows, winner, loser):
    """Among systems that are connected, and whose strengths are finite, before and after."""
    before = strengths_of(comparisons(4, rows).wins)
    if winner == loser or before.is_limited or before.components[winner] != before.components[loser]:
        return

    after = strengths_of(comparisons(4, [*rows, (winner, loser, 1.0)]).wins)

    assert after.values[winner] >= before.values[winner] - 1e-7
    assert after.values[loser] <= before.values[loser] + 1e-7


@given(ROWS)
def test_finite_strengths_reproduce_the_wins(rows):
    found = comparisons(4, rows)
    strengths = strengths_of(found.wins)
    if strengths.is_limited:
        return

    expected = np.nansum(found.counts * np.nan_to_num(strengths.chances()), axis=1)

    assert expected == pytest.approx(found.wins.sum(axis=1), abs=1e-6)
