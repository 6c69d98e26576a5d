"""Results as people read them: with DuckDB and with pandas, from JSON Lines and from a folder of Parquet parts."""

import json
from pathlib import Path

import pytest

from polyjudge.cli import main
from polyjudge.files.json_lines import read_json_lines
from polyjudge.store.parquet import write_parquet_rows

duckdb = pytest.importorskip("duckdb", reason="DuckDB is not installed")
pandas = pytest.importorskip("pandas", reason="pandas is not installed")
pytest.importorskip("pyarrow", reason="pyarrow is not installed")
COUNT = 300


@pytest.fixture
def results(tmp_path, monkeypatch):
    """Scores of the judge `offline`, as JSON Lines and as two Parquet parts."""
    monkeypatch.chdir(tmp_path)
    texts = {"fr": "Où est la gare, s'il vous plaît ?", "th": "สถานีรถไฟอยู่ที่ไหน", "hi": "रेलवे स्टेशन कहाँ है?"}
    items = [
        {"id": f"{tag}-{number}", "candidate": text, "source": "Where is the station?", "language": tag}
        for number in range(COUNT // len(texts))
        for tag, text in texts.items()
    ]
    Path("items.jsonl").write_text("".join(json.dumps(item) + "\n" for item in items), encoding="utf-8")
    assert main(["score", "items.jsonl", "--rubric", "translation", "--judge", "offline", "--output", "r.jsonl"]) == 0
    rows = [row for _, row in read_json_lines(Path("r.jsonl"))]
    for number, part in enumerate((rows[:200], rows[200:])):
        names = ["script", "grammar", "coherence"], ["correct_language"]
        with write_parquet_rows(tmp_path / "parts" / f"part-{number:05d}.parquet", *names) as written:
            for row in part:
                written.append(row)
    return rows


@pytest.mark.parametrize("place", ["read_json_auto('r.jsonl')", "'parts/*.parquet'"])
def test_duckdb_groups_scores_by_language_and_judge(results, place):
    asked = f"select language, provenance.provider, count(*), avg(score) from {place} group by all order by 1"

    found = duckdb.sql(asked).fetchall()

    assert [(tag, provider, count) for tag, provider, count, _ in found] == [
        (tag, "offline", COUNT // 3) for tag in ("fr", "hi", "th")
    ]
    for tag, _, _, mean in found:
        own = [row["score"] for row in results if row["language"] == tag]
        assert mean == pytest.approx(sum(own) / len(own))


@pytest.mark.parametrize(
    "read",
    [lambda: pandas.read_json("r.jsonl", lines=True), lambda: pandas.read_parquet("parts")],
    ids=["json lines", "parquet"],
)
def test_pandas_reads_every_row(results, read):
    frame = read()

    assert list(frame["id"]) == [row["id"] for row in results]
    assert list(frame["score"]) == [row["score"] for row in results]
    assert frame["subscores"].iloc[0]["script"] == results[0]["subscores"]["script"]
