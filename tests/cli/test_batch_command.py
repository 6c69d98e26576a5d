"""`--batch` and `polyjudge batch` without a vendor: refused options, and the states in the journal."""

import json
from pathlib import Path

import pytest

from polyjudge.batches.journal import BatchJournal
from polyjudge.cli import main
from polyjudge.records.requests import BatchForm, BatchIntent, ItemFailure


@pytest.fixture
def score(in_folder):
    Path("items.jsonl").write_text('{"id": "a", "candidate": "text"}\n', encoding="utf-8")

    def run(*options, judge="anthropic/claude-opus-4-6"):
        return main(["score", "items.jsonl", "--rubric", "general", "--judge", judge, "--output", "r.jsonl", *options])

    return run


@pytest.mark.parametrize("judge", ["local/m", "claude", "openai/gpt-4o,local/m", "scripted/x.jsonl"])
def test_a_provider_without_batches_is_refused_before_anything_is_asked(score, judge, capsys):
    assert score("--batch", judge=judge) == 2
    message = capsys.readouterr().err
    assert "has no batch API. Providers with one: anthropic, google, openai." in message
    assert sorted(path.name for path in Path().iterdir()) == ["items.jsonl"]


@pytest.mark.parametrize(
    ("options", "judge", "message"),
    [
        (["--cache", "none"], "openai/gpt-4o", "Leave out --cache none"),
        (["--reread"], "openai/gpt-4o", "--batch has no effect with --reread"),
        (["--engine", "ray"], "openai/gpt-4o", "Leave out --engine ray"),
        ([], "offline", "'offline'"),
        ([], "nosuch/m", "Unknown provider or judge"),
    ],
)
def test_options_that_contradict_batches_are_refused(score, options, judge, message, capsys):
    assert score("--batch", *options, judge=judge) == 2
    assert message in capsys.readouterr().err
    assert not Path(".polyjudge/batches").exists()


def test_a_settings_file_may_ask_for_batches(score, capsys):
    for text in ("batch = true\n", "[score]\nbatch = true\n"):
        Path("polyjudge.toml").write_text(text, encoding="utf-8")
        assert score(judge="local/m") == 2
        assert "local has no batch API" in capsys.readouterr().err
        assert main(["batch", "list"]) == 0


def test_an_empty_journal_is_reported_as_empty(in_folder, capsys):
    assert main(["batch", "list"]) == 0
    assert main(["batch", "status"]) == 0
    assert capsys.readouterr().out.count("No batches in .polyjudge/batches.") == 2
    assert main(["batch", "list", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == []


@pytest.fixture
def jobs(in_folder):
    def create(tag, provider="anthropic", address="https://api.anthropic.com"):
        made = BatchIntent(
            tag=tag, provider=provider, base_url=address, model="m", created_at=f"2026-11-15T10:00:00.00{tag[-1]}Z",
            form=BatchForm(), keys=(f"{1:064x}", f"{2:064x}"),
        )  # fmt: skip
        return BatchJournal().create(made)

    return create


def test_all_batches_are_listed_with_their_last_known_state(jobs, capsys):
    stored = jobs("pj1")
    stored.submitted("batch_a")
    stored.ended("expired", ItemFailure(kind="transient", reason="expired"), 1)
    stored.failed({f"{1:064x}": ItemFailure(kind="refused", reason="no")})
    stored.stored("cache.sqlite")
    jobs("pj2").submitted("batch_b")
    jobs("pj3")

    assert main(["batch", "list"]) == 0
    shown = capsys.readouterr().out
    assert "\x1b" not in shown
    assert [word in shown for word in ("batch_a", "expired, results stored", "running", "submitting")] == [True] * 4
    assert main(["batch", "list", "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [(row["tag"], row["requests"], row["failed"]) for row in rows] == [
        ("pj1", 2, 2),
        ("pj2", 2, 0),
        ("pj3", 2, 0),
    ]


def test_a_damaged_file_is_named_and_the_others_are_shown(jobs, capsys):
    jobs("pj1").path.write_bytes(b"{not json}\n")
    jobs("pj2").submitted("batch_b")

    assert main(["batch", "list"]) == 0
    message = capsys.readouterr()
    assert "batch_b" in message.out
    assert "pj1.jsonl:1: invalid record of a batch" in message.err


def test_a_run_stops_at_a_damaged_file_with_one_message(score, jobs, capsys, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    jobs("pj1").path.write_bytes(b"{not json}\n")

    assert score("--batch") == 2
    message = capsys.readouterr().err
    assert "pj1.jsonl:1: invalid record of a batch" in message
    assert "repair or delete this file" in message
    assert "Traceback" not in message


def test_without_a_key_the_last_that_is_known_is_shown_and_nothing_is_canceled(jobs, capsys):
    jobs("pj1").submitted("batch_a")

    assert main(["batch", "status"]) == 0
    assert "ANTHROPIC_API_KEY not set" in " ".join(capsys.readouterr().out.split())
    assert main(["batch", "cancel", "batch_a"]) == 3
    assert "not set" in capsys.readouterr().out


def test_a_batch_at_another_address_is_not_asked_about(jobs, capsys, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    jobs("pj1", address="http://127.0.0.1:9").submitted("batch_a")

    assert main(["batch", "status", "--format", "json"]) == 0
    assert "but the address in use is" in json.loads(capsys.readouterr().out)[0]["said"]
    assert main(["batch", "cancel", "--all"]) == 3


def test_a_name_that_the_journal_does_not_know_lists_those_it_does(jobs, capsys):
    jobs("pj1").submitted("batch_a")

    for action in ("status", "cancel"):
        assert main(["batch", action, "batch_x"]) == 2
        assert "Unknown batch: batch_x. Available: batch_a" in capsys.readouterr().err
    assert main(["batch", "cancel"]) == 2
    assert "--all" in capsys.readouterr().err


def test_a_batch_that_may_have_been_submitted_is_shown(jobs, capsys):
    jobs("pj1")

    assert main(["batch", "status"]) == 0
    assert "submitting" in capsys.readouterr().out
    assert main(["batch", "cancel", "--all"]) == 3
    assert "pj1: may have been submitted" in capsys.readouterr().out


@pytest.mark.parametrize("judge", ["local/m", "local/another"])
def test_a_run_without_batches_warns_of_unfinished_ones(score, server, jobs, monkeypatch, capsys, judge):
    monkeypatch.setenv("LOCAL_OPENAI_BASE_URL", f"{server.url}/v1")
    jobs("pj1", provider="local", address=f"{server.url}/v1").submitted("batch_a")

    assert score(judge=judge) == 0

    is_warned = "batch batch_a of local/m is unfinished. Without --batch" in capsys.readouterr().err
    assert is_warned == (judge == "local/m")
