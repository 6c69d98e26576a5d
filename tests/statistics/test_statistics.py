"""Statistics agree with numbers published elsewhere."""

import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyjudge.statistics.agreement import exact_agreement, krippendorff_alpha, mean_difference
from polyjudge.statistics.intervals import RunningMean, t_quantile, wilson_interval

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


def test_alpha_is_undefined_without_variation_or_pairs():
    assert krippendorff_alpha([[1, 1], [1, 1]]) is None
    assert krippendorff_alpha([[1, None], [None, 2]]) is None
    assert krippendorff_alpha([]) is None


def test_alpha_accepts_labels():
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


# scipy 1.17.1: scipy.stats.t.ppf(0.975, degrees)
@pytest.mark.parametrize(
    ("degrees", "quantile"),
    [
        (1, 12.706204736174694),
        (2, 4.302652729749462),
        (4, 2.7764451051977934),
        (30, 2.0422724563012378),
        (1000, 1.9623390808264083),
    ],
)
def test_students_quantile_is_scipys(degrees, quantile):
    assert t_quantile(degrees) == pytest.approx(quantile, rel=1e-9)


# statsmodels 0.15.0: proportion_confint(hits, count, method="wilson")
@pytest.mark.parametrize(
    ("hits", "count", "low", "high"),
    [(8, 10, 0.4901624715, 0.9433178485), (0, 10, 0.0, 0.2775327999), (50, 200, 0.1950816801, 0.3143409831)],
)
def test_wilsons_interval_is_that_of_statsmodels(hits, count, low, high):
    interval = wilson_interval(hits, count)

    assert interval is not None
    assert (interval.low, interval.high) == (pytest.approx(low, abs=1e-9), pytest.approx(high, abs=1e-9))
    assert wilson_interval(0, 0) is None


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=50))
def test_a_running_mean_is_the_mean_and_within_its_interval(values):
    running = RunningMean()
    for value in values:
        running.add(value)

    assert running.mean == pytest.approx(statistics.fmean(values), abs=1e-6)
    assert running.standard_deviation == pytest.approx(statistics.stdev(values), rel=1e-6, abs=1e-6)
    interval = running.interval()
    assert interval is not None
    assert interval.low <= running.mean <= interval.high


def test_the_interval_of_a_mean_is_the_textbooks():
    running = RunningMean()
    for value in (1.0, 2.0, 3.0, 4.0, 5.0):
        running.add(value)

    # 3 ± 2.776445 * 1.581139 / sqrt(5)
    interval = running.interval()
    assert interval is not None
    assert (interval.low, interval.high) == (pytest.approx(1.036757, abs=1e-6), pytest.approx(4.963243, abs=1e-6))


def test_exact_agreement_and_mean_difference_have_known_values():
    assert exact_agreement([["a", "a", "b"], ["c", None]]) == pytest.approx(1 / 3)
    assert mean_difference([[1.0, 3.0], [2.0, None]]) == 2
    assert exact_agreement([]) is None
    assert mean_difference([[1.0]]) is None
