"""Runs of `translation` that polyjudge 0.1 left unfinished are resumed, and no call is paid for twice.

The folder `unfinished` holds what such runs left, and what that version made of them when they were resumed.
"""

import json
import re
import shutil
from pathlib import Path

import pytest

from polyjudge.cli import main

LEFT = Path(__file__).parent / "unfinished"
PASSING = ("answeredAt", "cached", "durationMs", "generatedAt", "deviceInfo", "tokensPerSecond", "polyjudgeVersion")


@pytest.fixture
def folder(in_folder):
    shutil.copytree(LEFT, in_folder, dirs_exist_ok=True)
    return in_folder


def asked(message):
    return int(re.search(r"asked: +(\d+) calls?", message)[1])


def lasting(path):
    """Return the content of a file without times."""
    return [
        line
        for line in path.read_text(encoding="utf-8").splitlines()
        if not re.search(rf'"({"|".join(PASSING)})"', line)
    ]


def translation(*arguments, judge=True):
    return main(["translation", *arguments, *(["--judge", "scripted/judge.jsonl"] if judge else [])])


@pytest.mark.parametrize(
    ("action", "options", "left"), [("quick", [], 7), ("full", ["--batch-size", "3"], 2)], ids=["quick", "full"]
)
def test_replies_stored_beside_the_output_are_not_asked_for_again(action, options, left, folder, capsys):
    assert translation(action, "results.json", "--cache", "none", *options) == 0

    assert asked(capsys.readouterr().err) == left
    assert lasting(Path(f"results-{action}-judge.json")) == lasting(LEFT / f"finished-{action}.json")
    assert not list(folder.glob(f"results-{action}-judge.json.*"))


def test_a_refresh_that_was_interrupted_asks_only_for_what_it_had_not_reached(folder, capsys):
    refreshed = ["quick", "results.json", "--cache", "cache.sqlite", "--output", "refreshed.json", "--refresh"]

    assert translation(*refreshed) == 0
    assert asked(capsys.readouterr().err) == 6
    assert lasting(Path("refreshed.json")) == lasting(LEFT / "finished-quick.json")
    assert not list(folder.glob("refreshed.json.*"))

    assert translation(*refreshed) == 0
    assert asked(capsys.readouterr().err) == 10


def test_a_start_marker_without_a_refresh_changes_nothing(folder, capsys):
    assert translation("quick", "results.json", "--cache", "cache.sqlite", "--output", "refreshed.json") == 0

    assert asked(capsys.readouterr().err) == 0
    assert not list(folder.glob("refreshed.json.*"))


def generate(*options):
    return main(["translation", "generate", "--prompts", "prompts.toml", "--languages", "th,el,ru", *options])


def test_translations_stored_beside_the_results_are_not_asked_for_again(folder, capsys):
    translator = ["--translator", "scripted/translator.jsonl", "--cache", "none"]

    assert generate(*translator, "--output", "generated.json") == 0

    assert asked(capsys.readouterr().err) == 3
    assert lasting(Path("generated.json")) == lasting(LEFT / "finished-generated.json")
    assert not list(folder.glob("generated.json.*"))


def test_of_a_programs_translations_only_those_that_failed_are_made_again(folder, capsys):
    command = ["--command", 'sh -c "test {tag} = el && exit 1; cat"', "--output", "commanded.json"]
    Path("commanded.json").unlink()

    assert generate(*command, "--max-failed", "0.5") == 0

    printed = capsys.readouterr()
    assert "4 of 6 translations in 3 languages" in printed.out
    assert "2 failed. Run the same command again to retry them." in printed.err
    assert durations(Path("commanded.json")) == durations(LEFT / "commanded.json")
    [partial] = folder.glob("commanded.json.*.partial")
    assert "schemaVersion" in partial.read_text(encoding="utf-8")


def durations(path):
    """The duration of each translation, which differs between runs."""
    written = json.loads(path.read_text(encoding="utf-8"))["results"]
    return [prompt["durationMs"] for language in written for prompt in language["prompts"]]


def test_an_adoption_that_is_killed_is_done_again(folder, capsys):
    [partial] = folder.glob("generated.json.*.partial")
    partial.with_suffix(".ahead").write_text('{"torn', encoding="utf-8")
    with partial.open("a", encoding="utf-8") as file:
        file.write('{"id": "el:1", "generatedOut')

    assert generate("--translator", "scripted/translator.jsonl", "--cache", "none", "--output", "generated.json") == 0
    assert asked(capsys.readouterr().err) == 3
    assert not list(folder.glob("generated.json.*"))


def test_rows_that_are_no_translations_are_refused(folder, capsys):
    [partial] = folder.glob("generated.json.*.partial")
    with partial.open("a", encoding="utf-8") as file:
        file.write('{"id": "xx:9", "generatedOutput": "y"}\n')

    assert generate("--translator", "scripted/translator.jsonl", "--cache", "none", "--output", "generated.json") == 2
    assert "unexpected rows in the unfinished run" in capsys.readouterr().err
