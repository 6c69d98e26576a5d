"""A JSON file read element by element gives the same values as read whole, or an error with the line."""

import json
import tracemalloc

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from polyjudge.errors import DataError
from polyjudge.files.json_stream import JsonStream
from polyjudge.files.spill import Spilled

CHUNK = 1 << 16
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
SPACES = st.text(alphabet=" \t\r\n", max_size=3)
relaxed = settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])


def read(path, content, names=("results",)):
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass"))
    stream = JsonStream(path, names)
    return [element for _, element in stream], stream.rest


@pytest.fixture
def path(tmp_path):
    return tmp_path / "file.json"


@relaxed
@given(elements=st.lists(VALUES, max_size=6), ascii_only=st.booleans(), indent=st.sampled_from([None, 0, 3]))
def test_a_streamed_list_equals_the_list_read_whole(path, elements, ascii_only, indent):
    assert read(path, json.dumps(elements, indent=indent)) == (elements, {})
    if not ascii_only:
        text = json.dumps(elements, ensure_ascii=False, indent=indent).encode("utf-8", "replace")
        assert read(path, text) == (json.loads(text), {})


@relaxed
@given(before=st.dictionaries(st.text(max_size=8), VALUES, max_size=3), after=VALUES, elements=st.lists(VALUES))
def test_a_streamed_object_gives_its_list_and_the_rest(path, before, after, elements):
    whole = {**before, "results": elements, "after": after}
    before = {key: value for key, value in before.items() if key not in ("results", "after")}

    assert read(path, json.dumps(whole)) == (elements, {**before, "after": after})


@relaxed
@given(value=VALUES, distance=st.integers(0, 40), gap=SPACES)
def test_a_value_across_two_chunks_is_read_whole(path, value, distance, gap):
    text = json.dumps(value)
    start = "[" + " " * (CHUNK - 1 - min(distance, len(text) + 1))

    assert read(path, f"{start}{text}{gap}, {text}{gap}]") == ([value, value], {})


@pytest.mark.parametrize("number", ["12.5", "-12.25e+17", "1E5", "1e-5", "-0.0", "-7", "123456789012345678901", "0"])
@pytest.mark.parametrize("word", ["[{}]", "[{},1]", '{{"a": {}}}', "[[{}]]"])
def test_a_number_can_be_divided_anywhere_between_chunks(path, number, word):
    text = word.format(number)
    whole = json.loads(text)
    expected = (whole, {}) if isinstance(whole, list) else ([], whole)
    for cut in range(len(text) + 1):
        got = read(path, " " * (CHUNK - cut) + text)

        assert repr(got) == repr(expected)


@pytest.mark.parametrize("sign", ["é", "क्ष", "👩🏽‍🚀", "\\ud83d\\ude00", "\\n", '\\"', "\\\\"])
def test_a_character_can_be_divided_anywhere_between_chunks(path, sign):
    for pad in range(CHUNK - 14, CHUNK + 2):
        text = f'["{"x" * pad}{sign}"]'

        assert read(path, text) == (json.loads(text), {})


def test_an_element_of_many_chunks_is_read_whole(path):
    elements = ["é" * 500_000, {"a": ["x" * 200_000, -1.5]}, 3]

    assert read(path, json.dumps({"results": elements, "model": "m" * 70_000})) == (elements, {"model": "m" * 70_000})


def test_the_list_is_found_under_any_of_its_names_only(path):
    text = '{"notes": [1, 2], "languageResults": [3], "results": 4}'

    assert read(path, text, ("results", "languageResults")) == ([3], {"notes": [1, 2], "results": 4})


def test_each_element_comes_with_its_first_line(path):
    path.write_text('{"model":\n\n"m", "results": [\n {"a":\n 1},\n\n 2, 3\n]}', encoding="utf-8")

    assert [line for line, _ in JsonStream(path, ("results",))] == [4, 7, 7]


def test_lines_are_counted_with_any_line_break(path):
    path.write_bytes(b"[\r\n1,\r\n2\r\n]")

    assert list(JsonStream(path, ())) == [(2, 1), (3, 2)]


def test_a_byte_order_mark_is_ignored(path):
    assert read(path, b"\xef\xbb\xbf[1]") == ([1], {})


@pytest.mark.parametrize(
    ("content", "place", "words"),
    [
        ("", ":1:", "is empty"),
        (" \n\n ", ":3:", "is empty"),
        ('"text"', ":1:", "must be a JSON list or object"),
        ("[1,\n2", ":2:", "expected ','"),
        ('[1,\n{"a": [2', ":2:", "is not JSON"),
        ('[1,\n"tex', ":2:", "Unterminated string"),
        ('{"a": 1,\n"b"', ":2:", "expected ':'"),
        ('{"a":', ":1:", "Expecting value"),
        ('{"results": [\n1\n', ":3:", "expected ','"),
        ("[1]\n[2]", ":2:", "unexpected text after the end"),
        ('{"a": 1}\n{"a": 2}', ":2:", "unexpected text after the end"),
        ("[1,\n2,\n]", ":3:", "Expecting value"),
        ('{"a": 1,\n}', ":2:", "expected a name in quotes"),
        ('{"results": [1,],\n}', ":1:", "Expecting value"),
        ("[,1]", ":1:", "Expecting value"),
        ("[1 2]", ":1:", "expected ','"),
        ("{1: 2}", ":1:", "expected a name in quotes"),
        ('{["a"]: 2}', ":1:", "expected a name in quotes"),
        ("[1}", ":1:", "expected ','"),
        ('[\n"a\nb"]', ":2:", "Invalid control character"),
        ("[tru]", ":1:", "Expecting value"),
        ("{'a': 1}", ":1:", "expected a name in quotes"),
        ("[1, // two\n2]", ":1:", "Expecting value"),
        ("[\n" + "9" * 5000 + "]", ":2:", "too long"),
        ("[\n1,\n" + "[" * 100_000 + "]" * 100_000 + "]", ":3:", "nested too deeply"),
        ('{"about":\n' + "[" * 300 + "]" * 300 + "}", ":2:", "nested too deeply"),
        (b'[1,\n"\xff"]', ":2:", "not UTF-8 text (invalid start byte at byte 1 of the line)"),
        (b"[" + b"1,\n" * 100_000 + b'"\xc3"]', ":100001:", "not UTF-8 text"),
        (b'["\xed\xa0\x80"]', ":1:", "not UTF-8 text"),
        (b'["cut \xe4\xb8', ":1:", "not UTF-8 text"),
        ("[é]".encode("latin-1"), ":1:", "not UTF-8 text"),
    ],
)
def test_an_invalid_file_is_an_error_with_path_and_line(path, content, place, words):
    with pytest.raises(DataError) as raised:
        read(path, content)

    assert str(raised.value).startswith(f"{path}{place} ")
    assert words in str(raised.value)
    assert len(str(raised.value)) < 300


def test_elements_before_an_error_are_yielded(path):
    path.write_text("[1, 2, oops]", encoding="utf-8")
    stream = iter(JsonStream(path, ()))

    assert [next(stream)[1], next(stream)[1]] == [1, 2]
    with pytest.raises(DataError, match="Expecting value"):
        next(stream)


@pytest.mark.parametrize("name", ["missing.json", "folder", "missing/deep.json"])
def test_an_unreadable_file_is_an_error_with_its_path(tmp_path, name):
    (tmp_path / "folder").mkdir()

    with pytest.raises(DataError, match=rf"{name}: cannot be read: "):
        list(JsonStream(tmp_path / name, ()))


def test_memory_use_does_not_grow_with_the_file(path):
    element = json.dumps({"text": "ए" * 3_000, "more": list(range(100))}, ensure_ascii=False)
    with path.open("w", encoding="utf-8") as file:
        file.write("[")
        for _ in range(3_200):
            file.write(f"{element},\n")
        file.write("0]")
    assert path.stat().st_size > 30_000_000

    tracemalloc.start()
    count = sum(1 for _ in JsonStream(path, ()))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert count == 3_201
    assert peak < 3_000_000


MEMBERS = st.dictionaries(st.text(max_size=6).filter(lambda key: key != "prompts"), VALUES, max_size=4)
LONG = "x" * (CHUNK + 100)


@settings(relaxed, max_examples=40)
@given(before=MEMBERS, prompts=st.lists(VALUES, max_size=6), after=MEMBERS, indent=st.sampled_from([None, 1]))
def test_the_inner_list_of_a_large_element_is_that_of_the_element_read_whole(path, before, prompts, after, indent):
    element = {**before, "prompts": [*prompts, LONG], **after}
    path.write_text(json.dumps([element, *prompts, element], indent=indent), encoding="utf-8")

    found = [value for _, value in JsonStream(path, (), inner="prompts", large=1)]

    assert isinstance(found[0]["prompts"], Spilled)
    assert [{**each, "prompts": list(each["prompts"])} for each in (found[0], found[-1])] == [element, element]
    assert found[1:-1] == prompts
    assert list(found[0]) == list(element)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('{"prompts": [], "a": 1,\n"a": 2}', 2),
        ('{"prompts": [{"b": 1,\n\n"b": 2}]}', 3),
        ('{"prompts": [1,\n?]}', 2),
        ('{"prompts": [],\n a: 1}', 2),
        ('{"prompts": [1', 1),
    ],
    ids=["a key twice", "a key twice inside", "no value", "no quotes", "not ended"],
)
def test_an_error_in_a_large_element_names_its_line(path, text, line):
    path.write_text(f"[{text[:-1]}{' ' * (CHUNK + 10)}{text[-1]}]", encoding="utf-8")

    with pytest.raises(DataError) as large:
        list(JsonStream(path, (), inner="prompts", large=1))
    with pytest.raises(DataError) as whole:
        list(JsonStream(path, ()))

    assert (large.value.line, whole.value.line) == (line, line)
