"""`polyjudge report`: formats, files and options."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.conftest import TEXTS

from polyjudge.cli import main
from polyjudge.languages.table import language_table

RESULTS = [
    {
        "languageName": "Spanish",
        "languageCode": "es-419",
        "scriptFamily": "latin",
        "priority": "mustHave",
        "prompts": [
            {"category": "food", "sourceText": "Water, please", "generatedOutput": "Agua, por favor"},
            {"category": "food", "sourceText": "The bill, please", "generatedOutput": "La cuenta, por favor"},
        ],
    },
    {
        "languageName": "Thai",
        "languageCode": "th",
        "prompts": [{"sourceText": "Water, please", "generatedOutput": "Water, please"}],
    },
]
POINTS = {"scriptScore": 5, "grammarScore": 4, "coherenceScore": 4, "isCorrectLanguage": True}
QUICK = [{"languageName": "Spanish", "languageCode": "es-419", **POINTS, "notes": "quick likes it", "judge": "sonnet"}]
FULL = [
    {"languageName": "Spanish", "languageCode": "es-419", **POINTS, "coherenceScore": 2, "notes": "full does not"},
    {"languageName": "Thai", "languageCode": "th", "error": "refused: no", "notes": ""},
]


@pytest.fixture
def files(in_folder):
    for name, content in (("r.json", RESULTS), ("q.json", QUICK), ("f.json", FULL)):
        Path(name).write_text(json.dumps(content), encoding="utf-8")
    return in_folder


def test_help_names_every_option(capsys):
    with pytest.raises(SystemExit) as exited:
        main(["report", "--help"])

    assert exited.value.code == 0
    shown = capsys.readouterr().out
    assert all(option in shown for option in ("--results", "--quick-judge", "--full-judge", "--output", "--format"))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "--results"),
        (["--results"], "expected one argument"),
        (["--quick-judge", "q.json"], "--results"),
        (["--results", "r.json", "--format", "pdf"], "invalid choice: 'pdf'"),
        (["--results", "r.json", "more"], "not allowed with argument"),
        (["more", "and", "more"], "unrecognized arguments: and more"),
    ],
)
def test_wrong_usage_is_reported_and_exits_with_two(files, capsys, arguments, words):
    with pytest.raises(SystemExit) as exited:
        main(["report", *arguments])

    assert exited.value.code == 2
    shown = capsys.readouterr()
    assert shown.err.startswith("usage: polyjudge" if words == "--results" else "polyjudge")
    assert words in shown.err
    assert shown.out == ""


@pytest.mark.parametrize("option", ["--results", "--quick-judge", "--full-judge"])
@pytest.mark.parametrize("name", ["missing.json", "folder", "broken.json", "empty.json", "binary.json"])
def test_a_file_that_cannot_be_read_is_one_message_and_nothing_is_written(files, capsys, option, name):
    Path("folder").mkdir()
    Path("broken.json").write_text('[{"languageName": "Thai",', encoding="utf-8")
    Path("empty.json").write_text("", encoding="utf-8")
    Path("binary.json").write_bytes(b"\x89PNG\xff\xfe")
    given = {"--results": "r.json", option: name}

    code = main(["report", "--output", "o.md", *(word for pair in given.items() for word in pair)])

    shown = capsys.readouterr()
    assert code == 2
    assert shown.err.startswith(f"polyjudge: {name}")
    assert (shown.err.count("\n"), shown.out) == (1, "")
    assert not Path("o.md").exists()


def test_markdown_to_stdout_is_the_usual(files, capsys):
    assert main(["report", "--results", "r.json"]) == 0

    shown = capsys.readouterr()
    assert shown.out.startswith("# Translation report\n")
    assert shown.err == ""


@pytest.mark.parametrize("form", ["markdown", "text", "json"])
def test_a_file_gets_what_stdout_would(files, capsys, form):
    assert main(["report", "--results", "r.json", "--format", form]) == 0
    shown = capsys.readouterr().out
    assert main(["report", "--results", "r.json", "--format", form, "--output", "deep/folder/o"]) == 0

    assert capsys.readouterr().out == ""
    without_time = [line for line in shown.splitlines() if "Generated" not in line and "timestamp" not in line]
    written = Path("deep/folder/o").read_text(encoding="utf-8").rstrip().splitlines()
    assert [line for line in written if "Generated" not in line and "timestamp" not in line] == without_time


def test_without_scores_languages_are_checked_and_it_says_what_was_not_judged(files, capsys):
    main(["report", "--results", "r.json"])

    shown = capsys.readouterr().out
    assert "No judge scores were given" in shown
    assert "### Spanish — CHECKED (script-only; grammar, meaning not judged)" in shown
    assert "### Thai — FAIL\n" in shown
    assert "| Spanish | 2/2 outputs | – | – | – | CHECKED (script-only; grammar, meaning not judged) |" in shown
    assert "PASS" not in shown


def test_the_quick_judge_alone_leaves_the_others_to_their_script(files, capsys):
    main(["report", "--results", "r.json", "--quick-judge", "q.json"])

    shown = capsys.readouterr().out
    assert "No judge scores" not in shown
    assert "### Spanish — PASS (judge not calibrated)\n" in shown
    assert "| Spanish | 5/5 | 4/5 | 4/5 | Yes | PASS (judge not calibrated) |" in shown
    assert "Quick (sonnet): quick likes it" in shown
    assert re.search(r"^Passed: 1 \(.*\); judge not calibrated", shown, re.MULTILINE)
    assert "### Thai — FAIL\n" in shown


def test_both_judges_are_shown_with_their_disagreement(files, capsys):
    main(["report", "--results", "r.json", "--quick-judge", "q.json", "--full-judge", "f.json"])

    shown = capsys.readouterr().out
    assert "### Spanish — FAIL\n" in shown
    assert "| Spanish | 5/5 | 4/5 | 2/5 | Yes | FAIL |" in shown
    assert "quick says PASS, full says FAIL" in shown
    assert "Quick (sonnet): quick likes it  \nFull: full does not" in shown
    assert "Full: no verdict: refused: no" in shown


def test_the_json_is_on_stdout_alone_and_holds_both_judges(files, capsys):
    main(["report", "--results", "r.json", "--quick-judge", "q.json", "--full-judge", "f.json", "--format", "json"])

    made = json.loads(capsys.readouterr().out)
    assert [(row["tier"], row["languageName"]) for row in made["judgeScores"]] == [
        ("quick", "Spanish"),
        ("full", "Spanish"),
        ("full", "Thai"),
    ]
    assert (made["totalLanguages"], made["passedLanguages"], made["failedLanguages"]) == (2, 0, 2)


def test_malformed_parts_are_warned_about_and_the_rest_is_reported(files, capsys):
    bad = [
        *RESULTS,
        7,
        {"languageName": "\x1b[31mred\u202e", "prompts": [{}, {"generatedOutput": "x", "tokenCount": "y"}]},
    ]
    Path("r.json").write_text(json.dumps(bad, indent=0), encoding="utf-8")
    Path("q.json").write_text(
        json.dumps([*QUICK, "row", {"languageName": "Thai", "scriptScore": 50}]), encoding="utf-8"
    )

    assert main(["report", "--results", "r.json", "--quick-judge", "q.json"]) == 0

    shown = capsys.readouterr()
    warnings = shown.err.splitlines()
    assert len(warnings) == 5
    assert all(line.startswith("polyjudge: warning: ") for line in warnings)
    line = json.dumps(bad, indent=0).splitlines().index("7,") + 1
    assert f"r.json:{line}: a language must be a JSON object" in warnings[0]
    assert ":0: generatedOutput must be text" in warnings[1]
    assert ":1: tokenCount: expected a number, found 'y'" in warnings[2]
    assert "q.json:1: must be a JSON object" in warnings[3]
    assert "q.json:1: scriptScore: 50 is not on the scale from 1 to 5" in warnings[4]
    assert not set(shown.err + shown.out) & set("\x1b\u202e")
    assert "### Spanish — PASS (judge not calibrated)\n" in shown.out
    assert "### Rows that could not be used" in shown.out


def test_many_malformed_parts_are_five_warnings_and_a_count(files, capsys):
    Path("r.json").write_text(json.dumps([*RESULTS, *range(100)]), encoding="utf-8")

    assert main(["report", "--results", "r.json"]) == 0

    *first, last = capsys.readouterr().err.splitlines()
    assert len(first) == 5
    assert last == "polyjudge: warning: 100 parts of the files could not be used"


def test_a_language_twice_is_an_error(files, capsys):
    Path("r.json").write_text(json.dumps([*RESULTS, RESULTS[0]]), encoding="utf-8")

    assert main(["report", "--results", "r.json"]) == 2
    shown = capsys.readouterr()
    assert "duplicate language 'es-419'" in shown.err
    assert shown.out == ""


@pytest.mark.parametrize("output", [".", "folder", "r.json/below", "/"])
def test_a_place_that_is_no_file_is_an_error_and_leaves_nothing_behind(files, capsys, output):
    Path("folder").mkdir()

    assert main(["report", "--results", "r.json", "--output", output]) == 2

    assert "cannot be written" in capsys.readouterr().err
    assert sorted(path.name for path in files.rglob("*")) == ["f.json", "folder", "q.json", "r.json"]


def test_an_old_report_stays_where_the_new_one_cannot_be_made(files, capsys):
    Path("o.md").write_text("old", encoding="utf-8")
    Path("r.json").write_text("[", encoding="utf-8")

    assert main(["report", "--results", "r.json", "--output", "o.md"]) == 2
    assert Path("o.md").read_text(encoding="utf-8") == "old"


def test_a_reader_that_has_seen_enough_is_no_error(files):
    command = f"{sys.executable} -m polyjudge report --results r.json | head -n 1"

    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)

    assert (done.stdout, done.stderr) == ("# Translation report\n", "")


@pytest.mark.parametrize("form", ["markdown", "text", "json"])
def test_a_terminal_without_unicode_gets_the_report_too(files, form):
    Path("r.json").write_text(json.dumps([{**RESULTS[1], "languageName": "ไทย \ud800"}]), encoding="utf-8")
    environment = {"PYTHONIOENCODING": "ascii", "PATH": "/usr/bin"}
    command = [sys.executable, "-m", "polyjudge", "report", "--results", "r.json", "--format", form]

    done = subprocess.run(command, capture_output=True, check=False, env=environment)

    assert (done.returncode, done.stderr) == (0, b"")
    assert b"\\u0e44" in done.stdout


MEASURE = """
import sys, tracemalloc
from polyjudge.cli import main
assert main(["report", "--results", "small.json", "--output", "small.md"]) == 0  # loads what is loaded once
tracemalloc.start()
assert main(sys.argv[1:]) == 0
print(tracemalloc.get_traced_memory()[1])
"""


def peak_bytes(count):
    """Return the peak memory of a report on a number of languages of 45 prompts each."""
    texts = list(TEXTS.values())
    tags = [language.tag for language in language_table()]
    one_each = [{"languageCode": tag, "prompts": [{"generatedOutput": text} for text in texts]} for tag in tags]
    Path("small.json").write_text(json.dumps(one_each), encoding="utf-8")
    with (
        Path("large.json").open("w", encoding="utf-8") as results,
        Path("s.json").open("w", encoding="utf-8") as scores,
    ):
        for number, language in enumerate(list(language_table())[:count]):
            named = {"languageName": language.name, "languageCode": language.tag}
            prompts = [{"generatedOutput": texts[place % len(texts)], "log": "x" * 5_600} for place in range(45)]
            judged = [{"index": place, **POINTS, "notes": "n" * 1_000} for place in range(45)]
            results.write(f"{',' if number else '['}{json.dumps({**named, 'prompts': prompts})}")
            scores.write(f"{',' if number else '['}{json.dumps({**named, **POINTS, 'prompts': judged})}")
        results.write("]")
        scores.write("]")
    arguments = [
        "report",
        "--results",
        "large.json",
        "--full-judge",
        "s.json",
        "--format",
        "json",
        "--output",
        "o.json",
    ]
    command = [sys.executable, "-c", MEASURE, *arguments]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


@pytest.mark.slow
def test_memory_does_not_grow_with_the_file(in_folder):
    small = peak_bytes(24)
    large = peak_bytes(72)

    assert Path("large.json").stat().st_size > 17_000_000
    assert len(json.loads(Path("o.json").read_text(encoding="utf-8"))["languageResults"]) == 72
    assert large - small < 1_000_000


@pytest.mark.slow
def test_outputs_are_the_same_with_any_number_of_processes(in_folder):
    texts = [*TEXTS.values(), "", "OK", "Agua, por favor"]
    rows = [
        {
            "languageName": language.name,
            "languageCode": language.tag,
            "prompts": [
                {"sourceText": f"Water, please {place}", "generatedOutput": f"{texts[place % len(texts)]} {place % 7}"}
                for place in range(170 + number)
            ],
        }
        for number, language in enumerate(list(language_table())[:30])
    ]
    judged = [{**{name: row[name] for name in ("languageName", "languageCode")}, **POINTS} for row in rows]
    Path("r.json").write_text(json.dumps(rows), encoding="utf-8")
    Path("f.json").write_text(json.dumps(judged), encoding="utf-8")
    found = {jobs: all_outputs(jobs) for jobs in ("1", "2", "3")}

    assert sum(len(row["prompts"]) for row in rows) > 5_000
    assert found["2"] == found["1"]
    assert found["3"] == found["1"]


def all_outputs(jobs):
    main(["translation", "check", "r.json", "--output", f"c{jobs}.json", "--format", "json", "--jobs", jobs])
    main(["report", "--results", "r.json", "--full-judge", "f.json", "--output", f"o{jobs}.json", "--jobs", jobs])
    report = json.loads(Path(f"o{jobs}.json").read_text(encoding="utf-8"))
    return Path(f"c{jobs}.json").read_bytes(), {**report, "timestamp": ""}
