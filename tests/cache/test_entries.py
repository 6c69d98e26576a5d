"""Any text can be stored in a database of any encoding and is read back unchanged."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyjudge.cache.entries import escape, unescape
from polyjudge.errors import DataError


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
