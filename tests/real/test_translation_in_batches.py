"""`polyjudge translation quick|full --batch`: the same scores at half the price, whatever a run finds out."""

import json
import re
from pathlib import Path

import pytest
from tests.loopback.batch_server import BatchServer
from tests.loopback.vendor_server import ServerThread
from tests.real.batch_killing import kill_while_waiting

from polyjudge.cli import main

pytest.importorskip("openai", reason="the SDK of openai is not installed")
TEXTS = {
    "fr": "Où est la gare ? Nous partons demain matin avec les enfants, quai",
    "de": "Wo ist der Bahnhof? Wir fahren morgen früh mit den Kindern, Gleis",
    "es": "¿Dónde está la estación? Salimos mañana temprano con los niños, andén",
    "it": "Dov'è la stazione? Partiamo domani mattina con i bambini, binario",
}
NAMES = {"fr": "French", "de": "German", "es": "Spanish", "it": "Italian"}
GRADES = {"reason": "because", "subscores": {"script": 5, "grammar": 4, "coherence": 4}, "isCorrectLanguage": True}


@pytest.fixture
def server(monkeypatch, in_folder):
    rows = [
        {
            "languageName": NAMES[code],
            "languageCode": code,
            "priority": "mustHave",
            "prompts": [
                {"sourceText": "Where is the station?", "generatedOutput": f"{text} {each}."} for each in "ABC"
            ],
        }
        for code, text in TEXTS.items()
    ]
    Path("results.json").write_text(json.dumps(rows), encoding="utf-8")
    with ServerThread(BatchServer()) as running:
        running.single.verdict = fair
        monkeypatch.setenv("POLYJUDGE_OPENAI_BASE_URL", f"{running.url}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "k")
        yield running


def fair(prompt):
    """Grade all alike, alone or several in a call."""
    ids = re.findall("^## Candidate ([0-9a-f]{8})", prompt, re.MULTILINE)
    return json.dumps({"rows": [{"id": each, **GRADES} for each in ids]} if ids else GRADES)


def forgetful(prompt):
    """Leave out a row of every call: it must be asked for alone, in a second batch."""
    reply = json.loads(fair(prompt))
    return json.dumps({"rows": reply["rows"][1:]} if "rows" in reply else reply)


def led_astray(prompt):
    """Grade lower where several stand in a call: they must be made smaller, batch after batch."""
    reply = json.loads(fair(prompt))
    for row in reply.get("rows", ()):
        row["subscores"] = {"script": 1, "grammar": 1, "coherence": 1}
    return json.dumps(reply)


def command(tier, place, *options):
    where = ["--cache", f"{place}.sqlite", "--output", f"{place}.json"]
    return ["translation", tier, "results.json", "--judge", "openai/gpt-4o", *where, *options]


def scores(place):
    """What a scores file says but for times, and what it cost."""
    rows = json.loads(Path(f"{place}.json").read_text(encoding="utf-8"))
    costs = [prompt["provenance"].pop("costUsd") for row in rows for prompt in row["prompts"]]
    for prompt in (prompt for row in rows for prompt in row["prompts"]):
        for name in ("answeredAt", "batch", "costUsd"):
            prompt["provenance"].pop(name, None)
    return rows, sum(costs)


@pytest.mark.parametrize(
    ("tier", "verdict", "least_submits", "unusable"),
    # What was asked in too large calls, before it was known that they are too large, gets no answer.
    [("quick", fair, 1, 0), ("full", fair, 1, 0), ("full", forgetful, 2, 0), ("full", led_astray, 2, 1)],
)
def test_scores_from_batches_equal_those_of_single_calls_at_half_the_price(
    server, tier, verdict, least_submits, unusable
):
    server.single.verdict = verdict
    sampled = ["--control-share", "0.5"] if tier == "full" else []
    singly_ended = main(command(tier, "singly", *sampled))
    expected_calls = server.single.asked

    assert main(command(tier, "batched", "--batch", *sampled)) == singly_ended

    (singly, cost), (batched, halved) = scores("singly"), scores("batched")
    assert (server.single.asked, server.handed_over.total()) == (expected_calls, expected_calls + unusable)
    assert server.submits >= least_submits
    assert batched == singly
    assert halved == pytest.approx(cost / 2)


def unknown_ids(prompt):
    """Answer about other ids than were asked for."""
    reply = json.loads(fair(prompt))
    return json.dumps({"rows": [{**row, "id": "another"} for row in reply["rows"]]} if "rows" in reply else reply)


def test_batches_without_a_usable_row_are_not_followed_by_single_calls(server, capsys):
    server.single.verdict = unknown_ids

    assert main(command("full", "batched", "--batch", "--batch-size", "2")) == 3

    assert "give --allow-single" in capsys.readouterr().err
    assert server.submits == 1
    assert main(command("full", "batched", "--batch", "--batch-size", "2", "--allow-single")) == 0
    assert "no row is from a batch of several languages" in capsys.readouterr().out


def test_a_run_killed_while_waiting_can_be_resumed(server):
    kill_while_waiting(server, command("quick", "batched", "--batch"))

    assert main(command("quick", "batched", "--batch")) == 0

    assert (server.submits, server.single.asked) == (1, 0)


def test_batches_need_a_cache(server, capsys):
    assert main(command("quick", "batched", "--batch", "--cache", "none")) == 2

    assert "--batch needs a cache for its replies" in capsys.readouterr().err
