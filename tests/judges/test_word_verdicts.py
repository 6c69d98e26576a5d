"""Every reply of the table is read as the one verdict it means, or not at all, and no decoration changes one."""

import tomllib
import unicodedata
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.folding import for_each

from polyjudge.errors import UnknownNameError
from polyjudge.judges.word_verdicts import load_wording, read_word_verdict, word_prompt, wording_languages

REPLIES = tomllib.loads((Path(__file__).parent / "word_replies.toml").read_text(encoding="utf-8"))["reply"]
WORDS = {
    "es": {"correcto": "correct", "correcta": "correct", "incorrecto": "incorrect", "incorrecta": "incorrect"},
    "en": {"correct": "correct", "correctly": "correct", "incorrect": "incorrect", "incorrectly": "incorrect"},
    "hi": {"सही": "correct", "correct": "correct", "गलत": "incorrect", "ग़लत": "incorrect"},
}
VERDICTS = [(language, word, verdict) for language, words in WORDS.items() for word, verdict in words.items()]
LETTERS = [
    (language, letter, verdict) for language in WORDS for letter, verdict in (("c", "correct"), ("i", "incorrect"))
]
STEMS = ("correct", "सही", "गलत", "ग\u093cलत")
AROUND = [
    *(
        (sign, sign)
        for sign in ("*", "**", "***", "_", "__", "`", '"', "'", "\n", " ", "\t", "\u00a0", "\u3000", "\r\n")
    ),
    *(("«", "»"), ("“", "”"), ("‘", "’"), ("„", "“"), ("(", ")"), ("[", "]"), ("[[", "]]"), ("{", "}"), ("¡", "!")),
    *(("```\n", "\n```"), ("> ", ""), ("# ", ""), ("- ", ""), ("• ", ""), ("1. ", ""), ("\ufeff", ""), ("", ".")),
    *(("\\boxed{", "}"), ("\\text{", "}"), ("\\mathbf{", "}"), ("$", "$"), ("\\(", "\\)"), ("| ", " |")),
    *(
        ("<b>", "</b>"),
        ("<answer>", "</answer>"),
        ("", "</s>"),
        ("", "<|im_end|>"),
        ("✅ ", ""),
        ("❌ ", ""),
        ("", " ✅"),
    ),
]
MARKS = [
    *(
        (f"<{word}>", f"</{word}>")
        for word in ("think", "thinking", "thought", "reasoning", "reflection", "scratchpad")
    ),
    *(("[THINK]", "[/THINK]"), ("◁think▷", "◁/think▷"), ("<|channel|>analysis", "<|channel|>final")),
]
PARTS = [". ", ", ", "; ", "\n", "\n\n", "/", " | ", "… ", "... no, ", "? ", " (", "\u0964 ", "<br>\n", " ✅ "]
TEXTS = st.text() | st.text("correctoinia <>/{}[]\\\"'*_`.:,\n¡noसहीगलत\u0301\u0327\u093c", max_size=60)

verdicts = st.sampled_from(VERDICTS)
languages = st.sampled_from(sorted(WORDS))


def read(text, language):
    reading = read_word_verdict(text, load_wording(language))
    return reading.verdict, reading.contradictory


def plain(text):
    bare = "".join(letter for letter in unicodedata.normalize("NFKD", text) if not "\u0300" <= letter <= "\u036f")
    return bare.casefold()


@for_each("case", REPLIES, ids=lambda case: case["name"])
def test_a_reply_means_one_verdict_or_none(case):
    reading = read_word_verdict(case["text"], load_wording(case["language"]))

    assert reading == (case["verdict"], case.get("contradictory", False))
    assert bool(reading.problem) == (reading.verdict == "undetermined")
    assert ("contradicts" in reading.problem) == reading.contradictory


@pytest.mark.parametrize(
    ("language", "answer"),
    [
        ("en", "Correct. A tree is a tall plant."),
        ("es", "Correcto: el árbol es una planta"),
        ("hi", "सही। पेड़ एक पौधा है"),
        ("en", "Incorrect spelling aside, a tree."),
    ],
)
def test_a_first_line_repeated_from_the_judged_answer_is_no_verdict(language, answer):
    wording = load_wording(language)
    prompt = word_prompt(wording, "a", word="x", reference="y", response=answer, task="define x")

    assert read_word_verdict(f"{answer}\n\nIt says little.", wording, prompt).verdict == "undetermined"
    assert read_word_verdict("correct", wording, prompt).verdict == "correct"


def test_the_table_is_large_and_its_names_are_different():
    assert len(REPLIES) >= 80
    assert len({case["name"] for case in REPLIES}) == len(REPLIES)
    assert {case["language"] for case in REPLIES} == set(wording_languages())


def test_a_language_without_wording_is_an_error_that_names_those_with():
    with pytest.raises(UnknownNameError, match="es"):
        load_wording("../es")


@pytest.mark.parametrize("language", wording_languages())
@pytest.mark.parametrize("name", ["correct", "incorrect"])
def test_each_language_asks_for_words_that_it_reads(language, name):
    wording = load_wording(language)
    [asked, *_] = getattr(wording, name)

    assert read(asked, language) == (name, False)
    for prompt in (wording.judge_prompt_a, wording.judge_prompt_b):
        assert asked in prompt
        assert read(prompt, language) == ("undetermined", False), "an echo of the question is no verdict"


@given(st.sampled_from(VERDICTS + LETTERS), st.lists(st.sampled_from(AROUND), max_size=4))
def test_what_stands_around_a_verdict_does_not_change_it(case, around):
    language, text, verdict = case
    for before, after in around:
        text = before + text + after

    assert read(text, language) == (verdict, False)


@given(st.sampled_from(VERDICTS + LETTERS), st.data())
def test_case_does_not_change_a_verdict(case, data):
    language, word, verdict = case
    capital = data.draw(st.lists(st.booleans(), min_size=len(word), max_size=len(word)))
    text = "".join(letter.upper() if up else letter for letter, up in zip(word, capital, strict=True))

    assert read(text, language) == (verdict, False)


@given(verdicts, st.data(), st.sampled_from(["NFC", "NFD", "NFKC", "NFKD"]))
def test_accents_and_their_spelling_do_not_change_a_verdict(case, data, form):
    language, word, verdict = case
    if word.isascii():
        accents = st.text(st.characters(min_codepoint=0x300, max_codepoint=0x36F), max_size=2)
        word = "".join(letter + data.draw(accents) for letter in word)

    assert read(unicodedata.normalize(form, word), language) == (verdict, False)


@given(verdicts, st.integers(1, 20), st.sampled_from(PARTS))
def test_a_verdict_given_many_times_is_that_verdict(case, times, part):
    language, word, verdict = case
    assume("no" not in part)

    assert read(part.join([word] * times), language) == (verdict, False)


@given(languages, st.sampled_from(PARTS), st.booleans(), st.data())
def test_one_verdict_and_then_the_other_is_none(language, part, turned, data):
    pair = [
        data.draw(st.sampled_from([w for w, v in WORDS[language].items() if v == name]))
        for name in WORDS["en"].values()
    ]
    first, second = (pair[2], pair[0]) if turned else (pair[0], pair[2])

    assert read(f"{first}{part}{second}", language) == ("undetermined", True)


@given(
    verdicts,
    st.lists(st.sampled_from(["la", "casa", "es", "un", "lugar", "x", "12", "«palabra»", "पेड़", "木", "tree"])),
)
def test_an_explanation_that_says_nothing_of_either_does_not_change_a_verdict(case, words):
    language, word, verdict = case

    assert read(f"{word}. {' '.join(words)}.", language) == (verdict, False)


@given(verdicts, st.sampled_from(MARKS), TEXTS, st.booleans())
def test_what_a_judge_thinks_aloud_does_not_change_a_verdict(case, marks, thought, is_opened):
    language, word, verdict = case
    assume(not any(sign in thought for sign in "<[◁"))
    text = f"{marks[0] if is_opened else ''}{thought}{marks[1]}\n{word}"

    assert read(text, language) == (verdict, False)


@given(languages, st.sampled_from(MARKS), TEXTS)
def test_a_judge_that_never_stops_thinking_gives_no_verdict(language, marks, thought):
    assume(not any(sign in thought for sign in "<[◁"))

    assert read(marks[0] + thought, language) == ("undetermined", False)


@given(TEXTS, languages)
def test_any_text_can_be_read_and_is_always_read_alike(text, language):
    reading = read_word_verdict(text, load_wording(language))

    assert reading.verdict in ("correct", "incorrect", "undetermined")
    assert not reading.contradictory or reading.verdict == "undetermined"
    assert reading == read_word_verdict(text, load_wording(language))


@given(st.text(st.characters()), languages)
def test_half_a_surrogate_pair_can_be_read(text, language):
    assert read(f"\ud83d{text}\udc00", language)[0] in ("correct", "incorrect", "undetermined")


@given(TEXTS, languages)
def test_a_text_without_either_word_is_no_verdict(text, language):
    letters = "".join(letter for letter in plain(text) if letter.isalpha())
    assume(letters not in ("c", "i") and not any(stem in plain(text) for stem in STEMS))

    assert read(text, language) == ("undetermined", False)


@given(st.text(min_size=1), verdicts)
def test_a_verdict_after_another_word_is_none(before, case):
    language, word, _ = case
    assume(any(letter.isalpha() for letter in plain(before)) and not any(sign in before for sign in "<[◁\\"))
    assume(not any(stem in plain(before) for stem in STEMS))

    assert read(f"{before} {word}", language) == ("undetermined", False)


@pytest.mark.slow
@pytest.mark.parametrize("first", ["correcto ", "incorrecto "])
@pytest.mark.parametrize(
    "piece",
    [
        *("correcto ", "incorrecto ", "no ", "no incorrecto ", "la respuesta ", ". no", "सही नहीं "),
        *("c", "*", ".", "\n"),
        *("<", "<think>", "\n<think>", "</think>", "\\a", "\\", '{"a":', '{"', "\u0301", "\ufdfa"),
    ],
)
def test_a_megabyte_of_hostile_text_is_read(first, piece):
    """With a step that is quadratic in the length this would not come to an end."""
    assert read(first + (piece * (1_000_000 // len(piece) + 1))[:1_000_000], "es")[0] in (
        "correct",
        "incorrect",
        "undetermined",
    )


@pytest.mark.parametrize("length", [100, 60_000])
def test_long_reasoning_before_a_verdict_is_left_out_whole(length):
    thought = "Correcto significa algo. " * (length // 25)

    assert read_word_verdict(f"{thought}</think>\nincorrecto", load_wording("es")).verdict == "incorrect"
    assert read_word_verdict(f"<think>{thought}</think>\nincorrecto", load_wording("es")).verdict == "incorrect"
