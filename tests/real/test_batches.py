"""`--batch` through the vendors' own SDKs, against a loopback server that speaks their batch APIs."""

import asyncio
import json
import math
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from tests.loopback.batch_server import BatchServer, Held
from tests.loopback.vendor_server import ServerThread

from polyjudge.batches.client import BatchLimits
from polyjudge.batches.journal import BatchJournal
from polyjudge.batches.provider import Batches
from polyjudge.batches.results import PollingPolicy
from polyjudge.cache.sqlite import JudgeCache
from polyjudge.cli import main
from polyjudge.errors import NotRecordedError, ProviderError, UnusableError
from polyjudge.files.json_lines import read_json_lines
from polyjudge.providers.budget import Budget
from polyjudge.providers.retrying import RetryPolicy
from polyjudge.records.calibration import JudgeIdentity
from polyjudge.records.cascades import CascadePlan, CascadeThresholds
from polyjudge.records.outcomes import Failure, JudgeResult, read_outcome_row
from polyjudge.records.requests import ModelName, Price, Request
from polyjudge.rubrics.loading import load_rubric
from polyjudge.rubrics.prompts import rubric_fingerprint
from polyjudge.store.cascade_plans import write_plan

SECRET = "sk-very-secret-key-0123456789"
MODELS = {"anthropic": "claude-opus-4-6", "openai": "gpt-4o", "google": "gemini-2.5-pro"}
PACKAGES = {"anthropic": "anthropic", "openai": "openai", "google": "google.genai"}
QUICK = PollingPolicy(
    first_wait_s=0.01, longest_wait_s=0.05, search_waits_s=(0.0, 0.01), retries=RetryPolicy(first_wait_s=0.01)
)
JOURNAL = Path(".polyjudge/batches")


@pytest.fixture
def server():
    with ServerThread(BatchServer()) as running:
        yield running


def addresses(server):
    keys = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GOOGLE_GENAI_API_KEY")
    return {
        "ANTHROPIC_BASE_URL": server.url,
        "POLYJUDGE_OPENAI_BASE_URL": f"{server.url}/v1",
        "GOOGLE_GEMINI_BASE_URL": server.url,
        **dict.fromkeys(keys, SECRET),
    }


@pytest.fixture(params=sorted(MODELS))
def vendor(request, server, monkeypatch, in_folder):
    """A vendor whose address is the loopback server."""
    pytest.importorskip(PACKAGES[request.param], reason=f"the SDK of {request.param} is not installed")
    for name, value in addresses(server).items():
        monkeypatch.setenv(name, value)
    return request.param


@pytest.fixture
def items(in_folder):
    def write(count):
        rows = ({"id": f"i{number}", "candidate": f"item-{number} ข้อความ", "source": "text"} for number in range(count))
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        Path("items.jsonl").write_text(text, encoding="utf-8")

    return write


def command(vendor, *options):
    judge = f"{vendor}/{MODELS[vendor]}"
    return ["score", "items.jsonl", "--rubric", "general", "--judge", judge, "--output", "r.jsonl", *options]


def batch(vendor, *options):
    return main(command(vendor, "--batch", *options))


def outcomes(path="r.jsonl"):
    return dict(read_outcome_row(row) for _, row in read_json_lines(Path(path)))


@contextmanager
def process(*arguments):
    """The command in a process of its own."""
    quiet = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    started = subprocess.Popen([sys.executable, "-m", "polyjudge", *arguments], **quiet)
    try:
        yield started
    finally:
        started.kill()
        started.communicate()


def wait_until(true):
    for _ in range(3000):
        if true():
            return
        time.sleep(0.01)
    raise AssertionError("it did not come about")


def number_in(prompt):
    return int(prompt.split("item-")[1].split()[0])


# What comes back


def test_a_batch_gives_the_rows_of_single_calls_at_half_the_price(vendor, server, items, capsys):
    items(7)
    server.faults.shuffled = True
    server.faults.polls = 1
    assert main(command(vendor, "--cache", "single.sqlite", "--output", "single.jsonl")) == 0
    expected_calls = server.single.asked

    assert batch(vendor) == 0

    assert server.single.asked == expected_calls
    assert (server.submits, len(server.handed_over), set(server.handed_over.values())) == (1, 7, {1})
    message = capsys.readouterr()
    assert "waiting for 1 batch: 0/7 requests done" in message.err
    assert "7 calls, 700 tokens in, 140 out" in message.out
    costs = [rows_without_times(path, "costUsd") for path in ("single.jsonl", "r.jsonl")]
    assert [row["provenance"]["costUsd"] for row in costs[1]] == pytest.approx(
        [row["provenance"]["costUsd"] / 2 for row in costs[0]]
    )
    assert rows_without_times("r.jsonl") == rows_without_times("single.jsonl")
    ids = {outcome.provenance.batch for outcome in outcomes().values()}
    assert ids == {f"batches/{each.id}" if vendor == "google" else each.id for each in server.batches.values()}


def test_a_batch_brings_the_token_probabilities_that_it_asks_for(vendor, server, items, capsys):
    items(2)
    server.single.verdict = lambda _: '{"score": 7, "reason": "", "subscores": {}}'
    rest = ', "reason": "", "subscores": {}}'
    server.single.tokens = lambda _: [('{"score": ', 0.0, {}), ("7", -0.25, {"70": -1.75}), (rest, 0.0, {})]
    assert batch(vendor, "--token-probabilities") == 0

    found = list(outcomes().values())
    if vendor == "anthropic":
        assert "does not give the probabilities of tokens" in capsys.readouterr().err
        assert [(each.expected_score, each.provenance.dropped) for each in found] == [(None, ("top_logprobs",))] * 2
        return
    assert [set(each.probabilities) for each in found] == [{"7", "70"}] * 2
    assert [each.expected_score for each in found] == pytest.approx([7 + 63 * 0.182426] * 2, abs=1e-4)


def test_a_cascade_asks_its_next_judge_in_a_second_batch(server, items, monkeypatch, in_folder):
    pytest.importorskip("openai", reason="the SDK of openai is not installed")
    for name, value in addresses(server).items():
        monkeypatch.setenv(name, value)
    items(6)
    rest = ', "reason": "", "subscores": {}}'
    server.single.verdict = lambda prompt: f'{{"score": {7 if number_in(prompt) % 2 else 70}{rest}'

    def tokens(text):
        own, other = ("7", "70") if '"score": 7,' in text else ("70", "7")
        sure = math.log(0.6 if own == "7" else 0.99)
        return [('{"score": ', 0.0, {}), (own, sure, {other: math.log(1 - math.exp(sure))}), (rest, 0.0, {})]

    server.single.tokens = tokens
    known = {
        "provider": "openai",
        "rubric": "general",
        "rubric_fingerprint": rubric_fingerprint(load_rubric("general")),
    }
    plan = CascadePlan(
        judges=tuple(JudgeIdentity(model=model, **known) for model in ("gpt-4o-mini", "gpt-4o")),
        token_probabilities=True, target=0.8, delta=0.1, languages=("",),
        groups={"": CascadeThresholds(thresholds=(0.9, 0.5), labels=9, answered=(4, 4), errors=0)},
    )  # fmt: skip
    write_plan(Path("plan.json"), plan)
    options = ["--judge", "openai/gpt-4o-mini,openai/gpt-4o", "--cascade", "plan.json"]
    assert batch("openai", *options) == 0

    found = outcomes()
    assert [each.answered_by for each in found.values()] == ["openai/gpt-4o-mini", "openai/gpt-4o"] * 3
    assert server.submits == 2
    assert sorted(len(each.requests) for each in server.batches.values()) == [3, 6]


def rows_without_times(path, *compared):
    rows = [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]
    for row in rows:
        row.pop("durationMs")
        for name in {"answeredAt", "batch", "costUsd"} - set(compared):
            row["provenance"].pop(name, None)
    return rows


def test_cached_replies_are_used_whether_from_single_calls_or_batches(vendor, server, items, capsys):
    items(4)
    assert main(command(vendor, "--limit", "2")) == 0
    assert batch(vendor) == 0
    assert len(server.handed_over) == 2
    assert [outcome.cached for outcome in outcomes().values()] == [True, True, False, False]
    expected_calls = server.single.asked

    assert main(command(vendor)) == 0
    assert batch(vendor) == 0

    assert (server.single.asked, server.submits) == (expected_calls, 1)
    assert "0 calls" in capsys.readouterr().out.splitlines()[-3]


def test_a_dry_run_shows_half_the_price_and_submits_nothing(vendor, server, items, capsys):
    items(4)
    estimates = []
    for more in ((), ("--batch",)):
        assert main(command(vendor, "--dry-run", "--format", "json", *more)) == 0
        estimates.append(json.loads(capsys.readouterr().out)["cost_usd"])

    assert estimates[1] == pytest.approx(estimates[0] / 2)
    assert not server.calls
    assert not JOURNAL.exists()


def test_a_given_price_is_halved_too(vendor, server, items, capsys):
    items(1)

    assert batch(vendor, "--price", "10,100", "--format", "json") == 0
    assert json.loads(capsys.readouterr().out)["spent"]["cost_usd"] == pytest.approx((100 * 10 + 20 * 100) / 2 / 1e6)


TROUBLES = {0: "refused", 1: "overloaded", 2: "expired", 3: "canceled", 4: "missing"}
KINDS = {0: "refused", 1: "transient", 2: "transient", 3: "transient", 4: "provider_error"}


def test_failed_items_are_failures_and_can_be_retried_without_a_batch(vendor, server, items, capsys):
    items(8)
    server.faults.becomes = lambda prompt: TROUBLES.get(number_in(prompt), "")

    assert batch(vendor) == 3
    assert "62.5% of the items could not be judged" in capsys.readouterr().err
    # Gemini says nothing of what expired or was canceled within a batch that ended well.
    kinds = {**KINDS, 2: "provider_error", 3: "provider_error"} if vendor == "google" else KINDS
    for number, kind in kinds.items():
        failure = outcomes()[f"i{number}"]
        assert isinstance(failure, Failure)
        assert failure.kind == kind
        assert len(failure.provenance.prompt_sha256) == 64
        assert number in (0, 1) or server.batches[f"{vendor}-1"].id in failure.reason
    assert all(isinstance(outcomes()[f"i{number}"], JudgeResult) for number in (5, 6, 7))

    assert main(command(vendor, "--retry-failures")) == 0

    assert server.submits == 1
    assert server.single.asked == 5
    assert {number_in(json.dumps(body, ensure_ascii=False)) for body in server.single.bodies} == set(TROUBLES)
    assert all(isinstance(outcome, JudgeResult) for outcome in outcomes().values())
    assert [bool(outcome.provenance.batch) for outcome in outcomes().values()] == [False] * 5 + [True] * 3


def test_failed_items_can_be_retried_in_a_new_batch(vendor, server, items, capsys):
    items(4)
    server.faults.becomes = lambda prompt: "overloaded" if number_in(prompt) < 2 else ""
    assert batch(vendor) == 3
    server.faults.becomes = lambda _: ""

    assert batch(vendor, "--retry-failures") == 0

    assert [len(held.requests) for held in server.batches.values()] == [4, 2]
    assert all(isinstance(outcome, JudgeResult) for outcome in outcomes().values())


@pytest.mark.parametrize(
    ("whole", "kind"), [("expired", "transient"), ("canceled", "transient"), ("failed", "refused")]
)
def test_finished_results_of_a_batch_that_ends_early_are_used(vendor, server, items, capsys, whole, kind):
    if vendor == "anthropic":
        pytest.skip("Anthropic's batches as a whole always end; single requests expire")
    items(6)
    server.faults.whole = whole
    server.faults.becomes = lambda prompt: "missing" if number_in(prompt) < 4 else ""

    assert batch(vendor) == 3

    failures = [outcome for outcome in outcomes().values() if isinstance(outcome, Failure)]
    assert len(failures) == (6 if whole == "failed" else 4)
    # Through its SDK Google does not say why a batch failed.
    assert {failure.kind for failure in failures} == {
        "provider_error" if (vendor, whole) == ("google", "failed") else kind
    }
    assert main(command(vendor, "--retry-failures")) == 0
    assert server.single.asked == len(failures)


def test_results_that_are_no_longer_stored_are_failures(server, items, monkeypatch, in_folder, capsys):
    pytest.importorskip("anthropic", reason="the SDK of anthropic is not installed")
    for name, value in addresses(server).items():
        monkeypatch.setenv(name, value)
    items(2)
    server.faults.whole = "failed"

    assert batch("anthropic") == 3
    assert {outcome.kind for outcome in outcomes().values()} == {"provider_error"}
    assert "no longer stores" in outcomes()["i0"].reason


@pytest.mark.parametrize(
    ("why", "message"),
    [
        (("model_not_found", "The model gpt-4o does not exist"), "gpt-5.5"),
        (("invalid_api_key", "x insufficient_quota"), "insufficient_quota"),
    ],
)
def test_a_batch_that_fails_because_of_the_model_or_the_credit_stops_the_run(
    server, items, monkeypatch, in_folder, capsys, why, message
):
    pytest.importorskip("openai", reason="the SDK of openai is not installed")
    for name, value in addresses(server).items():
        monkeypatch.setenv(name, value)
    items(2)
    server.faults.whole, server.faults.why = "failed", why

    assert batch("openai") == 3
    assert message in capsys.readouterr().err
    assert not Path("r.jsonl").exists()
    server.faults.whole = ""
    assert batch("openai") == 0
    assert server.submits == 2


def test_a_parameter_rejected_in_a_batch_is_left_out_of_the_next(vendor, server, items):
    items(3)
    server.single.faults.refused_parameters = ("temperature",)

    assert batch(vendor) == 0

    assert [len(held.requests) for held in server.batches.values()] == [3, 3]
    assert {outcome.provenance.dropped for outcome in outcomes().values()} == {("temperature",)}


def test_a_model_without_temperature_is_asked_without_it(server, items, monkeypatch, in_folder):
    pytest.importorskip("anthropic", reason="the SDK of anthropic is not installed")
    for name, value in addresses(server).items():
        monkeypatch.setenv(name, value)
    items(1)

    for model, version in (("claude-sonnet-5-5", "2026-10-21"), ("claude-opus-4-6", "2023-06-01")):
        assert main([*command("anthropic", "--batch"), "--judge", f"anthropic/{model}"]) == 0
        held = list(server.batches.values())[-1]
        assert held.headers["anthropic-version"] == version
        assert ("temperature" in held.requests[0][1]) == (model == "claude-opus-4-6")
        assert outcomes()["i0"].provenance.dropped == (() if model == "claude-opus-4-6" else ("temperature",))


def test_replies_that_were_cut_off_or_declined_are_failures_and_not_stored(vendor, server, items, capsys):
    if vendor == "openai":
        pytest.skip("the loopback server does not cut off responses")
    items(3)
    verdicts = {0: ('{"score": 5', "length"), 1: ("", "refusal")}
    whole = '{"score": 7, "reason": "r", "subscores": {}}'
    server.single.verdict = lambda prompt: verdicts.get(number_in(prompt), whole)

    assert batch(vendor) == 3
    assert [outcome.kind for outcome in outcomes().values() if isinstance(outcome, Failure)] == [
        "unreadable",
        "refused",
    ]
    assert outcomes()["i0"].raw == '{"score": 5'
    assert outcomes()["i0"].provenance.cost_usd > 0
    verdicts.clear()
    assert main(command(vendor, "--retry-failures")) == 0
    assert server.single.asked == 2


def test_an_item_with_a_lone_surrogate_fails_alone(vendor, server, in_folder, capsys):
    rows = [{"id": "bad", "candidate": "a\ud800b"}, *({"id": f"i{n}", "candidate": f"item-{n} x"} for n in range(5))]
    Path("items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

    assert batch(vendor) == 0
    assert outcomes()["bad"].kind == "provider_error"
    assert len(server.handed_over) == 5


def test_several_judges_and_repeats_are_asked_in_batches(server, items, monkeypatch, in_folder):
    for vendor, package in PACKAGES.items():
        pytest.importorskip(package, reason=f"the SDK of {vendor} is not installed")
    for name, value in addresses(server).items():
        monkeypatch.setenv(name, value)
    items(3)
    judges = ",".join(f"{vendor}/{model}" for vendor, model in MODELS.items())

    assert main([*command("openai", "--batch", "--repeats", "2"), "--judge", judges]) == 0

    assert sorted((held.vendor, len(held.requests)) for held in server.batches.values()) == [
        ("anthropic", 6), ("google", 6), ("openai", 6),
    ]  # fmt: skip
    outcome = outcomes()["i1"]
    assert [len(member.members) for member in outcome.members] == [2, 2, 2]
    assert outcome.provenance.batch == ""
    assert all(member.provenance.batch for member in outcome.members)
    assert not any(inner.cached for member in outcome.members for inner in member.members)


def test_a_run_without_output_file_prints_rows_and_can_be_repeated(vendor, server, items, capsys):
    items(3)
    server.faults.polls = 10**6
    to_stdout = [word for word in command(vendor, "--batch") if word not in ("--output", "r.jsonl")]
    assert main([*to_stdout, "--deadline", "1.5"]) == 3
    next(iter(server.batches.values())).polls_left = 0
    capsys.readouterr()

    assert main(to_stdout) == 0

    assert [json.loads(line)["id"] for line in capsys.readouterr().out.splitlines()] == ["i0", "i1", "i2"]
    assert server.submits == 1


def test_replies_lost_with_the_cache_are_fetched_again_without_cost(vendor, server, items):
    items(4)
    started_at = "2026-01-01T00:00:00.000Z"
    first = asyncio.run(ask_in_batches(vendor, started_at=started_at))
    Path("cache.sqlite").unlink()

    again = asyncio.run(ask_in_batches(vendor, started_at=started_at))

    assert [reply.text for reply in again] == [reply.text for reply in first]
    assert server.submits == 1


# Killed, interrupted, lost


def test_a_run_killed_between_submission_and_poll_can_be_resumed(vendor, server, items):
    items(5)
    server.faults.polls = 10**6
    with process(*command(vendor, "--batch")) as run:
        wait_until(lambda: server.calls["status"] >= 1)
        run.send_signal(signal.SIGKILL)
        run.wait()
    [held] = server.batches.values()
    held.polls_left = 0

    assert batch(vendor) == 0

    assert server.submits == 1
    assert len(outcomes()) == 5
    assert not any(outcome.cached for outcome in outcomes().values())


def test_a_run_killed_during_a_submission_finds_its_batch(vendor, server, items, capsys):
    items(5)
    server.faults.slow_answer_s = 60.0
    with process(*command(vendor, "--batch")) as run:
        wait_until(lambda: server.submits == 1)
        run.send_signal(signal.SIGKILL)
        run.wait()
    [job] = BatchJournal().jobs()
    assert (job.id, job.state_label) == ("", "submitting")
    server.faults.slow_answer_s = 0.0
    others = [Held(vendor, f"{vendor}-other-{n}", "m", "another", [("x", {})] * n, polls_left=9) for n in range(1, 5)]
    server.batches.update({held.id: held for held in others})

    assert batch(vendor) == 0

    assert "looking for 1 batch that may have been submitted" in capsys.readouterr().err
    assert (server.submits, set(server.handed_over.values()), len(server.handed_over)) == (5, {1}, 5)
    assert server.calls["list"] > 1  # it stood on a later page
    assert all(isinstance(outcome, JudgeResult) for outcome in outcomes().values())


def test_ctrl_c_leaves_the_batches_running_and_says_so(vendor, server, items, capsys):
    items(5)
    server.faults.polls = 10**6
    with process(*command(vendor, "--batch")) as run:
        wait_until(lambda: server.calls["status"] >= 1)
        run.send_signal(signal.SIGINT)
        _, message = run.communicate(timeout=30)
    assert run.returncode == 130
    assert "1 unfinished batch at the provider. Run the same command again to collect the results." in message
    assert "interrupted; 5 of 5 items were not judged" in message
    assert server.calls["cancel"] == 0
    [held] = server.batches.values()
    held.polls_left = 0

    assert batch(vendor) == 0
    assert server.submits == 1


def test_a_run_ended_by_its_deadline_can_be_resumed(vendor, server, items, capsys):
    items(2)
    server.faults.polls = 10**6

    assert batch(vendor, "--deadline", "1.5") == 3
    message = capsys.readouterr().err
    assert "the deadline" in message
    assert "1 unfinished batch at the provider" in message
    [held] = server.batches.values()
    held.polls_left = 0
    assert batch(vendor) == 0
    assert server.submits == 1


def test_a_second_concurrent_run_is_an_error(vendor, server, items, capsys):
    items(2)
    server.faults.polls = 10**6
    with process(*command(vendor, "--batch")):
        wait_until(lambda: server.calls["status"] >= 1)
        assert batch(vendor, "--output", "other.jsonl") == 2
        assert f"{JOURNAL}: another run of polyjudge is writing in this folder" in capsys.readouterr().err
        assert main(["batch", "list"]) == 0
    assert server.submits == 1


def test_a_batch_at_another_base_url_is_not_used(vendor, server, items, monkeypatch, capsys):
    items(3)
    server.faults.polls = 10**6
    assert batch(vendor, "--deadline", "1.5") == 3
    with ServerThread(BatchServer()) as other:
        for name, value in addresses(other).items():
            monkeypatch.setenv(name, value)
        assert main(["batch", "status"]) == 0
        assert "but the address in use is" in capsys.readouterr().out
        assert not other.calls
        assert batch(vendor) == 0
        assert (other.submits, server.submits) == (1, 1)


# Caps


def test_requests_beyond_a_cap_are_not_submitted(vendor, server, items, capsys):
    items(9)

    assert batch(vendor, "--max-calls", "4") == 3
    message = capsys.readouterr().err
    assert "stopped after 4 calls" in message
    assert "5 of 9 items were not judged" in message
    assert len(server.handed_over) == 4

    assert batch(vendor, "--max-calls", "5") == 0
    assert set(server.handed_over.values()) == {1}
    assert len(outcomes()) == 9


def test_the_cap_on_cost_is_kept(vendor, server, items, capsys):
    items(9)

    assert batch(vendor, "--price", "10,100", "--max-cost", "0.216", "--format", "json") == 3
    spent = json.loads(capsys.readouterr().out)["spent"]
    assert 0 < spent["cost_usd"] <= 0.216
    assert spent["calls"] == len(server.handed_over) < 9


# Secrets, and listing and cancelling batches


def test_the_key_is_sent_only_to_the_vendor(vendor, server, items):
    items(3)
    server.faults.becomes = lambda prompt: "refused" if number_in(prompt) == 0 else ""
    batch(vendor, "--max-unjudged", "1")

    assert server.keys == {SECRET}
    files = [file for file in Path().rglob("*") if file.is_file()]
    assert any(JOURNAL in file.parents for file in files)
    for file in files:
        assert SECRET.encode() not in file.read_bytes()


def test_batches_can_be_listed_polled_and_canceled(vendor, server, items, capsys):
    items(4)
    server.faults.polls = 10**6
    assert batch(vendor, "--deadline", "1.5") == 3
    [held] = server.batches.values()
    batch_id = f"batches/{held.id}" if vendor == "google" else held.id
    capsys.readouterr()

    assert main(["batch", "list"]) == 0
    listed = capsys.readouterr().out
    assert all(word in listed for word in [vendor, MODELS[vendor], batch_id, "running", "4"])
    assert main(["batch", "list", "--format", "json"]) == 0
    [row] = json.loads(capsys.readouterr().out)
    assert (row["provider"], row["id"], row["state"], row["requests"]) == (vendor, batch_id, "running", 4)
    assert main(["batch", "status", batch_id, "--format", "json"]) == 0
    [row] = json.loads(capsys.readouterr().out)
    assert (row["said"], row["asked"]) == ("running", True)

    assert main(["batch", "cancel", "--all"]) == 0
    assert "is being canceled" in capsys.readouterr().out
    assert server.calls["cancel"] == 1
    assert batch(vendor) == 3  # half of it was done until then
    kinds = [outcome.kind for outcome in outcomes().values() if isinstance(outcome, Failure)]
    assert kinds == ["transient"] * 2
    assert main(["batch", "status"]) == 0
    assert "No batches in" in capsys.readouterr().out
    assert main(["batch", "cancel", batch_id]) == 0
    assert "nothing to cancel" in capsys.readouterr().out


def test_a_batch_unknown_to_the_vendor_is_an_error(vendor, server, items, capsys):
    items(2)
    server.faults.polls = 10**6
    assert batch(vendor, "--deadline", "1.5") == 3
    server.batches.clear()
    capsys.readouterr()

    assert batch(vendor) == 3
    assert "does not know batch" in capsys.readouterr().err
    assert main(["batch", "status"]) == 3
    assert "does not know batch" in capsys.readouterr().out
    assert server.submits == 0


def test_a_rejected_key_stops_the_run_and_the_next_run_continues(vendor, server, items, monkeypatch, capsys):
    items(2)
    server.single.faults.keys = ("another",)

    assert batch(vendor) == 3
    assert "Check the key" in capsys.readouterr().err
    server.single.faults.keys = ()
    assert batch(vendor) == 0
    assert set(server.handed_over.values()) == {1}


# Trouble with the calls themselves, with shorter timeouts than those of the command


async def ask_in_batches(vendor, count=5, limits=None, started_at=""):
    requests = [Request(prompt=f"judge item-{number} x", model=MODELS[vendor]) for number in range(count)]
    with JudgeCache("cache.sqlite") as cache:
        batches = Batches(BatchJournal(), polling=QUICK, limits=limits, started_at=started_at)
        name, price = ModelName(vendor, MODELS[vendor]), Price(1.0, 1.0)
        provider = batches.open(name, cache=cache.replies, meter=Budget(), price=price, timeout_s=20.0)
        try:
            await batches.find_lost()
            more = True
            while more:
                batches.start_collecting()
                for request in requests:
                    with suppress(NotRecordedError):
                        await provider.complete(request)
                more = await batches.finish_collecting()
                await batches.wait(lambda _: None)
            return [await provider.complete(request) for request in requests]
        finally:
            await provider.aclose()


@pytest.mark.parametrize("what", ["submit", "upload", "status", "results", "list"])
@pytest.mark.parametrize("status", [429, 500, 529])
def test_every_call_is_retried(vendor, server, what, status):
    server.faults.statuses[what] = [status, status]
    if what == "list":
        server.faults.lost_answers = 1

    replies = asyncio.run(ask_in_batches(vendor))

    assert [f"because {number}" in reply.text for number, reply in enumerate(replies)] == [True] * 5
    assert set(server.handed_over.values()) == {1}


def test_a_batch_whose_submission_got_no_response_is_found(vendor, server):
    server.faults.lost_answers = 2
    server.faults.hidden_from_list = 1

    replies = asyncio.run(ask_in_batches(vendor, count=6, limits=BatchLimits(requests=2)))

    assert len(replies) == 6
    assert (server.submits, set(server.handed_over.values())) == (3, {1})


@pytest.mark.parametrize("what", ["upload", "status", "results", "list"])
@pytest.mark.parametrize("body", [b"<html>502</html>", b"{}", b"not json", b"null", b"[]"])
def test_a_malformed_response_is_retried_or_stops_the_run(vendor, server, what, body):
    server.faults.odd_bodies[what] = [body]
    if what == "list":
        server.faults.lost_answers = 1

    for _ in range(3):
        with suppress(UnusableError, ProviderError):
            replies = asyncio.run(ask_in_batches(vendor, started_at="2026-01-01T00:00:00.000Z"))
            break

    assert len(replies) == 5
    assert set(server.handed_over.values()) == {1}


def test_a_batch_whose_submission_got_a_malformed_response_is_found(vendor, server):
    server.faults.malformed_replies = 1

    asyncio.run(ask_in_batches(vendor))
    assert (server.submits, set(server.handed_over.values())) == (1, {1})


def test_a_submission_that_did_not_arrive_is_repeated(vendor, server):
    server.faults.unborn = 2

    asyncio.run(ask_in_batches(vendor))
    assert (server.submits, set(server.handed_over.values())) == (1, {1})


@pytest.mark.parametrize("count", [8, 9])  # torn within a line, and between two
def test_truncated_results_are_fetched_again(vendor, server, count):
    if vendor == "google":
        pytest.skip("Gemini's results are no lines")
    server.faults.torn_results = 1

    replies = asyncio.run(ask_in_batches(vendor, count=count))
    assert len(replies) == count


def test_batches_are_divided_at_the_limits_of_the_vendor(vendor, server):
    asyncio.run(ask_in_batches(vendor, count=7, limits=BatchLimits(requests=3)))

    assert [len(held.requests) for held in server.batches.values()] == [3, 3, 1]


def test_a_batch_that_turns_out_to_be_another_is_ignored(server, monkeypatch, in_folder):
    pytest.importorskip("anthropic", reason="the SDK of anthropic is not installed")
    for name, value in addresses(server).items():
        monkeypatch.setenv(name, value)
    theirs = {"model": "m", "messages": [{"role": "user", "content": "judge item-9 x"}]}
    server.faults.lost_answers = server.faults.unborn = 0
    # Ours is never submitted, and another program submits one of the same size at that time, which is running.
    server.batches["theirs"] = Held("anthropic", "theirs", "m", "", [("x", theirs)] * 5, polls_left=2)
    server.batches["ended"] = Held("anthropic", "ended", "m", "", [("x", theirs)] * 5)
    server.faults.unborn = 1

    replies = asyncio.run(ask_in_batches("anthropic"))

    assert len(replies) == 5
    assert set(server.handed_over.values()) == {1}
    [job, second] = BatchJournal().jobs()
    assert (job.foreign_ids, job.is_abandoned) == ({"theirs"}, True)
    assert second.stored_in


@pytest.mark.parametrize("malformed", ["nothing", "text", "list"])
def test_a_malformed_result_fails_alone(vendor, server, malformed):
    bodies = {"nothing": {}, "text": "what?", "list": [1]}
    outcomes_of = server.outcomes

    def outcomes(held):
        rows = outcomes_of(held)
        rows[1] = (rows[1][0], "", bodies[malformed])
        return rows

    server.outcomes = outcomes
    with pytest.raises((ProviderError, UnusableError)):
        asyncio.run(ask_in_batches(vendor, started_at="2026-01-01T00:00:00.000Z"))
    [job] = BatchJournal().jobs()
    assert job.stored_in
    assert [failure.kind for failure in job.failures.values()] in (["provider_error"], ["refused"], ["transient"])


def test_an_error_with_details_does_not_affect_other_items_of_a_google_batch(server, items, monkeypatch, in_folder):
    pytest.importorskip("google.genai", reason="the SDK of google is not installed")
    for name, value in addresses(server).items():
        monkeypatch.setenv(name, value)
    items(6)
    server.faults.becomes = lambda prompt: "refused" if number_in(prompt) == 2 else ""
    server.faults.details = [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "BAD"}]

    assert batch("google") == 0

    assert [outcome.kind for outcome in outcomes().values() if isinstance(outcome, Failure)] == ["refused"]
    assert set(server.handed_over.values()) == {1}


def test_a_run_without_a_key_leaves_no_files(vendor, server, items, monkeypatch, capsys):
    items(1)
    for name in addresses(server):
        if name.endswith("_KEY"):
            monkeypatch.delenv(name)

    assert batch(vendor) == 0
    assert "not set" in capsys.readouterr().err
    assert batch(vendor, "--require-judge") == 3
    assert not JOURNAL.exists()
    assert os.environ.get("OPENAI_API_KEY") is None
