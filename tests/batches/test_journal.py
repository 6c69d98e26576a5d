"""The journal of batches: on disk before anything is handed over, and readable after whatever happened."""

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


def intent(tag="pj1", moment="2026-11-15T10:00:00.000Z", **more):
    form = BatchForm(temperature=0.0, with_schema=True, dropped=("max_tokens",))
    made = {"provider": "openai", "base_url": "http://127.0.0.1:1/v1", "model": "gpt-5", "form": form, "keys": KEYS}
    return BatchIntent(tag=tag, created_at=moment, **{**made, **more})


def test_what_is_told_to_the_journal_is_read_back(journal):
    job = journal.intend(intent(most_tokens=7, most_cost_usd=0.5))
    cut_off = ItemFailure(kind="unkept", reply=Reply(text="half an ans", model="m", finish="length"))
    job.submitted("batch_1")
    job.ended("expired", ItemFailure(kind="transient", reason="expired"), 2)
    job.failed({KEYS[0]: ItemFailure(kind="refused", reason="no"), KEYS[1]: cut_off})
    job.taken("cache.sqlite")

    [read] = journal.jobs()

    assert read.intent == intent(most_tokens=7, most_cost_usd=0.5, keys=())
    assert read.read_keys() == KEYS
    assert all(key in read.keys for key in KEYS)
    assert (read.id, read.state, read.taken_into, read.unanswered) == ("batch_1", "expired", "cache.sqlite", 2)
    assert read.rest.reason == "expired"
    assert read.failures == {KEYS[0]: ItemFailure(kind="refused", reason="no"), KEYS[1]: cut_off}
    assert read.failed_items == 3
    assert read.told_state == "expired, taken in"


def test_jobs_come_oldest_first_and_say_how_far_they_came(journal):
    journal.intend(intent("pjb", "2026-11-15T12:00:00.000Z")).submitted("batch_2")
    journal.intend(intent("pja", "2026-11-15T13:00:00.000Z"))
    journal.intend(intent("pjc", "2026-11-15T11:00:00.000Z")).give_up("nobody has it")

    assert [(job.intent.tag, job.told_state) for job in journal.jobs()] == [
        ("pjc", "not handed over"),
        ("pjb", "running"),
        ("pja", "being handed over"),
    ]


def test_an_id_that_was_anothers_is_remembered_as_such(journal):
    job = journal.intend(intent())
    job.submitted("theirs")
    job.disown()
    job.submitted("ours")

    [read] = journal.jobs()

    assert (read.id, read.disowned) == ("ours", {"theirs"})


def test_a_record_that_was_torn_off_is_named_and_counts_as_not_written(journal):
    job = journal.intend(intent())
    job.submitted("batch_1")
    whole = job.path.read_bytes()
    job.taken("cache.sqlite")
    job.path.write_bytes(job.path.read_bytes()[:-9])

    assert [read.taken_into for read in journal.jobs()] == [""]  # a reader leaves it as it is
    with pytest.warns(UserWarning, match=r"pj1\.jsonl:3: the record is torn off"):
        [mended] = journal.jobs(mend=True)

    assert (mended.id, mended.taken_into) == ("batch_1", "")
    assert job.path.read_bytes() == whole
    mended.taken("cache.sqlite")
    assert [read.taken_into for read in journal.jobs(mend=True)] == ["cache.sqlite"]


@pytest.mark.parametrize(
    ("damage", "place"),
    [
        (lambda _: b"", "pj1.jsonl: holds no whole record"),
        (lambda data: data[:50], "pj1.jsonl: holds no whole record"),
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
def test_a_damaged_file_is_one_message_with_its_place(journal, damage, place):
    job = journal.intend(intent())
    job.submitted("batch_1")
    journal.intend(intent("pj2"))
    job.path.write_bytes(damage(job.path.read_bytes()))
    problems = []

    with pytest.raises(DataError, match="mend it, or remove it") as caught:
        list(journal.jobs(mend=True))
    assert place in str(caught.value)
    assert [job.intent.tag for job in journal.sound_jobs(problems)] == ["pj2"]
    assert len(problems) == 1
    assert place in problems[0]


@given(st.data())
def test_wherever_a_file_is_cut_off_it_is_read_or_named(tmp_path_factory, data):
    journal = BatchJournal(tmp_path_factory.mktemp("j"))
    job = journal.intend(intent())
    job.submitted("batch_1")
    job.failed({KEYS[0]: ItemFailure(kind="transient", reason="เกิน")})
    job.taken("c")
    whole = job.path.read_bytes()
    cut = data.draw(st.integers(0, len(whole)))
    job.path.write_bytes(whole[:cut])
    lines = whole[:cut].count(b"\n")

    if not lines:
        with pytest.raises(DataError):
            list(journal.jobs())
        return
    [read] = journal.jobs()
    assert (bool(read.id), len(read.failures), bool(read.taken_into)) == (lines > 1, int(lines > 2), lines > 3)


def test_only_one_run_hands_over_batches_from_a_folder(journal):
    with journal.only_writer(), pytest.raises(DataError, match="another run"), journal.only_writer():
        raise AssertionError("two writers")
    with journal.only_writer():
        journal.intend(intent())
    assert len(list(journal.jobs())) == 1


def test_a_folder_that_no_batch_came_into_is_gone(journal):
    with journal.only_writer():
        assert list(journal.jobs()) == []
    assert not journal.folder.exists()
    assert journal.sound_jobs([]) == []


def test_a_journal_that_cannot_be_written_is_one_message(journal):
    job = journal.intend(intent())
    Path(job.path).unlink()

    with pytest.raises(DataError, match="cannot be written"):
        job.submitted("batch_1")


def test_the_first_record_is_whole_json(journal):
    job = journal.intend(intent())

    assert json.loads(job.path.read_text(encoding="utf-8"))["event"] == "intended"


@given(st.lists(st.integers(0, 2**256 - 1), max_size=50), st.integers(0, 2**256 - 1))
def test_a_set_of_keys_knows_its_own_and_marks_each_once(numbers, other):
    written = [f"{number:064x}" for number in numbers]
    keys = KeySet(written)

    assert len(keys) == len(written)
    assert all(key in keys for key in written)
    assert (f"{other:064x}" in keys) == (f"{other:064x}"[:16] in {key[:16] for key in written})
    assert [keys.mark(key) for key in dict.fromkeys(key[:16] for key in written)] == [True] * len(
        {key[:16] for key in written}
    )
    assert not any(keys.mark(key) for key in written)
