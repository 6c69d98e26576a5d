"""`polyjudge pairwise --batch`: both orders in one batch, the same preferences at half the price."""

import json
from pathlib import Path

import pytest
from tests.loopback.batch_server import BatchServer
from tests.loopback.vendor_server import ServerThread
from tests.real.batch_killing import kill_while_waiting

from polyjudge.cli import main

pytest.importorskip("openai", reason="the SDK of openai is not installed")


@pytest.fixture
def server(monkeypatch, in_folder):
    for name in "ab":
        rows = [f"i{place},สถานีอยู่ที่ไหน {place},th,{name}-text {place}" for place in range(20)]
        Path(f"{name}.csv").write_text("\n".join(["id,source,language,candidate", *rows, ""]), encoding="utf-8")
    with ServerThread(BatchServer()) as running:
        running.single.verdict = better
        monkeypatch.setenv("POLYJUDGE_OPENAI_BASE_URL", f"{running.url}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "k")
        yield running


def better(prompt):
    """Prefer the text of a, whatever the order, and the first one where the item is a multiple of five."""
    first = prompt.split("Answer ", 2)[1].split(">\n", 1)[1]
    number = int(first.split("\n", 1)[0].rsplit(" ", 1)[1])
    verdict = "A" if first.startswith("a-text") or number % 5 == 0 else "B"
    return json.dumps({"verdict": verdict, "reason": f"item {number}"})


def command(place, *options):
    where = ["--cache", f"{place}.sqlite", "--output", f"{place}.jsonl", "--format", "json"]
    return ["pairwise", "a.csv", "b.csv", "--judge", "openai/gpt-4o", *where, *options]


def asked(place, capsys, *options):
    """Run the command; return its summary, and what its rows say."""
    assert main(command(place, *options)) == 0
    return json.loads(capsys.readouterr().out), rows_of(place)


def rows_of(place):
    rows = [json.loads(line) for line in Path(f"{place}.jsonl").read_text(encoding="utf-8").splitlines()]
    return [plain(row) for row in rows]


def plain(row):
    found = {name: row.get(name) for name in ("id", "language", "outcome", "score", "verdict", "reason", "order")}
    return {**found, "members": [plain(each) for each in row.get("members", ())]}


def test_preferences_from_a_batch_are_those_of_single_calls(server, capsys):
    single = asked("single", capsys)
    batched = asked("batched", capsys, "--batch")

    assert batched == single
    assert sum(row["score"] == 0.5 for row in batched[1]) == 4, "the first one is preferred in both orders"
    assert sum(server.handed_over.values()) == 40, "both orders of twenty pairs, each once"


def test_a_killed_batch_is_collected_and_not_paid_for_again(server, capsys):
    kill_while_waiting(server, command("killed", "--batch"))
    server.faults.polls = 0

    resumed = asked("killed", capsys, "--batch")

    assert sum(server.handed_over.values()) == 40
    assert resumed == asked("single", capsys)
