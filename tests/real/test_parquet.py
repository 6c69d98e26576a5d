"""Items from a real Parquet file."""

import json
from pathlib import Path

import pytest

from polyjudge.cli import main
from polyjudge.errors import DataError
from polyjudge.files.json_lines import read_json_lines
from polyjudge.formats.items import ItemSource
from polyjudge.records.outcomes import JudgeResult, read_outcome_row


@pytest.fixture
def write_parquet(in_folder):
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")

    def write(rows):
        parquet.write_table(pyarrow.Table.from_pylist(rows), "items.parquet")
        return Path("items.parquet")

    return write


def test_items_are_judged_from_parquet(write_parquet, server, monkeypatch, text, capsys):
    monkeypatch.setenv("LOCAL_OPENAI_BASE_URL", f"{server.url}/v1")
    path = write_parquet(
        [{"id": 3, "candidate": f"{text} item-3", "source": "x"}, {"id": 4, "candidate": "item-4", "source": None}]
    )

    assert main(["score", str(path), "--rubric", "general", "--judge", "local/m", "--output", "r.jsonl"]) == 0

    rows = [read_outcome_row(row) for _, row in read_json_lines(Path("r.jsonl"))]
    assert [(item_id, outcome.score) for item_id, outcome in rows if isinstance(outcome, JudgeResult)] == [
        ("3", 3),
        ("4", 4),
    ]
    assert text in json.dumps(server.bodies, ensure_ascii=False)


def test_invalid_rows_and_duplicates_are_reported_with_their_number(write_parquet):
    survey = ItemSource(write_parquet([{"id": "a", "candidate": "x"}, {"id": None, "candidate": "y"}])).survey()
    assert (survey.count, survey.problems) == (1, ("items.parquet:2: 'id' is missing",))

    with pytest.raises(DataError, match=r"items\.parquet:2: duplicate id 'a', first at line 1"):
        ItemSource(write_parquet([{"id": "a", "candidate": "x"}, {"id": "a", "candidate": "y"}])).survey()


def test_a_file_that_is_not_parquet_is_an_error(write_parquet):
    Path("items.parquet").write_bytes(b"not parquet at all")

    with pytest.raises(DataError, match=r"items\.parquet: cannot be read as Parquet"):
        ItemSource(Path("items.parquet")).survey()
