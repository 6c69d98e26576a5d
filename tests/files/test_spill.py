"""A scratch database lives as long as its owner, and numbers on disk are those that were added."""

import sqlite3
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyjudge.files.spill import Numbers, Occurrences, Spilled, SpillFile, open_scratch

NUMBERS = st.lists(st.one_of(st.integers(0, 9), st.integers(0, 2**64 - 1)), max_size=40)


class Owner:
    pass


def test_a_scratch_database_is_closed_with_its_owner():
    owner = Owner()
    scratch = open_scratch(owner, "CREATE TABLE names (name BLOB)")
    scratch.execute("INSERT INTO names VALUES ('a')")
    assert scratch.execute("SELECT count(*) FROM names").fetchone() == (1,)

    del owner

    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        scratch.execute("SELECT 1")


@given(NUMBERS, st.integers(1, 8), st.integers(0, 40))
def test_duplicates_are_found_among_numbers_in_memory_and_on_disk(given_numbers, in_memory, kept):
    numbers = Numbers(in_memory)
    for number in given_numbers:
        numbers.add(number)
    assert len(numbers) == len(given_numbers)
    assert numbers.has_duplicates() == (len(set(given_numbers)) < len(given_numbers))

    numbers.keep(kept)
    numbers.add(10)

    rest = [*given_numbers[:kept], 10]
    assert len(numbers) == len(rest)
    assert numbers.has_duplicates() == (len(set(rest)) < len(rest))


@given(NUMBERS, st.dictionaries(st.integers(1, 9), st.integers(1, 5)))
def test_occurrences_are_counted_after_earlier_ones(given_numbers, earlier):
    occurrences, seen = Occurrences(earlier), Counter(earlier)
    for number in (each or 1 for each in given_numbers):  # zero is counted as one
        seen[number] += 1
        assert occurrences.count(number) == seen[number]


def test_occurrences_are_counted_beyond_those_in_memory():
    occurrences = Occurrences(in_memory=600)

    assert {occurrences.count(number * 2**40 + number) for number in range(5_000)} == {1}
    assert {occurrences.count(number * 2**40 + number) for number in range(5_000)} == {2}


@given(
    items=st.lists(st.integers() | st.text(max_size=5), max_size=40),
    block=st.integers(1, 9),
    in_memory=st.integers(0, 50),
    is_closed=st.booleans(),
    start=st.integers(-50, 50),
    end=st.integers(-50, 50),
)
def test_a_spilled_sequence_is_the_list_of_its_items(items, block, in_memory, is_closed, start, end):
    file = SpillFile()
    in_memory -= in_memory % block  # of whole blocks
    found, other = Spilled(file=file, block=block, in_memory=in_memory), Spilled(file=file, block=2, in_memory=0)
    for item in items:
        found.append(item)
        other.append([item])
    if is_closed:
        found.close()

    assert list(found) == items
    assert (len(found), [found[place] for place in range(len(items))]) == (len(items), items)
    assert list(found[start:end]) == items[start:end]
    assert [each for [each] in reversed(other)] == items[::-1]
    assert isinstance(found.short(), tuple) is (len(items) <= max(block, in_memory))
    assert list(found.short()) == items


def test_a_place_outside_a_spilled_sequence_is_an_error():
    with pytest.raises(IndexError):
        _ = Spilled([1, 2], block=1)[2]
