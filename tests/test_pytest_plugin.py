"""The user's `pytest` runs the cases of a translator as tests."""

import os
import subprocess
import sys

import pytest

UPPER = "import sys; sys.stdout.write(sys.stdin.read().upper())"
ROW = "{}\ten\tes\t{}\t{}\n"


@pytest.fixture
def project(tmp_path):
    """Write a project and run its pytest in a process of its own; return the exit code and the output."""

    def run_pytest(*arguments, files=None, installed=False, **settings):
        (tmp_path / "translator.py").write_text(UPPER, encoding="utf-8")
        settings = {
            "polyjudge_command": f"{sys.executable} -S -E {tmp_path}/translator.py",
            "polyjudge_fixtures": "cases/*.tsv",
            **settings,
        }
        lines = [f"{name} = {value}" for name, value in settings.items() if value]
        (tmp_path / "pytest.ini").write_text("\n".join(["[pytest]", *lines]) + "\n", encoding="utf-8")
        for name, text in (files or {}).items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--color=no", "-rA", *arguments]
        environment = {**os.environ, "PYTEST_ADDOPTS": "", "PYTHONIOENCODING": "utf-8"}
        if not installed:  # other plugins take their time
            environment |= {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_PLUGINS": "polyjudge.pytest_plugin"}
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, encoding="utf-8", check=False
        )
        return done.returncode, done.stdout + done.stderr

    return run_pytest


GOOD = ROW.format("greeting", "hello", "HELLO")
BAD = ROW.format("drink", "café", "CAFE\u0301")


def test_cases_are_collected_as_tests_and_a_failure_shows_only_the_difference(project):
    code, shown = project(files={"cases/a.tsv": GOOD + BAD, "other/b.tsv": GOOD}, installed=True)

    assert code == 1
    assert "1 failed, 1 passed" in shown
    assert "PASSED cases/a.tsv::greeting" in shown
    assert "expected  CAF[-E\u0301-]" in shown
    assert "actual    CAF{+É+}" in shown
    assert "U+0301 COMBINING ACUTE ACCENT" in shown
    assert "pytest_plugin.py" not in shown


def test_a_single_case_can_be_run_by_its_name(project):
    code, shown = project("cases/a.tsv::greeting", files={"cases/a.tsv": GOOD + BAD})

    assert (code, "1 passed" in shown) == (0, True)


def test_a_broken_file_is_an_error_of_collection_with_its_place(project):
    code, shown = project(files={"cases/a.tsv": GOOD + "too\tfew\n"})

    assert code == 2
    assert "a.tsv:2: expected 5 columns" in shown
    assert "Traceback" not in shown


@pytest.mark.parametrize("missing", ["polyjudge_command", "polyjudge_fixtures"])
def test_nothing_is_collected_without_the_settings(missing, project):
    code, shown = project(files={"cases/a.tsv": GOOD}, **{missing: ""})

    assert code == pytest.ExitCode.NO_TESTS_COLLECTED
    assert "no tests ran" in shown


def test_a_case_in_a_folder_of_its_own_is_collected_by_its_description(project):
    files = {
        "cases/letter/input.txt": "a\nb\n",
        "cases/letter/expected.txt": "A\nB\n",
        "cases/letter/case.toml": 'source_lang = "en"\ntarget_lang = "es"\n',
    }

    code, shown = project(files=files, polyjudge_fixtures="cases/*/case.toml")

    assert (code, "PASSED cases/letter/case.toml::letter" in shown) == (0, True)


def test_a_looser_match_is_a_setting(project):
    assert project(files={"cases/a.tsv": BAD}, polyjudge_match="normalized")[0] == 0


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("polyjudge_match", "fuzzy", "polyjudge_match must be exact, trim or normalized, not 'fuzzy'"),
        ("polyjudge_timeout", "soon", "polyjudge_timeout must be a number"),
        ("polyjudge_timeout", "-1", "polyjudge_timeout must be a number"),
        ("polyjudge_model", "none", "the model 'none' does not exist"),
        ("polyjudge_command", "/nowhere/translate", "'/nowhere/translate' cannot be run"),
        ("polyjudge_set", "X", "'X' must be NAME=VALUE"),
    ],
)
def test_a_wrong_setting_is_reported_without_a_traceback(name, value, message, project):
    code, shown = project(files={"cases/a.tsv": GOOD}, **{name: value})

    assert code == 1
    assert message in shown
    assert "pytest_plugin.py" not in shown


def test_a_failed_translator_is_reported(project):
    code, shown = project(files={"cases/a.tsv": GOOD}, polyjudge_command=f"{sys.executable} -c 'raise SystemExit(4)'")

    assert code == 1
    assert "the translator failed: " in shown
    assert "exited with code 4" in shown
