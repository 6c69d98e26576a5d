"""`polyjudge calibrate perturb|bias --batch`: the questions of a calibration at half the price."""

import json
from pathlib import Path

import pytest
from tests.loopback.batch_server import BatchServer
from tests.loopback.vendor_server import ServerThread
from tests.real.batch_killing import kill_while_waiting

from polyjudge.cli import main

pytest.importorskip("openai", reason="the SDK of openai is not installed")
JUDGE = "openai/gpt-4o"


def verdict(prompt):
    """A judge with known behaviour: it prefers longer prompts, and neither of two texts."""
    if "Answer B:" in prompt:
        return json.dumps({"verdict": "tie", "reason": "alike"})
    return json.dumps({"score": len(prompt) % 101, "reason": "by its length", "subscores": {}})


@pytest.fixture
def server(monkeypatch, in_folder):
    rows = [
        {
            "id": f"t{number}",
            "candidate": f"Le petit train numéro {number} part demain matin de la gare.",
            "language": "fr",
        }
        for number in range(12)
    ]
    Path("texts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    with ServerThread(BatchServer()) as running:
        running.single.verdict = verdict
        monkeypatch.setenv("POLYJUDGE_OPENAI_BASE_URL", f"{running.url}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "k")
        yield running


def command(kind, place, *options):
    where = ["--cache", f"{place}.sqlite", "--card", f"{place}.json", "--answers", f"{place}.jsonl"]
    chosen = ["--types", "drop_words,typos", "--severities", "0.5,1"] if kind == "perturb" else []
    return ["calibrate", kind, "texts.jsonl", "--rubric", "general", "--judge", JUDGE, *where, *chosen, *options]


def rows(place):
    found = [json.loads(line) for line in Path(f"{place}.jsonl").read_text(encoding="utf-8").splitlines()]
    return [(row["id"], row["outcome"], row.get("score")) for row in found], [
        row["provenance"].get("costUsd") for row in found
    ]


def measured(place):
    card = json.loads(Path(f"{place}.json").read_text(encoding="utf-8"))
    return {name: card.get(name) for name in ("languages", "effects")}


@pytest.mark.parametrize("kind", ["perturb", "bias"])
def test_a_calibration_in_batches_has_the_same_result_at_half_the_price(server, kind):
    assert main(command(kind, "singly")) == 0
    expected_calls = server.single.asked

    assert main(command(kind, "batched", "--batch")) == 0

    (singly, costs), (batched, halved) = rows("singly"), rows("batched")
    assert server.single.asked == expected_calls
    assert server.handed_over.total() == expected_calls
    assert batched == singly
    assert halved == pytest.approx([cost / 2 for cost in costs])
    assert without_times(measured("batched")) == without_times(measured("singly"))


def without_times(value):
    if isinstance(value, dict):
        return {key: without_times(each) for key, each in value.items() if not key.lower().endswith("at")}
    return [without_times(each) for each in value] if isinstance(value, list) else value


def test_a_calibration_killed_while_waiting_can_be_resumed(server):
    kill_while_waiting(server, command("perturb", "batched", "--batch"))

    assert main(command("perturb", "batched", "--batch")) == 0

    assert server.submits == 1
    assert server.single.asked == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--cache", "none"], "--batch needs a cache for its replies"),
        (
            ["--judge", "offline", "--rubric", "translation"],
            "with the judge 'offline', which makes no calls. Leave out --batch",
        ),
    ],
)
def test_options_that_batches_do_not_support_are_an_error(server, capsys, options, message):
    assert main(command("perturb", "batched", "--batch", *options)) == 2

    assert message in capsys.readouterr().err
    assert server.single.asked == 0
