"""The command line: help, errors, exit codes, and the demo as a person runs it."""

import contextlib
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import get_args

import pytest

from polyjudge.cache.sqlite import JudgeCache
from polyjudge.cli import COMMANDS, demo, main
from polyjudge.records.findings import ProblemKind
from polyjudge.records.requests import Reply
from polyjudge.version import __version__


def run(*arguments, **options):
    command = [sys.executable, "-m", "polyjudge", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def test_without_a_command_the_help_is_shown_and_the_exit_code_is_two(capsys):
    assert main([]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert all(command in shown.err for command in COMMANDS)


@pytest.mark.parametrize(
    "arguments", [["--help"], *([command, "--help"] for command in COMMANDS), ["cache", "prune", "-h"]]
)
def test_every_command_has_help(arguments, capsys):
    with pytest.raises(SystemExit) as exited:
        main(arguments)
    assert exited.value.code == 0
    assert capsys.readouterr().out.startswith("usage: polyjudge")


def test_a_typo_names_the_commands(capsys):
    with pytest.raises(SystemExit) as exited:
        main(["dmo"])
    assert exited.value.code == 2
    assert "unknown command 'dmo'. Did you mean 'demo'?" in capsys.readouterr().err


def test_the_version_is_printed(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"polyjudge {__version__}\n"


def test_the_demo_finds_every_planted_error_without_false_alarms(demo):
    shown = demo.printed
    found, planted, false_alarms, clean = map(
        int, re.search(r"faults found: (\d+) of (\d+)\. False alarms: (\d+) in (\d+) clean outputs\.", shown).groups()
    )
    assert (found, false_alarms) == (planted, 0)
    assert planted > 30
    assert clean > 200
    folder = demo.folder / "polyjudge-demo"
    results = json.loads((folder / "results.json").read_text(encoding="utf-8"))["results"]
    scores = json.loads((folder / "results-full-judge.json").read_text(encoding="utf-8"))
    assert len(results) == len(scores) >= 70
    assert len({each["scriptFamily"] for each in results}) >= 15
    assert all(f"{folder.name}/{name}" in shown for name in ("report.md", "results.json", "results-full-judge.json"))
    assert "Marathi" in (folder / "report.md").read_text(encoding="utf-8")


def test_the_demo_plants_an_error_of_every_kind():
    with (Path(demo.__file__).parent / "demo_data" / "faults.jsonl").open(encoding="utf-8") as file:
        planted = {json.loads(line)["kind"] for line in file}

    assert planted == set(get_args(ProblemKind))


def test_the_demo_can_be_repeated_with_the_same_output(demo, in_folder):
    shutil.copytree(demo.folder, in_folder, dirs_exist_ok=True)
    again = run("demo", cwd=in_folder)

    assert (again.returncode, again.stderr) == (0, "")
    assert again.stdout == demo.printed


def test_a_folder_that_cannot_be_written_gives_one_message(tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")

    done = run("demo", "--output", str(tmp_path / "file" / "x"))

    assert done.returncode == 2
    assert done.stderr.startswith("polyjudge: ")
    assert len(done.stderr.splitlines()) == 1


def test_verbose_shows_the_traceback(tmp_path):
    done = run("cache", "stats", "--cache", str(tmp_path / "none"), env={**os.environ, "VERBOSE": "1"})

    assert "Traceback" in done.stderr
    assert done.returncode != 0


def test_a_pipe_that_closes_early_is_not_an_error(tmp_path):
    with JudgeCache(tmp_path / "c.sqlite") as cache:
        for number in range(300):
            cache.put_reply(str(number), Reply(text="x" * 1000, model="m"))
    export = subprocess.Popen(
        [sys.executable, "-m", "polyjudge", "cache", "export", "--cache", str(tmp_path / "c.sqlite")],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert export.stdout is not None
    assert export.stderr is not None
    assert json.loads(export.stdout.readline())["key"] == "0"
    export.stdout.close()

    assert export.wait(30) == 0
    assert export.stderr.read() == b""
    export.stderr.close()


def test_the_demo_does_not_change_other_caches(in_folder, capsys):
    with JudgeCache(in_folder / ".polyjudge" / "cache.sqlite") as cache:
        cache.put_reply("paid", Reply(text="x", model="m"))

    assert main(["demo", "--output", ".polyjudge"]) == 0

    with JudgeCache(in_folder / ".polyjudge" / "cache.sqlite") as cache:
        assert cache.get_reply("paid") is not None


@pytest.mark.slow
@pytest.mark.parametrize("command", [["demo"], ["--help"], ["providers"]])
@pytest.mark.parametrize(
    "environment", [{"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}]
)
def test_no_locale_causes_an_error(command, environment, in_folder):
    done = run(*command, cwd=in_folder, env={**os.environ, **environment})

    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("target", [">&-", ">/dev/full", "| true"])
def test_a_closed_or_full_output_shows_no_traceback(target, in_folder):
    done = subprocess.run(
        f"{sys.executable} -m polyjudge providers {target}", shell=True, capture_output=True, text=True, check=False
    )

    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
    assert done.returncode == (2 if "full" in target else 0)


@pytest.mark.skipif(sys.platform != "linux", reason="looks at what the process has open the Linux way")
def test_an_interrupt_is_reported_and_exits_with_130(tmp_path):
    path = tmp_path / "c.sqlite"
    JudgeCache(path).close()
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    command = [sys.executable, "-m", "polyjudge", "cache", "prune", "--model", "m", "--cache", str(path)]
    waiting = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    while not _has_open(waiting.pid, path):
        time.sleep(0.01)
    time.sleep(0.2)

    waiting.send_signal(signal.SIGINT)
    _, printed = waiting.communicate(timeout=20)
    other.close()

    assert (waiting.returncode, printed) == (
        130,
        "polyjudge: interrupted. Results already stored are kept. Run the same command again.\n",
    )


def _has_open(process: int, path: Path) -> bool:
    for link in Path(f"/proc/{process}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # closed since the folder was listed
            if link.readlink() == path:
                return True
    return False


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["demo", "--output", "file"], "--output 'file' is a file. Give a folder."),
        (["demo", "--output", "-"], "--output takes a file or folder, not '-'."),
    ],
)
def test_an_output_that_cannot_be_used_is_refused_first(in_folder, capsys, command, message):
    (in_folder / "file").write_text("mine", encoding="utf-8")

    assert main(command) == 2

    printed = capsys.readouterr()
    assert message in printed.err
    assert printed.out == ""
    assert (in_folder / "file").read_text(encoding="utf-8") == "mine"


def test_names_and_values_in_messages_do_not_act_on_the_terminal(in_folder, capsys):
    (in_folder / "columns.csv").write_text("a\x1b[31mb\u202e,c\nx,y\n", encoding="utf-8")
    row = {"id": "1", "candidate": "x", "language": "\x1b[31mred\u202e"}
    (in_folder / "values.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    score = ["score", "values.jsonl", "--rubric", "general", "--judge", "scripted/none.jsonl"]

    assert main(["translation", "check", "columns.csv"]) == 2
    assert main([*score, "--filter", "language=de"]) == 2

    shown = capsys.readouterr().err
    assert r"a\x1b[31mb\u202e" in shown
    assert r"\x1b[31mred\u202e" in shown
    assert not {"\x1b", "\u202e"} & set(shown)
