"""The help of every command ends with two examples that work."""

import os
import re
import shlex
import shutil
from pathlib import Path

import pytest

from polyjudge.cli import COMMANDS, actions_of, build_parser, main
from polyjudge.cli.examples import EXAMPLES, HEADING_OF_FILES, example_files, examples_of, heading_of
from polyjudge.cli.transcript_judge import prepared

LEAVES = [
    f"{command} {action}".strip()
    for command in COMMANDS
    for action in (actions_of(actions_of(build_parser(command))[command]) or [""])
]
LINES = [line for command in EXAMPLES for line in examples_of(command)]
NEEDED = {
    # how an example starts: a pattern of the message if what it needs is not there
    "score items.jsonl": "OPENAI_API_KEY",
    "translation generate --translator openai": "OPENAI_API_KEY",
    "translation generate --translator deepl": "DEEPL_API_KEY is not set",
    "translation quick results.json --judge sonnet": "ANTHROPIC_API_KEY",
    "translation full results.json --judge gemini-flash": "GOOGLE_GENAI_API_KEY",
    "regression run --fixtures cases.tsv --translator": "DEEPL_API_KEY is not set",
    "regression capture --inputs inputs.tsv --translator": "DEEPL_API_KEY is not set",
    "vocabulary run --suite spanish --models models.txt": "no server of local models answers",
    "vocabulary generate": "no server of local models answers",
    "vocabulary judge --suite spanish --judge": "run polyjudge vocabulary generate first",
    "transcript judge session.jsonl --judge=claude": "claude|ANTHROPIC_API_KEY",  # the program, or with it the key
    "calibrate perturb --judge openai": "OPENAI_API_KEY",
    "calibrate bias --judge openai/gpt-5-mini --budget": "OPENAI_API_KEY",
    "cache export --cache postgresql": "PostgreSQL",
    "cache verify --cache postgresql": "PostgreSQL",
    "batch status batch_123": "No batches in",
    "batch cancel batch_123": "No batches in",
}
FINDING = (
    "translation check results.json",
    "translation quick results.json --judge offline",
    "translation full results.json --judge offline",
    "review app.de.po app.ar.po",
)
"""Examples that find the planted errors of the demo, and so exit with 1."""
SERVERS = ("polyjudge label ", "polyjudge view")
"""Commands that run until Ctrl-C."""


def test_every_command_and_action_has_two_examples():
    assert set(EXAMPLES) == set(LEAVES)
    assert all(len(set(each)) == 2 for each in EXAMPLES.values())


@pytest.mark.parametrize("command", [*COMMANDS, *(leaf for leaf in LEAVES if " " in leaf)])
def test_the_help_ends_with_the_examples(command, capsys):
    with pytest.raises(SystemExit):
        main([*command.split(), "--help"])

    shown = capsys.readouterr().out.rstrip().splitlines()
    assert shown[-3:] == [heading_of(command), *(f"  {line}" for line in examples_of(command))]


@pytest.mark.parametrize("line", LINES)
def test_an_example_is_parsed(line):
    program, command, *words = shlex.split(line)
    given = [command, *(prepared(words) if command == "transcript" else words)]

    assert program == "polyjudge"
    assert build_parser(command).parse_args(given).polyjudge_command == command


@pytest.mark.slow
def test_examples_work_in_the_folder_of_the_demo_or_say_what_they_need(demo, in_folder, capsys, monkeypatch):
    shutil.copytree(demo.folder / "polyjudge-demo", in_folder, dirs_exist_ok=True)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")  # without agents' programs
    Path("polyjudge.toml").touch()

    for line in LINES:
        if line.startswith(SERVERS):
            continue
        code, printed = main(shlex.split(line)[1:]), capsys.readouterr()
        needed = [text for start, text in NEEDED.items() if line.startswith(f"polyjudge {start}")]
        if needed and "--dry-run" not in line:
            assert re.search(needed[0], printed.err), line
        else:
            finds = line.removeprefix("polyjudge ").startswith(FINDING)
            assert (code, printed.err if code > 1 else "") == (int(finds), ""), line


def test_the_help_says_where_the_files_of_examples_are(demo):
    folder = demo.folder / "polyjudge-demo"
    assert {command for command in LEAVES if heading_of(command) == HEADING_OF_FILES} == {
        command
        for command in LEAVES
        if any((folder / word).is_file() for line in examples_of(command) for word in shlex.split(line))
    }


def test_the_demo_writes_executable_examples_and_leaves_what_is_there(in_folder):
    Path("polyjudge-demo").mkdir()
    Path("polyjudge-demo/answers.csv").write_text("my own\n", encoding="utf-8")

    assert main(["demo"]) == 0

    assert Path("polyjudge-demo/answers.csv").read_text(encoding="utf-8") == "my own\n"
    assert {file.name for file in example_files()} <= {path.name for path in Path("polyjudge-demo").iterdir()}
    assert os.access("polyjudge-demo/phrasebook", os.X_OK)
