"""Records on disk: round trips, schemas, and errors that say what is wrong."""

import json
from dataclasses import fields

import jsonschema
import pytest
import referencing
from hypothesis import given
from hypothesis import strategies as st

from polyjudge.cache.maintenance import export_entries
from polyjudge.cache.sqlite import JudgeCache
from polyjudge.errors import DataError, UnknownNameError
from polyjudge.providers.scripted import RecordedAnswer
from polyjudge.records.codec import from_json, schema, schema_names, to_json
from polyjudge.records.outcomes import Failure, JudgeResult, Provenance, outcome_row, read_outcome_row
from polyjudge.records.requests import Reply
from polyjudge.records.rubrics import Rubric
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
    rung=st.sampled_from(["", "json", "lines"]),
    raw=TEXT,
    provenance=st.none() | PROVENANCE,
    members=st.lists(FAILURES | st.builds(JudgeResult, score=st.floats(0, 1), reason=TEXT), max_size=2).map(tuple),
)


def validator(name):
    resources = [(f"{each}.schema.json", referencing.Resource.from_contents(schema(each))) for each in schema_names()]
    return jsonschema.Draft202012Validator(schema(name), registry=referencing.Registry().with_resources(resources))


@given(outcome=RESULTS | FAILURES)
def test_an_outcome_comes_back_from_disk_as_it_was_and_fits_its_schema(outcome):
    row = json.loads(json.dumps(outcome_row("item-1", outcome)))

    assert read_outcome_row(row) == ("item-1", outcome)
    validator("outcome").validate(row)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"schemaVersion": 2}, "schemaVersion is 2"),
        ({"outcome": "maybe"}, "expected 'result' or 'failure'"),
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
def test_a_row_that_is_wrong_says_where(change, complaint):
    row = outcome_row("item-1", JudgeResult(1.0, "fine")) | change

    with pytest.raises(DataError, match=complaint):
        read_outcome_row(row)
    assert not validator("outcome").is_valid(row)


@pytest.mark.parametrize("name", rubric_names())
def test_the_rubrics_that_ship_fit_their_schema(name):
    rubric = load_rubric(name)

    validator("rubric").validate(to_json(rubric))
    assert from_json(Rubric, to_json(rubric), strict=True) == rubric


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
        ("outcome", "provenance", Provenance),
        ("cache-entry", "reply", Reply),
        ("recording", None, RecordedAnswer),
        ("rubric", None, Rubric),
    ],
)
def test_the_schemas_name_every_field_of_the_records(name, definition, record):
    described = schema(name)["$defs"][definition] if definition else schema(name)
    camel = {
        "".join(word.capitalize() if place else word for place, word in enumerate(field.name.split("_")))
        for field in fields(record)
    }

    assert set(described["properties"]) - {"schemaVersion"} == camel


def test_the_schemas_are_schemas_and_an_unknown_one_is_named():
    for name in schema_names():
        jsonschema.Draft202012Validator.check_schema(schema(name))
    with pytest.raises(UnknownNameError, match="Unknown JSON Schema: outcomes.*Did you mean 'outcome'"):
        schema("outcomes")
