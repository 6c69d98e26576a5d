"""The numbers of judges are parsed strictly, in the digits of every script."""

import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyjudge.judges.rubric import read_number
from polyjudge.records.rubrics import Scale

HUNDRED = Scale(0, 100)
ZEROS = [chr(code) for code in range(sys.maxunicode + 1) if unicodedata.decimal(chr(code), None) == 0]


@pytest.mark.parametrize(
    "value", [85, 85.0, "85", "85/100", " 85 ", "85 / 100", "85.0", "８５", "٨٥", "٨٥٫٠", "８５／１００"]
)
def test_a_clear_number_is_read(value):
    assert read_number(value, HUNDRED, "score") == 85


def test_a_decimal_comma_and_a_share_of_a_hundred_are_read():
    assert read_number("85,5", HUNDRED, "score") == 85.5
    assert read_number("85%", HUNDRED, "score") == read_number("85 %", HUNDRED, "score") == 85
    with pytest.raises(ValueError, match="is not a number"):
        read_number("85%", Scale(1, 5), "score")


@pytest.mark.parametrize(
    "value",
    [
        *(True, False, None, "high", "", "850%", "8/10", "85,50", "1e2", "about 85", "85-90", "0x55"),
        *(140, -1, "140", 100.5, float("nan"), float("inf"), 10**400, -(10**400), "9" * 400),
        *([85], {"value": 85}, b"85"),
    ],
)
def test_anything_but_a_number_of_the_scale_is_refused(value):
    with pytest.raises(ValueError, match=r"is not a number|is off the scale"):
        read_number(value, HUNDRED, "score")


def test_a_fraction_must_be_of_the_scale_in_use():
    assert read_number("4/5", Scale(1, 5), "score") == 4
    with pytest.raises(ValueError, match="not a number"):
        read_number("80/100", Scale(1, 5), "score")


@given(number=st.integers(0, 100), zero=st.sampled_from(ZEROS))
def test_the_digits_of_every_script_are_read(number, zero):
    written = "".join(chr(ord(zero) + int(digit)) for digit in str(number))

    assert read_number(written, HUNDRED, "score") == number
