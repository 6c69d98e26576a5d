"""`polyjudge score` after accidents and mistakes: links, pipes, lost terminals, and files of earlier runs."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from polyjudge.cli import main
from polyjudge.files.json_lines import read_json_lines
from polyjudge.records.outcomes import Failure, read_outcome_row


@pytest.fixture
def items(in_folder):
    def write(count):
        rows = ({"id": f"i{number}", "candidate": f"item-{number} text"} for number in range(count))
        path = in_folder / "items.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return path

    return write


@pytest.fixture
def score(server, monkeypatch, in_folder):
    monkeypatch.setenv("LOCAL_OPENAI_BASE_URL", f"{server.url}/v1")

    def run(*options, judge="local/m", output="r.jsonl"):
        where = ["--output", output] if output else []
        return main(["score", "items.jsonl", "--rubric", "general", "--judge", judge, *where, *options])

    return run


def outcomes(path="r.jsonl"):
    return [read_outcome_row(row) for _, row in read_json_lines(Path(path))]


def failures(path="r.jsonl"):
    return sum(isinstance(outcome, Failure) for _, outcome in outcomes(path))


def test_what_a_link_points_to_is_written_and_the_link_stays(items, score, in_folder):
    items(3)
    (in_folder / "there").mkdir()
    Path("r.jsonl").symlink_to(in_folder / "there" / "real.jsonl")

    assert score() == 0

    assert Path("r.jsonl").is_symlink()
    assert len(outcomes("there/real.jsonl")) == 3
    assert [path.name for path in (in_folder / "there").iterdir()] == ["real.jsonl"]


def test_devices_are_no_place_for_results(items, score, server, in_folder, capsys):
    items(1)
    Path("out").symlink_to("/dev/stdout")  # a file, where stdout is one

    assert score(output="out") == 2

    assert "not a regular file" in capsys.readouterr().err
    assert (server.asked, Path("out").is_symlink(), Path("/dev/stdout").is_symlink()) == (0, True, True)


def test_items_in_a_pipe_are_refused_and_not_waited_for(score, in_folder, capsys):
    os.mkfifo(in_folder / "items.jsonl")

    assert score() == 2
    assert "not a regular file; items are read more than once" in capsys.readouterr().err


def test_results_among_the_items_are_refused(server, score, in_folder, capsys):
    (in_folder / "items.jsonl").mkdir()
    (in_folder / "items.jsonl" / "a.jsonl").write_text('{"id": "a", "candidate": "text"}\n', encoding="utf-8")

    assert score(output="items.jsonl/r.jsonl") == 2

    assert "is in the folder of the items" in capsys.readouterr().err
    assert server.asked == 0


@pytest.mark.parametrize(
    ("number", "ignored", "code"),
    [(signal.SIGHUP, False, 130), (signal.SIGHUP, True, 0), (signal.SIGINT, True, 0)],
    ids=["lost terminal", "nohup", "background of a script"],
)
def test_a_signal_ends_a_run_in_order_unless_it_is_to_be_ignored(items, score, server, number, ignored, code):
    items(60)
    server.faults.latency_s = 0.05
    ignoring = ["sh", "-c", f'trap "" {number:d}; exec "$@"', "sh"] if ignored else []
    command = [sys.executable, "-m", "polyjudge", "score", "items.jsonl", "--rubric", "general", "--judge", "local/m"]
    with subprocess.Popen(
        [*ignoring, *command, "--output", "r.jsonl", "--concurrency", "4"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as run:
        while not server.asked:
            time.sleep(0.01)
        run.send_signal(number)
        assert run.wait(60) == code

    assert score() == 0
    assert server.asked == 60


def test_a_refresh_without_any_answer_does_not_count_as_started(items, score, server, monkeypatch, in_folder):
    items(5)
    address = os.environ["LOCAL_OPENAI_BASE_URL"]
    assert score() == 0
    time.sleep(0.01)
    monkeypatch.setenv("LOCAL_OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    assert score("--refresh") == 3
    monkeypatch.setenv("LOCAL_OPENAI_BASE_URL", address)
    assert sorted(path.name for path in in_folder.iterdir()) == [".polyjudge", "items.jsonl", "r.jsonl"]

    assert score("--refresh") == 0
    assert server.asked == 10


def test_asking_again_before_there_is_anything_leaves_nothing_behind(items, score, server, in_folder):
    items(40)
    assert score("--retry-failures") == 2
    server.faults.garbage = 0.3
    score("--max-unjudged", "1")
    failed, server.faults.garbage = failures(), 0.0
    assert failed

    assert score("--retry-failures") == 0

    assert (failures(), server.asked) == (0, 40 + failed)


def test_an_unfinished_refresh_does_not_replace_newer_results(items, score, server, in_folder):
    items(60)
    server.faults.garbage = 0.4
    score("--max-unjudged", "1")
    assert score("--retry-failures", "--max-calls", "3", "--concurrency", "1") == 3
    assert list(in_folder.glob("*.partial"))
    server.faults.garbage = 0.0
    assert score("--refresh") == 0
    assert failures() == 0

    assert score("--retry-failures") == 0

    assert failures() == 0


def test_failures_of_one_judge_are_not_asked_of_another(items, score, server, capsys):
    items(5)
    assert score() == 0

    assert score("--retry-failures", judge="local/another") == 2

    assert "the results are from local/m, not from this judge" in capsys.readouterr().err
    assert server.asked == 5


def test_a_run_resumes_only_at_the_same_address(items, score, server, monkeypatch):
    items(6)
    assert score("--max-calls", "3", "--concurrency", "1") == 3
    monkeypatch.setenv("LOCAL_OPENAI_BASE_URL", os.environ["LOCAL_OPENAI_BASE_URL"].replace("127.0.0.1", "localhost"))

    assert score() == 0

    assert len({outcome.provenance.base_url for _, outcome in outcomes()}) == 1


@pytest.mark.slow
def test_the_rate_of_a_resumed_run_counts_only_new_items(items, score, server, monkeypatch):
    items(400)
    assert score("--max-calls", "390") == 3
    server.faults.latency_s = 1.2
    command = [sys.executable, "-m", "polyjudge", "score", "items.jsonl", "--rubric", "general", "--judge", "local/m"]

    done = subprocess.run(
        [*command, "--output", "r.jsonl", "--concurrency", "1"], stderr=subprocess.PIPE, text=True, check=True
    )

    rates = [float(rate) for rate in re.findall(r"done, ([\d.]+)/s", done.stderr)]
    assert rates
    assert max(rates) < 5


@pytest.mark.slow
def test_calls_in_flight_at_the_deadline_are_not_repeated(items, score, server):
    items(60)
    server.faults.latency_s = 0.3
    assert score("--deadline", "1", "--concurrency", "4") == 3

    assert score("--concurrency", "60") == 0

    assert server.asked == 60


@pytest.mark.parametrize("cache", [[], ["--cache", "none"]])
def test_temporary_failures_are_asked_again_when_a_run_resumes(items, score, server, cache):
    items(10)
    assert score("--max-calls", "7", "--concurrency", "1", *cache) == 3
    for log in (*Path().glob("*.partial"), *Path().glob("*.ahead")):
        rows = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
        rows[2] = {"schemaVersion": 1, "id": "i2", "outcome": "failure", "reason": "busy", "kind": "transient"}
        rows[4] = {"schemaVersion": 1, "id": "i4", "outcome": "failure", "reason": "odd", "kind": "unreadable"}
        log.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

    assert score("--max-unjudged", "1", *cache) == 0

    failed = [item_id for item_id, outcome in outcomes() if isinstance(outcome, Failure)]
    assert [item_id for item_id, _ in outcomes()] == [f"i{number}" for number in range(10)]
    assert (failed, server.asked) == (["i4"], 11 if cache else 10)  # what was answered to i2 is in the cache


def test_damage_within_unfinished_rows_is_named_with_the_remedy(items, score, server, capsys):
    items(6)
    assert score("--max-calls", "4", "--concurrency", "1") == 3
    [partial] = Path().glob("*.partial")
    lines = partial.read_bytes().splitlines(keepends=True)
    partial.write_bytes(b"".join([lines[0], b"gar\x00bage\n", *lines[2:]]))
    capsys.readouterr()

    assert score() == 2

    assert re.search(r"partial:2: is not JSON: .*; delete the file to start again", capsys.readouterr().err)


def test_a_filter_that_lets_nothing_through_is_named(items, score, capsys):
    items(2)

    assert score("--filter", "nowhere=3") == 2
    assert "no items to judge: no row has nowhere=3. There is no column 'nowhere'" in capsys.readouterr().err
    assert score("--filter", "id=9") == 2
    assert "no items to judge: no row has id=9. Values of id: i0, i1" in capsys.readouterr().err
