"""A text is split into words, sentences and clusters, without splitting any cluster."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyjudge.text.pieces import clusters, pieces, sentences, whole_sentences, words


@settings(max_examples=200)
@given(st.text(max_size=80))
def test_pieces_and_clusters_join_to_the_text(text):
    assert "".join(piece.text for piece in pieces(text)) == text
    assert "".join(clusters(text)) == text
    assert all(text[piece.start : piece.end] == piece.text for piece in pieces(text))


@settings(max_examples=200)
@given(st.text(alphabet="ab.!? 。,;\n\u0301क्ष។", max_size=60))
def test_sentences_and_gaps_join_to_the_text(text):
    for found in (sentences(text), whole_sentences(text)):
        if found:
            assert text[: found[0].start] + "".join(each.text + each.gap for each in found) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It's a well-known fact.", ["It's", "a", "well-known", "fact"]),
        ("Costs 1,000.50 euros", ["Costs", "1,000.50", "euros"]),
        ("Hi {name}, see https://a.org/x?y=1.", ["Hi", "{name}", "see", "https://a.org/x?y=1"]),
        ("Press <b>Start</b>", ["Press", "<b>", "Start", "</b>"]),
        ("می‌خواهم بروم", ["می‌خواهم", "بروم"]),
        ("나는 학교에 간다", ["나는", "학교에", "간다"]),
        ("क्षत्रिय लोग", ["क्षत्रिय", "लोग"]),
    ],
)
def test_words_are_split_at_spaces(text, expected):
    assert [piece.text for piece in words(text)] == expected


@pytest.mark.parametrize(
    "text",
    [
        "最近的车站在哪里",
        "一番近い駅はどこですか",
        "สถานีที่ใกล้ที่สุดอยู่ที่ไหน",
        "ສະຖານີທີ່ໃກ້ທີ່ສຸດຢູ່ໃສ",
        "ស្ថានីយ៍ដែលនៅជិតបំផុតនៅឯណា",
        "အနီးဆုံးဘူတာရုံဘယ်မှာလဲ",
        "最近嘅車站喺邊度呀",
    ],
)
def test_without_spaces_a_word_is_a_short_run_of_whole_clusters(text):
    found = words(text)

    assert len(found) > 1
    assert all(1 <= len(piece.clusters) <= 8 and not piece.spaced for piece in found)
    assert [sign for piece in found for sign in piece.clusters] == list(clusters(text))


def test_latin_words_and_numbers_in_chinese_text_are_not_split():
    assert "iPhone" in [piece.text for piece in words("我买了iPhone手机2024年")]
    assert "2024" in [piece.text for piece in words("我买了iPhone手机2024年")]


@pytest.mark.parametrize(
    ("text", "count"), [("ខ្មែរ", 2), ("ශ්‍රී", 1), ("ਪ੍ਰ", 1), ("ಕನ್ನಡ", 3), ("မန္တလေး", 3), ("क्ष", 1), ("👩🏽‍🚀🇲🇳", 2)]
)
def test_a_subjoined_letter_belongs_to_its_consonant(text, count):
    assert len(clusters(text)) == count


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("One. Two! Three?", 3),
        ("It costs 2.50. Really.", 2),
        ("Dr. Smith lives in St. Louis. He is old.", 2),
        ("你好。再见！", 2),
        ("مرحبا. كيف حالك؟ بخير.", 3),
        ("یہ ہے۔ وہ ہے۔", 2),
        ("यह है। वह है।", 2),
        ("ሰላም። ደህና።", 2),
        ("Πού είναι; Εδώ.", 2),
        ("សួស្តី។ លាហើយ។", 2),
        ("no end", 1),
        ("", 0),
        ("   ", 0),
    ],
)
def test_sentences_end_with_the_marks_of_their_script(text, count):
    assert len(whole_sentences(text)) == count


def test_a_single_sentence_is_split_into_clauses_without_its_final_mark():
    found = sentences("When it rains, we stay at home.")

    assert [each.text for each in found] == ["When it rains", "we stay at home"]
    assert found[-1].gap == "."


def test_an_address_is_never_split():
    assert [each.text for each in whole_sentences("See https://a.org/x. Now.")] == ["See https://a.org/x.", "Now."]
