"""`polyjudge score` against a server on loopback: no item is lost, missing or paid for twice."""

import asyncio
import csv
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.loopback.vendor_server import USAGE

from polyjudge.cli import main
from polyjudge.files.json_lines import read_json_lines
from polyjudge.records.outcomes import Failure, JudgeResult, read_outcome_row

SECRET = "sk-very-secret-key-0123456789"


@pytest.fixture
def items(in_folder):
    def write(count, name="items.jsonl"):
        rows = (
            {
                "id": f"i{number}",
                "candidate": f"item-{number} ข้อความ",
                "source": "text",
                "language": "th",
                "label": "SECRET-LABEL",
            }
            for number in range(count)
        )
        path = in_folder / name
        path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
        return path

    return write


@pytest.fixture
def score(server, monkeypatch, in_folder):
    monkeypatch.setenv("LOCAL_OPENAI_BASE_URL", f"{server.url}/v1")
    monkeypatch.setenv("LOCAL_OPENAI_API_KEY", SECRET)

    def run(path, *options, judge="local/m"):
        return main(["score", str(path), "--rubric", "general", "--judge", judge, "--concurrency", "32", *options])

    return run


def outcomes(path):
    return [read_outcome_row(row) for _, row in read_json_lines(Path(path))]


@pytest.mark.slow
def test_two_thousand_items_in_every_kind_of_trouble_end_judged_or_with_their_reason(items, score, server, capsys):
    server.faults.rate_limited, server.faults.server_error = 0.05, 0.02
    server.faults.dropped, server.faults.garbage = 0.01, 0.01
    server.faults.retry_after = "0.05"

    assert score(items(2000), "--output", "r.jsonl") == 0

    rows = outcomes("r.jsonl")
    failures = [outcome for _, outcome in rows if isinstance(outcome, Failure)]
    assert [item_id for item_id, _ in rows] == [f"i{number}" for number in range(2000)]
    assert {number % 101 for number in range(2000)} == {
        outcome.score for _, outcome in rows if isinstance(outcome, JudgeResult)
    }  # fmt: skip
    assert all(int(item_id[1:]) % 101 == outcome.score for item_id, outcome in rows if isinstance(outcome, JudgeResult))
    assert 5 <= len(failures) <= 45
    assert {failure.kind for failure in failures} == {"unreadable"}
    assert all(failure.raw.startswith("I would rather") for failure in failures)
    # Every delivered reply was delivered once: none was asked for again.
    assert set(server.delivered.values()) == {1}
    assert len(server.delivered) == 2000


@pytest.mark.slow
def test_a_run_killed_twenty_times_ends_as_an_undisturbed_one_and_pays_for_little_more(items, server, in_folder):
    path = items(2000)
    environment = {**os.environ, "LOCAL_OPENAI_BASE_URL": f"{server.url}/v1"}
    in_flight = 8
    server.faults.latency_s = 0.01

    def start(output, cache):
        command = [sys.executable, "-m", "polyjudge", "score", str(path), "--rubric", "general", "--judge", "local/m"]
        options = ["--output", output, "--cache", cache, "--concurrency", str(in_flight)]
        quiet = subprocess.DEVNULL
        return subprocess.Popen([*command, *options], env=environment, stdout=quiet, stderr=quiet)

    assert start("calm.jsonl", "calm.sqlite").wait() == 0
    server.asked, server.in_flight, kills, seeded = 0, 0, 0, random.Random(3)
    while kills < 20:
        process = start("killed.jsonl", "killed.sqlite")
        before = server.asked
        while process.poll() is None and server.asked == before:
            time.sleep(0.005)
        time.sleep(seeded.uniform(0, 0.08))
        if process.poll() is None:
            kills += 1
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert start("killed.jsonl", "killed.sqlite").wait() == 0

    assert _without_times("killed.jsonl") == _without_times("calm.jsonl")
    assert server.asked <= 2000 + kills * in_flight
    assert not list(in_folder.glob("*.partial"))


def _without_times(path):
    rows = [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]
    for row in rows:
        for name in ("durationMs", "cached"):
            row.pop(name, None)
        for name in ("answeredAt", "attempts", "cached"):
            row["provenance"].pop(name, None)
    return rows


@pytest.mark.slow
def test_a_rate_limit_is_respected_with_few_refusals(items, score, server, capsys):
    """How much of the limit is used is tested in virtual time, with the pace itself."""
    server.faults.bucket_rate, server.faults.bucket_size = 200.0, 30.0
    server.faults.latency_s = 0.02

    assert score(items(2000), "--output", "r.jsonl") == 0
    assert server.limited / server.asked < 0.03
    assert set(server.delivered.values()) == {1}


def test_the_cap_on_spend_holds_and_the_run_can_be_resumed(items, score, server, capsys):
    path = items(300)
    options = ["--output", "r.jsonl", "--price", "10,100", "--concurrency", "50"]

    assert score(path, *options, "--max-cost", "0.5") == 3
    printed = capsys.readouterr().err
    spent = server.asked * (100 * 10 + 20 * 100) / 1e6
    assert 0 < spent <= 0.5
    assert "stopped at $" in printed
    assert "Run the same command again to resume." in printed
    assert not Path("r.jsonl").exists()

    assert score(path, *options, "--max-cost", "5") == 0
    assert len(outcomes("r.jsonl")) == 300
    assert set(server.delivered.values()) == {1}


def test_the_cap_on_calls_holds_and_a_run_can_be_finished_in_pieces(items, score, server, capsys):
    path = items(100)
    codes = [score(path, "--output", "r.jsonl", "--max-calls", "40") for _ in range(3)]

    assert codes == [3, 3, 0]
    assert server.asked == 100


def test_a_call_repeated_without_a_refused_parameter_counts_as_a_call(items, score, server, capsys):
    server.faults.refused_parameters = ("temperature",)

    assert score(items(30), "--output", "r.jsonl", "--max-calls", "10", "--concurrency", "4") == 3
    assert server.asked == 10


def test_garbage_leaves_the_mean_of_the_readable_and_too_much_of_it_is_exit_three(items, score, server, capsys):
    server.faults.garbage = 0.2
    path = items(500)

    assert score(path, "--output", "r.jsonl", "--max-unjudged", "0.1", "--format", "json") == 3
    summary = json.loads(capsys.readouterr().out)
    readable = [outcome.score for _, outcome in outcomes("r.jsonl") if isinstance(outcome, JudgeResult)]
    assert 60 < summary["unjudged"] < 140
    assert summary["mean"] == pytest.approx(sum(readable) / len(readable))
    assert summary["unjudged"] + summary["judged"] == 500
    assert score(path, "--output", "r.jsonl", "--max-unjudged", "0.5") == 0


def test_a_slow_first_item_leaves_no_hole_when_a_cap_is_reached(items, score, server, capsys):
    broken = {"item-0 "}

    async def trouble(request, body, model):
        return (500, "x") if any(piece in json.dumps(body) for piece in broken) else None

    server._trouble = trouble
    path = items(20)
    assert score(path, "--output", "r.jsonl", "--concurrency", "2", "--max-calls", "16") == 3
    broken.clear()
    assert score(path, "--output", "r.jsonl", "--concurrency", "2") == 0
    assert [item_id for item_id, _ in outcomes("r.jsonl")] == [f"i{number}" for number in range(20)]


def test_without_a_cache_answers_behind_a_slow_item_outlive_a_kill(items, server, in_folder):
    slow = True

    async def trouble(request, body, model):
        while slow and "item-0 " in json.dumps(body):  # noqa: ASYNC110 - the other side is a thread
            await asyncio.sleep(0.01)

    server._trouble = trouble
    environment = {**os.environ, "LOCAL_OPENAI_BASE_URL": f"{server.url}/v1"}
    command = [sys.executable, "-m", "polyjudge", "score", str(items(40)), "--rubric", "general", "--judge", "local/m"]
    command += ["--cache", "none", "--output", "r.jsonl", "--concurrency", "8"]
    process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
    (ahead,) = wait_for(lambda: list(in_folder.glob("*.ahead")))
    wait_for(lambda: ahead.read_text(encoding="utf-8").count("\n") == 39)
    process.kill()
    process.communicate()
    with ahead.open("a", encoding="utf-8") as file:
        file.write('{"schemaVersion": 1, "id": "tor')
    slow = False

    assert subprocess.run(command, env=environment, capture_output=True, check=False).returncode == 0
    assert [item_id for item_id, _ in outcomes("r.jsonl")] == [f"i{number}" for number in range(40)]
    assert sum(server.delivered.values()) <= 40 + 1  # the slow one was in flight at the kill
    assert [path.name for path in in_folder.glob("r.jsonl*")] == ["r.jsonl"]


def wait_for(condition):
    while not (found := condition()):
        time.sleep(0.01)
    return found


@pytest.mark.slow
def test_the_same_run_twice_at_once_is_refused(items, score, server, in_folder, capsys):
    server.faults.latency_s = 0.05
    path = items(60)
    environment = {**os.environ, "LOCAL_OPENAI_BASE_URL": f"{server.url}/v1"}
    command = [sys.executable, "-m", "polyjudge", "score", str(path), "--rubric", "general", "--judge", "local/m"]
    first = subprocess.Popen(
        [*command, "--output", "r.jsonl", "--concurrency", "1"], env=environment, stdout=subprocess.DEVNULL
    )
    while not server.asked:
        time.sleep(0.01)

    assert score(path, "--output", "r.jsonl") == 2
    assert "in another process" in capsys.readouterr().err
    assert first.wait() == 0
    assert len(outcomes("r.jsonl")) == 60


def test_replies_of_an_interrupted_refresh_are_not_asked_for_again(items, score, server, capsys):
    path = items(60)
    assert score(path, "--output", "r.jsonl") == 0
    server.delivered.clear()

    assert score(path, "--output", "r.jsonl", "--refresh", "--max-calls", "25") == 3
    assert score(path, "--output", "r.jsonl", "--refresh") == 0
    assert set(server.delivered.values()) == {1}
    assert len(server.delivered) == 60
    assert not list(Path().glob("*.begun"))


def test_unfinished_rows_that_do_not_fit_the_items_are_refused(items, score, server, in_folder, capsys):
    path = items(6)
    assert score(path, "--output", "r.jsonl", "--max-calls", "3", "--concurrency", "1") == 3
    [partial] = in_folder.glob("*.partial")
    partial.write_text("".join(partial.read_text(encoding="utf-8").splitlines(keepends=True)[1:]), encoding="utf-8")

    assert score(path, "--output", "r.jsonl") == 2
    assert "does not match the items" in capsys.readouterr().err


def test_failures_are_not_retried_over_changed_items(items, score, server, in_folder, capsys):
    path = items(3)
    score(path, "--output", "r.jsonl")
    path.write_text(path.read_text(encoding="utf-8").replace("item-1 ", "item-50 "), encoding="utf-8")

    assert score(path, "--output", "r.jsonl", "--retry-failures") == 0
    assert [outcome.score for _, outcome in outcomes("r.jsonl") if isinstance(outcome, JudgeResult)] == [0, 50, 2]
    assert server.asked == 4
    assert score(path, "--output", "r.jsonl", "--retry-failures", "--limit", "1") == 2
    assert len(outcomes("r.jsonl")) == 3


def test_outputs_that_would_destroy_something_are_refused_first(items, score, server, in_folder, capsys):
    path = items(3)
    (in_folder / "folder").mkdir()

    assert score(path, "--output", str(path)) == 2
    assert score(path, "--output", "folder") == 2
    assert server.asked == 0
    assert len(path.read_text(encoding="utf-8").splitlines()) == 3


def test_the_caps_hold_for_a_server_that_does_not_report_usage(items, score, server, capsys, monkeypatch):
    monkeypatch.setitem(USAGE, "in", None)

    assert (
        score(items(50), "--output", "r.jsonl", "--price", "1000,1000", "--max-cost", "20", "--concurrency", "1") == 3
    )
    assert server.asked <= 4


@pytest.mark.slow
@pytest.mark.parametrize("message", ["3600", "inf", "1e9"])
def test_a_wait_without_end_is_not_waited_for(items, score, server, message, capsys):
    server.faults.rate_limited, server.faults.retry_after = 1.0, message

    if message == "inf":
        server.faults.rate_limited = 0.5  # no wait is named that can be kept to, so our own is used
    assert score(items(3), "--output", "r.jsonl") == (0 if message == "inf" else 3)


def test_a_jury_with_a_rejected_member_stores_the_replies_of_the_others(items, score, server, capsys):
    server.faults.models, server.faults.latency_s = ("good",), 0.02

    assert score(items(10), "--output", "r.jsonl", judge="local/good,local/bad") == 3
    paid = sum(server.delivered.values())
    server.faults.models = ()
    assert score(items(10), "--output", "r.jsonl", judge="local/good,local/bad") == 0
    assert paid > 0
    assert set(server.delivered.values()) == {2}  # one prompt, two models: each was answered once


def test_all_models_of_an_address_share_its_concurrency(items, score, server, capsys):
    server.faults.latency_s = 0.01

    assert score(items(20), "--output", "r.jsonl", "--concurrency", "3", judge="local/a,local/b,local/c") == 0
    assert server.most_in_flight <= 3


@pytest.mark.parametrize("judge", ["local/a,local/a", "opus,local/a,anthropic/claude-opus-4-6"])
def test_a_jury_of_one_model_that_agrees_with_itself_is_refused(items, score, server, judge, capsys):
    assert score(items(2), "--output", "r.jsonl", judge=judge) == 2
    assert "twice" in capsys.readouterr().err
    assert server.asked == 0
    assert not Path("r.jsonl").exists()


def test_a_dry_run_knows_what_a_refresh_would_ask(items, score, server, capsys):
    path = items(5)
    score(path, "--output", "r.jsonl")
    capsys.readouterr()

    assert score(path, "--dry-run", "--refresh", "--format", "json") == 0
    assert json.loads(capsys.readouterr().out)["calls"] == 5


def test_a_provider_may_be_named_with_its_model_apart(items, score, server, capsys):
    assert score(items(2), "--output", "r.jsonl", "--judge-model", "gemma3:12b", judge="local") == 0
    assert server.bodies[0]["model"] == "gemma3:12b"


@pytest.mark.parametrize("share", [0.2, 1.0])
def test_a_judge_that_is_wholly_broken_never_exits_zero(items, score, server, share, capsys):
    server.faults.garbage = 1.0

    assert score(items(20), "--output", "r.jsonl", "--max-unjudged", str(share)) == 3


def test_a_server_that_is_not_there_stops_the_run_with_a_question(items, score, monkeypatch, capsys):
    monkeypatch.setenv("LOCAL_OPENAI_BASE_URL", "http://127.0.0.1:9/v1")

    assert score(items(2000), "--output", "r.jsonl") == 3
    assert "Is the server running?" in capsys.readouterr().err


@pytest.mark.parametrize("faults", [{"keys": ("another",)}, {"models": ("another",)}])
def test_a_rejected_key_or_an_unknown_model_stops_the_run_at_once(items, score, server, faults, capsys):
    for name, value in faults.items():
        setattr(server.faults, name, value)

    assert score(items(500), "--output", "r.jsonl") == 3
    printed = capsys.readouterr().err
    assert server.asked <= 64
    assert ("Check the key" if "keys" in faults else "has a model") in printed
    assert SECRET not in printed


@pytest.mark.slow
def test_no_key_appears_anywhere(items, server, in_folder):
    server.faults.server_error, server.faults.keys = 0.3, (SECRET, "other")
    environment = {**os.environ, "LOCAL_OPENAI_BASE_URL": f"{server.url}/v1"}
    (in_folder / ".env").write_text(f"# keys\nexport LOCAL_OPENAI_API_KEY='{SECRET}'\n", encoding="utf-8")
    command = [sys.executable, "-m", "polyjudge", "score", str(items(50)), "--rubric", "general", "--judge", "local/m"]

    process = subprocess.Popen(
        [*command, "--output", "r.jsonl"], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    arguments = ""
    while process.poll() is None:
        try:
            arguments += Path(f"/proc/{process.pid}/cmdline").read_text(encoding="utf-8")
        except OSError:
            break
        time.sleep(0.02)
    shown = "".join(process.communicate())
    server.faults.keys = ("other",)
    command += ["--cache", "none"]
    verbose = {**environment, "VERBOSE": "1"}
    refused = subprocess.run(command, env=verbose, capture_output=True, text=True, check=False)

    assert process.returncode == 0, shown
    assert server.headers[0]["Authorization"] == f"Bearer {SECRET}"
    assert "invalid api key" in refused.stderr
    for text in (shown, arguments, refused.stdout, refused.stderr):
        assert SECRET not in text
    for file in in_folder.rglob("*"):
        if file.is_file() and file.name != ".env":
            assert SECRET.encode() not in file.read_bytes(), file


def test_no_fragment_of_a_key_that_a_server_quotes_appears_anywhere(
    items, score, server, in_folder, monkeypatch, capsys
):
    monkeypatch.setenv("LOCAL_OPENAI_API_KEY", SECRET)

    async def trouble(request, body, model):
        return 400, f"bad key {SECRET[:9]}...{SECRET[-4:]}"

    server._trouble = trouble
    assert score(items(3), "--output", "r.jsonl") == 3
    printed = capsys.readouterr()
    for text in (printed.out, printed.err, Path("r.jsonl").read_text(encoding="utf-8")):
        assert SECRET[:9] not in text
        assert SECRET[-4:] not in text
    assert "bad key •••" in Path("r.jsonl").read_text(encoding="utf-8")


def test_ctrl_c_stores_finished_work_and_the_same_command_resumes(items, server, in_folder):
    server.faults.latency_s = 0.05
    environment = {**os.environ, "LOCAL_OPENAI_BASE_URL": f"{server.url}/v1"}
    command = [sys.executable, "-m", "polyjudge", "score", str(items(400)), "--rubric", "general", "--judge", "local/m"]
    options = ["--output", "r.jsonl", "--concurrency", "8"]

    pipe = subprocess.PIPE
    process = subprocess.Popen([*command, *options], env=environment, stderr=pipe, stdout=pipe, text=True)
    while sum(server.delivered.values()) < 100:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, printed = process.communicate(timeout=30)

    assert process.returncode == 130
    assert "polyjudge: interrupted;" in printed
    assert "Traceback" not in printed
    assert subprocess.run([*command, *options], env=environment, capture_output=True, check=False).returncode == 0
    # Nothing in flight at the interrupt was thrown away: each was given time to end, and is not asked for again.
    assert set(server.delivered.values()) == {1}
    assert server.asked == 400


def test_two_ctrl_cs_end_a_run_whose_calls_hang(items, server, in_folder):
    server.faults.hang = True
    environment = {**os.environ, "LOCAL_OPENAI_BASE_URL": f"{server.url}/v1"}
    command = [sys.executable, "-m", "polyjudge", "score", str(items(40)), "--rubric", "general", "--judge", "local/m"]
    process = subprocess.Popen([*command, "--output", "r.jsonl"], env=environment, stderr=subprocess.PIPE, text=True)
    while server.asked < 8:
        time.sleep(0.01)
    for _ in range(2):
        process.send_signal(signal.SIGINT)
        time.sleep(0.3)
    _, printed = process.communicate(timeout=30)

    assert process.returncode == 130
    assert "40 of 40 items were not judged" in printed


def test_a_deadline_ends_the_run_and_stores_what_was_done(items, score, server, capsys):
    server.faults.latency_s = 0.05
    path = items(2000)

    assert score(path, "--output", "r.jsonl", "--deadline", "1", "--concurrency", "8") == 3
    assert "stopped: the deadline of 1 seconds is reached" in capsys.readouterr().err
    done = sum(server.delivered.values())
    assert 0 < done < 500
    server.faults.latency_s = 0.0
    assert score(path, "--output", "r.jsonl", "--concurrency", "32") == 0
    assert sum(server.delivered.values()) <= 2000 + 8


def test_a_deadline_that_leaves_nothing_undone_does_not_fail_the_run(items, score, server, capsys):
    server.faults.latency_s = 1.0

    assert score(items(2), "--output", "r.jsonl", "--deadline", "0.3") == 0

    printed = capsys.readouterr()
    assert "2 of 2 judged" in printed.out
    assert "not judged" not in printed.err
    assert len(outcomes("r.jsonl")) == 2
    assert not list(Path().glob("r.jsonl.*"))


def test_ctrl_c_that_leaves_nothing_undone_does_not_fail_the_run(items, server, in_folder):
    server.faults.latency_s = 1.5
    environment = {**os.environ, "LOCAL_OPENAI_BASE_URL": f"{server.url}/v1"}
    command = [sys.executable, "-m", "polyjudge", "score", str(items(2)), "--rubric", "general", "--judge", "local/m"]
    process = subprocess.Popen([*command, "--output", "r.jsonl"], env=environment, stderr=subprocess.PIPE, text=True)
    while server.asked < 2:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, printed = process.communicate(timeout=30)

    assert process.returncode == 0
    assert "not reached" not in printed
    assert len(outcomes("r.jsonl")) == 2


def test_a_missing_key_is_a_soft_skip_after_the_input_was_checked(items, score, capsys, enabling):
    path = items(3)

    assert score(path, judge="openai") == 0
    assert capsys.readouterr().err == (
        f"OPENAI_API_KEY not set — skipping openai/gpt-5.\n{enabling('openai', 'OPENAI_API_KEY=sk-...')}"
    )
    assert score(path, "--require-judge", "--output", "r.jsonl", judge="openai") == 3
    assert not list(Path().glob("r.jsonl*"))
    assert score("absent.jsonl", judge="openai") == 2
    assert main(["score", str(path), "--rubric", "no-such-rubric", "--judge", "openai"]) == 2


def test_labels_never_reach_the_judge_and_only_the_named_columns_do(items, score, server, capsys):
    score(items(2), "--output", "r.jsonl")
    assert "SECRET-LABEL" not in json.dumps(server.bodies)
    assert "source:" in json.dumps(server.bodies)
    server.bodies.clear()

    score(items(2), "--output", "r.jsonl", "--context", "label")
    assert "SECRET-LABEL" in json.dumps(server.bodies)
    assert "source:" not in json.dumps(server.bodies)


def test_a_prompt_can_be_shown_without_asking(items, score, server, capsys):
    assert score(items(3), "--show-prompt", "i1", judge="opus") == 0
    assert "item-1" in capsys.readouterr().out
    assert server.asked == 0
    assert score(items(3), "--show-prompt", "i7") == 2


def test_a_dry_run_asks_nothing_and_says_what_it_would(items, score, server, capsys):
    path = items(30)
    score(path, "--output", "r.jsonl", "--limit", "10")
    capsys.readouterr()

    assert score(path, "--dry-run", "--format", "json") == 0
    estimate = json.loads(capsys.readouterr().out)
    assert (estimate["items"], estimate["calls"], estimate["cached"]) == (30, 20, 10)
    assert server.asked == 10
    assert score(path, "--dry-run", judge="opus") == 0
    assert "cost:     about $" in capsys.readouterr().out


def test_repeats_are_asked_and_their_spread_is_printed(items, score, server, capsys):
    replies = iter(range(1000))
    server.verdict = lambda _: json.dumps({"score": next(replies) % 3, "reason": ""})

    assert score(items(10), "--output", "r.jsonl", "--repeats", "3", "--concurrency", "1") == 0
    assert server.asked == 30
    assert "spread:   2.00" in capsys.readouterr().out
    [(_, first), *_] = outcomes("r.jsonl")
    assert isinstance(first, JudgeResult)
    assert (first.score, len(first.members)) == (1.0, 3)


def test_several_judges_are_a_jury(items, score, server, capsys):
    assert score(items(5), "--output", "r.jsonl", judge="local/a,local/b") == 0
    assert server.asked == 10
    [(_, first), *_] = outcomes("r.jsonl")
    assert isinstance(first, JudgeResult)
    assert first.model == "a, b"


def test_failures_alone_are_asked_again_on_request(items, score, server, capsys):
    path = items(100)
    server.faults.garbage = 0.3
    score(path, "--output", "r.jsonl", "--max-unjudged", "1")
    failed = sum(isinstance(outcome, Failure) for _, outcome in outcomes("r.jsonl"))
    server.faults.garbage, before = 0.0, server.asked

    assert score(path, "--output", "r.jsonl", "--retry-failures") == 0
    assert server.asked - before == failed > 0
    assert all(isinstance(outcome, JudgeResult) for _, outcome in outcomes("r.jsonl"))


def test_stored_replies_can_be_parsed_again_without_calls_or_a_key(items, score, server, capsys, monkeypatch):
    path = items(20)
    score(path, "--output", "r.jsonl")
    before = server.asked

    assert score(path, "--output", "again.jsonl", "--reread") == 0
    assert server.asked == before
    assert _without_times("again.jsonl") == _without_times("r.jsonl")


def test_a_finished_run_can_be_repeated_for_free_and_refresh_asks_again(items, score, server, capsys):
    path = items(20)
    for options, asked in (([], 20), ([], 20), (["--refresh"], 40), (["--cache", "none"], 60)):
        assert score(path, "--output", "r.jsonl", *options) == 0
        assert server.asked == asked


@pytest.mark.parametrize("kind", ["csv", "tsv"])
def test_items_may_come_in_other_kinds_of_files(score, server, in_folder, kind, text, capsys):
    path = in_folder / f"items.{kind}"
    rows = [{"id": "a", "candidate": f'{text} "quoted", item-3', "source": "x\ny"}]
    rows.append({"id": "b", "candidate": "item-4", "source": ""})
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, ["id", "candidate", "source"], delimiter="\t" if kind == "tsv" else ",")
        writer.writeheader()
        writer.writerows(rows)

    assert score(path, "--output", "r.jsonl") == 0
    assert [outcome.score for _, outcome in outcomes("r.jsonl") if isinstance(outcome, JudgeResult)] == [3, 4]
    assert text in "".join(body["messages"][-1]["content"] for body in server.bodies)


def test_filters_and_limits_choose_items(score, server, in_folder, capsys):
    languages = ["hi", "th"] * 5
    rows = [{"id": str(place), "candidate": f"item-{place}", "language": tag} for place, tag in enumerate(languages)]
    path = in_folder / "items.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

    assert score(path, "--output", "r.jsonl", "--filter", "language=th", "--limit", "3") == 0
    assert [item_id for item_id, _ in outcomes("r.jsonl")] == ["1", "3", "5"]
    assert score(path, "--filter", "language=xx") == 2
    assert score(path, "--filter", "language") == 2


def test_bad_rows_are_named_and_skipped_and_the_rest_is_used(score, in_folder, capsys):
    path = in_folder / "items.jsonl"
    lines = ['{"id": "a", "candidate": "item-1"}', "not json", '{"id": "b"}', '{"candidate": "x"}', "[1]"]
    path.write_text("\n".join(lines), encoding="utf-8")

    assert score(path, "--output", "r.jsonl") == 0
    printed = capsys.readouterr().err
    assert [f"items.jsonl:{line}:" in printed for line in (2, 3, 4, 5)] == [True] * 4
    assert len(outcomes("r.jsonl")) == 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"id": "a", "candidate": "x"}\n' * 2, "items.jsonl:2: duplicate id 'a', first at line 1"),
        ("", "no items to judge"),
        ("\n\n", "no items to judge"),
        ("not json\n", "no items to judge: items.jsonl:1: is not JSON"),
        (
            '{"id": "a", "candidate": "x"}\n{"id": "b", "id": "c", "candidate": "x"}\n',
            "items.jsonl:2: duplicate key 'id'",
        ),
    ],
)
def test_a_file_that_cannot_be_used_is_one_message(score, server, in_folder, content, message, capsys):
    Path("items.jsonl").write_text(content, encoding="utf-8")

    assert score("items.jsonl") == 2
    printed = capsys.readouterr().err
    assert message in printed
    assert server.asked == 0


def test_a_table_with_two_columns_of_one_name_is_refused(score, server, in_folder, capsys):
    Path("items.csv").write_text("id,candidate,id\na,x,b\n", encoding="utf-8")

    assert score("items.csv") == 2
    assert "items.csv:1: duplicate column 'id'; remove or rename one of the two" in capsys.readouterr().err
    assert server.asked == 0


def test_an_id_that_is_a_huge_number_is_kept_as_it_is_written(score, server, in_folder, capsys):
    Path("items.jsonl").write_text(
        '{"id": 1e400, "candidate": "x"}\n{"id": 2e400, "candidate": "y"}\n', encoding="utf-8"
    )

    assert score("items.jsonl", "--output", "r.jsonl") == 0
    assert [item_id for item_id, _ in outcomes("r.jsonl")] == ["1e400", "2e400"]


def test_rows_go_to_stdout_and_everything_else_to_stderr(items, score, capsys):
    assert score(items(5)) == 0
    shown = capsys.readouterr()
    assert [json.loads(line)["id"] for line in shown.out.splitlines()] == ["i0", "i1", "i2", "i3", "i4"]
    assert "5 of 5 judged" in shown.err


def test_the_project_file_sets_options_and_the_command_line_wins(items, score, server, in_folder, capsys):
    path = items(5)
    project = in_folder / "polyjudge.toml"
    settings = ["limit = 3", "[score]", 'output = "from-file.jsonl"', "max-unjudged = 0.5", 'filter = ["language=th"]']
    project.write_text("\n".join(settings), encoding="utf-8")

    assert score(path) == 0
    assert len(outcomes("from-file.jsonl")) == 3
    assert score(path, "--limit", "2", "--force") == 0
    assert len(outcomes("from-file.jsonl")) == 2
    for bad, message in {
        "[score]\nlimt = 3\n": "unknown key 'limt'",
        "limit = true\n": "limit must be text or a number",
        'concurrency = "many"\n': "must be a whole number",
        "refresh = 3\n": "refresh must be true or false",
        "x = \n": "not TOML",
        "score = 5\n": "score must be a table",
        "[[score]]\nlimit = 1\n": "score must be a table",
        'context = ["a", "b"]\n': "context takes one value",
        "deadline = [[1]]\n": "deadline must be a single value",
    }.items():
        project.write_text(bad, encoding="utf-8")
        assert score(path) == 2
        assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    "options",
    ["--limit 0", "--concurrency 0", "--max-unjudged 2", "--max-cost -1", "--rpm x", "--repeats 0", "--format xml"],
)
def test_wrong_usage_exits_with_two(items, score, options, capsys):
    with pytest.raises(SystemExit) as exited:
        score(items(1), *options.split())
    assert exited.value.code == 2


@pytest.mark.parametrize(
    "options",
    ["--price cheap", "--retry-failures", "--judge nosuch", "--judge ,", "--judge offline"],
)
def test_contradictory_options_exit_with_two(items, score, options, capsys):
    assert score(items(1), *options.split()) == 2
    assert capsys.readouterr().err.startswith("polyjudge: ")
