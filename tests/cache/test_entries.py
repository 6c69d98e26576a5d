"""Any text can be stored in a database of any encoding and is read back unchanged."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from polyjudge.cache.entries import checksum_of, decode, decode_cached, encode, escape, unescape
from polyjudge.errors import DataError
from polyjudge.records.requests import Reply


@given(st.text(alphabet=st.characters()))
def test_any_text_is_stored_in_ascii_without_nul_and_comes_back(text):
    assert escape(text).isascii()
    assert "\0" not in escape(text)
    assert unescape(escape(text)) == text


@given(st.text(alphabet=st.characters()), st.text(alphabet=st.characters()))
def test_different_texts_are_stored_differently(one, other):
    assert (escape(one) == escape(other)) == (one == other)


def test_a_broken_escape_is_an_error():
    with pytest.raises(DataError, match="invalid escape sequence"):
        unescape("\\x")


REPLIES = st.builds(
    Reply,
    text=st.text(),
    model=st.text(max_size=5),
    parameters=st.dictionaries(st.text(max_size=3), st.none() | st.integers() | st.text(max_size=3), max_size=2),
    dropped=st.lists(st.text(max_size=3), max_size=2).map(tuple),
    cost_usd=st.none() | st.integers() | st.floats(allow_nan=False, allow_infinity=False),
    input_tokens=st.none() | st.integers(0, 2**70),
    cached=st.booleans(),
)


@given(REPLIES)
def test_a_stored_reply_comes_back_marked_as_cached(reply):
    value = encode(reply)

    assert decode_cached(Reply, value, checksum_of(value)) == replace(reply, cached=True)
    assert repr(decode_cached(Reply, value, checksum_of(value))) == repr(replace(decode(Reply, value), cached=True))


@given(
    st.sampled_from(["text", "model", "attempts", "dropped", "costUsd", "cached"]),
    st.none() | st.integers() | st.text(),
)
def test_a_stored_reply_with_a_wrong_value_is_the_same_error_as_elsewhere(key, wrong):
    value = json.dumps({"text": "x", "model": "m", key: wrong})

    assert outcome(lambda: decode_cached(Reply, value, checksum_of(value))) == outcome(
        lambda: replace(decode(Reply, json.dumps({**json.loads(value), "cached": True})), cached=True)
    )


def outcome(act):
    try:
        return repr(act())
    except DataError as error:
        return str(error)
