"""The journal of batches is on disk before a batch is submitted, and readable after a kill at any time."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyjudge.batches.journal import BatchJournal
from polyjudge.errors import DataError
from polyjudge.files.spill import KeySet
from polyjudge.records.requests import BatchForm, BatchIntent, ItemFailure, Reply

KEYS = tuple(f"{number:064x}" for number in range(1, 2**256, 2**254))


@pytest.fixture
def journal(tmp_path):
    return BatchJournal(tmp_path / "batches")


def intent(tag="pj1", timestamp="2026-11-15T10:00:00.000Z", **more):
    form = BatchForm(temperature=0.0, with_schema=True, dropped=("max_tokens",))
    made = {"provider": "openai", "base_url": "http://127.0.0.1:1/v1", "model": "gpt-5", "form": form, "keys": KEYS}
    return BatchIntent(tag=tag, created_at=timestamp, **{**made, **more})


def test_every_record_of_the_journal_is_read_back(journal):
    job = journal.create(intent(most_tokens=7, most_cost_usd=0.5))
    cut_off = ItemFailure(kind="unkept", reply=Reply(text="half an ans", model="m", finish="length"))
    job.submitted("batch_1")
    job.ended("expired", ItemFailure(kind="transient", reason="expired"), 2)
    job.failed({KEYS[0]: ItemFailure(kind="refused", reason="no"), KEYS[1]: cut_off})
    job.stored("cache.sqlite")

    [read] = journal.jobs()

    assert read.intent == intent(most_tokens=7, most_cost_usd=0.5, keys=())
    assert read.read_keys() == KEYS
    assert all(key in read.keys for key in KEYS)
    assert (read.id, read.state, read.stored_in, read.missing_results) == ("batch_1", "expired", "cache.sqlite", 2)
    assert read.rest.reason == "expired"
    assert read.failures == {KEYS[0]: ItemFailure(kind="refused", reason="no"), KEYS[1]: cut_off}
    assert read.failed_items == 3
    assert read.state_label == "expired, results stored"


def test_batches_are_listed_oldest_first_with_their_state(journal):
    journal.create(intent("pjb", "2026-11-15T12:00:00.000Z")).submitted("batch_2")
    journal.create(intent("pja", "2026-11-15T13:00:00.000Z"))
    journal.create(intent("pjc", "2026-11-15T11:00:00.000Z")).abandon("not found at the provider")

    assert [(job.intent.tag, job.state_label) for job in journal.jobs()] == [
        ("pjc", "not submitted"),
        ("pjb", "running"),
        ("pja", "submitting"),
    ]


def test_an_id_of_another_batch_is_remembered(journal):
    job = journal.create(intent())
    job.submitted("theirs")
    job.mark_foreign()
    job.submitted("ours")

    [read] = journal.jobs()

    assert (read.id, read.foreign_ids) == ("ours", {"theirs"})


def test_an_incomplete_record_is_ignored_and_removed_with_a_warning(journal):
    job = journal.create(intent())
    job.submitted("batch_1")
    whole = job.path.read_bytes()
    job.stored("cache.sqlite")
    job.path.write_bytes(job.path.read_bytes()[:-9])

    assert [read.stored_in for read in journal.jobs()] == [""]  # a reader leaves it as it is
    with pytest.warns(UserWarning, match=r"pj1\.jsonl:3: removed an incomplete record"):
        [repaired] = journal.jobs(repair=True)

    assert (repaired.id, repaired.stored_in) == ("batch_1", "")
    assert job.path.read_bytes() == whole
    repaired.stored("cache.sqlite")
    assert [read.stored_in for read in journal.jobs(repair=True)] == ["cache.sqlite"]


@pytest.mark.parametrize(
    ("damage", "place"),
    [
        (lambda _: b"", "pj1.jsonl: no complete record of a batch"),
        (lambda data: data[:50], "pj1.jsonl: no complete record of a batch"),
        (lambda data: b"\0" * len(data) + b"\n", "pj1.jsonl:1: "),
        (lambda data: data.replace(b'"schemaVersion": 1', b'"schemaVersion": 9'), "pj1.jsonl:1: "),
        (lambda data: data.replace(KEYS[1].encode(), b"no key"), "pj1.jsonl:1: "),
        (lambda data: data.replace(b'"submitted"', b'"sublimated"'), "pj1.jsonl:2: "),
        (lambda data: data + b'{"event": "item"}\n', "pj1.jsonl:3: "),
        (lambda data: data + b"[]\n", "pj1.jsonl:3: "),
        (lambda data: data + b"\n", "pj1.jsonl:3: "),
        (lambda data: data.replace(KEYS[1].encode(), b"-" + KEYS[1].encode()), "pj1.jsonl:1: "),
        (lambda data: data.replace(b"2026-11-15T10:00:00.000Z", b"yesterday"), "pj1.jsonl:1: "),
        (lambda data: data.replace(b"2026-11-15T10:00:00.000Z", b"2026-11-15T10:00:00"), "pj1.jsonl:1: "),
        (
            lambda data: data.replace(b'"mostCostUsd": 0.0', b'"mostCostUsd": NaN'),
            "pj1.jsonl:1: ",
        ),
        (lambda data: data.replace(b'"mostTokens": 0', b'"mostTokens": -1'), "pj1.jsonl:1: "),
        (lambda data: data.replace(b'"batch_1"', b'"../../v1/files"'), "pj1.jsonl:2: "),
        (lambda data: data.replace(b'"batch_1"', b'"https://elsewhere/x"'), "pj1.jsonl:2: "),
        (lambda data: data.replace(b'"batch_1"', b'"\\u001b[31m"'), "pj1.jsonl:2: "),
        (lambda data: data.replace(b'"batch_1"', b'"' + b"x" * 1000 + b'"'), "pj1.jsonl:2: "),
        (lambda data: data + b'{"event": "ended", "state": "well", "unanswered": 1, "rest": {}}\n', "pj1.jsonl:3: "),
        (lambda data: data + b'{"event": "ended", "state": "ended", "unanswered": 1e999}\n', "pj1.jsonl:3: "),
    ],
)
def test_a_damaged_file_is_an_error_with_path_and_line(journal, damage, place):
    job = journal.create(intent())
    job.submitted("batch_1")
    journal.create(intent("pj2"))
    job.path.write_bytes(damage(job.path.read_bytes()))
    problems = []

    with pytest.raises(DataError, match="repair or delete this file") as caught:
        list(journal.jobs(repair=True))
    assert place in str(caught.value)
    assert [job.intent.tag for job in journal.readable_jobs(problems)] == ["pj2"]
    assert len(problems) == 1
    assert place in problems[0]


@given(st.data())
def test_a_file_truncated_anywhere_is_read_or_is_an_error(tmp_path_factory, data):
    journal = BatchJournal(tmp_path_factory.mktemp("j"))
    job = journal.create(intent())
    job.submitted("batch_1")
    job.failed({KEYS[0]: ItemFailure(kind="transient", reason="เกิน")})
    job.stored("c")
    whole = job.path.read_bytes()
    cut = data.draw(st.integers(0, len(whole)))
    job.path.write_bytes(whole[:cut])
    lines = whole[:cut].count(b"\n")

    if not lines:
        with pytest.raises(DataError):
            list(journal.jobs())
        return
    [read] = journal.jobs()
    assert (bool(read.id), len(read.failures), bool(read.stored_in)) == (lines > 1, int(lines > 2), lines > 3)


def test_only_one_run_can_submit_batches_from_a_folder(journal):
    with journal.writer_lock(), pytest.raises(DataError, match="another run"), journal.writer_lock():
        raise AssertionError("two writers")
    with journal.writer_lock():
        journal.create(intent())
    assert len(list(journal.jobs())) == 1


def test_an_empty_journal_folder_is_removed(journal):
    with journal.writer_lock():
        assert list(journal.jobs()) == []
    assert not journal.folder.exists()
    assert journal.readable_jobs([]) == []


def test_a_journal_that_cannot_be_written_is_an_error(journal):
    job = journal.create(intent())
    Path(job.path).unlink()

    with pytest.raises(DataError, match="cannot be written"):
        job.submitted("batch_1")


def test_the_first_record_is_valid_json(journal):
    job = journal.create(intent())

    assert json.loads(job.path.read_text(encoding="utf-8"))["event"] == "intended"


@given(st.lists(st.integers(0, 2**256 - 1), max_size=50), st.integers(0, 2**256 - 1))
def test_a_set_of_keys_contains_its_keys_and_marks_each_once(numbers, other):
    written = [f"{number:064x}" for number in numbers]
    keys = KeySet(written)

    assert len(keys) == len(written)
    assert all(key in keys for key in written)
    assert (f"{other:064x}" in keys) == (f"{other:064x}"[:16] in {key[:16] for key in written})
    assert [keys.mark(key) for key in dict.fromkeys(key[:16] for key in written)] == [True] * len(
        {key[:16] for key in written}
    )
    assert not any(keys.mark(key) for key in written)
