"""A folded test runs every case and names those that fail."""

import pytest
from tests.folding import for_each


def test_every_case_runs_and_each_that_fails_is_named():
    seen = []

    @for_each("number", range(5), ids=lambda number: f"n{number}")
    def even(number):
        seen.append(number)
        assert number % 2 == 0, "odd"

    with pytest.raises(ExceptionGroup, match="2 of 5 cases failed: n1, n3") as caught:
        even()

    assert seen == [0, 1, 2, 3, 4]
    assert [error.__notes__ for error in caught.value.exceptions] == [["case: n1"], ["case: n3"]]


def test_an_error_of_any_kind_is_a_failure_of_its_case():
    @for_each("divisor", [1, 0])
    def divide(divisor):
        assert 1 / divisor

    with pytest.raises(ExceptionGroup) as caught:
        divide()

    assert caught.group_contains(ZeroDivisionError)


@for_each("first", [1, 2])
@for_each(("second", "third"), [(3, 4), (5, 6)])
def test_cases_combine_with_each_other_and_with_fixtures(first, second, third, tmp_path):
    assert (first, second, third) in {(1, 3, 4), (1, 5, 6), (2, 3, 4), (2, 5, 6)}
    assert tmp_path.is_dir()


def test_a_name_that_the_test_does_not_take_is_an_error():
    with pytest.raises(AssertionError, match="takes no other"):

        @for_each("other", [1])
        def takes(number):
            pass
