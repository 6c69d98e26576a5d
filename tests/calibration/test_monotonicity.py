"""Figures from the scores of clean and perturbed texts: known judges, golden numbers, and error rates of verdicts."""

from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyjudge.calibration.monotonicity import (
    NOTICEABLE,
    SeverityScores,
    control_result,
    discrimination,
    drawn,
    measure,
    over_languages,
)
from polyjudge.records.calibration import Figure
from polyjudge.statistics.intervals import wilson_interval
from polyjudge.verdicts.trust import NOTICED_FROM, RELIABLE_FROM, verdict_of

NAN = float("nan")
FOUR_STEPS = (0.0, 0.25, 0.5, 0.75, 1.0)
# scipy 1.17.1: scipy.stats.spearmanr(severities, row).statistic for each of these rows
GOLDEN_ROWS = {
    (0.9, 0.8, 0.85, 0.4, 0.3): -0.8999999999999998,
    (0.7, 0.7, 0.7, 0.2, 0.1): -0.8944271909999157,
    (1.0, 0.6, 0.6, 0.6, 0.6): -0.7071067811865475,
    (0.5, 0.6, 0.7, 0.8, 0.9): 0.9999999999999999,
    (0.8, 0.8, 0.9, 0.8, 0.7): -0.44721359549995787,
}


def measured(rows, severities=FOUR_STEPS, *, unjudged=0, language="th"):
    scores = np.array(rows, dtype=np.float64).reshape(-1, len(severities))
    return measure("typos", language, SeverityScores(tuple(severities), scores, unjudged), drawn(len(scores)))


def found(rows, severities=FOUR_STEPS, **more):
    return measured(rows, severities, **more).result


def falling(count, start=0.9, step=0.2):
    return [[start - step * place for place in range(5)]] * count


def shift_for(auc):
    """Return the distance of two unit normal distributions with this AUC."""
    return NormalDist().inv_cdf(auc) * 2**0.5


def simulated(count, auc, random, *, own_level=0.0):
    """Return clean and perturbed scores; `own_level` is the part of their variance that is the text's own level."""
    level, rest = random.normal(size=count) * own_level**0.5, (1 - own_level) ** 0.5
    clean = level + rest * random.normal(size=count) + shift_for(auc)
    perturbed = level + rest * random.normal(size=count)
    return 0.5 + np.column_stack([clean, perturbed]) / 12


def verdicts(count, auc, times, *, own_level=0.0):
    random, weights = np.random.default_rng(count), drawn(count, resamples=1000 if count < 50 else 250)
    return [
        measure(
            "typos", "", SeverityScores((0.0, 1.0), simulated(count, auc, random, own_level=own_level)), weights
        ).result
        for _ in range(times)
    ]


# Judges with known behaviour


def test_a_score_that_falls_at_every_step_has_correlation_minus_one_and_no_violation():
    result = found(falling(12))

    assert result.rank_correlation == Figure(-1.0, -1.0, -1.0)
    assert result.violations == Figure(0.0, 0.0, 0.0)
    assert (result.drop.value, result.auc.value, result.verdict) == (0.8, 1.0, "reliable")


def test_a_constant_score_has_no_effect_in_any_figure():
    result = found([[0.7] * 5] * 12)

    assert (result.rank_correlation.value, result.auc.value, result.drop.value) == (0.0, 0.5, 0.0)
    assert (result.violations.value, result.noticed_from) == (0.0, Figure())
    assert result.verdict == "unreliable"


def test_a_rising_score_has_only_violations_and_no_discrimination():
    result = found([row[::-1] for row in falling(12)])

    assert (result.rank_correlation.value, result.violations.value, result.auc.value) == (1.0, 1.0, 0.0)
    assert result.drop.value == -0.8
    assert (result.noticed_from, result.verdict) == (Figure(), "unreliable")


def test_a_judge_that_notices_only_full_severity_notices_from_there():
    result = found([[0.9, 0.9, 0.9, 0.9, 0.1]] * 9)

    assert result.noticed_from.value == 1.0
    assert result.verdict == "reliable"


def test_a_fall_that_is_undone_is_noticed_only_from_where_it_is_permanent():
    assert found([[0.9, 0.5, 0.9, 0.6, 0.5]] * 8).noticed_from.value == 0.75


def test_a_fall_too_small_to_count_is_never_noticed_but_counts_for_ranks():
    result = found([[0.5, 0.49, 0.48, 0.47, 0.46]] * 12)

    assert result.noticed_from == Figure()
    assert result.rank_correlation.value == -1.0


def test_ties_are_no_violations_and_weaken_the_correlation():
    result = found([[0.8, 0.8, 0.4, 0.4, 0.4]] * 8)

    assert result.violations.value == 0.0
    assert -1 < result.rank_correlation.value < 0


# Golden numbers


@pytest.mark.parametrize(("row", "expected"), GOLDEN_ROWS.items())
def test_the_correlation_of_one_text_is_that_of_scipy(row, expected):
    assert found([row]).rank_correlation.value == pytest.approx(expected, abs=5e-5)


def test_the_correlation_of_several_texts_is_the_mean_of_those_of_scipy():
    result = found(list(GOLDEN_ROWS))

    assert result.rank_correlation.value == pytest.approx(-0.3897495135372842, abs=5e-5)
    assert result.violations.value == pytest.approx((1 + 0 + 0 + 4 + 1) / 20)


def test_the_auc_is_the_u_statistic_of_scipy_over_the_number_of_pairs():
    # scipy 1.17.1: scipy.stats.mannwhitneyu(clean, perturbed).statistic / (len(clean) * len(perturbed))
    clean, perturbed = [0.9, 0.8, 0.8, 0.6, 0.5, 0.4, 0.95, 0.7], [0.3, 0.8, 0.5, 0.6, 0.1, 0.4, 0.2, 0.75]

    assert found(list(zip(clean, perturbed, strict=True)), (0.0, 1.0)).auc.value == pytest.approx(0.7890625, abs=5e-5)
    assert found([(row[0], row[-1]) for row in GOLDEN_ROWS], (0.0, 1.0)).auc.value == pytest.approx(0.76, abs=5e-5)


# Missing scores


def test_a_text_without_its_clean_or_full_severity_score_does_not_count():
    whole = falling(6)
    result = found([*whole, [NAN, 0.1, 0.9, 0.1, 0.9], [0.1, 0.9, 0.1, 0.9, NAN]])

    assert result.texts == 6
    assert (result.drop, result.violations, result.rank_correlation) == (
        Figure(0.8, 0.8, 0.8),
        Figure(0.0, 0.0, 0.0),
        Figure(-1.0, -1.0, -1.0),
    )


def test_a_score_missing_in_the_middle_leaves_the_other_steps():
    result = found([[0.9, NAN, 0.5, NAN, 0.1]] * 6)

    assert (result.texts, result.rank_correlation.value, result.violations.value) == (6, -1.0, 0.0)
    assert result.noticed_from.value == 0.5


def test_a_rise_over_a_gap_is_one_violation_of_one_step():
    assert found([[0.5, NAN, NAN, NAN, 0.9]] * 6).violations.value == 1.0


def test_without_scores_nothing_is_measured():
    for result in (found([[NAN] * 5] * 4, unjudged=20), found([], unjudged=0)):
        assert (result.texts, result.verdict) == (0, "not enough data")
        assert {result.auc, result.drop, result.rank_correlation, result.violations, result.noticed_from} == {Figure()}


def test_failed_trials_are_counted():
    assert found([[0.9, NAN, 0.5, NAN, 0.1]] * 6, unjudged=12).unjudged == 12


def test_one_text_has_values_but_is_never_called_reliable():
    result = found(falling(1))

    assert (result.texts, result.auc.value, result.rank_correlation.value) == (1, 1.0, -1.0)
    assert result.verdict == "not enough data"


@pytest.mark.parametrize("count", [1, 2])
def test_a_text_or_two_are_never_enough_for_any_verdict(count):
    assert found([[0.2, 0.9]] * count, (0.0, 1.0)).verdict == "not enough data"


def test_one_text_gives_no_interval():
    result = found([[0.9, 0.7, 0.8, 0.4, 0.3]])

    assert (result.drop.low, result.rank_correlation.low, result.violations.low) == (None, None, None)


def test_two_severities_are_enough_for_every_number():
    result = found([[0.9, 0.2]] * 9, (0.0, 1.0))

    assert (result.rank_correlation.value, result.violations.value, result.noticed_from.value) == (-1.0, 0.0, 1.0)
    assert result.verdict == "reliable"


# Properties

SCORES = st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]), st.just(NAN))
ROWS = st.lists(st.lists(SCORES, min_size=5, max_size=5), min_size=1, max_size=9)


@settings(max_examples=60)
@given(ROWS)
def test_every_figure_is_in_its_range_and_its_interval(rows):
    result = found(rows)

    ranges = {"auc": (0, 1), "drop": (-1, 1), "rank_correlation": (-1, 1), "violations": (0, 1)}
    for name, (least, most) in ranges.items():
        figure = getattr(result, name)
        if figure.value is not None and figure.low is None:
            assert result.texts == 1, name
        elif figure.value is not None:
            assert least <= figure.low <= figure.value <= figure.high <= most, name
    assert result.texts == sum(row[0] == row[0] and row[-1] == row[-1] for row in rows)


@settings(max_examples=40)
@given(ROWS)
def test_the_same_scores_give_the_same_figures(rows):
    assert found(rows) == found(rows)


@settings(max_examples=40)
@given(ROWS, st.randoms(use_true_random=False))
def test_the_order_of_the_texts_does_not_change_a_value(rows, random):
    other = list(rows)
    random.shuffle(other)
    first, second = found(rows), found(other)

    for name in ("auc", "drop", "rank_correlation", "violations"):
        one, two = getattr(first, name).value, getattr(second, name).value
        assert one == two if one is None else one == pytest.approx(two, abs=1.5e-4)


@settings(max_examples=40)
@given(st.lists(st.tuples(*[st.integers(0, 20)] * 2), min_size=1, max_size=12))
def test_exchanging_clean_and_perturbed_inverts_every_figure(pairs):
    rows = np.array(pairs) / 20
    ahead, back = found(rows, (0.0, 1.0)), found(rows[:, ::-1], (0.0, 1.0))

    assert ahead.auc.value == pytest.approx(1 - back.auc.value, abs=1e-4)
    assert ahead.drop.value == pytest.approx(-back.drop.value, abs=1e-4)
    assert ahead.rank_correlation.value == pytest.approx(-back.rank_correlation.value, abs=1e-4)


@settings(max_examples=40)
@given(st.lists(st.tuples(*[st.integers(0, 20)] * 3), min_size=2, max_size=10))
def test_a_monotonic_change_of_scale_keeps_the_rank_figures(rows):
    scores = np.array(rows) / 20
    plain, bent = found(scores, (0.0, 0.5, 1.0)), found(scores**3, (0.0, 0.5, 1.0))

    assert (plain.auc, plain.rank_correlation, plain.violations, plain.verdict) == (
        bent.auc,
        bent.rank_correlation,
        bent.violations,
        bent.verdict,
    )


# Error rates of verdicts, and coverage of intervals


@pytest.mark.slow
@pytest.mark.parametrize("count", [6, 10, 20, 50])
def test_a_judge_that_notices_nothing_is_rarely_called_reliable(count):
    results = verdicts(count, 0.5, 300)

    assert sum(result.verdict == "reliable" for result in results) < 0.03 * len(results)


@pytest.mark.slow
@pytest.mark.parametrize("count", [6, 10, 20, 50])
def test_a_judge_that_notices_is_rarely_called_unreliable(count):
    results = verdicts(count, 0.95, 300)

    assert sum(result.verdict == "unreliable" for result in results) < 0.03 * len(results)


def test_fifty_texts_separate_a_judge_that_notices_from_one_that_does_not():
    blind, seeing = verdicts(50, 0.5, 30), verdicts(50, 0.95, 30)

    assert sum(result.verdict == "unreliable" for result in blind) >= 20
    assert sum(result.verdict == "reliable" for result in seeing) >= 28


def test_a_judge_below_the_threshold_is_rarely_called_reliable_from_six_texts():
    results = verdicts(6, 0.68, 400)

    assert sum(result.verdict == "reliable" for result in results) < 0.05 * len(results)


@pytest.mark.parametrize("count", [6, 8, 12, 20])
def test_without_ties_the_interval_is_at_least_that_of_the_wins(count):
    result = found([[0.9, 0.1]] * count, (0.0, 1.0))

    assert result.auc.low <= wilson_interval(count, count).low + 1e-4


@pytest.mark.slow
@pytest.mark.parametrize("auc", [0.5, 0.8, 0.95])
def test_more_texts_never_change_reliable_to_unreliable(auc):
    random = np.random.default_rng(7)
    for _ in range(15):
        scores = simulated(50, auc, random)
        grown = [found(scores[:count], (0.0, 1.0)).verdict for count in (6, 10, 15, 25, 50)]
        assert "unreliable" not in grown[grown.index("reliable") :] if "reliable" in grown else True


@pytest.mark.slow
@pytest.mark.parametrize("auc", [0.5, 0.8, 0.9])
def test_the_interval_of_the_auc_holds_the_truth(auc):
    results = verdicts(20, auc, 150, own_level=0.5)

    assert sum(result.auc.low <= auc <= result.auc.high for result in results) >= 0.9 * len(results)


@pytest.mark.slow
def test_the_interval_of_the_drop_holds_the_truth_with_twenty_texts():
    results, truth = verdicts(20, 0.8, 300), shift_for(0.8) / 12

    assert sum(result.drop.low <= truth <= result.drop.high for result in results) >= 0.9 * len(results)


def test_the_interval_of_the_drop_holds_the_truth_with_the_five_texts_of_the_sample():
    results, truth = verdicts(5, 0.8, 300), shift_for(0.8) / 12

    assert sum(result.drop.low <= truth <= result.drop.high for result in results) >= 0.9 * len(results)


def test_three_hundred_texts_are_enough_for_a_verdict_on_an_auc_far_from_the_threshold():
    level = np.linspace(0.05, 0.95, 300)
    result = found(np.column_stack([level + 0.03, level - 0.03]), (0.0, 1.0))

    assert result.auc.value == pytest.approx(0.5629, abs=1e-3)
    assert result.noticed.value == 1.0
    assert result.verdict == "reliable"  # in every text; a larger spread between texts does not matter


# A language over all perturbations


def of_language(texts, kinds, auc, random):
    clean = random.normal(size=texts) + shift_for(auc)
    return {
        str(kind): SeverityScores((0.0, 1.0), 0.5 + np.column_stack([clean, random.normal(size=texts)]) / 12)
        for kind in range(kinds)
    }


@pytest.mark.parametrize(("texts", "kinds"), [(5, 10), (10, 4), (20, 2)])
def test_a_language_in_which_a_judge_notices_nothing_is_rarely_called_reliable(texts, kinds):
    random = np.random.default_rng(texts)
    figures = [discrimination(of_language(texts, kinds, 0.5, random))[0] for _ in range(200)]

    assert sum(verdict_of(figure, RELIABLE_FROM) == "reliable" for figure in figures) < 6


@pytest.mark.parametrize(("texts", "kinds"), [(5, 10), (20, 2)])
def test_a_language_in_which_a_judge_notices_is_rarely_called_unreliable(texts, kinds):
    random = np.random.default_rng(texts)
    figures = [discrimination(of_language(texts, kinds, 0.95, random))[0] for _ in range(200)]

    assert sum(verdict_of(figure, RELIABLE_FROM) == "unreliable" for figure in figures) < 6


@pytest.mark.parametrize("auc", [0.5, 0.8])
def test_the_interval_of_a_language_holds_the_truth(auc):
    random = np.random.default_rng(3)
    figures = [discrimination(of_language(20, 4, auc, random))[0] for _ in range(150)]

    assert sum(figure.low <= auc <= figure.high for figure in figures) >= 135


def test_discrimination_compares_a_text_only_with_its_own_versions():
    level = np.linspace(0.1, 0.9, 10)
    figure, texts, comparisons = discrimination(
        {"typos": SeverityScores((0.0, 1.0), np.column_stack([level + 0.01, level]))}
    )

    assert (figure.value, texts, comparisons) == (1.0, 10, 10)


def test_discrimination_counts_texts_and_comparisons():
    rows = np.array([[0.9, 0.1], [0.9, NAN], [NAN, 0.1], [0.5, 0.5]])
    figure, texts, comparisons = discrimination(
        {"typos": SeverityScores((0.0, 1.0), rows), "loop": SeverityScores((0.0, 1.0), rows[[0, 1, 2, 0]])}
    )

    assert (texts, comparisons) == (2, 4)
    assert figure.value == 0.875


def test_without_perturbations_a_language_has_no_discrimination():
    assert discrimination({}) == (Figure(), 0, 0)
    assert discrimination({"typos": SeverityScores((0.0, 1.0), np.full((3, 2), NAN))}) == (Figure(), 0, 0)


@settings(max_examples=40)
@given(st.lists(st.lists(st.tuples(SCORES, SCORES), min_size=4, max_size=4), min_size=1, max_size=4))
def test_the_discrimination_is_in_its_interval(kinds):
    figure, texts, comparisons = discrimination(
        {str(place): SeverityScores((0.0, 1.0), np.array(rows)) for place, rows in enumerate(kinds)}
    )

    assert texts <= 4
    assert comparisons == sum(row[0] == row[0] and row[1] == row[1] for rows in kinds for row in rows)
    if figure.value is not None:
        assert 0 <= figure.low <= figure.value <= figure.high <= 1


# Over languages


def test_languages_have_equal_weight_whatever_their_number_of_texts():
    many, few = measured(falling(40), language="en"), measured([row[::-1] for row in falling(8)], language="th")
    result = over_languages("typos", [many, few], FOUR_STEPS)

    assert (result.auc.value, result.drop.value, result.rank_correlation.value) == (0.5, 0.0, 0.0)
    assert result.violations.value == 0.5
    assert (result.texts, result.language) == (48, "")
    assert result.languages == {"reliable": 1, "unreliable": 1}


def test_languages_have_equal_weight_in_the_interval_too():
    many, few = measured(falling(400), language="en"), measured([row[::-1] for row in falling(20)], language="th")

    assert over_languages("typos", [many, few], FOUR_STEPS).auc.high < 0.7


def test_a_language_without_a_score_does_not_count_over_languages():
    known, empty = measured(falling(8)), measured([[NAN] * 5] * 8, unjudged=40)
    result = over_languages("typos", [known, empty], FOUR_STEPS)

    assert (result.auc.value, result.drop.value, result.texts, result.unjudged) == (1.0, 0.8, 8, 40)


def test_the_curve_is_the_mean_at_each_severity():
    result = over_languages("typos", [measured(falling(8)), measured(falling(8, start=0.8))], FOUR_STEPS)

    assert [point.severity for point in result.curve] == list(FOUR_STEPS)
    assert [point.score.value for point in result.curve] == pytest.approx([0.85, 0.65, 0.45, 0.25, 0.05])


def test_the_order_of_the_languages_does_not_matter():
    parts = [measured(falling(8)), measured([[0.7] * 5] * 9), measured(list(GOLDEN_ROWS))]
    ahead, back = (over_languages("typos", each, FOUR_STEPS) for each in (parts, parts[::-1]))

    assert (ahead.auc, ahead.drop, ahead.verdict, ahead.languages) == (
        back.auc,
        back.drop,
        back.verdict,
        back.languages,
    )


# Verdicts and controls


@pytest.mark.parametrize(
    ("figure", "verdict"),
    [
        (Figure(0.9, NOTICED_FROM, 1.0), "reliable"),
        (Figure(0.9, 0.69, 1.0), "not enough data"),
        (Figure(0.6, 0.5, 0.69), "unreliable"),
        (Figure(0.6, 0.5, NOTICED_FROM), "not enough data"),
        (Figure(0.9), "not enough data"),
        (Figure(), "not enough data"),
    ],
)
def test_a_verdict_needs_the_whole_interval_on_one_side_of_the_threshold(figure, verdict):
    assert verdict_of(figure, NOTICED_FROM) == verdict


def test_false_alarms_are_controls_whose_score_falls_noticeably():
    clean, changed = np.array([0.9, 0.9, 0.9, 0.5, NAN]), np.array([0.9, 0.88, 0.6, 0.9, 0.1])
    result = control_result("nfc", "th", clean, changed, drawn(5))

    assert (result.texts, result.false_alarms.value) == (4, 0.25)
    assert result.shift.value == pytest.approx((0 - 0.02 - 0.3 + 0.4) / 4)
    assert result.false_alarms.low <= 0.25 <= result.false_alarms.high


def test_a_control_without_judged_texts_has_no_figures():
    result = control_result("nfc", "", np.array([NAN]), np.array([0.5]), drawn(1))

    assert (result.texts, result.false_alarms, result.shift) == (0, Figure(), Figure())


def test_five_points_of_a_hundred_are_an_alarm_wherever_on_the_scale():
    clean = np.arange(5, 101) / 100
    result = control_result("nfc", "", clean, np.arange(96) / 100, drawn(96))

    assert NOTICEABLE == 0.05
    assert result.false_alarms.value == 1.0


@pytest.mark.parametrize("start", [95, 30])
def test_five_points_of_a_hundred_are_noticed_wherever_on_the_scale(start):
    rows = [[start / 100, (start - 5) / 100]] * 6

    assert found(rows, (0.0, 1.0)).noticed_from.value == 1.0
