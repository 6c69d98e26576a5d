"""Tests that interrupt programs also pass under nohup and in the background of a script."""

import subprocess
import sys

SHOW = "import signal; print(*(signal.getsignal(each).name for each in (signal.SIGHUP, signal.SIGQUIT)))"
TESTS = f"""
import os, signal, subprocess, sys
from tests.conftest import pytest_configure
pytest_configure()
for number in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
    os.kill(os.getpid(), number)
subprocess.run([sys.executable, "-c", {SHOW!r}], check=True)
child = subprocess.Popen(["sleep", "60"])
child.send_signal(signal.SIGINT)
print(child.wait(20))
"""


def test_programs_start_with_default_signals_and_the_tests_go_on_ignoring_them():
    ignoring = ["sh", "-c", 'trap "" INT HUP QUIT; exec "$@"', "sh"]
    done = subprocess.run([*ignoring, sys.executable, "-c", TESTS], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == ["SIG_DFL SIG_DFL", "-2"]
