"""`polyjudge compare` with hostile input: gates do not pass, files are not lost, names are shown as text."""

import json
import os
import stat
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from polyjudge.cli import main

RUN = ("--resamples", "100", "--permutations", "1000")
HEADER = {"schemaVersion": 1, "kind": "polyjudge baseline", "measure": "", "judges": []}


def write_rows(path, rows):
    Path(path).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def rows(fall=0.0, tags=("fr",)):
    return [
        {"id": f"{tag}{place}", "document": f"{tag}{place}", "language": tag, "score": 4 + place % 3 / 2 - fall}
        for tag in tags
        for place in range(20)
    ]


@pytest.fixture
def folder(in_folder, monkeypatch):
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    write_rows("a.jsonl", rows())
    write_rows("b.jsonl", rows(1.0))
    return in_folder


def compare(*arguments, a="a.jsonl", b="b.jsonl"):
    return main(["compare", a, b, *RUN, *arguments])


def test_results_are_not_replaced_by_a_baseline(folder):
    before = Path("a.jsonl").read_text(encoding="utf-8")

    assert compare("--bless", "a.jsonl") == 2
    assert Path("a.jsonl").read_text(encoding="utf-8") == before


def test_a_baseline_is_replaced_by_a_newer_one(folder):
    assert compare("--bless", "base.jsonl") == 0
    assert compare("--bless", "base.jsonl", a="base.jsonl") == 0


@pytest.mark.parametrize("name", ["base.json", "base.baseline", "base"])
def test_a_baseline_can_be_read_or_is_refused(folder, name):
    blessed = compare("--bless", name)

    assert blessed == 2 or compare(a=name) == 0


@pytest.mark.parametrize("empty", ["a", "b"])
def test_a_baseline_of_nothing_is_refused_in_one_line(folder, capsys, empty):
    write_rows("empty.jsonl", [{**HEADER, "items": 0}])

    assert compare(**{empty: "empty.jsonl"}) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_baseline_with_a_score_of_hundreds_of_digits_is_refused_in_one_line(folder, capsys):
    write_rows("huge.jsonl", [{**HEADER, "items": 1}, {"id": "fr0", "language": "fr", "score": 10**400}])

    assert compare(a="huge.jsonl") == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("unjudged_too", [False, True])
def test_a_gate_does_not_pass_where_nothing_was_compared(folder, capsys, unjudged_too):
    failed = [{"id": row["id"], "language": "fr", "outcome": "failure", "error": "timed out"} for row in rows()]
    write_rows("a.jsonl", failed)
    if unjudged_too:
        write_rows("b.jsonl", failed)

    assert compare("--fail-on", "regression") == 3
    assert "Passed" not in capsys.readouterr().out


def test_a_gate_does_not_pass_where_a_whole_language_lost_its_verdicts(folder):
    tags = ("de", "es", "fr", "it", "pl", "th")
    write_rows("a.jsonl", rows(tags=tags))
    write_rows("b.jsonl", rows(tags=tags[:-1]))

    assert compare("--fail-on", "regression") != 0


def test_junit_fails_nothing_where_nothing_fails(folder, capsys):
    assert compare("--format", "junit") == 0

    assert ElementTree.fromstring(capsys.readouterr().out)[0].get("failures") == "0"


@pytest.mark.parametrize("form", ["text", "github"])
def test_no_name_is_a_command_to_the_runner(folder, capsys, form):
    for name, fall in (("a.jsonl", 0.0), ("b.jsonl", 1.0)):
        write_rows(name, rows(fall, tags=("##[set-output name=gate]passed",)))

    assert compare("--fail-on", "regression", "--format", form) == 1
    printed = capsys.readouterr()
    lines = [line for line in (printed.out + printed.err).splitlines() if not line.startswith("::")]
    assert not [line for line in lines if "##[" in line]


def test_an_alarm_on_a_scale_from_0_to_1_says_how_far_the_score_fell(folder, capsys):
    write_rows(
        "a.jsonl",
        [{"id": str(place), "doc": place, "language": "fr", "score": 0.8 + place % 3 / 1000} for place in range(40)],
    )
    write_rows(
        "b.jsonl",
        [{"id": str(place), "doc": place, "language": "fr", "score": 0.797 + place % 3 / 999} for place in range(40)],
    )

    assert compare("--fail-on", "regression") == 1
    assert "fell by 0.00," not in capsys.readouterr().err


def test_a_null_score_is_not_a_verdict_whatever_the_other_fields_are(folder, capsys):
    write_rows("b.jsonl", [{**row, "score": None, "label": 5} for row in rows()])

    assert compare("--format", "json") == 0
    assert json.loads(capsys.readouterr().out)["overall"]["counts"]["newlyUnjudged"] == 20


@pytest.mark.parametrize("force", [[], ["--force"]])
def test_a_pipe_or_a_device_is_not_replaced_by_a_report(folder, capsys, force):
    os.mkfifo("pipe")

    assert compare("--output", "pipe", *force) == 2
    assert capsys.readouterr().err.splitlines() == [
        "polyjudge: pipe: a device or a pipe cannot be replaced by a file; give another path"
    ]
    assert stat.S_ISFIFO(Path("pipe").stat().st_mode)


@pytest.mark.parametrize("command", ["compare", "rank"])
def test_a_system_is_compared_once_however_often_it_is_named(folder, capsys, command):
    write_rows("all.jsonl", [{**row, "system": name} for name in "XYZ" for row in rows()])

    assert main([command, "all.jsonl", "--systems", "X,X"]) == 2
    message = {
        "compare": "--systems has only 'X'. Name at least two",
        "rank": "two systems are needed, found only 'X'",
    }
    assert message[command] in capsys.readouterr().err
    assert main([command, "all.jsonl", "--systems", " X,,Y ,X", "--permutations", "100"]) == 0
    shown = capsys.readouterr().out
    assert main([command, "all.jsonl", "--systems", "X,Y", "--permutations", "100"]) == 0
    assert capsys.readouterr().out == shown


@pytest.mark.parametrize("command", ["compare", "rank"])
def test_a_column_of_clusters_that_no_row_has_is_refused(folder, capsys, command):
    assert main([command, "a.jsonl", "b.jsonl", "--cluster", "docment"]) == 2
    assert "no row has th" in capsys.readouterr().err
    assert main([command, "a.jsonl", "b.jsonl", "--cluster", "id", "--permutations", "100"]) == 0


@pytest.mark.parametrize(
    ("command", "output", "start"),
    [
        ("compare a.jsonl b.jsonl", "o.html", "<!doctype html>"),
        ("compare a.jsonl b.jsonl", "o.xml", "<?xml"),
        ("compare a.jsonl b.jsonl --format text", "o.html", "Should B"),
        ("rank a.jsonl b.jsonl", "o.JSON", "{"),
        ("report a.jsonl", "o.html", "<!doctype html>"),
        ("report a.jsonl", "o.txt", "Report on a.jsonl\n="),
        ("report a.jsonl", "o.unknown", "# "),
        ("calibrate agreement a.jsonl --against b.jsonl", "o.md", "# "),
    ],
)
def test_a_report_has_the_format_of_its_ending_unless_another_is_chosen(folder, command, output, start):
    assert main([*command.split(), "--output", output]) == 0

    assert Path(output).read_text(encoding="utf-8").startswith(start)


@pytest.mark.parametrize(
    "command", ["compare a.jsonl b.jsonl", "rank a.jsonl b.jsonl", "calibrate agreement a.jsonl --against b.jsonl"]
)
def test_rows_are_chosen_and_a_filter_that_none_fits_says_what_there_is(folder, capsys, command):
    for name in "ab":
        write_rows(f"{name}.jsonl", [{**row, "system": name} for row in rows(tags=("fr", "sw"))])

    assert main([*command.split(), "--filter", "language=Swahili", "--format", "json"]) == 0
    assert '"fr"' not in capsys.readouterr().out
    assert main([*command.split(), "--filter", "languag=sw"]) == 2
    assert "no row has the column 'languag' (--filter)" in capsys.readouterr().err
    assert main([*command.split(), "--filter", "language=frr"]) == 2
    assert "no row has language=frr. Did you mean 'fr'? Values of language: fr, sw" in capsys.readouterr().err


def test_columns_and_systems_that_no_row_has_are_refused_with_a_suggestion(folder, capsys):
    for name in "ab":
        write_rows(f"{name}.jsonl", [{**row, "system": "blue", "topic": "x"} for row in rows()])
    agreement = ["calibrate", "agreement", "a.jsonl", "--against", "b.jsonl"]
    refused = {
        ("report", "a.jsonl", "--by", "topik"): "no row has the column 'topik'. Did you mean 'topic'?",
        (
            "compare",
            "a.jsonl",
            "b.jsonl",
            "--cluster",
            "topik",
        ): "--cluster topik: no row has that column. Did you mean",
        (*agreement, "--by", "topik"): "--by topik: no row has that column. Did you mean 'topic'?",
        (*agreement, "--leave-out", "blu"): "Unknown system in --leave-out: blu. Available: blue. Did you mean 'blue'?",
    }

    for command, said in refused.items():
        assert main(list(command)) == 2, command
        assert said in capsys.readouterr().err


def test_a_score_that_is_too_large_is_one_message(folder, capsys):
    write_rows("a.jsonl", [{**row, "score": 1e308} for row in rows()])

    assert main(["calibrate", "agreement", "a.jsonl", "--against", "b.jsonl"]) == 2

    assert (
        "a.jsonl: the score 1e+308 of item 'fr0' is out of range. Correct it."
        in capsys.readouterr().err.splitlines()[-1]
    )


def test_a_row_that_is_there_twice_counts_once_in_a_report(folder, capsys):
    write_rows("a.jsonl", [*rows(), *rows()[:3]])

    assert main(["report", "a.jsonl", "--format", "json"]) == 0

    found = capsys.readouterr()
    assert json.loads(found.out)["rows"] == 20
    assert "a.jsonl:21: the row of 'fr0' is there twice; it counts once" in found.err


def test_the_names_of_subscores_are_said_where_there_is_no_score(folder, capsys):
    for name in "ab":
        write_rows(f"{name}.jsonl", [{"id": str(n), "subscores": {"XCOMET-XL": n, "MetricX": 1}} for n in range(20)])

    assert main(["compare", "a.jsonl", "b.jsonl"]) == 2
    said = "The scores are in subscores.XCOMET-XL, subscores.MetricX. Name one of them (--score)"
    assert said in capsys.readouterr().err
    assert main(["compare", "a.jsonl", "b.jsonl", "--score", "subscores.MetricX"]) == 0
