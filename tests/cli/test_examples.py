"""The help of every command ends with two examples that work."""

import shlex
import shutil
from pathlib import Path

import pytest

from polyjudge.cli import COMMANDS, actions_of, build_parser, main, subparser_of
from polyjudge.cli.examples import EXAMPLES, examples_of
from polyjudge.cli.transcript_judge import prepared

ROOT = Path(__file__).parent.parent.parent
LEAVES = [
    f"{command} {action}".strip()
    for command in COMMANDS
    for action in (actions_of(subparser_of(build_parser(command), command)) or [""])
]
LINES = [line for command in EXAMPLES for line in examples_of(command)]
OFFLINE = {
    # command: its files are in examples/ or are not needed, and so are a key, a server and a person
    *("calibrate agreement", "calibrate correct", "compare", "plugins", "providers", "trust", "vocabulary summary"),
}
OFFLINE_LINES = [
    *(line for command in sorted(OFFLINE) for line in examples_of(command) if "--check" not in line),
    *(
        examples_of(command)[1]
        for command in ("explain", "score", "transcript judge", "vocabulary judge", "calibrate perturb")
    ),
    *(examples_of("calibrate card")[:1] + examples_of("batch list")),
]


def test_every_command_and_action_has_two_examples():
    assert set(EXAMPLES) == set(LEAVES)
    assert all(len(set(each)) == 2 for each in EXAMPLES.values())


@pytest.mark.parametrize("command", [*COMMANDS, *(leaf for leaf in LEAVES if " " in leaf)])
def test_the_help_ends_with_the_examples(command, capsys):
    with pytest.raises(SystemExit):
        main([*command.split(), "--help"])

    shown = capsys.readouterr().out.rstrip().splitlines()
    assert shown[-3:] == ["Examples:", *(f"  {line}" for line in examples_of(command))]


@pytest.mark.parametrize("line", LINES)
def test_an_example_is_parsed(line):
    program, command, *words = shlex.split(line)
    given = [command, *(prepared(words) if command == "transcript" else words)]

    assert program == "polyjudge"
    assert build_parser(command).parse_args(given).polyjudge_command == command


@pytest.mark.parametrize("line", OFFLINE_LINES)
def test_an_example_without_a_model_runs(line, in_folder, monkeypatch):
    for file in (ROOT / "examples").iterdir():
        if file.is_file():
            shutil.copy(file, in_folder)
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    Path("polyjudge.toml").touch()

    assert main(shlex.split(line)[1:]) == 0
