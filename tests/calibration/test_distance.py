"""The distance of two texts is the textbook Levenshtein distance in grapheme clusters."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyjudge.calibration.perturbations import distance
from polyjudge.text.difference import graphemes


def textbook(first: list[str], second: list[str]) -> int:
    row = list(range(len(second) + 1))
    for place, sign in enumerate(first, start=1):
        last, row[0] = row[0], place
        for other, mark in enumerate(second, start=1):
            last, row[other] = row[other], min(row[other] + 1, row[other - 1] + 1, last + (sign != mark))
    return row[-1]


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("", "", 0),
        ("", "abc", 3),
        ("abc", "", 3),
        ("kitten", "sitting", 3),
        ("Saturday", "Sunday", 3),
        ("same", "same", 0),
        ("क्षत्रिय", "क्षत्रि", 1),
        ("👩🏽‍🚀", "👩", 1),
        ("한국어", "한국", 1),
        ("é", "e\u0301", 1),
    ],
)
def test_known_distances_hold(first, second, expected):
    assert distance(first, second) == expected


@settings(max_examples=150)
@given(st.text(alphabet="abcé\u0301क् षि\u200d🇩🇪", max_size=30), st.text(alphabet="abcé\u0301क् षि\u200d🇩🇪", max_size=30))
def test_the_distance_is_the_textbook_distance_of_clusters(first, second):
    assert distance(first, second) == textbook(graphemes(first), graphemes(second))


@settings(max_examples=100)
@given(st.text(max_size=40), st.text(max_size=40))
def test_the_distance_is_the_textbook_one_for_any_text_and_symmetric(first, second):
    assert distance(first, second) == textbook(graphemes(first), graphemes(second)) == distance(second, first)


@settings(max_examples=100)
@given(st.text(alphabet="ab", min_size=60, max_size=90), st.text(alphabet="ab", min_size=60, max_size=90))
def test_the_distance_holds_for_more_clusters_than_bits_in_a_machine_word(first, second):
    assert distance(first, second) == textbook(list(first), list(second))
