"""Every text can be stored in a database of any encoding, and comes back as it was."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyjudge.cache.entries import restored, stored
from polyjudge.errors import DataError


@given(st.text(alphabet=st.characters()))
def test_any_text_is_stored_in_ascii_without_nul_and_comes_back(text):
    assert stored(text).isascii()
    assert "\0" not in stored(text)
    assert restored(stored(text)) == text


@given(st.text(alphabet=st.characters()), st.text(alphabet=st.characters()))
def test_no_two_texts_are_stored_alike(one, other):
    assert (stored(one) == stored(other)) == (one == other)


def test_a_broken_escape_is_an_error():
    with pytest.raises(DataError, match="broken escape"):
        restored("\\x")
