"""Results in real Parquet: typed columns for other tools, and the same JSON rows for ours."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyjudge.errors import DataError
from polyjudge.formats.items import rows_of
from polyjudge.records.outcomes import Failure, Item, JudgeResult, Provenance, item_row, read_outcome_row
from polyjudge.rubrics.loading import load_rubric
from polyjudge.runs.summary import Tally
from polyjudge.store.parquet import outcomes_in, write_parquet_rows

pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")

CRITERIA, FLAGS = ("grammar", "ความหมาย", "a.b"), ("isCorrectLanguage",)
TEXTS = st.text(st.one_of(st.characters(), st.sampled_from("\ud800\udfff\x00\x1b\u202e")), max_size=8)
"""Including lone surrogates, which UTF-8 cannot encode."""
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
COUNTS = st.one_of(st.integers(0, 10**6), st.integers(2**62, 2**66))
JSON = st.recursive(
    st.one_of(TEXTS, st.integers(), NUMBERS, st.booleans(), st.none()), lambda inner: st.lists(inner, max_size=2)
)
PROVENANCES = st.builds(
    Provenance,
    provider=TEXTS,
    model=TEXTS,
    rubric=TEXTS,
    rubric_fingerprint=TEXTS,
    prompt_sha256=TEXTS,
    model_answered=TEXTS,
    parameters=st.dictionaries(TEXTS, JSON, max_size=2),
    dropped=st.lists(TEXTS, max_size=2).map(tuple),
    input_tokens=st.none() | COUNTS,
    cost_usd=st.none() | NUMBERS,
    cached=st.booleans(),
)
SINGLE = st.one_of(
    st.builds(Failure, reason=TEXTS, kind=st.sampled_from(["refused", "unreadable"]), raw=TEXTS, model=TEXTS),
    st.builds(
        JudgeResult,
        score=st.one_of(NUMBERS, st.integers(0, 100)),
        reason=TEXTS,
        subscores=st.dictionaries(st.sampled_from([*CRITERIA, "of no rubric"]), NUMBERS),
        model=TEXTS,
        duration_ms=COUNTS,
        cached=st.booleans(),
        verdict=TEXTS,
        flags=st.dictionaries(st.sampled_from(FLAGS), st.booleans()),
        weighted_score=st.none() | NUMBERS,
        raw=TEXTS,
        provenance=st.none() | PROVENANCES,
    ),
)
OUTCOMES = st.one_of(
    SINGLE,
    st.builds(JudgeResult, score=NUMBERS, reason=TEXTS, members=st.lists(SINGLE, max_size=3).map(tuple)),
)
ITEMS = st.builds(Item, id=TEXTS, candidate=TEXTS, language=TEXTS, cluster=TEXTS)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("rows") / "part-00000.parquet"


def write(path, rows, criteria=CRITERIA, flags=FLAGS):
    with write_parquet_rows(path, criteria, flags) as part:
        for row in rows:
            part.append(row)


@given(st.lists(st.tuples(ITEMS, OUTCOMES), max_size=4), st.sampled_from([(), FLAGS]))
def test_rows_survive_a_round_trip(path, pairs, flags):
    rows = [item_row(item, outcome) for item, outcome in pairs]
    write(path, rows, flags=flags)

    found = [row for _, row in rows_of(path)]

    assert found == rows
    assert [read_outcome_row(row)[1] for row in found] == [outcome for _, outcome in pairs]


@given(st.lists(SINGLE, max_size=6))
def test_summary_columns_give_the_same_outcomes_as_whole_rows(path, outcomes):
    write(path, [item_row(Item(str(number), ""), outcome) for number, outcome in enumerate(outcomes)])
    whole, short = Tally(load_rubric("translation")), Tally(load_rubric("translation"))
    for outcome in outcomes:
        whole.add(outcome)
    for language, outcome in outcomes_in(path):
        short.add(outcome, language)

    assert short.summary(6) == whole.summary(6)


def test_other_tools_read_typed_columns(path):
    provenance = Provenance(
        provider="local",
        model="m",
        rubric="r",
        rubric_fingerprint="f",
        prompt_sha256="p",
        parameters={"temperature": 0},
    )
    result = JudgeResult(4.5, "good", {"grammar": 4.0}, flags={"isCorrectLanguage": True}, provenance=provenance)
    write(path, [item_row(Item("a", "x", language="th"), result), item_row(Item("b", "y"), Failure("no", "refused"))])

    table = parquet.read_table(path)

    kinds = {name: str(table.schema.field(name).type) for name in ("id", "score", "cached", "subscores", "flags")}
    assert kinds == {
        "id": "string",
        "score": "double",
        "cached": "bool",
        "subscores": "struct<grammar: double, ความหมาย: double, a.b: double>",
        "flags": "struct<isCorrectLanguage: bool>",
    }
    rows = table.to_pylist()
    assert rows[0]["subscores"] == {"grammar": 4.0, "ความหมาย": None, "a.b": None}
    assert (rows[0]["provenance"]["provider"], rows[1]["kind"], rows[1]["score"]) == ("local", "refused", None)
    assert json.loads(rows[0]["provenance"]["parameters"]) == {"temperature": 0}
    assert (rows[0]["language"], rows[0]["more"]) == ("th", None)


def test_an_incomplete_file_never_replaces_the_target(tmp_path):
    path = tmp_path / "part.parquet"
    with pytest.raises(KeyError), write_parquet_rows(path, CRITERIA, FLAGS) as part:
        part.append(item_row(Item("a", ""), Failure("x")))
        raise KeyError

    assert list(tmp_path.iterdir()) == []


def test_an_unknown_version_is_an_error(tmp_path):
    path = tmp_path / "part.parquet"
    schema = pyarrow.schema(
        [("id", pyarrow.string())], metadata={"polyjudge": '{"kind": "results", "schemaVersion": 9}'}
    )
    parquet.write_table(pyarrow.Table.from_pylist([{"id": "a"}], schema=schema), path)

    with pytest.raises(DataError, match="unknown version of the results format"):
        list(rows_of(path))
