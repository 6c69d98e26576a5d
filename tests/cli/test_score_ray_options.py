"""`polyjudge score --engine ray` without a cluster: options are checked first, and a dry run needs none."""

import json

import pytest

from polyjudge.cli import main


@pytest.fixture
def score(in_folder, capsys):
    (in_folder / "items").mkdir()
    (in_folder / "a-file").write_text("", encoding="utf-8")
    for file in range(2):
        rows = [{"id": f"i{file}-{row}", "candidate": "text", "language": "th"} for row in range(3)]
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (in_folder / "items" / f"{file}.jsonl").write_text(lines, encoding="utf-8")

    def run(*options, judge="local/m"):
        code = main(["score", "items", "--rubric", "general", "--judge", judge, "--engine", "ray", *options])
        return code, *capsys.readouterr()

    return run


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "--engine ray needs --output FOLDER"),
        (["--output", "out", "--cache", "none"], "--engine ray needs a cache that the workers share"),
        (["--output", "a-file"], "a-file: this is a file, but --engine ray writes a folder"),
        (["--output", "items/results"], "is in the folder of the items. Give another path"),
        (["--output", "items"], "is in the folder of the items"),
        (["--output", "out", "--shard-rows", "0"], "must be a whole number of at least 1"),
    ],
)
def test_contradictory_options_are_refused_before_any_call(score, in_folder, options, message, capsys):
    try:
        code, _, err = score(*options)
    except SystemExit as error:
        code, err = error.code, capsys.readouterr().err

    assert (code, message in err) == (2, True), err
    assert not (in_folder / "out").exists()


def test_a_dry_run_counts_without_a_cluster(score, in_folder):
    code, out, _ = score("--output", "out", "--dry-run")

    assert (code, "items:    6" in out, "calls:    6" in out) == (0, True, True)
    assert not (in_folder / "out").exists()


def test_a_prompt_is_shown_without_a_cluster(score):
    code, out, _ = score("--output", "out", "--show-prompt", "i1-2")

    assert (code, "text" in out) == (0, True)


def test_a_judge_that_is_not_calibrated_can_be_refused_without_a_cluster(score, in_folder):
    code, _, err = score("--output", "out", "--require-calibrated")

    assert (code, "not calibrated" in err) == (1, True)
    assert not (in_folder / "out").exists()


def test_a_missing_key_is_a_soft_skip_without_a_cluster(score, in_folder):
    pytest.importorskip("ray", reason="ray is not installed")

    code, out, err = score("--output", "out", judge="anthropic/claude-opus-4-6")

    assert (code, out, "ANTHROPIC_API_KEY not set" in err) == (0, "", True)
    assert not (in_folder / "out").exists()


@pytest.mark.parametrize("options", [["--workers", "2"], ["--shard-rows", "500"]])
def test_options_of_ray_are_refused_without_it(in_folder, capsys, options):
    (in_folder / "items.jsonl").write_text('{"id": "a", "candidate": "text"}\n', encoding="utf-8")

    code = main(["score", "items.jsonl", "--rubric", "general", "--judge", "local/m", *options])

    assert code == 2
    assert f"{options[0]} is only for --engine ray" in capsys.readouterr().err
