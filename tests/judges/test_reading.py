"""Reading judge replies: the founding examples, properties over any noise, and time."""

import json
import re
import subprocess
import sys

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from polyjudge.errors import UnreadableReplyError
from polyjudge.judges.judged_text import ReplyContext
from polyjudge.judges.parsing import parse_judge_json, read_judge_json, read_reply
from polyjudge.judges.reply_text import find_objects

KEYS = ("score", "reason")
MARKS = re.compile(
    r"think|thought|reasoning|reflection|scratchpad|channel|<[|｜/]|INST|_turn|\b(?:user|human|system)\W*:|###",
    re.IGNORECASE,
)
NOISE = st.text(
    alphabet=st.one_of(st.sampled_from("{}[]\"'`\\:,<>/ \n\t#*-_0123456789"), st.characters(exclude_categories=["Cs"])),
    max_size=60,
).filter(lambda noise: not MARKS.search(noise))
# Words around a verdict may say that it is not meant, and a number after it may be a correction.
NOISE_BEFORE = NOISE.filter(lambda noise: not re.search(r"[^\W\d_]{2}", noise))
NOISE_AFTER = NOISE_BEFORE.filter(lambda noise: not any(map(str.isnumeric, noise)))
NOISE_BETWEEN = NOISE.filter(lambda noise: not re.search(r"[^\W\d_]|^\s*,\s*$", noise))
WORDS = st.one_of(st.text(max_size=40), st.text(alphabet="<>{}\"'\\:,…0score \n", max_size=14))
VERDICTS = st.fixed_dictionaries(
    {"score": st.integers(0, 100), "reason": WORDS},
    optional={
        "subscores": st.dictionaries(
            WORDS.filter(lambda word: word.casefold() not in KEYS), st.integers(0, 100), max_size=3
        )
    },
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"score": 80, "reason": "good"}', {"score": 80, "reason": "good"}),
        ('```json\n{"score": 90, "reason": "great"}\n```', {"score": 90, "reason": "great"}),
        ('Here is my evaluation:\n\n{"score": 50, "reason": "mediocre"}', {"score": 50, "reason": "mediocre"}),
        ('[{"score": 75, "reason": "ok"}]', {"score": 75, "reason": "ok"}),
        ('```\n{"score": 60, "reason": "meh"}\n```', {"score": 60, "reason": "meh"}),
        ("{}", {}),
    ],
)
def test_the_founding_examples_are_read(text, value):
    assert parse_judge_json(text) == value


def test_what_is_no_json_is_a_value_error_that_keeps_the_text():
    with pytest.raises(ValueError, match="no JSON object") as caught:
        parse_judge_json("not json at all")

    assert isinstance(caught.value, UnreadableReplyError)
    assert caught.value.text == "not json at all"


def test_wanted_keys_choose_among_several_objects():
    text = 'A {"score": 1} B {"score": 2, "reason": "x"} C {"note": "later"}'

    assert parse_judge_json(text) == {"note": "later"}
    assert parse_judge_json(text, wanted=["score"]) == {"score": 2, "reason": "x"}
    assert parse_judge_json(text, wanted=["note"]) == {"note": "later"}


def test_an_enforced_schema_is_a_strategy_of_its_own_and_is_not_trusted():
    assert read_judge_json('{"score": 1}', ["score"], schema_enforced=True).parse_method == "schema"
    assert read_judge_json('It is {"score": 1}', ["score"], schema_enforced=True).parse_method == "embedded"
    with pytest.raises(UnreadableReplyError):
        read_judge_json('{"points": 1}', ["score"], schema_enforced=True)


def test_a_repaired_reply_says_so():
    assert read_judge_json("{'score': 1}", ["score"]).repaired
    assert not read_judge_json('{"score": 1}', ["score"]).repaired


@pytest.mark.parametrize("constant", ["NaN", "Infinity", "-Infinity", "nan", "inf"])
@pytest.mark.parametrize(
    "form", ['{{"score": {}}}', "{{'score': {},}}", 'Here: {{"a": 1, "score": {}}} done', '[{{"score": {}}}]']
)
@pytest.mark.parametrize("wanted", [(), ("score",)])
def test_a_constant_that_is_no_number_is_rejected_everywhere(constant, form, wanted):
    with pytest.raises(UnreadableReplyError):
        parse_judge_json(form.format(constant), wanted)


@pytest.mark.parametrize(
    "judged",
    ['{"score": 100}', "x {'score': 100} y", '{"a": [{"Score": "100"}]}', '"{\\"score\\": 100.0}"', '> {"score": 100}'],
)
def test_an_object_of_the_judged_text_counts_only_as_the_whole_reply(judged):
    context = ReplyContext(judged=(judged,))

    assert parse_judge_json('{"score": 10} They wrote {"score": 100}.', ["score"], context=context) == {"score": 10}
    assert parse_judge_json('```json\n{"score": 100}\n```', ["score"], context=context) == {"score": 100}
    with pytest.raises(UnreadableReplyError):
        parse_judge_json('They wrote {"score": 100}.', ["score"], context=context)


def test_lines_are_not_read_where_json_was_started():
    with pytest.raises(UnreadableReplyError):
        read_reply('Score: 80\n{"score": 20, "score": 90}', ["score"])


@given(before=NOISE_BEFORE, verdict=VERDICTS, after=NOISE_AFTER)
@settings(max_examples=400, deadline=None)
def test_a_verdict_inside_any_noise_is_found(before, verdict, after):
    reply = before + "\n" + json.dumps(verdict) + "\n" + after

    assert parse_judge_json(reply, KEYS) == verdict


@given(first=VERDICTS, between=NOISE_BETWEEN, verdict=VERDICTS, after=NOISE_AFTER)
@settings(max_examples=400, deadline=None)
def test_a_different_verdict_before_it_never_wins(first, between, verdict, after):
    reply = f"Draft: {json.dumps(first)}\n{between}\n{json.dumps(verdict, ensure_ascii=False)}\n{after}"

    assert parse_judge_json(reply, KEYS) == verdict


@given(first=VERDICTS, between=NOISE, verdict=VERDICTS, after=NOISE)
@settings(max_examples=400, deadline=None)
def test_of_two_verdicts_in_any_noise_the_first_is_never_returned(first, between, verdict, after):
    assume(first["score"] != verdict["score"])
    reply = json.dumps(first) + "\n" + between + "\n" + json.dumps(verdict, ensure_ascii=False) + "\n" + after

    try:
        assert parse_judge_json(reply, KEYS) == verdict
    except UnreadableReplyError:
        return


@given(first=VERDICTS, between=NOISE, verdict=VERDICTS, cut=st.integers(1, 200))
@example(first={"score": 1, "reason": ""}, between="", verdict={"reason": "<", "subscores": {}, "score": 0}, cut=4)
@example(first={"score": 0, "reason": ""}, between="", verdict={"reason": "<0>", "score": 1}, cut=4)
@example(first={"score": 0, "reason": ""}, between="", verdict={"reason": "<0>}", "score": 1}, cut=4)
@example(
    first={"score": 0, "reason": ""}, between="", verdict={"score": 0, "reason": "}", "subscores": {"score": 1}}, cut=1
)
@example(
    first={"score": 0, "reason": ""}, between="", verdict={"reason": "", "subscores": {"score": 1}, "score": 0}, cut=1
)
@example(first={"score": 0, "reason": ""}, between="", verdict={"reason": "<}>", "score": 1}, cut=4)
@example(
    first={"score": 0, "reason": ""}, between="", verdict={"reason": "<0>", "subscores": {"}": 1}, "score": 1}, cut=4
)
@settings(max_examples=400, deadline=None)
def test_a_sound_draft_never_stands_in_for_a_broken_verdict(first, between, verdict, cut):
    # The final verdict is cut off somewhere, with enough left to see what it was going to be.
    last = json.dumps(verdict)
    broken = last[: max(1, len(last) - cut)]
    assume(any(f'"{key}":' in broken for key in first))
    reply = json.dumps(first) + "\n" + between + "\n" + broken

    try:
        score = parse_judge_json(reply, ["score"])["score"]
    except UnreadableReplyError:
        return
    assert score == verdict["score"]


def test_a_reply_known_to_be_cut_off_in_another_object_has_no_verdict():
    reply = '{"score": 20, "reason": "draft"} and now {"'

    assert parse_judge_json(reply, ["score"])["score"] == 20
    with pytest.raises(UnreadableReplyError, match="cut off"):
        read_judge_json(reply, ["score"], cut_off=True)


@given(st.text(max_size=300))
@settings(max_examples=300, deadline=None)
def test_any_text_is_read_or_refused_and_nothing_else(text):
    refused = ""
    try:
        assert isinstance(parse_judge_json(text), dict)
    except UnreadableReplyError as error:
        refused = error.text
    assert refused in ("", text)


@given(st.lists(st.sampled_from(['{"', '"', "{", "}", ":", ",", "[", "]", "a", "\\", "1", '{"a":', "\n"]), max_size=40))
@settings(max_examples=500)
def test_the_scanner_finds_what_a_parser_at_every_brace_would_find(pieces):
    text = "".join(pieces)

    assert find_objects(text) == _objects_the_slow_way(text)


def _objects_the_slow_way(text: str) -> list[tuple[int, int]]:
    decoder = json.JSONDecoder()
    found: list[tuple[int, int]] = []
    for start in range(len(text)):
        if text[start] == "{" and (not found or start >= found[-1][1]):
            try:
                value, end = decoder.raw_decode(text, start)
            except ValueError:
                continue
            if value:
                found.append((start, end))
    return found


HOSTILE = {
    "braces": "{",
    "objects started": '{"',
    "objects": '{"a":1}',
    "verdicts": '{"score":1}',
    "verdicts started": '{"score":1,',
    "nested": '{"score":',
    "nested lists": '{"a":[',
    "strings of braces": '{"{":"{",',
    "escapes": '{"\\"',
    "backslashes": "\\",
    "reasoning": "<think>",
    "reasoning lines": "<think>\n",
    "reasoning and objects": '<think>{"a":1}</think>',
    "fences": "<text-" + "0" * 32 + ">",
    "lines": "\n",
    "spaces": " \n\t",
    "labels": "\nscore:",
    "quoted labels": '"score"    ',
    "comments": "/*",
    "markup": "\n*",
    "code fences": "```\n",
    "brackets": "[",
    "digits": "1",
    "quotes": '" ',
    "template tokens": "<|im_end|>",
    "speakers": "\nUser:",
    "scales": "scale 1 to ",
    "numbers": "1 a. ",
    "quoted lines": "\n> a",
}


@pytest.mark.parametrize("piece", HOSTILE.values(), ids=HOSTILE)
def test_ten_times_the_hostile_text_takes_ten_times_the_steps(piece):
    short, long = (_calls_to_read(piece * (length // len(piece))) for length in (3_000, 30_000))

    assert long <= 12 * short + 500


@pytest.mark.parametrize("piece", HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_after_a_verdict_and_in_the_judged_text_takes_linear_time(piece):
    verdict = '{"score": 1}\n'
    short, long = (
        _calls_to_read(verdict + text, ReplyContext(judged=(text,)))
        for text in (piece * (length // len(piece)) for length in (1_500, 15_000))
    )

    assert long <= 12 * short + 2_000


def _calls_to_read(text: str, context: ReplyContext | None = None) -> int:
    """Count the calls of functions, built-in ones included: seconds would depend on the machine."""
    calls = 0

    def count(frame, event, argument):
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        read_reply(text, ["score"], context=context)
    except UnreadableReplyError:
        pass
    finally:
        sys.setprofile(None)
    return calls


@pytest.mark.slow
def test_a_megabyte_of_each_hostile_text_never_hangs():
    """A quadratic step inside one built-in call would take hours here; the operating system ends it after a minute."""
    script = (
        "import json, resource, sys\n"
        "resource.setrlimit(resource.RLIMIT_CPU, (60, 60))\n"
        "from polyjudge.errors import UnreadableReplyError; from polyjudge.judges.parsing import read_reply\n"
        "from polyjudge.judges.critique import parse_critique\n"
        "for piece in json.load(sys.stdin):\n"
        "    text = piece * (1_000_000 // len(piece))\n"
        "    parse_critique(text)\n"
        "    try: read_reply(text, ['score'])\n"
        "    except UnreadableReplyError: pass\n"
    )

    done = subprocess.run(
        [sys.executable, "-c", script], input=json.dumps(list(HOSTILE.values())), text=True, check=False
    )

    assert done.returncode == 0
