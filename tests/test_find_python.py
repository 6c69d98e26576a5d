"""The Makefile uses an interpreter that runs, and says what is missing if there is none."""

import subprocess
import sys
from pathlib import Path

import pytest

FIND = Path(__file__).parent.parent / ".ci" / "find-python"
FAILING_SHIM = "#!/bin/sh\necho 'pyenv: command not found' >&2\nexit 127\n"
WORKING = f'#!/bin/sh\nexec "{sys.executable}" "$@"\n'
VERSION = "{}.{}".format(*sys.version_info[:2])


@pytest.fixture
def find(tmp_path: Path):
    """Run find-python where the path holds only the given programs."""
    folder, pyenv = tmp_path / "bin", tmp_path / "pyenv"
    folder.mkdir()

    def run(*arguments: str, **programs: str) -> subprocess.CompletedProcess[str]:
        for name, script in programs.items():
            program = folder / name.replace("_", ".")
            program.write_text(script)
            program.chmod(0o755)
        environment = {"PATH": str(folder), "PYENV_ROOT": str(pyenv), "HOME": str(tmp_path)}
        return subprocess.run(
            ["/bin/sh", FIND, *arguments], check=False, env=environment, capture_output=True, text=True
        )

    return run


def test_a_shim_that_fails_is_passed_over(find):
    found = find(python3=FAILING_SHIM, python3_13=FAILING_SHIM, python3_12=WORKING)

    assert (found.returncode, found.stdout) == (0, "python3.12\n")


def test_no_interpreter_at_all_is_one_clear_message(find):
    found = find(python3=FAILING_SHIM)

    assert found.returncode == 1
    assert found.stdout == ""
    assert "needs Python 3.11 or later" in found.stderr
    assert "make PYTHON=" in found.stderr
    assert "pyenv" not in found.stderr


def test_a_named_interpreter_that_fails_is_named_with_its_own_error(find):
    found = find("python3.12", python3=WORKING, python3_12=FAILING_SHIM)

    assert (found.returncode, found.stdout) == (1, "")
    assert "PYTHON=python3.12 is not one" in found.stderr
    assert "pyenv: command not found" in found.stderr


def test_a_version_that_pyenv_has_installed_is_found_behind_a_failing_shim(find, tmp_path):
    installed = tmp_path / "pyenv" / "versions" / "3.12.1" / "bin" / "python3.12"
    installed.parent.mkdir(parents=True)
    installed.write_text(WORKING)
    installed.chmod(0o755)

    assert find("python3.12", python3_12=FAILING_SHIM).stdout == f"{installed}\n"


def test_an_old_interpreter_is_refused(find):
    as_if = "import sys; sys.version_info = (3, 10, 13); exec(sys.argv.pop(1))"
    old = f'#!/bin/sh\nexec "{sys.executable}" -c "{as_if}" "$2" "$3"\n'

    assert find(python3=old).returncode == 1
    assert "this is Python 3.10" in find("python3", python3=old).stderr


def test_another_version_can_be_asked_for(find):
    assert find("--not", "3.0", python3=WORKING).stdout == "python3\n"

    found = find("--not", VERSION, python3=WORKING)
    assert (found.returncode, found.stdout, found.stderr) == (1, "", "")
