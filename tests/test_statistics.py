"""Statistics agree with numbers published elsewhere."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyjudge.statistics import exact_agreement, krippendorff_alpha, mean_difference

# K. Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011), section C: four observers, twelve units.
PUBLISHED = [
    [1, 1, None, 1],
    [2, 2, 3, 2],
    [3, 3, 3, 3],
    [3, 3, 3, 3],
    [2, 2, 2, 2],
    [1, 2, 3, 4],
    [4, 4, 4, 4],
    [1, 1, 2, 1],
    [2, 2, 2, 2],
    [None, 5, 5, 5],
    [None, None, 1, 1],
    [None, None, 3, None],
]


@pytest.mark.parametrize(("level", "alpha"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_alpha_is_the_published_one(level, alpha):
    assert krippendorff_alpha(PUBLISHED, level) == pytest.approx(alpha, abs=0.0005)


def test_alpha_is_not_defined_without_variation_or_without_pairs():
    assert krippendorff_alpha([[1, 1], [1, 1]]) is None
    assert krippendorff_alpha([[1, None], [None, 2]]) is None
    assert krippendorff_alpha([]) is None


def test_alpha_takes_labels():
    assert krippendorff_alpha([["a", "a"], ["b", "b"]]) == 1
    assert krippendorff_alpha([["a", "b"], ["b", "a"]]) == pytest.approx(-0.5)


@given(
    st.lists(st.lists(st.one_of(st.none(), st.integers(1, 5)), min_size=2, max_size=4), min_size=1, max_size=12),
    st.randoms(),
)
def test_alpha_does_not_depend_on_the_order_of_items_or_raters(units, random):
    for level in ("nominal", "ordinal", "interval"):
        alpha = krippendorff_alpha(units, level)
        shuffled = [random.sample(unit, len(unit)) for unit in random.sample(units, len(units))]
        assert krippendorff_alpha(shuffled, level) == (None if alpha is None else pytest.approx(alpha))
        assert alpha is None or alpha <= 1 + 1e-9


def test_simple_agreement():
    assert exact_agreement([["a", "a", "b"], ["c", None]]) == pytest.approx(1 / 3)
    assert mean_difference([[1.0, 3.0], [2.0, None]]) == 2
    assert exact_agreement([]) is None
    assert mean_difference([[1.0]]) is None
