"""Runs of `polyjudge vocabulary` that an earlier version left unfinished, killed half-way, are resumed at no cost.

Each file in `unfinished/vocabulary` holds the output folder of a run with `--cache none`, by the names of its files.
"""

import itertools
import json
from collections import Counter
from pathlib import Path

import pytest

from polyjudge.cli import main

KEPT = Path(__file__).parent / "unfinished" / "vocabulary"
WORDS = {"ardilla": "Roedor que trepa.", "corbata": "Prenda.", "niño": "Persona.", "nube": "Vapor de agua."}
JUDGING = "Eres un evaluador."


@pytest.fixture
def local(server, monkeypatch, in_folder):
    """The loopback server as the local one, which never gives the same answer twice, and judges as `local/judge`."""
    numbers = itertools.count(1000)
    monkeypatch.setenv("LOCAL_OPENAI_BASE_URL", f"{server.url}/v1")
    server.speak = lambda _, prompt: "correcto" if JUDGING in prompt else f"respuesta {next(numbers)}"
    Path("suite").mkdir()
    rows = [{"word": word, "answer": answer} for word, answer in WORDS.items()]
    Path("suite/vocabulary_short.json").write_text(json.dumps(rows), encoding="utf-8")
    Path("suite/prompts.json").write_text(json.dumps({"prompt_a": "Define '{word}'."}), encoding="utf-8")
    Path("suite/models_list.txt").write_text("m1\nm2\n", encoding="utf-8")
    return server


def unfinished(name, server):
    """Copy the output folder of an unfinished run, as if this server had been asked."""
    files = json.loads((KEPT / f"{name}.json").read_text(encoding="utf-8"))
    files = {place: text.replace("SERVER", server.url) for place, text in files.items()}
    for place, text in files.items():
        path = Path("output", place)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return files


def rows(text):
    return {json.loads(line)["id"]: line for line in text.splitlines()}


@pytest.mark.parametrize(
    ("name", "arguments", "asked"),
    [
        ("answering", [], {"m1": 1, "m2": 4, "judge": 8}),
        ("judging", [], {"judge": 5}),
        ("answering-again", [], {"m1": 1, "m2": 4, "judge": 8}),
        ("judging-again", ["--refresh"], {"judge": 5}),
    ],
)
def test_a_run_of_an_earlier_version_is_resumed_without_paying_twice(name, arguments, asked, local):
    files = unfinished(name, local)
    paid = rows(files["judgements.jsonl.partial"])

    assert main(["vocabulary", "run", "--judge", "local/judge", "--cache", "none", *arguments]) == 0

    assert Counter(body["model"] for body in local.bodies) == asked
    finished = rows(Path("output/judgements.jsonl").read_text(encoding="utf-8"))
    assert len(finished) == 8
    assert {key: finished[key] for key in paid} == paid
    assert sorted(path.name for path in Path("output").iterdir()) == ["judgements.jsonl", "m1", "m2", "summary.json"]
    start = files.get(".asking-again", "")
    for place in Path("output").glob("*/*.json"):
        before = files.get(str(place.relative_to("output")))
        if before is not None and json.loads(before).get("run", "") == start:
            assert place.read_text(encoding="utf-8") == before


def test_an_estimate_of_an_unfinished_run_counts_the_rest(local, capsys):
    unfinished("judging-again", local)

    assert main(["vocabulary", "run", "--judge", "local/judge", "--cache", "none", "--refresh", "--dry-run"]) == 0

    printed = capsys.readouterr().out
    assert "model calls: 0" in printed
    assert "calls:    5" in printed
    assert local.asked == 0
