"""An answer and what was thought aloud before it come apart, and nothing of either is lost."""

from collections import Counter

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from polyjudge.judges.reply_text import split_reasoning

MARKS = [
    *(
        (f"<{word}>", f"</{word}>")
        for word in ("think", "thinking", "thought", "reasoning", "reflection", "scratchpad")
    ),
    *(("[THINK]", "[/THINK]"), ("◁think▷", "◁/think▷"), ("<|channel|>analysis", "<|channel|>final")),
]
ALL_MARKS = [mark for pair in MARKS for mark in pair]
SIGNS = "<>[]◁▷/|" + "".join(sorted(set("".join(ALL_MARKS).lower() + "".join(ALL_MARKS).upper())))
"""Whatever occurs in a mark: what is counted below has none of it."""

marks = st.sampled_from(MARKS)
plain = st.text().filter(lambda text: not any(sign in text for sign in "<[◁"))
mixed = st.lists(
    st.sampled_from([*ALL_MARKS, *(mark.upper() for mark in ALL_MARKS), *(f"\n{mark}" for mark in ALL_MARKS)])
    | st.sampled_from(
        ["1", "22 ", "\n3", "día 4", '{"5": "<think>"}', '{"6": ', '"', "{", "}", "<", "</", "木", "ñ", " "]
    )
    | st.text(max_size=5)
).map("".join)


def apart(text):
    answer, thought = split_reasoning(text, in_prose=True)
    return answer.strip(), thought


def counted(*texts):
    return Counter(letter for text in texts for letter in text if not letter.isspace() and letter not in SIGNS)


@given(st.text().filter(lambda text: not any(sign in text for sign in "<[◁")), st.booleans())
def test_a_text_without_marks_is_all_answer(text, in_prose):
    assert split_reasoning(text, in_prose=in_prose) == (text, "")


@given(marks, plain, plain)
def test_what_stands_in_marks_is_reasoning_and_what_follows_is_the_answer(pair, thought, answer):
    assert split_reasoning(f"{pair[0]}{thought}{pair[1]}{answer}", in_prose=True) == (answer, thought.strip())


@given(marks, plain, plain)
def test_a_mark_that_is_never_closed_takes_all_that_follows(pair, before, thought):
    assert split_reasoning(f"{before}\n{pair[0]}{thought}", in_prose=True) == (f"{before}\n", thought.strip())


@given(marks, plain, plain)
def test_a_mark_that_was_never_opened_takes_all_before(pair, thought, answer):
    assert split_reasoning(f"{thought}{pair[1]}{answer}", in_prose=True) == (answer, thought.strip())


@given(marks, plain, plain, plain)
def test_an_answer_goes_on_after_reasoning_on_lines_of_its_own(pair, start, thought, end):
    text = f"{start}\n{pair[0]}\n{thought}\n{pair[1]}\n{end}"

    assert split_reasoning(text, in_prose=True) == (f"{start}\n\n{end}", thought.strip())


@given(st.lists(st.tuples(marks, plain, plain), max_size=5))
def test_each_stretch_of_reasoning_is_kept_in_its_order(stretches):
    text = "".join(f"\n{pair[0]}{thought}{pair[1]}{answer}" for pair, thought, answer in stretches)

    answer, thought = split_reasoning(text, in_prose=True)

    assert answer == "".join(f"\n{each}" for _, _, each in stretches)
    assert thought == "\n".join(each.strip() for _, each, _ in stretches if each.strip())


@given(mixed, st.booleans())
def test_nothing_is_lost_but_marks_and_white_space(text, in_prose):
    answer, thought = split_reasoning(text, in_prose=in_prose)

    assert counted(answer, thought) == counted(text)
    assert len(answer) + len(thought) <= len(text) + len(ALL_MARKS)


@given(mixed)
def test_a_text_is_always_split_alike(text):
    assert split_reasoning(text, in_prose=True) == split_reasoning(text, in_prose=True)


@given(marks, plain, plain, st.data())
def test_case_does_not_matter_in_a_mark(pair, thought, answer, data):
    opening, closing = (
        "".join(letter.upper() if data.draw(st.booleans()) else letter.lower() for letter in mark) for mark in pair
    )

    assert split_reasoning(f"{opening}{thought}{closing}{answer}", in_prose=True) == (answer, thought.strip())


@given(marks, st.sampled_from(["", " ", "\t", "> ", "**", "`", "\n", "\n\n  "]), plain, plain)
def test_emphasis_and_space_may_stand_before_a_mark(pair, before, thought, answer):
    assert split_reasoning(f"{before}{pair[0]}{thought}{pair[1]}\n{answer}", in_prose=True) == (
        f"{before}\n{answer}",
        thought.strip(),
    )


@given(marks, plain)
def test_marks_in_a_json_object_are_only_spoken_of(pair, text):
    assume(not any(sign in text for sign in '"\\{}') and text.isprintable())
    answer = f'{{"answer": "{pair[0]}{text}{pair[1]}"}}'

    assert split_reasoning(answer, in_prose=True) == (answer, "")


@pytest.mark.parametrize(
    ("text", "answer", "thought"),
    [
        ("", "", ""),
        ("<think></think>", "", ""),
        ("<think>\n\n</think>\n\nPlanta.", "Planta.", ""),
        ("<think>\nuno\n</think>\n\nPlanta.", "Planta.", "uno"),
        ("<think>uno\r\n</think>\r\nPlanta.\r\n", "Planta.", "uno"),
        ("uno\n</think>\n\nPlanta.", "Planta.", "uno"),
        ("uno</think>dos</think>Planta.", "Planta.", "uno\ndos"),
        ("<think>uno<think>dos</think>tres</think>Planta.", "Planta.", "uno<think>dos\ntres"),
        ("<think>uno</think><think>dos</think>Planta.", "Planta.", "uno\ndos"),
        ("<think>uno", "", "uno"),
        ("<think>uno</think", "", "uno</think"),
        ("<think>¿</thinking>? no</think>Planta.", "Planta.", "¿</thinking>? no"),
        ('<think>{"a": "</think>"} uno</think>Planta.', "Planta.", '{"a": "</think>"} uno'),
        ("Planta.\n\n<think>uno</think>", "Planta.", "uno"),
        ("<thinker>uno</thinker>", "<thinker>uno</thinker>", ""),
        ("Uno < dos y dos > uno", "Uno < dos y dos > uno", ""),
        (
            "<|channel|>analysis<|message|>uno<|end|><|start|>assistant<|channel|>final<|message|>Planta.",
            "<|message|>Planta.",
            "<|message|>uno<|end|><|start|>assistant",
        ),
    ],
)
def test_replies_as_models_write_them_come_apart(text, answer, thought):
    assert apart(text) == (answer, thought)


@pytest.mark.parametrize(
    "text", ["La marca <think> abre.", "The mark </think> ends it.", "Write <think> and </think>."]
)
def test_prose_around_a_verdict_may_speak_of_a_mark(text):
    assert split_reasoning(text) == (text, "")


@given(mixed)
def test_half_a_surrogate_pair_can_be_split(text):
    answer, thought = split_reasoning(f"\ud83d{text}\udc00", in_prose=True)

    assert "\ud83d" in answer + thought
    assert "\udc00" in answer + thought


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece",
    [
        *(*ALL_MARKS, "\n<think>", "\n<think>a</think>", "<think></think>", "<", "</", "<|", " ", "\n", "\n> *"),
        *('{"a":', '{"', '"', '{"\\"', "{ ", '{"a":1}', '{"a":"<think>"}', '{"a":[[', '{"a":"{', "\\"),
    ],
)
def test_a_megabyte_of_hostile_text_comes_apart(piece):
    """With a step that is quadratic in the length this would not come to an end."""
    text = (piece * (1_000_000 // len(piece) + 1))[:1_000_000] + "\n</think>"

    answer, thought = split_reasoning(text, in_prose=True)
    assert len(answer) + len(thought) <= len(text) + 1
