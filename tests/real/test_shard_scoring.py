"""One shard judged from beginning to end into real Parquet, in this process; whatever goes wrong is in the report."""

import json
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from tests.loopback.vendor_server import USAGE

from polyjudge.cli import main
from polyjudge.files.json_lines import read_json_lines
from polyjudge.formats.items import ItemSource, rows_of
from polyjudge.providers.models import resolve_model
from polyjudge.records.runs import Caps
from polyjudge.rubrics.loading import load_rubric
from polyjudge.runs.shard_orders import PROTOCOL, ShardJob, ShardOrder, shares
from polyjudge.runs.shard_worker import score_shard
from polyjudge.runs.shards import survey_shards

pytest.importorskip("pyarrow", reason="pyarrow is not installed")


@pytest.fixture
def order(in_folder, server, monkeypatch):
    """The second of three shards of 30 items."""
    monkeypatch.setenv("LOCAL_OPENAI_BASE_URL", "http://127.0.0.1:1")  # not where the order says
    rows = [{"id": f"i{number}", "candidate": f"item-{number} ข้อความ", "language": "th"} for number in range(30)]
    Path("items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    Path("results").mkdir()
    job = ShardJob(
        rubric=load_rubric("general"),
        judges=(resolve_model("local/m"),),
        output=in_folder / "results",
        cache=str(in_folder / "c.sqlite"),
        folder=in_folder,
        addresses={"LOCAL_OPENAI_BASE_URL": f"{server.url}/v1"},
    )
    shard = survey_shards(ItemSource(in_folder / "items.jsonl"), 10).shards[1]
    return ShardOrder(job=job, shard=shard, share=shares(1, concurrency=4)[0])


class Telling:
    def __init__(self, is_enough=lambda: False):
        self.notes = []
        self.is_enough = is_enough

    async def __call__(self, note):
        self.notes.append(note)
        return 60.0 if self.is_enough() else None


def results(order):
    return [row for _, row in rows_of(order.job.output / f"{order.shard.name}.parquet")]


def without_times(row):
    provenance = {name: row["provenance"][name] for name in row["provenance"] if name not in ("answeredAt", "cached")}
    return {**row, "durationMs": 0, "cached": False, "provenance": provenance}


def test_a_shard_has_the_rows_that_a_run_on_one_machine_gives(order, server, monkeypatch, capsys):
    telling = Telling()

    report = score_shard(order, telling)

    assert (report.trouble, report.part.rows, report.part.judged, report.spent.calls) == (None, 10, 10, 10)
    assert report.spent.tokens == 10 * sum(USAGE.values())
    assert [row["id"] for row in results(order)] == [f"i{number}" for number in range(10, 20)]
    assert telling.notes
    command = ["score", "items.jsonl", "--rubric", "general", "--judge", "local/m", "--cache", "c.sqlite"]
    assert main([*command, "--output", "one.jsonl"]) == 0
    whole = [row for _, row in read_json_lines(Path("one.jsonl"))]
    assert list(map(without_times, results(order))) == list(map(without_times, whole[10:20]))
    assert server.asked == 30


def test_a_shard_of_a_table_without_ids_has_the_ids_of_the_whole_table(order, server):
    lines = "".join(f"item-{number % 7};th\n" for number in range(30))
    Path("items.csv").write_text(f"Reply;Locale\n{lines}", encoding="utf-8")
    source = ItemSource(Path("items.csv").resolve())
    shard = survey_shards(source, 10).shards[2]

    report = score_shard(replace(order, shard=shard), Telling())

    assert (report.trouble, report.part.rows) == (None, 10)
    assert [row["id"] for row in results(replace(order, shard=shard))] == [item.id for item in source][20:]
    assert all(row["id"].endswith(("-3", "-4", "-5")) for row in results(replace(order, shard=shard)))


def test_items_that_changed_are_not_asked_about(order, server):
    text = Path("items.jsonl").read_text(encoding="utf-8").replace("item-15", "item-99")
    Path("items.jsonl").write_text(text, encoding="utf-8")

    report = score_shard(order, Telling())

    assert (report.part, report.trouble.kind, server.asked) == (None, "items", 0)
    assert "items.jsonl: the file was changed since the run started" in report.trouble.message


def test_a_stop_request_ends_it_without_a_part(order, server):
    server.faults.latency_s = 1.0

    report = score_shard(order, Telling(lambda: server.asked > 0))

    assert (report.part, report.trouble) == (None, None)
    assert 0 < server.asked < 10
    server.faults.latency_s = 0.0
    assert list(order.job.output.iterdir()) == []
    assert score_shard(order, Telling()).part.rows == 10
    assert server.asked == 10


def test_a_cap_ends_it_and_what_was_asked_is_kept(order, server):
    report = score_shard(replace(order, caps=Caps(calls=6)), Telling())

    assert (report.part, report.trouble.kind, report.spent.calls) == (None, "capped", 6)
    assert score_shard(replace(order, caps=Caps(calls=4)), Telling()).part.rows == 10
    assert set(server.delivered.values()) == {1}


def test_what_failed_is_asked_again_alone(order, server):
    server.verdict = lambda prompt: "nothing" if "item-12" in prompt else '{"score": 5, "reason": "x"}'
    assert score_shard(order, Telling()).part.unjudged == 1
    server.verdict = lambda _: '{"score": 7, "reason": "x"}'

    again = replace(order, job=replace(order.job, keeps_results=True, since="9999"))
    report = score_shard(again, Telling())

    assert (report.part.unjudged, report.spent.calls) == (0, 1)
    assert [row["score"] for row in results(order)] == [5, 5, 7, 5, 5, 5, 5, 5, 5, 5]


@pytest.mark.parametrize(
    ("change", "kind", "expected"),
    [
        ({"output": Path("/nowhere/at/all")}, "config", "has no folder '/nowhere/at/all': all workers must see it"),
        ({"judges": (resolve_model("anthropic/claude-opus-4-6"),)}, "missing", "ANTHROPIC_API_KEY not set"),
        ({"cache": "/nowhere/at/all/c.sqlite"}, "files", "c.sqlite"),
    ],
)
def test_what_a_worker_lacks_is_reported_with_its_name(order, change, kind, expected):
    if kind == "files":
        Path("blocked").write_text("", encoding="utf-8")
        change = {"cache": str(Path("blocked").resolve() / "c.sqlite")}

    report = score_shard(replace(order, job=replace(order.job, **change, host="another")), Telling())

    assert (report.trouble.kind, report.part) == (kind, None)
    assert expected in report.trouble.message


def test_another_version_with_the_same_protocol_is_accepted_and_another_protocol_refused(order, server):
    assert score_shard(replace(order, version="0.0.1"), Telling()).trouble is None
    asked = server.asked

    report = score_shard(replace(order, version="9.0", protocol=PROTOCOL + 1), Telling())

    assert (report.trouble.kind, report.part, server.asked) == ("config", None, asked)
    assert f"the run needs protocol {PROTOCOL + 1} (polyjudge 9.0)" in report.trouble.message


def test_an_unknown_model_is_unusable(order, server):
    server.faults.models = ("other",)

    report = score_shard(order, Telling())

    assert (report.trouble.kind, report.part) == ("unusable", None)
    assert server.asked <= 4


def test_a_database_that_is_away_when_a_shard_begins_is_waited_for(order, postgres):
    away = replace(order, job=replace(order.job, cache=postgres.new_database()))
    postgres.stop()
    back = threading.Timer(2.0, postgres.start)
    back.start()

    report = score_shard(away, Telling())

    back.join()
    assert (report.trouble, report.part.rows) == (None, 10)


def test_warnings_come_with_the_report(order):
    Path("c.sqlite").write_bytes(b"no database at all" * 1000)

    report = score_shard(order, Telling())

    assert report.part.rows == 10
    assert "c.sqlite" in report.warnings[0]
