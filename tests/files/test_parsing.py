import json
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from polyjudge.errors import DataError
from polyjudge.files.json_lines import parse_data, parse_json, parse_row

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
SPACE = st.text(alphabet=" \t\n\r\u00a0\ufeff", max_size=3)


def read(parse, text):
    try:
        return parse(text)
    except ValueError as error:
        return str(error)


@given(before=SPACE, value=VALUES, after=SPACE | st.text(max_size=5))
@example(before="", value=12345678901234567890123, after="")
@example(before="", value={}, after="{}")
def test_json_is_parsed_as_by_the_standard_library_with_the_same_errors(before, value, after):
    for text in (before + json.dumps(value) + after, before + after, json.dumps(value, ensure_ascii=False)[:-1]):
        assert read(parse_json, text) == read(json.loads, text)


def test_nesting_too_deeply_is_a_recursion_error():
    with pytest.raises(RecursionError):
        parse_json("[" * 100_000)


MEMBERS = st.lists(st.tuples(st.sampled_from(["a", "b", "é"]) | st.text(max_size=4), VALUES), max_size=4)


def outcome(parse, text):
    try:
        return repr(parse(text))
    except (DataError, ValueError) as error:
        return str(error)


@given(MEMBERS, st.booleans(), SPACE, st.text(max_size=3), st.integers(0, 40))
@example([("a", 2**64)], False, "", "", 0)
@example([("a", -0.0), ("b", 1e999)], False, "", "", 0)
@example([("a", "b"), ("a", "b")], False, "", "", 0)
@example([("a", "\x00\x1f\ud800")], False, "", "", 0)
@example([("a", "")], False, "", "\x01", 7)
def test_a_row_is_parsed_as_any_data_with_the_same_errors(members, is_ascii, space, junk, place):
    parts = [json.dumps(key) + ":" + space + json.dumps(value, ensure_ascii=is_ascii) for key, value in members]
    text = "{" + ("," + space).join(parts) + "}"
    for each in (text, text[:place] + junk + text[place:]):
        assert outcome(lambda row: parse_row(row, Path("x"), 1), each) == outcome(
            lambda row: parse_data(row, Path("x")), each
        )


@pytest.mark.parametrize(
    "text",
    [
        '{"a":{"b":1,"b":2}}',
        '{"a":[{"b":"x","b":"x"}]}',
        '{"a":{"b":"x","\\u0062":"y"}}',
        '{"a":"\\"","a":"\\""}',
        '{"a":"\\\\","b":"\\\\\\""}',
        '{"a":1,"a":"\\u0022\\u0022"}',
        '{"a":{"b":12345678901234567890123}}',
        '{"a":{"id":1.10},"id":1.10}',
        '{"a":[1.5,"\\"x\\"",{"c":null}]}',
    ],
)
def test_objects_in_a_row_are_parsed_as_any_data(text):
    expected = outcome(lambda row: parse_data(row, Path("x")), text).replace("'id': 1.1}", "'id': '1.10'}")

    found = outcome(lambda row: parse_row(row, Path("x"), 1), text)

    assert found.replace("'a': {'id': 1.1}", "'a': {'id': '1.10'}") == expected
