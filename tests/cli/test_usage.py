"""A wrong word on the command line is explained in one line, with what was probably meant."""

import sys
from pathlib import Path

import pytest

from polyjudge.cli import main

SCORE = ("score", "items.jsonl", "--rubric", "general", "--judge", "offline")
REGRESSION = ("regression", "run", "--fixtures", "good.tsv", "--command", "cat")
FULL = ("translation", "full", "results.json")
GENERATE = ("translation", "generate", "--command", "cat", "--output", "o.json")
WRONG = {
    ("scroe", "x"): "polyjudge: unknown command 'scroe'. Did you mean 'score'? Available: demo, ",
    (
        "translation",
        "quik",
        "r.json",
    ): "polyjudge translation: unknown action 'quik'. Did you mean 'quick'?",
    ("cache", "prnue"): "polyjudge cache: unknown action 'prnue'. Did you mean 'prune'?",
    (*SCORE, "--otput", "x"): "polyjudge score: unknown option --otput. Did you mean --output?",
    ("score", "i.jsonl", "--rubirc=general"): "polyjudge score: unknown option --rubirc. Did you mean --rubric?",
    (
        "translation",
        "quick",
        "--smaples",
        "3",
    ): "polyjudge translation quick: unknown option --smaples. Did you mean",
    ("demo", "--zzz"): "polyjudge demo: unknown option --zzz. See: polyjudge demo --help",
    (*SCORE, "--limit", "x"): "polyjudge score: --limit must be a whole number of at least 1, not 'x'",
    (*SCORE, "--limit", "0"): "polyjudge score: --limit must be a whole number of at least 1, not '0'",
    (*SCORE, "--max-cost", "-1"): "polyjudge score: --max-cost must be a number above 0, not '-1'",
    (*REGRESSION, "--timeout", "0"): "polyjudge regression run: --timeout must be a number above 0, not '0'",
    (*REGRESSION, "--timeout", "nan"): "polyjudge regression run: --timeout must be a number above 0, not 'nan'",
    (*REGRESSION, "--deadline", "-1"): "polyjudge regression run: --deadline must be a number above 0, not '-1'",
    (*FULL, "--samples", "0"): "polyjudge translation full: --samples must be a whole number of at least 1, not '0'",
    (*FULL, "--limit", "-1"): "polyjudge translation full: --limit must be a whole number of at least 1, not '-1'",
    (*FULL, "--control-share", "nan"): "polyjudge translation full: --control-share must be a number, not 'nan'",
    (*FULL, "--drift-tolerance", "nan"): "polyjudge translation full: --drift-tolerance must be a number, not 'nan'",
    (*GENERATE, "--max-failed", "2"): "polyjudge translation generate: --max-failed must be a share between 0 and 1, ",
    (*GENERATE, "--max-failed", "nan"): "polyjudge translation generate: --max-failed must be a share between 0 and 1",
    (*GENERATE, "--max-answer-tokens", "0"): "polyjudge translation generate: --max-answer-tokens must be a whole",
    (*SCORE, "--format", "xml"): "polyjudge score: --format: invalid choice: 'xml'",
    (
        *SCORE,
        "--refresh",
        "--reread",
    ): "polyjudge: --refresh and --reread cannot be combined: --refresh asks again, --reread makes no "
    "calls. Give only one.",
}


def exit_code(*words):
    try:
        return main(list(words))
    except SystemExit as ended:
        return ended.code


@pytest.mark.parametrize("words", WRONG, ids=" ".join)
def test_a_wrong_word_is_one_line_with_what_was_meant(words, in_folder, capsys):
    assert exit_code(*words) == 2

    printed = capsys.readouterr()
    assert printed.err.startswith(WRONG[words])
    assert (printed.out, printed.err.count("\n")) == ("", 1)


def test_the_usage_is_shown_where_an_argument_is_missing(in_folder, capsys):
    assert exit_code("score", "items.jsonl") == 2

    printed = capsys.readouterr().err
    assert printed.startswith("usage: polyjudge score")
    assert printed.endswith("polyjudge score: the following arguments are required: --rubric\n")


def test_shortened_options_and_words_after_two_dashes_are_no_unknown_options(in_folder, capsys):
    assert exit_code("score", "--rub", "translation", "--judge=offline", "--", "--items.jsonl") == 2

    assert "--items.jsonl: cannot be read" in capsys.readouterr().err


def test_a_bad_value_in_the_project_file_reads_like_one_on_the_command_line(in_folder, capsys):
    Path("polyjudge.toml").write_text('limit = "x"\n', encoding="utf-8")

    assert exit_code(*SCORE) == 2

    assert capsys.readouterr().err == (
        "polyjudge: polyjudge.toml:1: limit must be a whole number of at least 1, not 'x'\n"
    )


WRONG_VALUES = {
    "\n[score]\nlimit = true\n": "3: limit must be text or a number",
    "[score]\n# often\nlimit = [1, 2]\n": "3: limit takes one value, not a list",
    "[score]\nlimit = {a = 1}\n": "2: limit must be a single value",
    '[score]\nformat = "x"\n': "2: format: 'x' is not one of text, json, ",
    'judge = "offline"\nmax-cost = "x"\n': "2: max-cost ",
    '[score]\ncache = "/elsewhere"\n': "2: cache chooses where replies are read from",
    "score = 1\n": "1: score must be a table. Write [score] on a line of its own.",
    '\n[checks]\nwrong_language = "x"\n': "3: [checks]: wrong_language = 'x': not a severity",
}


@pytest.mark.parametrize("text", WRONG_VALUES)
def test_a_wrong_value_of_the_project_file_is_named_with_its_line(in_folder, capsys, text):
    Path("polyjudge.toml").write_text(text, encoding="utf-8")
    Path("items.csv").write_text("id,text,language\na,Hello,en\n", encoding="utf-8")
    command = ["translation", "check"] if "checks" in text else ["score", "--rubric", "general", "--judge", "offline"]

    assert exit_code(*command, "items.csv") == 2

    assert f"polyjudge: polyjudge.toml:{WRONG_VALUES[text]}" in capsys.readouterr().err


def test_a_misspelt_placeholder_is_refused_before_anything_runs(in_folder, capsys):
    Path("c.tsv").write_text("a\ten\tes\thello\thello\n", encoding="utf-8")
    run = ("regression", "run", "--fixtures", "c.tsv", "--command")

    assert exit_code(*run, "cat {source}") == 2

    printed = capsys.readouterr()
    assert "unknown placeholder {source}. Known: {source_lang}, {target_lang}, {model}." in printed.err
    assert printed.out == ""
    program = f"{sys.executable} -c 'import sys; sys.stdout.write(sys.stdin.read())' '{{print}}'"
    assert exit_code(*run, program) == 0, "braces of another program, such as awk, are its own"


def test_inputs_without_expected_outputs_are_distinguished_from_cases(in_folder, capsys):
    Path("in.tsv").write_text("a\ten\tes\thello\n", encoding="utf-8")

    assert exit_code("regression", "run", "--fixtures", "in.tsv", "--command", "cat") == 2

    assert "in.tsv:1: no expected output, only inputs." in capsys.readouterr().err
