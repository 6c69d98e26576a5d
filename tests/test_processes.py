"""Programs run without a shell, end with all their child processes, and their errors are reported."""

import asyncio
import sys
import time
from pathlib import Path

import pytest

from polyjudge.errors import ConfigError, ProviderError, TransientError
from polyjudge.processes import run_program

LONG_S = 60.0
ECHO = "import sys; sys.stdout.write(sys.stdin.read())"
# Says who it is and who its child is, and then both sleep.
FAMILY = (
    "import os, pathlib, subprocess, sys, time;"
    "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)']);"
    "pathlib.Path(sys.argv[1] + '.new').write_text(f'{os.getpid()} {child.pid}');"
    "os.replace(sys.argv[1] + '.new', sys.argv[1]);"
    "time.sleep(600)"
)
linux = pytest.mark.skipif(sys.platform != "linux", reason="looks at processes the Linux way")


def run(*command, stdin="", timeout_s=LONG_S):
    return asyncio.run(run_program(command, stdin, timeout_s=timeout_s))


def python(code, *arguments, **options):
    return run(sys.executable, "-c", code, *arguments, **options)


def is_running(process):
    try:
        state = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in "ZX"


def are_gone(processes):
    """Wait until processes have ended: a kill is reported before it takes effect."""
    for _ in range(1000):
        if not any(map(is_running, processes)):
            return True
        time.sleep(0.01)
    return False


def test_texts_survive_a_round_trip_in_every_script(text):
    assert python(ECHO, stdin=text).text == text


@pytest.mark.parametrize(
    "given", ["$(touch made)", "`touch made`", "; touch made", "a\nb", "'", '"', "* ~ $HOME", "", "-n", "\\"]
)
def test_an_argument_is_text_and_never_a_command(given, in_folder):
    output = python("import sys; sys.stdout.write(sys.argv[1])", given, stdin="$(touch made)")

    assert output.text == given
    assert list(in_folder.iterdir()) == []


def test_half_a_character_can_be_given_and_broken_bytes_come_back_marked():
    assert python(ECHO, stdin="a\ud800b").text.startswith("a")
    assert python("import sys; sys.stdout.buffer.write(b'a\\xff\\xfeb')").text == "a��b"


def test_a_failed_program_is_reported_with_its_code_and_stderr():
    with pytest.raises(ProviderError, match="exited with code 7: no such language") as caught:
        python("import sys; sys.stdout.write('half'); sys.stderr.write('no such language'); sys.exit(7)")

    assert not isinstance(caught.value, TransientError)
    with pytest.raises(ProviderError, match="exited with code 1: no output on stderr"):
        python("import sys; sys.exit(1)")


def test_long_last_words_are_shortened():
    with pytest.raises(ProviderError) as caught:
        python("import sys; sys.stderr.write('x' * 100000 + ' the end'); sys.exit(1)")

    assert len(str(caught.value)) < 500
    assert str(caught.value).endswith("the end")


def test_a_signal_that_ends_a_program_is_reported():
    with pytest.raises(ProviderError, match="exited with code -9"):
        python("import os; os.kill(os.getpid(), 9)")


@pytest.mark.parametrize("command", [["polyjudge-has-no-such-program"], [""], ["/"], ["a\0b"], ["./none/here"]])
def test_a_program_that_cannot_be_run_is_an_error_of_the_configuration(command):
    with pytest.raises(ConfigError, match="cannot be run"):
        run(*command)


def test_a_program_may_ignore_its_stdin():
    assert python("print('done')", stdin="x" * 5_000_000).text == "done\n"
    assert python("import os; os.close(0); print('done')", stdin="x" * 5_000_000).text == "done\n"


def test_a_program_may_write_much_before_it_reads():
    code = "import sys; sys.stdout.write('a' * 3_000_000); sys.stdout.flush(); sys.stdout.write(sys.stdin.read())"

    assert python(code, stdin="b" * 3_000_000).text == "a" * 3_000_000 + "b" * 3_000_000


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_program_that_writes_without_end_is_ended(stream):
    with pytest.raises(ProviderError, match="wrote more than 10,000,000 bytes"):
        python(f"import sys\nwhile True: sys.{stream}.write('x' * 65536)")


def test_an_empty_answer_is_an_answer():
    assert python("pass", stdin="text").text == ""


@linux
def test_a_timeout_ends_the_program_and_its_children(tmp_path):
    with pytest.raises(TransientError, match="took longer than 3 seconds"):
        python(FAMILY, str(tmp_path / "ids"), timeout_s=3)

    family = (tmp_path / "ids").read_text(encoding="utf-8").split()
    assert len(family) == 2
    assert are_gone(family)


@linux
def test_a_cancellation_leaves_nothing_running(tmp_path):
    ids = tmp_path / "ids"

    async def cancelled():
        command = [sys.executable, "-c", FAMILY, str(ids)]
        task = asyncio.create_task(run_program(command, "", timeout_s=LONG_S))
        while not ids.exists():  # noqa: ASYNC110 - the other side is a process
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())

    assert are_gone(ids.read_text(encoding="utf-8").split())


@linux
def test_child_processes_end_with_their_program(tmp_path):
    code = (
        "import subprocess, sys; quiet = subprocess.DEVNULL;"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'],"
        " stdin=quiet, stdout=quiet, stderr=quiet); print(child.pid)"
    )

    assert are_gone(python(code).text.split())


def test_a_program_has_a_session_of_its_own_so_that_ctrl_c_is_ours():
    assert python("import os; print(os.getsid(0) == os.getpid())").text == "True\n"


def test_a_child_that_holds_the_pipes_does_not_block_and_ends_with_its_program():
    script = "import os, time\nprint('done', flush=True)\nif os.fork() == 0:\n    time.sleep(600)"

    output = asyncio.run(run_program([sys.executable, "-c", script], "", timeout_s=60))

    assert output.text == "done\n"
    assert output.duration_ms < 60_000


def test_a_program_sees_the_environment_given_and_no_other(monkeypatch):
    monkeypatch.setenv("SECRET_OF_OURS", "x")
    script = "import os; print(sorted(os.environ))"

    output = asyncio.run(run_program([sys.executable, "-c", script], "", timeout_s=60, environment={"ONE": "1"}))

    assert "ONE" in output.text
    assert "SECRET_OF_OURS" not in output.text
