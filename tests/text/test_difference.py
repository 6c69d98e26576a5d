"""Differences are shown by grapheme cluster, and shown text has no control characters."""

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyjudge.text.difference import difference, graphemes, shown

SCRIPTS = "abc é e\u0301 नि क्ष ที่ ไหน م\u064e لا 👩🏽‍🚀 🇲🇳 \u200b\u202e\t\n\x1b\ufeff\u3164 Ａа"
TEXT = st.text(st.one_of(st.characters(), st.sampled_from(SCRIPTS)), max_size=60)
ACTING = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]")


def joined(parts):
    return "".join(text for _, text in parts)


def kinds(parts):
    return [kind for kind, _ in parts]


def changed(parts):
    return [text for kind, text in parts if kind != "same"]


@pytest.mark.parametrize(
    ("text", "signs"),
    [
        ("नमस्ते", ["न", "म", "स्ते"]),
        ("ที่ไหน", ["ที่", "ไ", "ห", "น"]),
        ("مَرْ", ["مَ", "رْ"]),
        ("👩🏽‍🚀🇲🇳", ["👩🏽‍🚀", "🇲🇳"]),
        ("e\u0301a", ["e\u0301", "a"]),
        ("한국", ["한", "국"]),
        ("\r\n", ["\r\n"]),
        ("", []),
    ],
)
def test_a_text_is_split_into_grapheme_clusters(text, signs):
    assert graphemes(text) == signs


@given(TEXT)
def test_the_clusters_of_a_text_join_to_the_text(text):
    assert "".join(graphemes(text)) == text


@given(TEXT, TEXT)
def test_the_parts_of_each_side_join_to_its_text(expected, actual):
    found = difference(expected, actual)

    assert (joined(found.expected), joined(found.actual)) == (expected, actual)
    assert set(kinds(found.expected)) <= {"same", "removed"}
    assert set(kinds(found.actual)) <= {"same", "added"}


@given(TEXT, TEXT)
def test_what_is_the_same_is_the_same_on_both_sides(expected, actual):
    found = difference(expected, actual)
    same = [[text for kind, text in parts if kind == "same"] for parts in (found.expected, found.actual)]

    assert same[0] == same[1]
    assert (expected == actual) == (not changed(found.expected) and not changed(found.actual))


@given(TEXT)
def test_a_text_does_not_differ_from_itself(text):
    found = difference(text, text)

    assert found.notes == ()
    assert set(kinds(found.expected)) <= {"same"}


@pytest.mark.parametrize(
    ("expected", "actual", "removed", "added"),
    [
        ("नमस्ते जी", "नमस्ता जी", ["स्ते"], ["स्ता"]),
        ("ที่นี่", "ที่นั่น", ["นี่"], ["นั่", "น"]),
        ("مَرحبا", "مُرحبا", ["مَ"], ["مُ"]),
        ("go 👩🏽‍🚀!", "go 👩🏿‍🚀!", ["👩🏽‍🚀"], ["👩🏿‍🚀"]),
        ("🇲🇳🇩🇪", "🇲🇳🇫🇷", ["🇩🇪"], ["🇫🇷"]),
    ],
)
def test_only_whole_clusters_differ(expected, actual, removed, added):
    found = difference(expected, actual)

    assert changed(found.expected) == ["".join(removed)]
    assert changed(found.actual) == ["".join(added)]
    assert found.notes


@pytest.mark.parametrize(
    ("expected", "actual", "words"),
    [
        ("café", "cafe\u0301", ["U+00E9 LATIN SMALL LETTER E WITH ACUTE", "U+0301 COMBINING ACUTE ACCENT"]),
        ("paypal", "pаypal", ["U+0061 LATIN SMALL LETTER A", "U+0430 CYRILLIC SMALL LETTER A"]),
        ("علي", "علی", ["U+064A ARABIC LETTER YEH", "U+06CC ARABIC LETTER FARSI YEH"]),
        ("كتاب", "کتاب", ["U+0643 ARABIC LETTER KAF", "U+06A9 ARABIC LETTER KEHEH"]),
        ("τι;", "τι\u037e", ["U+003B SEMICOLON", "U+037E GREEK QUESTION MARK"]),
        ("office", "oﬃce", ["U+FB03 LATIN SMALL LIGATURE FFI"]),
        ("a-b", "a\u2010b", ["U+002D HYPHEN-MINUS", "U+2010 HYPHEN"]),
        ("it's", "it’s", ["U+0027 APOSTROPHE", "U+2019 RIGHT SINGLE QUOTATION MARK"]),
        ("ab", "a\u200bb", ["nothing", "U+200B ZERO WIDTH SPACE"]),
        ("a\u3164b", "ab", ["U+3164 HANGUL FILLER", "nothing"]),
        ("می‌روم", "میروم", ["U+200C ZERO WIDTH NON-JOINER"]),
        ("abc", "a\u202ebc", ["U+202E RIGHT-TO-LEFT OVERRIDE"]),
        ("end", "end ", ["nothing", "U+0020 SPACE"]),
        ("a b", "a\u00a0b", ["U+0020 SPACE", "U+00A0 NO-BREAK SPACE"]),
        ("a b", "a\tb", ["U+0020 SPACE", "U+0009"]),
        ("a", "a\n", ["U+000A"]),
        ("☎", "☎\ufe0f", ["U+FE0F VARIATION SELECTOR-16"]),
    ],
)
def test_invisible_differences_are_named_by_code_points(expected, actual, words):
    notes = "\n".join(difference(expected, actual).notes)

    for word in words:
        assert word in notes


def test_a_visible_difference_has_no_note():
    assert difference("The cat sat.", "The dog sat.").notes == ()


def test_a_note_has_the_position_even_far_into_a_long_text():
    start = "word " * 2_000

    [note] = difference(f"{start}café", f"{start}cafe\u0301").notes

    assert note.startswith("at 10003: ")


def test_a_long_text_is_shown_from_its_first_difference():
    found = difference("a" * 5_000 + "x" + "b" * 5_000, "a" * 5_000 + "y" + "b" * 5_000)

    assert found.expected[0] == ("removed", "x")
    assert found.actual[0] == ("added", "y")
    assert len(joined(found.expected)) == 1_000


@pytest.mark.slow
@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        ("a" * 1_000_000, "b" * 1_000_000),
        ("ab" * 500_000, "ba" * 500_000),
        ("a" * 1_000_000, "a" * 999_999 + "b"),
        ("a" + "\u0301" * 1_000_000, "a"),
        ("\u202e" * 1_000_000, "\u200b" * 1_000_000),
        ("👩‍" * 300_000, "🇲" * 300_000),
        ("สถานี " * 200_000, "station " * 150_000),
        ("", "\x00" * 1_000_000),
    ],
    ids=str.split("other swapped late marks bidi emoji scripts controls"),
)
def test_a_megabyte_is_shown_in_part_with_few_notes(expected, actual):
    found = difference(expected, actual)

    assert len(shown(joined(found.expected) + joined(found.actual))) < 1_000_000
    assert len(found.notes) <= 12
    assert all(len(note) < 2_000 for note in found.notes)


@given(TEXT)
def test_shown_text_has_no_control_characters(text):
    assert ACTING.search(shown(text)) is None


@given(st.characters())
def test_a_character_is_shown_as_itself_or_as_its_code_point(sign):
    seen = shown(sign)

    assert seen in (sign, "⏎\n", "⇥", "\\r") or f"{ord(sign):x}".casefold() in seen.casefold()
    assert unicodedata.category(seen[0]) not in {"Cc", "Cf", "Cs", "Zl", "Zp"} or seen == "\n"


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("a\tb", "a⇥b"),
        ("a\nb", "a⏎\nb"),
        ("a\u00a0b", "a<U+00A0>b"),
        ("a\u200bb", "a<U+200B>b"),
        ("a\u202eb", "a\\u202eb"),
        ("a\x1b[31mb", "a\\x1b[31mb"),
        ("a\u3164b", "a<U+3164>b"),
        ("\ud800", "\\ud800"),
        ("สวัสดี नमस्ते مَرحبا 🇲🇳", "สวัสดี नमस्ते مَرحبا 🇲🇳"),
    ],
)
def test_invisible_characters_are_made_visible(text, seen):
    assert shown(text) == seen
