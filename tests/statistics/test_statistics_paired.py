"""Paired tests, corrections and kappa agree with other packages."""

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyjudge.statistics.agreement import cohen_kappa
from polyjudge.statistics.intervals import benjamini_hochberg, mcnemar_exact

COUNTS = st.integers(0, 60)


# statsmodels 0.15.0, contingency_tables.mcnemar(exact=True); 86 and 150 are Agresti's ratings of a prime minister.
@pytest.mark.parametrize(
    ("only_first", "only_second", "p"),
    [
        (86, 150, 3.7159361395713866e-05),
        (2, 10, 0.03857421875),
        (0, 5, 0.0625),
        (7, 7, 1.0),
        (1, 0, 1.0),
        (59, 4, 1.3821257506541063e-13),
    ],
)
def test_mcnemar_s_exact_p_is_that_of_statsmodels(only_first, only_second, p):
    assert mcnemar_exact(only_first, only_second) == pytest.approx(p, rel=1e-12)


def test_without_discordant_pairs_p_is_one():
    assert mcnemar_exact(0, 0) == 1.0


@given(COUNTS, COUNTS)
def test_the_order_of_the_two_does_not_matter_and_p_is_a_probability(first, second):
    assert mcnemar_exact(first, second) == mcnemar_exact(second, first)
    assert 0 < mcnemar_exact(first, second) <= 1


def test_adjusted_p_values_are_those_of_statsmodels():
    # statsmodels 0.15.0, multitest.multipletests(method="fdr_bh")
    given_p, adjusted = [0.01, 0.04, 0.03, 0.005, 0.55, 0.2], [0.03, 0.06, 0.06, 0.03, 0.55, 0.24]

    assert benjamini_hochberg(given_p) == pytest.approx(adjusted, rel=1e-12)
    assert benjamini_hochberg([]) == []


@given(st.lists(st.floats(0, 1), max_size=20))
def test_an_adjusted_p_is_never_smaller_and_keeps_the_order(p_values):
    adjusted = benjamini_hochberg(p_values)

    assert all(p <= after <= 1 for p, after in zip(p_values, adjusted, strict=True))
    for (p, after), (other, other_after) in permutations(zip(p_values, adjusted, strict=True), 2):
        assert after <= other_after or p > other


def test_kappa_is_the_published_one():
    # The textbook table of two raters and fifty applications: 20 and 15 agreed, 5 and 10 not; 0.4 (scikit-learn 1.9.1).
    pairs = [("y", "y")] * 20 + [("y", "n")] * 5 + [("n", "y")] * 10 + [("n", "n")] * 15

    assert cohen_kappa(pairs) == pytest.approx(0.4, rel=1e-12)


def test_kappa_of_three_labels_is_that_of_scikit_learn():
    assert cohen_kappa(list(zip("abcabcaabccb", "abbaccabbcab", strict=True))) == pytest.approx(0.5, rel=1e-12)


def test_kappa_is_undefined_with_total_chance_agreement():
    assert cohen_kappa([("y", "y")] * 4) is None
    assert cohen_kappa([]) is None
