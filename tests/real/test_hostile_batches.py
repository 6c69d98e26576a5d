"""What a vendor may send back for a batch: nothing of it may be taken for another item's, lost, or repeat the key."""

import asyncio
import json
from pathlib import Path

import pytest
from tests.loopback.batch_server import BatchServer
from tests.loopback.vendor_server import ServerThread
from tests.real.test_batches import MODELS, PACKAGES, SECRET, addresses, ask_in_batches, batch, outcomes

from polyjudge.batches.journal import BatchJournal
from polyjudge.errors import ProviderError, UnusableError
from polyjudge.records.outcomes import Failure, JudgeResult


@pytest.fixture
def server():
    with ServerThread(BatchServer()) as running:
        yield running


@pytest.fixture(params=sorted(MODELS))
def vendor(request, server, monkeypatch, in_folder):
    """A vendor whose address is the loopback server."""
    pytest.importorskip(PACKAGES[request.param], reason=f"the SDK of {request.param} is not installed")
    for name, value in addresses(server).items():
        monkeypatch.setenv(name, value)
    return request.param


@pytest.fixture
def items(in_folder):
    rows = ({"id": f"i{number}", "candidate": f"item-{number} x", "source": "text"} for number in range(4))
    Path("items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def change_rows(server, change):
    """Have the server send other results: each row is a name, a kind of end, and a reply or a message."""
    rows_of = server.outcomes
    server.outcomes = lambda held: change(rows_of(held))


def files_with(secret):
    return [str(path) for path in Path().rglob("*") if path.is_file() and secret.encode() in path.read_bytes()]


def test_a_key_quoted_in_an_error_is_not_written_or_shown(vendor, server, items, capsys):
    change_rows(server, lambda rows: [(rows[0][0], "refused", f"the key {SECRET} may not do this"), *rows[1:]])

    assert batch(vendor, "--max-unjudged", "1") == 0

    failure = outcomes()["i0"]
    assert isinstance(failure, Failure)
    assert "may not do this" in failure.reason
    assert not files_with(SECRET)
    message = capsys.readouterr()
    assert SECRET not in message.out + message.err


def test_a_key_quoted_in_the_failure_of_a_batch_is_not_written(server, items, monkeypatch, capsys):
    pytest.importorskip("openai", reason="the SDK of openai is not installed")
    for name, value in addresses(server).items():
        monkeypatch.setenv(name, value)
    server.faults.whole = "failed"
    for code, reason in (("bad_file", f"the key {SECRET} is odd"), ("token_limit", f"the limit of {SECRET}")):
        server.faults.why = (code, reason)
        assert batch("openai", "--refresh") == 3
        assert not files_with(SECRET)
    message = capsys.readouterr()
    assert SECRET not in message.out + message.err


@pytest.mark.parametrize(
    "line",
    [
        b"no JSON",
        b"[]",
        b'{"custom_id": null}',
        b'{"custom_id": ""}',
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"custom_id": "x", "result": null, "response": 5}',
        b'{"custom_id": 5, "response": {"status_code": 1e999}}',
    ],
    ids=lambda line: repr(line[:20]),
)
def test_a_malformed_line_does_not_affect_the_others(vendor, server, line):
    if vendor == "google":
        pytest.skip("Gemini's results are no lines")
    jsonl = server._jsonl

    def with_line(rows):
        response = jsonl(rows)
        response.body = line + b"\n" + response.body
        return response

    server._jsonl = with_line

    assert len(asyncio.run(ask_in_batches(vendor))) == 5
    assert set(server.handed_over.values()) == {1}


def test_an_item_with_a_malformed_line_fails_alone(vendor, server):
    if vendor == "google":
        pytest.skip("Gemini's results are no lines")
    jsonl = server._jsonl

    def without_first(rows):
        response = jsonl(rows)
        first, _, rest = response.body.partition(b"\n")
        response.body = first[: len(first) // 2] + b"\n" + rest
        return response

    server._jsonl = without_first

    with pytest.raises(ProviderError, match="no result for this"):
        asyncio.run(ask_in_batches(vendor))
    [job] = BatchJournal().jobs()
    assert (job.state_label, job.failed_items) == ("ended, results stored", 1)


@pytest.mark.parametrize(
    "row",
    [
        None,
        5,
        {"metadata": {"key": 5}},
        {"metadata": {"key": ["a"]}, "error": 5},
        {"metadata": None, "response": {}},
        {"metadata": {}, "error": {"code": "x"}},
        {"metadata": {"key": "k"}, "error": {"code": 1e30, "message": 5}},
    ],
    ids=repr,
)
def test_a_malformed_row_of_gemini_does_not_affect_the_others(server, monkeypatch, in_folder, row):
    pytest.importorskip("google.genai", reason="the SDK of google is not installed")
    for name, value in addresses(server).items():
        monkeypatch.setenv(name, value)
    responses = server._google_responses
    server._google_responses = lambda held: [row, *responses(held)]

    assert len(asyncio.run(ask_in_batches("google"))) == 5
    assert set(server.handed_over.values()) == {1}


def test_two_different_results_for_one_request_are_a_failure(vendor, server, items):
    change_rows(server, lambda rows: [*rows, (rows[0][0], "", rows[2][2]), rows[1]])

    assert batch(vendor, "--max-unjudged", "1") == 0

    found = outcomes()
    assert isinstance(found["i0"], Failure)
    assert "two different results" in found["i0"].reason
    assert [found[name].score for name in ("i1", "i2", "i3")] == [1.0, 2.0, 3.0]


def test_results_with_unknown_names_are_ignored(vendor, server, items):
    change_rows(server, lambda rows: [(f"pj0000-{name}", kind, said) for name, kind, said in rows])

    assert batch(vendor) == 3
    assert {outcome.kind for outcome in outcomes().values()} == {"provider_error"}
    assert server.single.asked == 0


def test_additional_results_are_ignored(vendor, server, items):
    change_rows(server, lambda rows: [("another-1", "", rows[3][2]), *reversed(rows), ("another-2", "", rows[0][2])])

    assert batch(vendor) == 0
    assert all(isinstance(outcome, JudgeResult) for outcome in outcomes().values())
    assert [outcome.score for outcome in outcomes().values()] == [0.0, 1.0, 2.0, 3.0]


@pytest.mark.parametrize(
    "batch_id",
    [
        "../../v1/files",
        "a/b?x=1#y",
        "x\nHost: elsewhere",
        "\x1b[31m",
        "x" * 100_000,
        "http://127.0.0.1:9/x",
        "a\u202eb",
    ],
    ids=lambda batch_id: repr(batch_id)[:20],
)
def test_an_invalid_id_is_never_part_of_a_url(vendor, server, batch_id):
    name = f"_{vendor}_batch"
    batch_of = getattr(server, name)
    field = "name" if vendor == "google" else "id"
    setattr(server, name, lambda held: {**batch_of(held), field: batch_id})

    with pytest.raises((ProviderError, UnusableError)) as caught:
        asyncio.run(ask_in_batches(vendor))
    assert "\x1b" not in str(caught.value)
    assert not server.calls["status"]
    assert not server.calls["results"]
    assert {job.id for job in BatchJournal().jobs()} == {""}
