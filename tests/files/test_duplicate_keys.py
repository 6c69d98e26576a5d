"""A key or column that occurs twice is an error with its position, because it is not clear which value is meant."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyjudge.errors import DataError, DuplicateKeyError
from polyjudge.files.json_lines import parse_data, read_json_lines
from polyjudge.files.json_stream import JsonStream
from polyjudge.formats.items import ItemSource
from polyjudge.formats.ratings import RatingColumns, read_ratings
from polyjudge.formats.transcripts import Transcript
from polyjudge.formats.translation_results import TranslationResults
from polyjudge.formats.translation_scores import TranslationScores
from polyjudge.formats.vocabulary import WordRecords, read_vocabulary
from polyjudge.store.trust_cards import read_card

KEYS = st.text(alphabet='ab"\\{}[]:,\n é😀', max_size=3)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(-1e300, 1e300) | KEYS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)
PATH = Path("f.json")


@given(value=VALUES, indent=st.sampled_from([None, 2]), ascii_only=st.booleans())
def test_data_without_duplicates_is_parsed_as_by_the_standard_library(value, indent, ascii_only):
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    assert parse_data(f" {text}\n", PATH) == json.loads(text)


@given(before=VALUES, key=KEYS, first=VALUES, second=VALUES, after=VALUES, wrapped=st.booleans())
def test_a_duplicate_key_is_found_with_its_line_at_any_depth(before, key, first, second, after, wrapped):
    name = json.dumps(key)
    twice = "{\n" + f"{name}: {json.dumps(first)},\n{name}: {json.dumps(second)}" + "\n}"
    text = f"[{json.dumps(before)}, {twice}, {json.dumps(after)}]" if wrapped else twice

    with pytest.raises(DuplicateKeyError) as raised:
        parse_data(text, PATH, line=7)
    assert raised.value.line == 9
    assert repr(key) in str(raised.value)


def test_keys_are_compared_after_unescaping():
    with pytest.raises(DuplicateKeyError, match="f.json:1: duplicate key 'id' in one object"):
        parse_data('{"id": 1, "\\u0069d": 2}', PATH)


def test_a_duplicate_key_in_json_lines_is_an_error_with_file_and_line(tmp_path):
    path = tmp_path / "items.jsonl"
    path.write_text('{"id": "a"}\n\n{"id": "b", "x": {"score": 1, "score": 2}}\n', encoding="utf-8")

    with pytest.raises(DuplicateKeyError, match=r"items.jsonl:3: duplicate key 'score'"):
        list(read_json_lines(path))


@pytest.mark.parametrize(
    ("text", "line", "key"),
    [
        ('{"model": "a",\n "results": [],\n "model": "b"}', 3, "model"),
        ('{"results": [],\n "results": []}', 2, "results"),
        ('{"results": [{"a": 1},\n {"b": 1,\n "b": 2}]}', 3, "b"),
        ('[{"a": [{"c": 0,\n\n "c": 0}]}]', 3, "c"),
        ('{"about": {"x": 1, "x": 1}, "results": []}', 1, "x"),
        ("[" + '{"a": 1},\n' * 20_000 + '{"a": 1, "a": 2}]', 20_001, "a"),
    ],
)
def test_a_duplicate_key_in_a_streamed_file_is_an_error_with_file_and_line(tmp_path, text, line, key):
    path = tmp_path / "results.json"
    path.write_text(text, encoding="utf-8")

    with pytest.raises(DuplicateKeyError, match=f"duplicate key '{key}'") as raised:
        list(JsonStream(path, ("results",)))
    assert (raised.value.path, raised.value.line) == (path, line)


LANGUAGE = '{"languageName": "Thai", "languageCode": "th", "scriptScore": 1, "scriptScore": 5, "prompts": []}'
CARD = '{"schemaVersion": 1, "judge": {"provider": "a", "provider": "b"}}'
RECORD = '{"model": "m", "word": "w", "prompt": "p", "response": "no", "response": "yes"}'


def read_suite(path):
    (path.parent / "vocabulary_short.json").write_text('[{"word": "a", "answer": "b"}]', encoding="utf-8")
    return read_vocabulary(path.parent, str(path.parent))


@pytest.mark.parametrize(
    ("name", "text", "read"),
    [
        ("results.json", f"[{LANGUAGE}]", lambda path: list(TranslationResults(path))),
        ("results.jsonl", LANGUAGE, lambda path: list(TranslationResults(path))),
        ("scores.json", f"[{LANGUAGE}]", TranslationScores),
        ("ratings.jsonl", '{"id": "a", "score": 1, "score": 2}', lambda path: read_ratings(path, RatingColumns())),
        ("card.json", CARD, read_card),
        ("prompts.json", '{"prompt_a": "{word}", "prompt_a": "{word}?"}', read_suite),
        ("m/w.json", RECORD, lambda path: WordRecords(path.parent.parent, ["m"], ["w"]).read("m", "w", "a")),
        (
            "session.jsonl",
            '{"role": "user", "content": "hello"}\n{"role": "assistant", "content": "x", "content": "y"}',
            lambda path: list(Transcript(path).events()),
        ),
        (
            "session.json",
            '[{"role": "user", "content": "hello"}, {"role": "assistant", "content": "x", "content": "y"}]',
            lambda path: list(Transcript(path).events()),
        ),
    ],
)
def test_a_duplicate_key_is_an_error_in_every_format(tmp_path, name, text, read):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")

    with pytest.raises(DuplicateKeyError, match=f"{Path(name).name}:[12]: duplicate key"):
        read(path)


@pytest.mark.parametrize(("name", "sign"), [("items.csv", ","), ("items.tsv", "\t")])
def test_a_duplicate_column_is_an_error(tmp_path, name, sign):
    path = tmp_path / name
    path.write_text(sign.join(["id", "candidate", "candidate"]) + "\n" + sign.join("abc") + "\n", encoding="utf-8")

    with pytest.raises(DuplicateKeyError, match=f"{name}:1: duplicate column 'candidate'"):
        ItemSource(path).survey()


def test_several_columns_without_a_name_are_allowed(tmp_path):
    path = tmp_path / "items.csv"
    path.write_text("id,candidate,,\na,b,,\n", encoding="utf-8")  # as spreadsheets leave them

    assert [item.candidate for item in ItemSource(path)] == ["b"]


def test_a_duplicate_parquet_column_or_field_is_an_error(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    texts = arrow.array(["x"])
    nested = arrow.StructArray.from_arrays([texts, texts], names=["s", "s"])
    for columns, names, named in (([texts] * 3, ["id", "candidate", "candidate"], "candidate"),
                                  ([texts, nested], ["id", "more"], "s")):  # fmt: skip
        path = tmp_path / "items.parquet"
        parquet.write_table(arrow.Table.from_arrays(columns, names=names), path)
        with pytest.raises(DuplicateKeyError, match=f"items.parquet: duplicate column '{named}'"):
            ItemSource(path).survey()


def ids(path, *rows):
    path.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
    return [item.id for item in ItemSource(path)]


def test_a_number_as_id_is_kept_as_written(tmp_path):
    written = ["1e400", "2e400", "-1e400", "1.10", "1.1", "1", "1.0", "1e5", "9" * 400, "8" * 5000, "NaN", "Infinity"]
    rows = [f'{{"id": {number}, "candidate": "x", "score": 0.5}}' for number in written]

    assert ids(tmp_path / "items.jsonl", *rows) == written
    assert ids(tmp_path / "items.csv", "id,candidate", *(f"{number},x" for number in written)) == written


def test_numbers_too_large_for_a_float_stay_different(tmp_path):
    path = tmp_path / "items.jsonl"
    path.write_text('{"id": 1, "candidate": "x", "source": 1e400, "cluster": 2e400}\n', encoding="utf-8")

    [item] = ItemSource(path)
    assert (item.context["source"], item.cluster) == ("1e400", "2e400")


def test_a_number_and_a_text_written_the_same_are_one_id(tmp_path):
    path = tmp_path / "items.jsonl"
    path.write_text('{"id": 1e400, "candidate": "x"}\n{"id": "1e400", "candidate": "y"}\n', encoding="utf-8")

    with pytest.raises(DataError, match="duplicate id '1e400', first at line 1"):
        ItemSource(path).survey()


def test_labels_and_items_with_the_same_number_match(tmp_path):
    rows, table = tmp_path / "labels.jsonl", tmp_path / "labels.csv"
    rows.write_text('{"id": 1.50, "score": 4}\n{"id": 1e400, "score": 1e400}\n', encoding="utf-8")
    table.write_text("id,score\n1.50,4\n1e400,1e400\n", encoding="utf-8")

    found = [[(each.id, each.value) for each in read_ratings(path, RatingColumns()).ratings] for path in (rows, table)]
    assert found == [[("1.50", 4.0), ("1e400", None)]] * 2


def test_a_missing_id_in_a_parquet_column_of_numbers_is_missing(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "items.parquet"
    parquet.write_table(arrow.table({"id": [1.0, float("nan")], "candidate": ["x", "y"]}), path)

    assert [item.id for item in ItemSource(path)] == ["1.0"]
    assert ItemSource(path).survey().problems == (f"{path}:2: 'id' is missing",)
