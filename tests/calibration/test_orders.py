"""Verdicts recorded in both orders show the effect of the order without a call."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyjudge.calibration.orders import order_effects
from polyjudge.formats.ratings import Rating

FIRST, TIE, SECOND = 1.0, 0.5, 0.0
VERDICTS = st.sampled_from([FIRST, TIE, SECOND, None])


def shown(*orders):
    return [Rating(id=str(place), value=0.5, orders=each) for place, each in enumerate(orders)]


def effects(*orders, labels=()):
    given_labels = {str(place): label for place, label in enumerate(labels)}
    found = order_effects(shown(*orders), given_labels, resamples=100)
    assert found is not None
    return found


def values(found):
    return {name: figure.value for name, figure in found.figures.items()}


def test_accuracy_is_given_in_each_order_on_average_and_in_both():
    found = effects(
        (FIRST, FIRST), (FIRST, SECOND), (SECOND, SECOND), (FIRST, SECOND), labels=[FIRST] * 2 + [SECOND] * 2
    )
    measured = values(found)

    assert (measured["accuracy_given"], measured["accuracy_swapped"]) == (0.75, 0.75)
    assert (measured["accuracy_average"], measured["right_in_both"], measured["same_in_both"]) == (0.75, 0.5, 0.5)
    assert (found.items, found.missing, found.changed, found.labelled) == (4, 0, 2, 4)


def test_a_verdict_that_changes_in_favour_of_the_one_shown_first_is_counted():
    found = effects((FIRST, SECOND), (FIRST, TIE), (SECOND, FIRST), (TIE, SECOND), (TIE, TIE))

    assert found.changed == 4
    assert found.figures["first_shown_of_changed"].value == 0.75


def test_without_labels_there_is_no_accuracy():
    assert "accuracy_given" not in effects((FIRST, FIRST), (SECOND, FIRST)).figures


def test_a_missing_verdict_is_shown_both_ways():
    found = effects((FIRST, FIRST), (FIRST, None), (None, None), labels=[FIRST] * 3)
    measured = values(found)

    assert found.missing == 2
    assert (measured["accuracy_given"], measured["accuracy_given_every_item"]) == (1, pytest.approx(2 / 3))
    assert (measured["accuracy_swapped"], measured["accuracy_swapped_every_item"]) == (1, pytest.approx(1 / 3))
    assert (measured["same_in_both"], measured["same_in_both_every_item"]) == (1, pytest.approx(1 / 3))


def test_ratings_without_orders_have_no_effects_of_the_order():
    assert order_effects([Rating(id="a", value=1.0)], {}) is None


@given(st.lists(st.tuples(VERDICTS, VERDICTS), min_size=1, max_size=20))
def test_shares_are_shares_and_counts_add_up(orders):
    found = effects(*orders, labels=[FIRST] * len(orders))

    assert found.changed <= found.items - found.missing <= found.items
    assert all(value is None or -1 <= value <= 1 for value in values(found).values())
    assert all(0 <= value <= 1 for name, value in values(found).items() if value is not None and name != "kappa")
