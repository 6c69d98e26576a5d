"""A real translator over HTTP: Apertium's own server, with Apertium as a program to compare with."""

import json
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from polyjudge.cli import main
from polyjudge.formats.fixtures import read_fixtures

HERE = Path(__file__).parent
PAIRS = Path("/usr/share/apertium")
_STARTING_S = 60.0


def _missing():
    if shutil.which("apertium-apy") is None:
        return "Apertium-APY is not installed"
    return "" if (PAIRS / "modes" / "eng-spa.mode").exists() else "Apertium has no pair eng-spa"


pytestmark = pytest.mark.skipif(bool(_missing()), reason=_missing())


@pytest.fixture(scope="module")
def apy(tmp_path_factory):
    """The address of a running server."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    folder = tmp_path_factory.mktemp("apy")
    command = ["apertium-apy", "--port", str(port), str(PAIRS)]
    with (folder / "log").open("w") as log, subprocess.Popen(command, cwd=folder, stdout=log, stderr=log) as server:
        try:
            _wait_for(f"http://127.0.0.1:{port}/listPairs", server, folder / "log")
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()


def _wait_for(url, server, log):
    deadline = time.monotonic() + _STARTING_S
    while time.monotonic() < deadline:
        assert server.poll() is None, log.read_text()
        try:
            with urllib.request.urlopen(url, timeout=5) as answer:
                assert json.load(answer)["responseStatus"] == 200
                return
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.1)
    pytest.fail(f"Apertium-APY has not started: {log.read_text()}")


def translator(address):
    return ("--translator", "apertium-apy", "--set", f"APERTIUM_APY_URL={address}")


@pytest.fixture
def inputs(in_folder):
    lines = (HERE / "apertium_inputs.tsv").read_text(encoding="utf-8").splitlines()
    Path("inputs.tsv").write_text("\n".join(line for line in lines if "\teng\tspa" in line) + "\n", encoding="utf-8")


def test_cases_are_captured_and_pass(apy, inputs, capsys):
    capture = ["regression", "capture", "--inputs", "inputs.tsv", "--output", "cases.tsv", *translator(apy)]
    assert main(capture) == 0
    assert main(["regression", "run", "--fixtures", "cases.tsv", *translator(apy)]) == 0

    shown = capsys.readouterr()
    cases = read_fixtures(Path("cases.tsv"))
    assert f"Summary: {len(cases.fixtures)} passed, 0 failed, 0 errors" in shown.out
    assert len(cases.fixtures) > 5
    assert "warning" not in shown.err
    assert cases.recorded.command == "translator apertium-apy"
    assert apy not in Path("cases.tsv").read_text(encoding="utf-8")


def test_the_server_translates_most_texts_as_the_program_does(apy, inputs):
    for name, options in (
        ("http", translator(apy)),
        ("program", ("--command", "apertium -u {source_lang}-{target_lang}")),
    ):
        assert main(["regression", "capture", "--inputs", "inputs.tsv", "--output", f"{name}.tsv", *options]) == 0

    def outputs(name):
        return [each.expected_output.lower() for each in read_fixtures(Path(f"{name}.tsv")).fixtures]

    same = sum(one == other for one, other in zip(outputs("http"), outputs("program"), strict=True))
    assert same > 0.5 * len(outputs("http"))


def test_a_pair_that_is_not_installed_is_named(apy, in_folder, capsys):
    Path("inputs.tsv").write_text("a\teng\tzul\tHello, my friend.\n", encoding="utf-8")

    assert main(["regression", "capture", "--inputs", "inputs.tsv", "--output", "cases.tsv", *translator(apy)]) == 3
    printed = capsys.readouterr().err
    assert "apertium-apy answered 400 for eng to zul: " in printed
    assert "That pair is not installed" in printed


def test_translations_are_generated_checked_and_reported(apy, in_folder, capsys):
    options = ["--languages", "es", "--output", "results.json", *translator(apy)]

    assert main(["translation", "generate", *options]) == 0
    assert main(["translation", "check", "results.json"]) in (0, 1)
    assert main(["report", "--results", "results.json", "--format", "markdown", "--output", "report.md"]) == 0

    [language] = json.loads(Path("results.json").read_text(encoding="utf-8"))["results"]
    assert len(language["prompts"]) == 18
    assert all(prompt["generatedOutput"] for prompt in language["prompts"])
    assert "Spanish" in Path("report.md").read_text(encoding="utf-8")
    assert "18 calls" in capsys.readouterr().err


def test_markup_and_hostile_text_stay_text(apy, in_folder):
    rows = ["the house &langpair=eng|cat", "the house\u2028{source_lang}", "<b>the house</b> & {text}", "%26q=the dog"]
    lines = [f"case-{number}\teng\tspa\t{text}" for number, text in enumerate(rows)]
    Path("inputs.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")

    assert main(["regression", "capture", "--inputs", "inputs.tsv", "--output", "cases.tsv", *translator(apy)]) == 0
    outputs = [each.expected_output for each in read_fixtures(Path("cases.tsv")).fixtures]
    assert all("casa" in each.lower() for each in outputs[:3])
    assert "&langpair=eng|" in outputs[0]
