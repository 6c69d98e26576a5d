"""The sequential test of whether a judge has changed."""

import math
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyjudge.statistics.change_test import ChangeTest, Gains, confirmation, fewest_questions, oddness, shift

_NUMBERS = st.floats(0, 100, allow_nan=False).map(lambda each: round(each, 3))


def _values(gains: list[Gains]) -> ChangeTest:
    test = ChangeTest()
    for each in gains:
        test.add(each)
    return test


def _reached(questions: int, needed: Fraction) -> Fraction:
    """Return the exact probability that fair coins make the bets win enough at some time, from all their counts."""
    stakes = [(Fraction(share, 10), Fraction(stake, 100)) for share, stake in ((4, 95), (3, 65), (3, 40))]

    def won(heads: int, tails: int) -> Fraction:
        return sum((share * (1 + stake) ** heads * (1 - stake) ** tails for share, stake in stakes), Fraction(0))

    running, reached = {0: Fraction(1)}, Fraction(0)
    for count in range(1, questions + 1):
        following: dict[int, Fraction] = {}
        for heads, chance in running.items():
            for after in (heads, heads + 1):
                if won(after, count - after) >= needed:
                    reached += chance / 2
                else:
                    following[after] = following.get(after, Fraction(0)) + chance / 2
        running = following
    return reached


def test_fair_coins_reach_the_needed_value_at_some_time_in_at_most_5_percent() -> None:
    chance = _reached(60, Fraction(20))
    assert Fraction(2, 100) < chance <= Fraction(5, 100)


def test_the_value_is_that_of_the_stakes() -> None:
    test = _values([Gains(1.0), Gains(1.0), Gains(-1.0), Gains(0.5)])
    by_hand = 0.4 * 1.95**2 * 0.05 * 1.475 + 0.3 * (1.65**2 * 0.35 * 1.325 + 1.4**2 * 0.6 * 1.2)
    unbet = 0.3  # the bets on a shift of the score, of which there is none
    assert test.value == pytest.approx(0.7 * by_hand + unbet, rel=1e-12)
    assert test.highest == pytest.approx(0.7 * (0.4 * 1.95**2 + 0.3 * (1.65**2 + 1.4**2)) + unbet, rel=1e-12)


@pytest.mark.parametrize(("earlier", "needed"), [(1, 6), (2, 4), (3, 3)])
def test_a_few_confirmed_changes_without_noise_are_enough(earlier: int, needed: int) -> None:
    """A second and third earlier answer make each change count more."""
    gain = Gains(float(earlier))
    assert _values([gain] * needed).is_shown
    assert not _values([gain] * (needed - 1)).is_shown


def test_many_questions_do_not_overflow() -> None:
    test = _values([Gains(1.0, 1.0)] * 5_000)
    assert test.is_shown
    assert math.isfinite(test.value)
    assert _values([Gains(-1.0)] * 5_000).value >= 0


@given(st.lists(_NUMBERS, min_size=2, max_size=5))
def test_all_gains_have_the_mean_0_when_the_answers_are_exchanged(scores: list[float]) -> None:
    def odd(order: tuple[float, ...]) -> float:
        nearest = [min(abs(each - other) for at, other in enumerate(order) if at != n) for n, each in enumerate(order)]
        return oddness(nearest)

    orders = list(permutations(scores))
    odds = [odd(order) for order in orders]
    shifts = [shift(order[:-1], order[-1]) for order in orders]
    assert np.mean(odds) == pytest.approx(0, abs=1e-9)
    assert np.mean(shifts) == pytest.approx(0, abs=1e-9)
    assert min(odds) >= -1 - 1e-9
    assert -1 - 1e-9 <= min(shifts) <= max(shifts) <= 1 + 1e-9


@given(_NUMBERS, _NUMBERS, _NUMBERS)
def test_a_confirmation_changes_its_sign_with_the_order_of_the_first_two_answers(
    earlier: float, new: float, again: float
) -> None:
    there, back = abs(again - earlier), abs(again - new)
    assert confirmation(there, back) == -confirmation(back, there)
    assert -1 <= confirmation(there, back) <= 1


@pytest.mark.parametrize("noise", [0.02, 0.2, 0.5])
def test_an_unchanged_judge_of_any_noise_gives_at_most_5_percent_false_alarms(noise: float) -> None:
    random = np.random.default_rng(7)
    watches, questions = 600, 100
    rates = random.beta(2 * noise, 2 * (1 - noise), (watches, questions))
    first, second, third = (random.random((watches, questions)) < rates for _ in range(3))
    gains = np.where(first != second, np.where(second == third, 1.0, -1.0), 0.0)
    shifts = second.astype(float) - first
    alarms = sum(
        _values([Gains(*pair) for pair in zip(gains[row], shifts[row], strict=True)]).is_shown for row in range(watches)
    )
    assert alarms / watches <= 0.05


def test_a_change_as_large_as_the_noticeable_one_is_shown_with_80_percent_probability() -> None:
    random = np.random.default_rng(3)
    noise = [Gains(float(random.choice([-1, 1])) if random.random() < 0.1 else 0.0) for _ in range(100)]
    share = _values(noise).noticeable()
    assert share is not None
    shown = 0
    for _ in range(300):
        changed = random.random(100) < share
        signs = random.choice([-1.0, 1.0], 100) * (random.random(100) < np.mean([abs(each.other) for each in noise]))
        shown += _values([Gains(float(each)) for each in np.where(changed, 1.0, signs)]).is_shown
    assert shown / 300 == pytest.approx(0.8, abs=0.1)


def test_a_smaller_change_is_noticeable_with_more_questions_and_with_less_noise() -> None:
    still, noisy = [Gains(0.0)], [Gains(0.0), Gains(0.0), Gains(0.0), Gains(1.0), Gains(-1.0)]
    few, many, more_noise = (_values(each).noticeable() for each in (still * 30, still * 300, noisy * 60))
    assert few is not None
    assert many is not None
    assert more_noise is not None
    assert many < few
    assert many < more_noise


def test_nothing_is_noticeable_with_hardly_any_question() -> None:
    assert _values([Gains(0.0)] * 3).noticeable() is None
    assert ChangeTest().noticeable() is None


def test_the_fewest_questions_show_a_change_and_one_fewer_never_does():
    assert [fewest_questions(0.05, most) for most in (1.0, 2.0, 3.0)] == [6, 4, 3]  # as the guide says
    for rate in (0.2, 0.05, 0.001):
        test = ChangeTest(rate)
        for _ in range(fewest_questions(rate) - 1):
            test.add(Gains(1.0, 1.0))
        assert not test.is_shown
        test.add(Gains(1.0, 1.0))
        assert test.is_shown
    assert fewest_questions(1e-300) == 1_000  # never reached, and no endless search
