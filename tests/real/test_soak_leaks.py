"""What a long life leaves open: no file, no thread, no task, and no more memory than a short one."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.loopback.vendor_server import Faults, Server, ServerThread
from tests.loopback.weather import Weather, timetable
from tests.real.soaking import Scoring, finished, write_items

ROOT = Path(__file__).parents[2]
MEASURED = """
import re, sys
from pathlib import Path
from polyjudge.cli import main
code = main()
print(re.search(r"VmHWM:\\s*(\\d+)", Path("/proc/self/status").read_text())[1], file=sys.stderr)
sys.exit(code)
"""
pytestmark = pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="what is open is counted in /proc")


def test_fifty_rounds_in_bad_weather_leave_nothing_open(tmp_path):
    hour = timetable(3, timeout_s=0.3)
    with Weather(Server(keep_bodies=False), hour, minute_s=0.2) as weather:
        environment = {**os.environ, "LOCAL_OPENAI_BASE_URL": f"{weather.server.url}/v1"}
        command = [
            sys.executable,
            "-W",
            "error::ResourceWarning",
            "-m",
            "tests.real.soak_rounds",
            str(tmp_path / "c.sqlite"),
            "50",
        ]
        pipe = subprocess.PIPE
        ended = finished(subprocess.Popen(command, cwd=ROOT, env=environment, stdout=pipe, stderr=pipe, text=True))

    assert (ended.code, ended.err) == (0, "")
    message = json.loads(ended.out)
    assert message["after"] == message["before"]
    assert message["whole"] >= 30


def test_ten_times_the_faulty_items_take_hardly_more_memory(tmp_path):
    faults = Faults(server_error=0.01, dropped=0.005, lost=0.005, odd=0.03, garbage=0.03)
    with ServerThread(Server(faults, keep_bodies=False)) as server:
        few, many = (_most_memory(tmp_path / str(count), server, count) for count in (2_000, 20_000))

    assert many - few <= 19_300, "kilobytes"


def _most_memory(folder, server, items):
    """Return the most kilobytes that a run had at once."""
    folder.mkdir()
    write_items(folder, items)
    options = ("--concurrency", "128")
    run = Scoring(server, folder, folder / "r.jsonl", folder / "c.sqlite", options, program=("-c", MEASURED))
    ended = run.run()
    assert (ended.code, len(run.rows())) == (0, items), ended
    return int(ended.error_lines[-1])
