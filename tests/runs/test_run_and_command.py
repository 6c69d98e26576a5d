"""A run started from Python is resumed by the command line, and the other way round."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from polyjudge.cli import main
from polyjudge.store.run_file import read_outcomes

COUNT = 300
SCRIPT = """
import sys
from polyjudge import Limits, RubricJudge, Run, read_items
judge = RubricJudge("general", model="local/m")
cache = None if sys.argv[1] == "none" else sys.argv[1]
run = Run(read_items("items.jsonl"), judge, output="scores.jsonl", cache=cache, limits=Limits(concurrency=4))
sys.exit(0 if run.execute().status == "finished" else 3)
"""


def from_python(cache):
    return [sys.executable, "-c", SCRIPT, cache]


def from_command_line(cache):
    command = [sys.executable, "-m", "polyjudge", "score", "items.jsonl", "--rubric", "general", "--judge", "local/m"]
    return [*command, "--output", "scores.jsonl", "--cache", cache, "--concurrency", "4"]


def rows_in(path):
    return [(item_id, outcome.score, outcome.reason) for item_id, outcome in read_outcomes(path)]


@pytest.mark.slow
@pytest.mark.parametrize("cache", ["none", ".polyjudge/cache.sqlite"])
@pytest.mark.parametrize(("first", "second"), [(from_python, from_command_line), (from_command_line, from_python)])
def test_a_killed_run_is_resumed_by_the_other(in_folder, server, monkeypatch, first, second, cache):
    monkeypatch.setenv("LOCAL_OPENAI_BASE_URL", f"{server.url}/v1")
    rows = [json.dumps({"id": str(number), "candidate": f"text {number}"}) for number in range(COUNT)]
    (in_folder / "items.jsonl").write_text("\n".join(rows) + "\n", encoding="utf-8")
    server.faults.latency_s = 0.005
    environment = dict(os.environ)
    with subprocess.Popen(first(cache), env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
        while sum(server.delivered.values()) < COUNT // 3:
            time.sleep(0.005)
        run.send_signal(signal.SIGKILL)
    assert not (in_folder / "scores.jsonl").exists()
    [partial] = in_folder.glob("scores.jsonl.*.partial")

    subprocess.run(second(cache), env=environment, check=True, capture_output=True)

    assert not partial.exists()
    assert sum(server.delivered.values()) <= COUNT + 4
    resumed = [
        (item_id, outcome.score, outcome.reason) for item_id, outcome in read_outcomes(in_folder / "scores.jsonl")
    ]
    undisturbed = ["score", "items.jsonl", "--rubric", "general", "--judge", "local/m", "--output", "other.jsonl"]
    assert main([*undisturbed, "--cache", "none"]) == 0
    whole = rows_in(in_folder / "other.jsonl")
    assert resumed == whole
    assert len(whole) == COUNT
