"""The start-up time of the command line, relative to an interpreter that does nothing."""

import subprocess
import sys
import time

COMMANDS = {
    "python -c pass": ["-c", "pass"],
    "import polyjudge": ["-c", "import polyjudge"],
    "polyjudge --help": ["-m", "polyjudge", "--help"],
    "polyjudge cache --help": ["-m", "polyjudge", "cache", "--help"],
    "from polyjudge import RubricJudge": ["-c", "from polyjudge import RubricJudge"],
}


def run() -> None:
    print("start-up (least of 15 runs)")
    base = 0.0
    for name, arguments in COMMANDS.items():
        seconds = min(_seconds([sys.executable, *arguments]) for _ in range(15))
        base = base or seconds
        print(f"  {name:36} {seconds * 1000:6.1f} ms {seconds / base:5.1f} x")


def _seconds(command: list[str]) -> float:
    started = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - started
