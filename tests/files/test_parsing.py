import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from polyjudge.files.json_lines import parse_json

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
