"""Records as JSON: round trips, schemas and errors."""

import json
import pickle
from types import MappingProxyType

import jsonschema
import pytest
import referencing
from hypothesis import given
from hypothesis import strategies as st
from msgspec import NODEFAULT, structs
from msgspec.structs import fields

from polyjudge.cache.entries import decode, encode
from polyjudge.cache.maintenance import export_entries
from polyjudge.cache.sqlite import JudgeCache
from polyjudge.errors import DataError, UnknownNameError
from polyjudge.files.json_lines import item_line, parse_json, row_line
from polyjudge.formats.translation_scores import TranslationScores, write_translation_scores
from polyjudge.providers.scripted import RecordedAnswer
from polyjudge.records.codec import from_json, from_open_json, schema, schema_names, to_json, to_open_json
from polyjudge.records.outcomes import (
    Failure,
    Generated,
    Item,
    JudgeResult,
    Provenance,
    item_row,
    outcome_row,
    read_outcome_row,
)
from polyjudge.records.requests import Reply
from polyjudge.records.rubrics import Rubric
from polyjudge.records.spans import ErrorSpan
from polyjudge.records.translation import LanguageScore
from polyjudge.rubrics.loading import load_rubric, rubric_names

TEXT = st.text(max_size=20)
PROVENANCE = st.builds(
    Provenance,
    provider=TEXT,
    model=TEXT,
    rubric=TEXT,
    rubric_fingerprint=st.just("0123456789abcdef"),
    prompt_sha256=st.just("ab" * 32),
    parameters=st.dictionaries(TEXT, st.one_of(st.integers(), TEXT, st.booleans())),
    dropped=st.lists(TEXT, max_size=2).map(tuple),
    cost_usd=st.none() | st.floats(0, 10),
    input_tokens=st.none() | st.integers(0, 10),
    cached=st.booleans(),
)
FAILURES = st.builds(
    Failure,
    reason=TEXT,
    kind=st.sampled_from(["refused", "unreadable", "no_quorum"]),
    raw=TEXT,
    provenance=st.none() | PROVENANCE,
)
RESULTS = st.builds(
    JudgeResult,
    score=st.floats(-5, 100),
    reason=TEXT,
    subscores=st.dictionaries(TEXT, st.floats(0, 5)),
    model=TEXT,
    duration_ms=st.integers(0, 10),
    cached=st.booleans(),
    verdict=TEXT,
    flags=st.dictionaries(TEXT, st.booleans()),
    weighted_score=st.none() | st.floats(0, 5),
    parse_method=st.sampled_from(["", "json", "lines"]),
    raw=TEXT,
    provenance=st.none() | PROVENANCE,
    members=st.lists(FAILURES | st.builds(JudgeResult, score=st.floats(0, 1), reason=TEXT), max_size=2).map(tuple),
)
TEXTS = st.builds(
    Generated,
    text=TEXT,
    model=TEXT,
    duration_ms=st.integers(0, 10),
    cached=st.booleans(),
    reasoning=TEXT,
    finish=st.sampled_from(["", "stop", "length", "refusal"]),
    provenance=st.none() | PROVENANCE,
)


def validator(name):
    resources = [(f"{each}.schema.json", referencing.Resource.from_contents(schema(each))) for each in schema_names()]
    return jsonschema.Draft202012Validator(schema(name), registry=referencing.Registry().with_resources(resources))


@given(outcome=RESULTS | FAILURES | TEXTS)
def test_an_outcome_survives_a_round_trip_and_fits_its_schema(outcome):
    row = json.loads(json.dumps(outcome_row("item-1", outcome)))

    assert read_outcome_row(row) == ("item-1", outcome)
    validator("outcome").validate(row)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schemaVersion": 2}, "schemaVersion is 2"),
        ({"outcome": "maybe"}, "expected 'result', 'failure' or 'text'"),
        ({"id": 5}, "the id is missing"),
        ({"score": "5"}, "score: expected a number, found '5'"),
        ({"score": True}, "score: expected a number, found True"),
        ({"cached": 1}, "cached: expected true or false, found 1"),
        ({"subscores": {"a": "b"}}, "subscores: a: expected a number, found 'b'"),
        ({"subscores": [1]}, r"subscores: expected an object"),
        ({"members": 5}, "members: expected a list"),
        ({"provenance": {"provider": "p"}}, "provenance: the key 'model' is missing"),
        ({"durationMs": 1.5}, "durationMs: expected a whole number"),
    ],
)
def test_an_invalid_row_is_an_error_with_the_path_to_the_value(change, message):
    row = outcome_row("item-1", JudgeResult(1.0, "fine")) | change

    with pytest.raises(DataError, match=message):
        read_outcome_row(row)
    assert not validator("outcome").is_valid(row)


@pytest.mark.parametrize("name", rubric_names())
def test_the_shipped_rubrics_fit_their_schema(name):
    rubric = load_rubric(name)

    validator("rubric").validate(to_json(rubric))
    assert from_json(Rubric, to_json(rubric)) == rubric


def test_an_export_fits_its_schema(tmp_path):
    with JudgeCache(tmp_path / "c.sqlite") as cache:
        cache.put_reply("a", Reply(text="", model="m", parameters={"x": 1}, dropped=("t",), cost_usd=0.1))
        cache.put("b", JudgeResult(1.0, ""))

    for row in export_entries(tmp_path / "c.sqlite"):
        validator("cache-entry").validate(row)
        assert not validator("cache-entry").is_valid(row | {"value": {"text": 5}})


@pytest.mark.parametrize(
    ("name", "definition", "record"),
    [
        ("outcome", "result", JudgeResult),
        ("outcome", "failure", Failure),
        ("outcome", "text", Generated),
        ("outcome", "provenance", Provenance),
        ("cache-entry", "reply", Reply),
        ("recording", None, RecordedAnswer),
        ("rubric", None, Rubric),
    ],
)
def test_the_schemas_name_every_field_of_the_records(name, definition, record):
    described = schema(name)["$defs"][definition] if definition else schema(name)
    keys = set(record.__struct_encode_fields__)

    assert set(described["properties"]) - {"schemaVersion"} == keys


def test_the_schemas_are_valid_and_an_unknown_name_is_an_error():
    for name in schema_names():
        jsonschema.Draft202012Validator.check_schema(schema(name))
    with pytest.raises(UnknownNameError, match="Unknown JSON Schema: outcomes.*Did you mean 'outcome'"):
        schema("outcomes")


def test_unknown_fields_survive_a_round_trip():
    row = {"languageName": "French", "judge": "m", "judged": 0, "unjudged": 0, "family": {"a": [1, None]}, "notes2": ""}

    score = from_open_json(LanguageScore, row)

    assert score.extra == {"family": {"a": [1, None]}, "notes2": ""}
    assert to_open_json(score) == row


def test_numbers_are_kept_as_written(tmp_path):
    text = (
        '[\n{\n "schemaVersion": 1,\n "scriptScore": 4,\n "grammarScore": 4.0,\n "coherenceScore": null,\n'
        ' "isCorrectLanguage": true,\n "languageName": "Français",\n "judged": 2,\n "unjudged": 0,\n'
        ' "means": {\n  "script": 5,\n  "drift": 1e-05\n },\n "theirOwn": 1e+16,\n "prompts": []\n}\n]\n'
    )
    (tmp_path / "scores.json").write_text(text, encoding="utf-8")

    write_translation_scores(tmp_path / "again.json", TranslationScores(tmp_path / "scores.json"))

    assert (tmp_path / "again.json").read_bytes() == text.encode()


LONE_SURROGATE = "a reply with a lone surrogate: \ud800"


def test_lone_surrogates_in_a_reply_survive_a_round_trip():
    result = JudgeResult(
        1.0, LONE_SURROGATE, raw=LONE_SURROGATE, members=(Failure(LONE_SURROGATE, raw=LONE_SURROGATE),)
    )
    reply = Reply(text=LONE_SURROGATE, model="m", parameters={"x": LONE_SURROGATE})

    line = row_line(outcome_row("item-1", result)).encode()
    assert read_outcome_row(parse_json(line.decode())) == ("item-1", result)
    assert decode(Reply, encode(reply)) == reply


ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=8)
ANY_NUMBER = st.integers() | st.floats() | st.floats(-1e-3, 1e-3) | st.sampled_from([0.0001, 1e16, 2**64])
ANY_PROVENANCE = st.builds(
    Provenance,
    provider=st.just("local"),
    model=ANY_TEXT,
    rubric=st.just("general"),
    rubric_fingerprint=st.just("f"),
    prompt_sha256=st.just("0"),
    parameters=st.dictionaries(ANY_TEXT, ANY_NUMBER | ANY_TEXT | st.none() | st.lists(ANY_NUMBER), max_size=2),
    dropped=st.tuples() | st.just(("temperature",)),
    repeat=st.integers(0, 2),
    attempts=st.integers(1, 2),
    input_tokens=st.none() | st.integers(0, 9),
    cost_usd=st.none() | ANY_NUMBER,
    cached=st.booleans(),
)
ANY_RESULT = st.builds(
    JudgeResult,
    ANY_NUMBER,
    ANY_TEXT,
    st.dictionaries(ANY_TEXT, ANY_NUMBER, max_size=2) | st.just(MappingProxyType({"a": 1})),
    duration_ms=st.integers(0, 2),
    cached=st.booleans(),
    flags=st.dictionaries(ANY_TEXT, st.booleans(), max_size=2),
    weighted_score=st.none() | ANY_NUMBER,
    repaired=st.booleans(),
    raw=ANY_TEXT,
    provenance=st.none() | ANY_PROVENANCE,
    members=st.tuples() | st.just((Failure("x"),)),
    passed=st.none() | st.booleans(),
    spans=st.tuples() | st.just((ErrorSpan(text="x", severity="minor", start=0, end=1, probability=0.5),)),
)
CONTEXTS = st.dictionaries(st.sampled_from(["source", "context", "otherCandidate", "system", "else"]), ANY_TEXT)
ITEMS = st.builds(Item, ANY_TEXT, ANY_TEXT, CONTEXTS, st.sampled_from(["", "th"]), st.sampled_from(["", "d 1"]))


@given(
    item=ITEMS, outcome=ANY_RESULT | st.builds(Failure, ANY_TEXT) | st.builds(Generated, ANY_TEXT), more=st.booleans()
)
def test_a_line_of_an_outcome_is_the_json_of_its_row(item, outcome, more):
    assert item_line(item, outcome, with_texts=more) == row_line(item_row(item, outcome, with_texts=more))


@pytest.mark.parametrize("record", [JudgeResult, Provenance])
def test_a_field_with_a_default_that_is_not_empty_is_always_written(record):
    """Otherwise msgspec would leave out what `to_json` writes."""
    given = [field for field in fields(record) if not field.required]

    assert all(field.default in (None, "", ()) for field in given if field.default is not NODEFAULT)
    assert all(field.default_factory() is not None for field in given if field.default_factory is not NODEFAULT)


def test_a_subscore_of_nan_is_written_as_null_and_is_an_error_when_read():
    line = row_line(outcome_row("item-1", JudgeResult(2.0, "", {"a": float("nan")}, raw="NaN")))

    assert json.loads(line)["subscores"] == {"a": None}
    with pytest.raises(DataError, match="subscores: a: expected a number, found None"):
        read_outcome_row(json.loads(line))


def test_results_and_failures_of_jury_members_are_recognised_without_a_tag():
    jury = JudgeResult(1, "", members=(JudgeResult(1, ""), Failure("", members=(JudgeResult(0, "", raw="x"),))))
    row = outcome_row("item-1", jury)

    assert "outcome" not in row["members"][0]
    assert read_outcome_row(row) == ("item-1", jury)
    row["members"][1]["members"][0]["score"] = "high"
    with pytest.raises(DataError, match="members: members: score: expected a number, found 'high'"):
        read_outcome_row(row)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"criteria": [{"name": "a"}]}, "criteria: the key 'description' is missing"),
        ({"scale": {"low": 1}}, "scale: unknown key 'low'; known keys: lowest, highest"),
        (
            {"criteria": [{"name": "a", "description": "b", "anchors": {"one": "x"}}]},
            "anchors: expected a whole number as a key, found 'one'",
        ),
        ({"passing": {"minimum": 1, "flags": "x"}}, "passing: flags: expected a list, found 'x'"),
        ({"passing": 4}, "passing: expected an object, found 4"),
        ({"overall": None}, "overall: expected true or false, found None"),
        ({"title": "x" * 5, "instruction": 10**500}, r"instruction: expected text, found 10{199}…$"),
    ],
)
def test_an_error_in_a_nested_record_has_its_path(change, message):
    row = to_json(load_rubric("general")) | change

    with pytest.raises(DataError, match=message):
        from_json(Rubric, row)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"score": 1, "reason": "", "outcome": "failure"}, "outcome: expected 'result', found 'failure'"),
        ({"score": 1, "reason": "", 5: ""}, "expected text as keys"),
        ([], "expected an object, found \\[\\]"),
    ],
)
def test_a_value_that_is_not_an_object_is_an_error(row, message):
    with pytest.raises(DataError, match=message):
        from_json(JudgeResult, row)


@given(outcome=RESULTS | FAILURES)
def test_records_can_be_pickled(outcome):
    assert pickle.loads(pickle.dumps(outcome)) == outcome


@given(outcome=RESULTS | FAILURES)
def test_empty_fields_are_not_written(outcome):
    row = to_json(outcome)

    needed = {field.encode_name for field in structs.fields(type(outcome)) if field.required}
    assert all(value or value == 0 or key in needed for key, value in row.items())
    assert list(row) == [key for key in outcome.__struct_encode_fields__ if key in row]
