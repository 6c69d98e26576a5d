"""Where there is no terminal, a line on stderr says at least every half minute that work continues."""

import json
import re
import time
from pathlib import Path

import pytest

from polyjudge.cli import main
from polyjudge.cli.progress import QUIET_S, Heartbeat, ProgressBar, StatusLine, clock_time
from polyjudge.records.runs import Spent


def lines(capsys):
    return capsys.readouterr().err.splitlines()


def test_the_promise_is_half_a_minute():
    assert QUIET_S < 30


def test_progress_is_printed_while_no_item_finishes(capsys):
    with ProgressBar(40, Spent(calls=1, in_flight=1), quiet_s=0.05):
        time.sleep(0.4)

    printed = lines(capsys)
    assert len(printed) >= 3
    assert printed[0] == "polyjudge: 0/40 done, 0.0/s, 1 in flight, 0 unjudged, 1 calls, 0:00 elapsed"


def test_nothing_is_printed_too_early_or_after_the_end_or_when_switched_off(capsys):
    with ProgressBar(40, Spent(), quiet_s=60), ProgressBar(40, Spent(), shown=False, quiet_s=0.01):
        time.sleep(0.1)
    with ProgressBar(40, Spent(), quiet_s=0.05):
        pass
    time.sleep(0.15)

    assert lines(capsys) == []


def test_no_heartbeat_is_printed_soon_after_another_line(capsys):
    with Heartbeat(lambda: "quiet", quiet_s=0.3) as heartbeat:
        for _ in range(10):
            time.sleep(0.05)
            heartbeat.note()

    assert lines(capsys) == []


def test_a_status_line_counts_and_shows_texts(capsys):
    with StatusLine(quiet_s=0.05) as status:
        status.count("languages read")
        time.sleep(0.2)
    assert lines(capsys)[0] == "polyjudge: 1 languages read, 0:00 elapsed"

    with StatusLine(delay_s=0.0, quiet_s=0.05) as status:
        status.show("waiting for 1 batch: 0/5 requests done")
        time.sleep(0.3)
    printed = lines(capsys)
    assert len(printed) >= 3
    assert set(printed) == {"polyjudge: waiting for 1 batch: 0/5 requests done, 0:00 elapsed"}


@pytest.mark.parametrize(("seconds", "shown"), [(0, "0:00"), (30.9, "0:30"), (605, "10:05"), (3723, "1:02:03")])
def test_the_elapsed_time_is_readable(seconds, shown):
    assert clock_time(seconds) == shown


def test_a_closed_stderr_does_not_end_the_work(monkeypatch):
    class Gone:
        def isatty(self):
            return False

        def write(self, _):
            raise BrokenPipeError

        def flush(self):
            raise BrokenPipeError

    monkeypatch.setattr("sys.stderr", Gone())
    with Heartbeat(lambda: "x", quiet_s=0.02):
        time.sleep(0.1)


@pytest.mark.slow
def test_a_command_whose_judge_is_slow_says_so_within_half_a_minute(server, monkeypatch, in_folder, capsys):
    monkeypatch.setenv("LOCAL_OPENAI_BASE_URL", f"{server.url}/v1")
    server.faults.latency_s = 27
    Path("items.jsonl").write_text(json.dumps({"id": "a", "candidate": "x"}) + "\n", encoding="utf-8")

    assert main(["score", "items.jsonl", "--rubric", "general", "--judge", "local/m", "--output", "r.jsonl"]) == 0

    printed = capsys.readouterr().err
    assert re.search(r"polyjudge: 0/1 done, 0.0/s, 1 in flight, 0 unjudged, 1 calls, 0:2\d elapsed", printed)
