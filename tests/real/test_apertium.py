"""A real translator, Apertium: captured, passing, and failing in every possible way."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from xml.dom import minidom

import pytest

from polyjudge.cli import main
from polyjudge.formats.fixtures import read_fixtures

HERE = Path(__file__).parent
PAIR = "apertium -u {source_lang}-{target_lang}"
MODES = ("eng-spa", "es-pt", "fr-es", "eng-cat")


def _missing():
    if shutil.which("apertium") is None:
        return "Apertium is not installed"
    listed = subprocess.run(["apertium", "-l"], capture_output=True, text=True, check=False).stdout.split()
    absent = [mode for mode in MODES if mode not in listed]
    return f"Apertium has no {', '.join(absent)}" if absent else ""


pytestmark = pytest.mark.skipif(bool(_missing()), reason=_missing())


@pytest.fixture(scope="module")
def suite(tmp_path_factory):
    """The phrases of three language pairs and the identifiers, with Apertium's outputs."""
    folder = tmp_path_factory.mktemp("suite")
    for name, inputs in (("translation", "apertium_inputs.tsv"), ("preserve", "apertium_preserve.tsv")):
        options = ["--inputs", str(HERE / inputs), "--command", PAIR, "--version-command", "apertium -V"]
        assert main(["regression", "capture", *options, "--output", str(folder / f"{name}.tsv")]) == 0
    return folder


def run(suite, *options, command=PAIR, capsys=None):
    return main(["regression", "run", "--fixtures", str(suite), "--command", command, *options])


def running(marker):
    """Return the processes with a marker in their command line."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
            if marker in line:
                found.append(line)
    return found


def test_a_captured_suite_is_green_and_keeps_its_comments_and_order(suite, capsys):
    assert run(suite) == 0

    shown = capsys.readouterr()
    assert "Summary: 36 passed, 0 failed, 0 errors" in shown.out
    assert "translation: 32 passed" in shown.out
    assert "preserve: 4 passed" in shown.out
    assert "warning" not in shown.err
    text = (suite / "translation.tsv").read_text(encoding="utf-8")
    assert "# polyjudge version translator: Apertium" in text
    assert text.index("# English to Spanish") < text.index("en-01") < text.index("# Spanish to Portuguese")
    pairs = {(each.source_lang, each.target_lang) for each in read_fixtures(suite).fixtures}
    assert pairs == {("eng", "spa"), ("es", "pt"), ("fr", "es")}


def test_another_mode_fails_with_differences_and_the_reason(suite, capsys):
    fixtures = suite / "translation.tsv"

    assert main(["regression", "run", "--fixtures", str(fixtures), "--command", "apertium -u eng-cat"]) == 1
    shown = capsys.readouterr()
    assert "[FAIL] en-01" in shown.out
    assert "expected" in shown.out
    assert "captured with the command" in shown.err


def test_a_changed_dictionary_is_found_and_the_changed_model_is_reported(tmp_path, capsys):
    """The data of a pair serve as its model: the dictionary of another pair changes the output."""
    data, model = Path("/usr/share/apertium"), tmp_path / "model"
    shutil.copytree(data / "apertium-eng-spa", model / "data")
    (model / "modes").mkdir()
    mode = (data / "modes" / "eng-spa.mode").read_text(encoding="utf-8")
    mode = mode.replace("/usr/share/apertium/apertium-eng-spa", str(model / "data"))
    (model / "modes" / "eng-spa.mode").write_text(mode, encoding="utf-8")
    inputs = tmp_path / "inputs.tsv"
    lines = (HERE / "apertium_inputs.tsv").read_text(encoding="utf-8").splitlines()
    inputs.write_text("\n".join(line for line in lines if "\teng\t" in line) + "\n", encoding="utf-8")
    translator = ["--command", "apertium -u -d {model} {source_lang}-{target_lang}", "--model", str(model)]
    captured = tmp_path / "translation.tsv"
    assert main(["regression", "capture", "--inputs", str(inputs), "--output", str(captured), *translator]) == 0
    assert main(["regression", "run", "--fixtures", str(captured), *translator]) == 0
    assert "warning" not in capsys.readouterr().err

    other = data / "apertium-eng-cat" / "eng-cat.autobil.bin"
    shutil.copy(other, model / "data" / "eng-spa.autobil.bin")

    assert main(["regression", "run", "--fixtures", str(captured), *translator]) == 1
    assert "captured with the model" in capsys.readouterr().err


_HOLDS_THE_PIPE = "import os, sys, time\nsys.stdout.write('Hola'); sys.stdout.flush()\nos.fork() or time.sleep(600)"


@pytest.mark.parametrize(
    ("script", "code", "message"),
    [
        ("import time; time.sleep(600)", 3, "took longer than"),
        ("import os, signal; print('half', end=''); os.kill(os.getpid(), signal.SIGSEGV)", 3, "exited with code"),
        ("pass", 3, "the translation is empty"),
        ("import sys; sys.stdout.buffer.write(b'\\xff\\xfe caf\\xe9')", 3, "the output is not UTF-8"),
        ("print('x' * 10_000_001)", 3, "wrote more than"),
        (_HOLDS_THE_PIPE, 1, "[FAIL]"),
    ],
    ids=["timeout", "crash", "empty", "invalid UTF-8", "10 MB", "a child that holds the pipe"],
)
def test_a_broken_translator_has_the_right_status_and_leaves_no_process(suite, tmp_path, capsys, script, code, message):
    program = tmp_path / "translator.py"
    program.write_text(script, encoding="utf-8")
    command = f"{sys.executable} {program}"

    assert run(suite / "preserve.tsv", "--timeout", "2", command=command) == code
    assert message in capsys.readouterr().out
    assert running(str(program)) == []


def test_output_without_a_newline_is_compared_unchanged(tmp_path, capsys):
    fixtures = tmp_path / "translation.tsv"
    fixtures.write_text("a\teng\tspa\tHello\tHola\n", encoding="utf-8")

    command = f"{sys.executable} -c \"import sys; sys.stdin.read(); sys.stdout.write('Hola')\""
    assert main(["regression", "run", "--fixtures", str(fixtures), "--command", command]) == 0


def test_no_shell_interprets_the_text(tmp_path, capsys):
    inputs, output = tmp_path / "inputs.tsv", tmp_path / "translation.tsv"
    marker = tmp_path / "made-by-a-shell"
    inputs.write_text(f"a\teng\tspa\tI say \"$(touch {marker})\"; `touch {marker}` and 'go'.\n", encoding="utf-8")

    assert main(["regression", "capture", "--inputs", str(inputs), "--command", PAIR, "--output", str(output)]) == 0
    assert main(["regression", "run", "--fixtures", str(output), "--command", PAIR]) == 0
    assert not marker.exists()


def test_a_hostile_user_configuration_changes_nothing(suite, tmp_path, monkeypatch, capsys):
    program = tmp_path / "translator.py"
    program.write_text(
        "import os, pathlib, subprocess, sys\n"
        "config = pathlib.Path(os.environ['XDG_CONFIG_HOME']) / 'mode'\n"
        "mode = config.read_text() if config.exists() else sys.argv[1]\n"
        "sys.stdout.buffer.write(subprocess.run(['apertium', '-u', mode], input=sys.stdin.buffer.read(),"
        " capture_output=True).stdout)\n",
        encoding="utf-8",
    )
    (tmp_path / "mode").write_text("eng-cat", encoding="utf-8")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    command = f"{sys.executable} {program} {{source_lang}}-{{target_lang}}"

    assert run(suite, command=command) == 0
    assert run(suite, "--env", "XDG_CONFIG_HOME", command=command) == 1


def test_the_results_are_written_for_ci(suite, tmp_path, capsys):
    junit, results = tmp_path / "junit.xml", tmp_path / "results.json"

    assert run(suite, "--junit", str(junit), "--output", str(results), "--repeat", "2") == 0
    cases = minidom.parseString(junit.read_bytes()).getElementsByTagName("testcase")
    assert len(cases) == 36
    assert {each["status"] for each in json.loads(results.read_text(encoding="utf-8"))["cases"]} == {"PASS"}


def test_a_captured_suite_passes_its_audit(suite, capsys):
    assert main(["regression", "audit", str(suite), "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == []
