"""The value that a share of values reach, also with unknown values."""

import math
from itertools import product

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.folding import for_each

from polyjudge.statistics.intervals import reached_at_best, reached_by

SCORES = st.sampled_from([1.0, 2.0, 2.5, 3.0, 4.0, 5.0])
SHARES = st.sampled_from([0.5, 0.75, 0.8, 0.9, 1.0])


def share_that_reaches(values, bar):
    return sum(value >= bar for value in values) / len(values)


@given(st.lists(SCORES, min_size=1, max_size=40), SHARES)
def test_the_needed_share_reaches_the_value_but_no_higher_one(values, share):
    reached = reached_by(values, share)

    assert reached in values
    assert share_that_reaches(values, reached) >= share - 1e-9
    for higher in {value for value in values if value > reached}:
        assert share_that_reaches(values, higher) < share


@given(st.lists(SCORES, min_size=1, max_size=40), st.randoms(use_true_random=False))
def test_the_order_of_the_values_does_not_matter(values, random):
    shuffled = random.sample(values, len(values))

    assert reached_by(shuffled, 0.8) == reached_by(values, 0.8)


@given(st.lists(SCORES, min_size=1, max_size=40), SCORES)
def test_higher_values_never_lower_the_result(values, better):
    assert reached_by([max(value, better) for value in values], 0.8) >= reached_by(values, 0.8)


@given(st.lists(SCORES, min_size=1, max_size=40), SHARES, SHARES)
def test_a_larger_share_never_raises_the_result(values, one, other):
    assert reached_by(values, max(one, other)) <= reached_by(values, min(one, other))


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([5, 5, 5, 5, 1], 5),  # exactly 4 of 5
        ([5, 5, 5, 1, 1], 1),
        ([5] * 28 + [1] * 7, 5),  # exactly 28 of 35
        ([5] * 27 + [1] * 8, 1),
        ([5] * 8 + [2, 1], 5),  # exactly 8 of 10
        ([1.0] * 4 + [0.0], 1.0),
        ([3], 3),
        ([], None),
        ([None], None),
        ([None, None, None], None),
    ],
)
def test_the_limits_of_shares_are_exact(values, expected):
    assert reached_by(values, 0.8) == expected


@for_each("count", range(1, 400))
def test_four_fifths_are_computed_exactly(count):
    enough = next(part for part in range(count + 1) if 5 * part >= 4 * count)

    assert reached_by([5.0] * enough + [1.0] * (count - enough), 0.8) == 5.0
    assert reached_by([5.0] * (enough - 1) + [1.0] * (count - enough + 1), 0.8) == 1.0


WITH_UNKNOWN = st.lists(SCORES | st.none(), min_size=1, max_size=8).filter(lambda values: values.count(None) < 4)


def answers(values, share, fillings):
    """Return all results when each unknown value is replaced by one of the fillings."""
    unknown = [index for index, value in enumerate(values) if value is None]
    found = set()
    for filling in product(fillings, repeat=len(unknown)):
        complete = list(values)
        for index, value in zip(unknown, filling, strict=True):
            complete[index] = value
        found.add(reached_by(complete, share))
    return found


@given(WITH_UNKNOWN, SHARES)
@example([None, 5.0, 5.0, 5.0, 1.0], 0.8)
def test_there_is_a_result_only_if_it_does_not_depend_on_unknown_values(values, share):
    reached = reached_by(values, share)

    assert reached is None or answers(values, share, [1.0, 3.0, 5.0]) == {reached}


@given(WITH_UNKNOWN, SHARES)
def test_if_unknown_values_do_not_matter_there_is_a_result(values, share):
    possible = answers(values, share, [-math.inf, math.inf])

    assert reached_by(values, share) is not None or len(possible) > 1 or not math.isfinite(possible.pop())


@given(WITH_UNKNOWN, SHARES)
def test_no_possible_result_is_above_that_at_best(values, share):
    best = reached_at_best(values, share)

    assert best is None or max(answers(values, share, [1.0, 3.0, 5.0])) <= best


@given(SCORES)
def test_one_unknown_value_among_five_does_not_matter(score):
    assert reached_by([score, score, None, score, score], 0.8) == score
