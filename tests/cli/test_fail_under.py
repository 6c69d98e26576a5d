"""`score --fail-under` and the summary of a workflow step."""

import json
from pathlib import Path

import pytest

from polyjudge.cli import main

LANGUAGES = ("th", "hi", "ar")


def write(folder, poor=(), silent=()):
    """Write ten items in each of three languages, and a recorded judge that gives `poor` ones a 2."""
    rows, replies = [], []
    for language in LANGUAGES:
        for number in range(10):
            item = f"{language}-{number}"
            rows.append({"id": item, "candidate": f"text {item}.", "language": language, "source": "a"})
            points = 2 if item in poor else 5
            subscores = dict.fromkeys(("script", "grammar", "coherence"), points)
            text = json.dumps({"reason": "why", "subscores": subscores, "isCorrectLanguage": True})
            replies.append({"contains": [f"text {item}."], "text": "I cannot say" if item in silent else text})
    for name, lines in (("items.jsonl", rows), ("recorded.jsonl", replies)):
        (folder / name).write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def score(*options, judge="scripted/recorded.jsonl"):
    given = ["items.jsonl", "--rubric", "translation", "--context", "language,source", "--cache", "none"]
    return main(["score", *given, "--judge", judge, "--output", "r.jsonl", *options])


POOR = [f"hi-{number}" for number in range(3)]


@pytest.mark.parametrize(
    ("rules", "code"),
    [
        (["pass:90%", "mean:4.7"], 0),
        (["pass:91%"], 1),
        (["mean:4.71"], 1),
        (["language:70%"], 0),
        (["mean:1,language:0.71"], 1),
    ],
)
def test_a_run_below_a_value_exits_one(in_folder, capsys, rules, code):
    write(in_folder, POOR)

    assert score(*(word for rule in rules for word in ("--fail-under", rule))) == code
    printed = capsys.readouterr().out
    assert ("gate:     failed: " in printed) is (code == 1)
    assert "pass (90.0%), below 91% (pass:91%)" in printed or rules != ["pass:91%"]


def test_the_limit_on_unjudged_items_takes_precedence(in_folder, capsys):
    write(in_folder, poor=POOR, silent=[f"th-{number}" for number in range(7)])

    assert score("--fail-under", "pass:99%") == 3
    assert "7 of 30 items" in capsys.readouterr().out
    assert score("--fail-under", "pass:99%", "--max-unjudged", "0.3") == 1
    assert score("--fail-under", "language:99%", "--max-unjudged", "0.3") == 3


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--fail-under", "pass:90"], "(--fail-under)"),
        (["--fail-under", "drop:1"], "expected mean:X, pass:X or language:X"),
        (["--fail-under", "pass:90%", "--rubric", "general"], "needs a rubric with a pass rule"),
    ],
)
def test_an_impossible_value_is_refused_before_the_run(in_folder, capsys, options, words):
    write(in_folder)

    assert score(*options) == 2
    assert words in capsys.readouterr().err
    assert not Path("r.jsonl").exists()


def test_json_has_the_decision_and_the_scores_of_each_language(in_folder, capsys):
    write(in_folder, POOR)

    assert score("--fail-under", "language:80%", "--format", "json") == 1
    printed = capsys.readouterr()
    found = json.loads(printed.out)
    assert found["gate"]["exit_code"] == 1
    assert [(each["language"], each["status"]) for each in found["gate"]["results"]] == [("hi", "failed")]
    assert {tag: (each["items"], each["passed"]) for tag, each in found["languages"].items()} == {
        "ar": (10, 10), "hi": (10, 7), "th": (10, 10),
    }  # fmt: skip
    assert "failed: Hindi (hi): 7 of 10 judged items pass (70.0%), below 80%" in printed.err


def test_a_workflow_step_gets_a_headline_a_chart_and_annotations(in_folder, capsys, monkeypatch):
    write(in_folder, POOR)
    (in_folder / "step.md").write_text("before\n", encoding="utf-8")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(in_folder / "step.md"))

    assert score("--fail-under", "language:80%", "--format", "github") == 1
    step, printed = (in_folder / "step.md").read_text(encoding="utf-8"), capsys.readouterr().out
    assert step.startswith("before\n## Scores of items.jsonl by the rubric translation\n")
    assert "Failed: Hindi (hi): 7 of 10 judged items pass (70.0%), below 80%." in step
    rows = [line.split("|")[1:4] for line in step.splitlines() if "█" in line]
    assert [(name.strip(), shown.strip(), rate.strip()) for name, shown, rate in rows] == [
        ("All items", "█████████░", "90.0%"),
        ("Hindi (hi)", "███████░░░", "70.0%"),
        ("Arabic (ar)", "██████████", "100.0%"),
        ("Thai (th)", "██████████", "100.0%"),
    ]
    assert (
        "::error title=polyjudge score%2C language%3A80%25::Hindi (hi): 7 of 10 judged items pass (70.0%25)" in printed
    )
    assert "mean:     4.70" in printed


def test_a_gate_that_is_not_decided_still_names_what_failed(in_folder, monkeypatch):
    write(in_folder, POOR, silent=[f"ar-{number}" for number in range(6)])
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(in_folder / "step.md"))

    assert score("--fail-under", "language:80%", "--format", "github") == 3
    assert "1 failed for certain: Hindi (hi): 7 of 10 judged items pass (70.0%), below 80%." in (
        in_folder / "step.md"
    ).read_text(encoding="utf-8")


def test_hostile_languages_start_no_command_and_no_markup(in_folder, capsys, monkeypatch):
    write(in_folder)
    rows = [json.loads(line) for line in Path("items.jsonl").read_text(encoding="utf-8").splitlines()]
    for row in rows:
        row["language"] = "x\n::error::y | <b> ##[error]z \u202e"
    Path("items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(in_folder / "step.md"))

    assert score("--fail-under", "language:100%,mean:5", "--format", "github") == 0
    write_poor = [{**row, "candidate": "unknown"} if row["id"] == "th-0" else row for row in rows]
    Path("items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in write_poor), encoding="utf-8")
    assert score("--fail-under", "language:100%", "--format", "github", "--max-unjudged", "0") == 3
    step, printed = (in_folder / "step.md").read_text(encoding="utf-8"), capsys.readouterr().out
    assert "<b>" not in step
    assert "\u202e" not in step + printed
    assert "##[" not in printed
    assert [line for line in printed.splitlines() if line.startswith("::")] != []
    assert all(line.startswith("::error title=") for line in printed.splitlines() if line.startswith("::"))


def test_a_missing_key_says_that_the_values_were_not_applied(in_folder, capsys, monkeypatch):
    write(in_folder)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(in_folder / "step.md"))

    assert score("--fail-under", "pass:90%", judge="opus") == 0
    assert "--fail-under was not applied" in capsys.readouterr().err
    assert score("--fail-under", "pass:90%", "--require-judge", "--format", "github", judge="opus") == 3
    assert "Not judged" in (in_folder / "step.md").read_text(encoding="utf-8")
