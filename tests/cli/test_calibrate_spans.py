"""`polyjudge calibrate agreement|consensus|perturb` with error spans, as people use and misuse them."""

import json
import os
import re
from importlib.resources import files
from pathlib import Path

import pytest

from polyjudge.cli import main
from polyjudge.formats.reference_texts import sample_texts

SAMPLE = files("polyjudge.cli") / "demo_data" / "files" / "spans.jsonl"
DATA = Path(os.environ.get("POLYJUDGE_DATA", "")) / "spans_dev.jsonl.gz"
FENCED = re.compile(r"<text-([0-9a-f]{32})>\n(.*?)\n</text-\1>", re.DOTALL)
GOOD = {text.text for text in sample_texts()}


@pytest.fixture
def spans(in_folder):
    Path("spans.jsonl").write_text(SAMPLE.read_text(encoding="utf-8"), encoding="utf-8")
    return "spans.jsonl"


def calibrate(action, *options):
    return main(["calibrate", action, *map(str, options)])


def rows_of(path):
    return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]


def write_rows(path, rows):
    lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]
    Path(path).write_text("".join(lines), encoding="utf-8")


def test_spans_in_one_file_are_compared_by_annotator_severity_and_language(spans, capsys):
    assert calibrate("agreement", spans) == 0
    shown = capsys.readouterr().out
    assert "compared with people on 24 texts" in shown
    for word in ("model-a", "model-b", "human/1", "German (de)", "Thai (th)", "major: found"):
        assert word in shown


def test_the_figures_are_also_json_with_intervals(spans, capsys):
    assert calibrate("agreement", spans, "--format", "json", "--people", "human/1") == 0
    found = json.loads(capsys.readouterr().out)
    by_name = {each["name"]: each for each in found["judges"]}
    assert by_name.keys() == {"model-a", "model-b", "human/2"}
    figure = by_name["model-a"]["figures"]["char_f1"]
    assert figure["low"] < figure["value"] < figure["high"]
    assert by_name["model-a"]["comparisons"] == 24


def test_labels_in_a_file_of_their_own_give_the_same_figures(spans, capsys):
    write_rows("people.jsonl", [row for row in rows_of(spans) if row["annotator"].startswith("human")])
    write_rows("judge.jsonl", [row for row in rows_of(spans) if row["annotator"] == "model-a"])
    assert calibrate("agreement", "judge.jsonl", "--labels", "people.jsonl", "--format", "json") == 0
    apart = json.loads(capsys.readouterr().out)["judges"][0]
    assert calibrate("agreement", spans, "--format", "json") == 0
    together = json.loads(capsys.readouterr().out)["judges"][0]
    assert apart == together


def test_people_without_such_names_are_asked_for(spans, capsys):
    write_rows(spans, [{**row, "annotator": row["annotator"].replace("human", "Ann")} for row in rows_of(spans)])
    assert calibrate("agreement", spans) == 2
    assert "Name the people with --people" in capsys.readouterr().err
    assert calibrate("agreement", spans, "--people", "ann/*") == 0


def test_results_of_score_are_compared_by_their_spans_on_request_and_added_to_the_card(in_folder, capsys):
    origin = {"provider": "local", "model": "m", "rubric": "mqm", "rubricFingerprint": "f", "promptSha256": "s"}
    result = {"schemaVersion": 1, "outcome": "result", "reason": "", "provenance": origin, "language": "de"}
    marked = [{"text": "Haus", "severity": "major", "start": 0, "end": 4, "side": "output", "state": "located"}]
    write_rows("r.jsonl", [{**result, "id": f"i{n}", "score": -5, "spans": marked} for n in range(20)])
    write_rows(
        "l.jsonl",
        [
            {"id": f"i{n}", "annotator": "a", "label": 1, "language": "de", "spans": [{**marked[0], "end": 2 + n % 3}]}
            for n in range(20)
        ],
    )
    assert calibrate("agreement", "r.jsonl", "--labels", "l.jsonl", "--spans") == 0
    assert "card:" in capsys.readouterr().err
    [path] = Path(".polyjudge/cards").glob("*.json")
    card = json.loads(path.read_text(encoding="utf-8"))
    assert card["spanTexts"] == card["languages"]["de"]["spanTexts"] == 20
    assert 0 < card["languages"]["de"]["spans"]["char_f1"]["value"] < 1
    assert calibrate("card", path) == 0
    assert "Error spans that people mark" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "empty|no rows|No text|No annotator|No error spans"),
        ('{"annotator": "human/1", "spans": []}\n', "Every annotator"),
        (
            '{"annotator": "m", "spans": [], "segment": "1"}\n{"annotator": "human/1", "spans": [], "segment": "2"}\n',
            "No text",
        ),
        ('{"annotator": "m", "spans": 5}\n', "spans|label"),
    ],
)
def test_files_without_anything_to_compare_are_refused_with_one_message(in_folder, capsys, content, message):
    Path("s.jsonl").write_text(content, encoding="utf-8")
    assert calibrate("agreement", "s.jsonl", "--spans") == 2
    shown = capsys.readouterr().err
    assert re.search(message, shown), shown
    assert "Traceback" not in shown


def test_a_consensus_is_learnt_saved_and_used_again(spans, capsys):
    assert calibrate("consensus", spans, "--save", "c.json", "--spans", "one.jsonl", "--resamples", 100) == 0
    shown = capsys.readouterr().out
    assert "On the other half of the documents" in shown
    assert "On languages that were left out" in shown
    assert calibrate("consensus", spans, "--model", "c.json", "--spans", "two.jsonl") == 0
    one = rows_of("one.jsonl")
    assert one == rows_of("two.jsonl")
    assert len(one) == 24
    found = [span for row in one for span in row["spans"]]
    assert found
    for row in one:
        for span in row["spans"]:
            assert row["candidate"][span["start"] : span["end"]] == span["text"]
            assert 0 < span["probability"] < 1
    assert calibrate("agreement", "one.jsonl", "--labels", spans) == 0
    assert "consensus" in capsys.readouterr().out


def test_a_vote_needs_no_people(spans, capsys):
    write_rows(spans, [row for row in rows_of(spans) if not row["annotator"].startswith("human")])
    assert calibrate("consensus", spans) == 2
    assert "--at-least" in capsys.readouterr().err
    assert calibrate("consensus", spans, "--at-least", 2, "--spans", "v.jsonl") == 0
    assert all("probability" not in span for row in rows_of("v.jsonl") for span in row["spans"])


@pytest.mark.parametrize("with_ids", [True, False])
def test_texts_of_several_judges_meet_without_people(spans, with_ids, capsys):
    assert calibrate("consensus", spans, "--save", "c.json", "--spans", "with.jsonl") == 0
    rows = [{**row, "segment": row.get("segment") or row["id"]} for row in rows_of(spans)]
    judges = [row for row in rows if not row["annotator"].startswith("human")]
    write_rows("judges.jsonl", [{k: v for k, v in row.items() if k != "id" or with_ids} for row in judges])

    assert calibrate("consensus", "judges.jsonl", "--model", "c.json", "--spans", "alone.jsonl") == 0

    found = {row["candidate"]: row["spans"] for row in rows_of("alone.jsonl")}
    assert len(rows_of("alone.jsonl")) == 24
    assert found == {row["candidate"]: row["spans"] for row in rows_of("with.jsonl")}


def test_options_that_exclude_each_other_and_other_files_are_refused(spans, capsys):
    assert calibrate("consensus", spans, "--at-least", 2, "--precision", 0.5) == 2
    assert calibrate("consensus", spans, "--at-least", 2, "--save", "c.json") == 2
    assert calibrate("consensus", spans, "--model", spans) == 2
    assert calibrate("consensus", "missing.jsonl") == 2
    assert "Traceback" not in capsys.readouterr().err


def test_a_judge_of_spans_is_measured_by_planted_errors(server, monkeypatch, in_folder, capsys):
    """It marks the whole text unless it is one of the sample."""

    def speak(_, prompt):
        text = next((piece for _, piece in reversed(FENCED.findall(prompt))), "")
        errors = [] if text in GOOD else [{"text": text, "in": "output", "category": "other", "severity": "major"}]
        return json.dumps({"errors": errors})

    monkeypatch.setenv("LOCAL_OPENAI_BASE_URL", f"{server.url}/v1")
    server.speak = speak
    options = ("--rubric", "mqm", "--judge", "local/m", "--filter", "language=fr", "--types", "typos,drop_words,nfd")
    assert calibrate("perturb", *options, "--severities", "1", "--texts-per-language", 4, "--card", "c.json") == 0
    assert "Planted errors found" in capsys.readouterr().out
    planted = json.loads(Path("c.json").read_text(encoding="utf-8"))["planted"]
    assert planted["typos"]["found"]["value"] == planted["typos"]["characters"]["value"] == 1
    assert planted[""]["falseAlarms"]["value"] == 0


@pytest.mark.skipif(not DATA.is_file(), reason="POLYJUDGE_DATA is not set or lacks spans_dev.jsonl.gz")
def test_the_recorded_spans_are_recognised_by_their_columns(in_folder, capsys):
    assert calibrate("agreement", DATA, "--format", "json", "--resamples", 100) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["texts"], found["methods"], found["refused"]) == (1_585, {"given": 13_813, "normalised": 75}, {})
    assert len(found["judges"]) == 7
    assert len(found["people"]) == 2
