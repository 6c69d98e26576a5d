"""Output that is no translation: copied, or looping."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyjudge.checks.completeness import cut_off, length, missing_sentences
from polyjudge.checks.degeneration import copied, looping, repeated_phrases
from polyjudge.checks.leaks import leaked
from polyjudge.checks.punctuation import broken_punctuation
from polyjudge.records.findings import Finding

ANY_TEXT = st.text(alphabet=st.characters())
REPETITIVE = st.text(alphabet="ab 哈。ก1", max_size=200)


def texts_of(problems: list[Finding], text: str) -> list[str]:
    return [text[problem.start : problem.end] for problem in problems]


# Copied


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("Where is the station?", "Where is the station?"),
        ("Where is the station?", "  where IS the station "),
        ("Good morning", "Good morning!"),
        ("Où êtes-vous ?", "Ou\u0300 e\u0302tes-vous ?"),
        ("最近的车站在哪里？谢谢。", "最近的车站在哪里？谢谢。"),
        ("أين أقرب محطة؟", "أين أقرب محطة؟"),
    ],
)
def test_the_source_given_back_is_found(source, text):
    [problem] = copied(text, source)

    assert (problem.kind, problem.severity) == ("source_copied", "fail")


@pytest.mark.parametrize("text", ["Taxi", "Berlin", "New York", "Angela Merkel"])
def test_a_word_or_a_name_that_is_the_same_is_only_a_warning(text):
    [problem] = copied(text, text)

    assert (problem.kind, problem.severity) == ("source_copied", "warn")


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("Where is the station?", "Wo ist der Bahnhof?"),
        ("42", "42"),
        ("{name}", "{name}"),
        ("See https://example.org", "Siehe https://example.org"),
        ("", "Hallo"),
        ("I met John Smith in New York", "Ich traf John Smith in New York"),
        ("Trump met Theresa May and Emmanuel Macron", "Trump traf Theresa May und Emmanuel Macron"),
    ],
)
def test_what_is_the_same_in_every_language_is_not_copied(source, text):
    assert list(copied(text, source)) == []


@pytest.mark.parametrize(
    ("source", "text", "span"),
    [
        (
            "Where is the nearest train station, please?",
            "¿Dónde está the nearest train station, por favor?",
            "the nearest train station",
        ),
        ("I would like to go home", "Ich would like to gehen", "would like to"),
        ("我想去最近的 车站 那里 买票", "I want 车站 那里 买票 now", "车站 那里 买票"),
        ("где находится ближайшая станция сегодня", "where is ближайшая станция сегодня", ""),
    ],
)
def test_a_part_left_as_it_was_is_found_and_located(source, text, span):
    problems = list(copied(text, source))

    assert all(problem.kind == "untranslated" for problem in problems)
    assert texts_of(problems, text) == ([span] if span else ["ближайшая станция сегодня"])


# Looping


@pytest.mark.parametrize(
    ("text", "least"),
    [
        ("the the the the the the the", 20),
        ("I do not know. " * 6, 80),
        ("Guten Tag. " + "Wo ist der Bahnhof? " * 8, 150),
        ("我不知道。" * 6, 20),
        ("好的" * 8, 16),
        ("车站在哪里" * 20, 100),
        ("สวัสดี" * 10, 50),
        ("ไม่ทราบ " * 8, 50),
        ("لا أعرف " * 8, 50),
        ("मुझे नहीं पता। " * 8, 90),
        ("aaaaaaaaaaaaaaaa", 16),
        ("Hallooooooooooooooooo", 10),
        ("哈" * 50, 50),
        ("." * 60, 60),
        ("😂" * 100, 100),
        ("0" * 80, 80),
        ((" ".join(f"word{n}x" for n in map(str, range(60))) + ". ") * 5, 500),
        ("la la " * 200_000, 30_000),
    ],
)
def test_a_loop_is_found_and_located_in_any_script(text, least):
    [problem] = looping(text, "Where is the station?")

    assert problem.kind == "repetition"
    assert problem.end - problem.start >= least


@pytest.mark.parametrize(
    "text",
    [
        "bye bye",
        "Ha ha ha!",
        "No, no, no!",
        "No, no, no, no, I won't",
        "Anak-anak bermain-main di rumah-rumah itu",
        "Kupu-kupu, laki-laki, kura-kura, sayur-sayuran",
        "哈哈哈哈",
        "谢谢谢谢",
        "ดีๆ มากๆ ๆ",
        "จริงจริง เร็วเร็ว",
        "Very, very, very good",
        "Monday, Tuesday, Wednesday, Thursday, Friday",
        "a red apple, a red pear, a red plum, a red grape",
        "1. Öl\n2. Brot\n3. Milch\n4. Käse",
        "one by one, two by two, three by three, four by four",
        "Row, row, row your boat",
        "-----------------",
        "Chapter 1 .............. 5",
        "aaa bbb ccc",
        "かわいいねこがいるいる",
        "Buffalo buffalo Buffalo buffalo buffalo",
    ],
)
def test_natural_repetition_is_no_loop(text):
    assert list(looping(text)) == []


def test_a_loop_that_the_source_has_too_is_none_unless_it_is_far_longer():
    source = "La la la la la la la la!"

    assert list(looping("Ла ла ла ла ла ла ла ла!", source)) == []
    assert [problem.kind for problem in looping("ла " * 300, source)] == ["repetition"]


def test_a_short_loop_in_a_long_text_is_left_alone():
    text = "He sang na na na na na na and then " + " ".join(f"w{n}" for n in range(100))

    assert list(looping(text)) == []


def test_phrases_that_come_again_and_again_in_japanese_are_a_warning():
    text = "彼は駅に向かいました。彼は駅に向かいました。そこで友人に会いました。"
    [problem] = repeated_phrases(text, "He walked to the station and met a friend there.")

    assert (problem.kind, problem.severity) == ("repetition", "warn")
    assert text[problem.start : problem.end] in text[: problem.start]
    assert list(repeated_phrases(text[11:], "He walked to the station and met a friend there.")) == []
    assert list(repeated_phrases(text, "我去车站了。我去车站了。我去车站了。")) == []


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("Yaaay!!! We won", "Jupííííííííííí!!! Vyhráli jsme"),
        ("Thanks! 🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉", "Díky! 🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉"),
    ],
)
def test_stretched_words_and_rows_of_emoji_are_no_loops(source, text):
    assert list(looping(text, source)) == []


# All of them


@given(st.one_of(ANY_TEXT, REPETITIVE), st.one_of(ANY_TEXT, REPETITIVE), ANY_TEXT)
def test_any_text_is_gone_through_and_every_place_is_inside_it(text, source, prompt):
    problems = [
        *copied(text, source),
        *leaked(text, source, prompt),
        *looping(text, source),
        *cut_off(text, source, "en"),
        *length(text, source),
        *missing_sentences(text, source, "en"),
        *repeated_phrases(text, source),
        *broken_punctuation(text, source, "en"),
    ]

    for problem in problems:
        if problem.start is not None:
            assert 0 <= problem.start < problem.end <= len(text)


@given(st.sampled_from(["no way ", "我不知道。", "ไม่รู้ ", "لا أدري ", "नहीं पता ", "не знаю, "]), st.integers(6, 200))
def test_any_phrase_said_often_enough_is_a_loop(phrase, times):
    assert [problem.kind for problem in looping(phrase * times)] == ["repetition"]


@pytest.mark.parametrize(
    "part", ["\n", " ", "a", "a ", "ab ", "<<", "<|", "▁", "我", "User:\n", "Reply with it only now "]
)
def test_a_great_length_of_one_thing_is_gone_through_once(part):
    """With a pattern that looks back at what it has seen this would not end within a day."""
    text = part * (300_000 // len(part)) + "x"
    prompt = "Reply with it only now"
    problems = [
        *leaked(text, "Hello", prompt),
        *looping(text, "Hello"),
        *copied(text, "Hello you there"),
        *cut_off(text, "Hi."),
    ]

    assert len(problems) <= 200
