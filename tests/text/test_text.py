"""Untrusted text is fenced for judges and made harmless for terminals."""

import re

from hypothesis import given
from hypothesis import strategies as st

from polyjudge.rubrics.prompts import fence
from polyjudge.text.display import harmless, one_line
from polyjudge.text.numbers import fold_digits

ANY_TEXT = st.text(alphabet=st.characters())


@given(ANY_TEXT)
def test_a_fence_contains_the_text_unchanged_and_the_text_cannot_close_it(text):
    fenced = fence(text)
    tag = fenced.split(">", 1)[0][1:]

    assert fenced == f"<{tag}>\n{text}\n</{tag}>"
    assert tag not in text


@given(ANY_TEXT)
def test_harmless_text_has_no_control_characters(text):
    shown = harmless(text)

    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]", shown)
    assert len(one_line(text, 20)) <= 20
    assert "\n" not in one_line(text, 20)


def test_text_without_control_characters_is_unchanged(text):
    assert harmless(text) == text


def test_escapes_and_direction_marks_are_written_as_code_points():
    assert harmless("\x1b[31mred\u202eder") == "\\x1b[31mred\\u202eder"


@given(ANY_TEXT)
def test_folding_digits_is_idempotent(text):
    assert fold_digits(fold_digits(text)) == fold_digits(text)
