"""A quote is found where it stands, in every script, or refused; it is never placed by a guess."""

import gzip
import json
import os
import unicodedata
from collections import Counter
from pathlib import Path

import pytest
import regex
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein
from tests.conftest import TEXTS
from tests.folding import for_each

from polyjudge.text.approximate import LEAST_SIMILAR, ApproximateText
from polyjudge.text.quotes import Located, fold, locate

SPANS = Path(os.environ.get("POLYJUDGE_DATA", "")) / "spans_dev.jsonl.gz"
WRITING = (
    *"abcAB zZ ß ﬁ İ é e\u0301 0٣ .,'\"“”—-…",
    *"كتاب \u064b\u0650\u0651\u0640 لا \u200f\u202b",
    *"กำนี้ \u0e48 เแ",
    *"क्षत्रि \u093f\u094d\u200d",
    *"한국 \u1112\u1161\u11ab\u1100",
    *"東京駅。「」\u3000\ufe0f",
    *("👩\u200d🚀", "🇲🇳", "🇩", "👍🏽", "❤\ufe0f"),
)
texts = st.lists(st.sampled_from(WRITING), max_size=60).map("".join)
REFUSED = {reason: Located(refusal=reason) for reason in ("empty", "not in the text", "ambiguous", "in the other text")}


def edges(text: str) -> set[int]:
    return {0, *(match.end() for match in regex.finditer(r"\X", text))}


@given(st.one_of(texts, st.sampled_from(list(TEXTS.values()))), st.data())
@settings(max_examples=300)
def test_a_piece_of_a_text_is_found_where_it_was_taken(text, data):
    boundaries = sorted(edges(text))
    start, end = sorted(data.draw(st.tuples(st.sampled_from(boundaries), st.sampled_from(boundaries))))
    quote = text[start:end]
    found = locate(quote, text, near=start)
    if fold(quote).strip() or (quote and found.start is not None):
        inside = edges(text)
        assert {found.start, found.end} <= inside
        assert found.start == start or found.refusal == "ambiguous" or text[found.start : found.end] == quote
    else:
        assert found in (REFUSED["empty"], REFUSED["not in the text"], REFUSED["ambiguous"])


@given(texts, texts, st.one_of(st.none(), st.integers(-5, 100)))
@settings(max_examples=500)
@example("A", "e\u0301a", None)
@example("\u0301", "e\u0301", None)
@example("🇳🇩", "🇲🇳🇩🇪", None)
@example("fi", "ﬁ", None)
@example("i", "ﬁ", None)
def test_what_is_found_is_whole_graphemes_that_say_the_same(quote, text, near):
    found = locate(quote, text, near=near)
    if found.start is None:
        assert found.refusal in REFUSED
        assert found.end is None
        return
    assert {found.start, found.end} <= edges(text)
    assert found.start < found.end
    stands = text[found.start : found.end]
    if found.method == "exact":
        assert stands == quote
    elif found.method == "normalised":
        assert fold(stands).strip(' ".') == fold(quote).strip(' ".')
    else:
        assert len(fold(quote)) >= 6


@given(texts, st.data())
@settings(max_examples=300)
def test_a_quote_that_stands_at_one_place_only_is_found_without_a_hint(text, data):
    boundaries = sorted(edges(text))
    start, end = sorted(data.draw(st.tuples(st.sampled_from(boundaries), st.sampled_from(boundaries))))
    quote = text[start:end]
    assume(quote and sum(text.startswith(quote, place) for place in range(len(text))) == 1)
    assert locate(quote, text) == Located(start, end, "exact")


@for_each(
    ("quote", "text", "expected"),
    [
        ("Haus", "Das HAUS", (4, 8, "normalised")),
        ("STRASSE", "die Straße dort", (4, 10, "normalised")),
        ("cafe\u0301", "ein café", (4, 8, "normalised")),
        ("café", "ein cafe\u0301", (4, 9, "normalised")),
        ("so  gut", "so\n\tgut wie", (0, 7, "normalised")),
        ("so gut", "so\u00a0gut", (0, 6, "normalised")),
        ('"gut"', "so «gut» ist", (3, 8, "normalised")),
        ('"gut"', "so gut ist", (3, 6, "normalised")),
        ("...gut...", "so gut ist", (3, 6, "normalised")),
        ("so - gut", "so — gut", (0, 8, "normalised")),
        ("warte...", "warte… ja", (0, 6, "normalised")),
        ("gut ja", "gut\u200b ja", (0, 7, "normalised")),
        ("gut", "\u202bgut\u202c", (1, 4, "exact")),
        ("كتاب", "هذا كِتَابٌ جميل", (4, 11, "normalised")),
        ("می‌خواهم", "من میخواهم", (3, 10, "normalised")),
        ("東京", "＜東京＞", (1, 3, "exact")),
        ("ｶﾞｷﾞ", "ガギグ", (0, 2, "normalised")),
        ("한", "\u1112\u1161\u11ab국", (0, 3, "normalised")),
        ("👩‍🚀", "a 👩‍🚀 b", (2, 5, "exact")),
        ("❤", "I ❤️ it", (2, 4, "normalised")),
        ("colour of the sea", "the color of the sea is", (4, 20, "fuzzy")),
        ("nearest staton", "Where is the nearest station?", (13, 28, "fuzzy")),
        ("ที่ไกล้ที่สุด", "สถานีที่ใกล้ที่สุดอยู่", (5, 18, "fuzzy")),
        ("Ближайшая станцыя", "Где ближайшая станция?", (4, 21, "fuzzy")),
    ],
)
def test_another_spelling_or_a_few_mistakes_are_found(quote, text, expected):
    found = locate(quote, text)
    assert (found.start, found.end, found.method) == expected


@for_each(
    ("quote", "text", "reason"),
    [
        ("", "text", "empty"),
        (" \n", "text", "empty"),
        ("…", "text", "not in the text"),
        ("word", "", "not in the text"),
        ("word", "another", "not in the text"),
        ("\u0301", "e\u0301", "not in the text"),
        ("e", "e\u0301", "not in the text"),
        ("👩", "👩‍🚀", "not in the text"),
        ("क", "कि", "not in the text"),
        ("the", "the cat and the dog", "ambiguous"),
        ("aa", "aaa", "ambiguous"),
        ("costs 1,250 euros", "it costs 1,260 euros", "not in the text"),
        ("the grey cat sat", "the green cat sat, the greedy cat sat", "ambiguous"),
        ("abcd", "abce", "not in the text"),
    ],
)
def test_what_cannot_be_placed_is_refused(quote, text, reason):
    assert locate(quote, text) == REFUSED[reason]


def test_a_repeated_quote_is_placed_by_what_is_around_it():
    text = "The cat saw the dog, and the cat ran."
    assert locate("cat", text) == REFUSED["ambiguous"]
    assert locate("cat", text, before="the") == REFUSED["ambiguous"]
    assert locate("cat", text, before="and the") == Located(29, 32, "exact")
    assert locate("cat", text, before="The", after="saw") == Located(4, 7, "exact")
    assert locate("cat", text, after="ran.") == Located(29, 32, "exact")
    assert locate("cat", text, before="not there") == REFUSED["ambiguous"]
    assert locate("駅", "東京駅と京都駅", before="京都") == Located(6, 7, "exact")


def test_a_hint_places_a_quote_only_near_it():
    text = "cat " + "x" * 200 + " cat"
    assert locate("cat", text, near=205) == Located(205, 208, "exact")
    assert locate("cat", text, near=190) == Located(205, 208, "exact")
    assert locate("cat", text, near=100) == REFUSED["ambiguous"]
    assert locate("a", "a-a", near=1) == REFUSED["ambiguous"]


def test_what_stands_at_the_hint_counts_before_the_same_spelling_elsewhere():
    assert locate("cat", "Cat and cat", near=0) == Located(0, 3, "normalised")
    assert locate("cat", "Cat and cat") == Located(8, 11, "exact")


def test_a_quote_of_the_other_text_is_named_so():
    assert locate("President Obama", "El presidente Obama", other="The President Obama") == REFUSED["in the other text"]
    assert locate("presidant said so", "nada", other="The president said so") == REFUSED["in the other text"]
    assert locate("Obama", "El presidente Obama", other="The President Obama").start == 14
    assert locate("woman", "nada", other="nil") == REFUSED["not in the text"]


@given(st.text("abcd ", min_size=6, max_size=14), st.text("abcd ", max_size=60))
@settings(max_examples=400)
def test_the_search_with_mistakes_finds_what_comparing_every_part_finds(key, text):
    """The other computation compares the key with all parts of the text."""
    assume(key.strip() == key)
    parts = [(first, last) for first in range(len(text)) for last in range(first + 1, len(text) + 1)]
    edits = {(first, last): Levenshtein.distance(key, text[first:last]) for first, last in parts}
    similar = {
        part: count
        for part, count in edits.items()
        if count <= (1 - LEAST_SIMILAR) * max(len(key), part[1] - part[0]) + 1e-9
    }
    match = ApproximateText(text).find(key)
    if len(key) < 6 or not similar:
        assert match is None
    elif match is not None and match.unique:
        fewest = min(similar.values())
        best = [part for part, count in similar.items() if count == fewest]
        assert any(first <= match.start and match.end <= last for first, last in best)
        assert all(min(last, match.end) > max(first, match.start) for first, last in best)


@pytest.mark.parametrize("text", ["a" * 1_000_000, "ab" * 500_000, "e" + "\u0301" * 999_999, "the quick fox " * 70_000])
def test_a_megabyte_of_repetitions_is_searched_by_a_bounded_part_of_it(text):
    for quote in ("a" * 60, "a" * 30 + "b" + "a" * 30, "the quack fox the quick fox", "e\u0301", "lorem ipsum dolor"):
        assert locate(quote, text).refusal in ("ambiguous", "not in the text")


@pytest.mark.skipif(not SPANS.is_file(), reason="POLYJUDGE_DATA is not set or lacks spans_dev.jsonl.gz")
def test_every_recorded_span_of_the_models_is_located_at_a_verified_place():
    counts: Counter[str] = Counter()
    with gzip.open(SPANS, "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            output = row["output"]
            for span in row["spans"] if not row["annotator"].startswith("human") else []:
                found = locate(span["text"], output, near=span["start"], other=row["source"])
                counts[found.method or found.refusal] += 1
                assert found.start == span["start"]
                stands = output[found.start : found.end]
                assert stands == span["text"] or fold(stands) == fold(span["text"]).strip()
                assert unicodedata.normalize("NFC", stands.strip().casefold()) == unicodedata.normalize(
                    "NFC", span["text"].strip().casefold()
                )
    assert counts == {"exact": 12_761, "normalised": 75}
