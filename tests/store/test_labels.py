"""Labels on disk: no label is lost, and the newest label of each person counts."""

import json
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from polyjudge.errors import DataError
from polyjudge.records.codec import schema
from polyjudge.store.labels import Label, LabelLog, label_row, newest_labels, newest_rows, read_labels


def said(item="a", label=4, annotator="Ada", **more):
    return Label(id=item, label=label, annotator=annotator, labelled_at="2026-01-01T00:00:00.000Z", **more)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "deep" / "labels.jsonl"


LABELS = st.builds(
    Label,
    id=st.text(min_size=1),
    language=st.sampled_from(["", "th", "zh-Hans"]),
    label=st.sampled_from([1, 3.5, 5, "pass", "fail", None]),
    passed=st.sampled_from([None, True, False]),
    reason=st.just(""),
    note=st.text(),
    annotator=st.text(min_size=1),
    labelled_at=st.just("2026-01-01T00:00:00.000Z"),
    seconds=st.one_of(st.none(), st.floats(0, 1000)),
    weight=st.one_of(st.none(), st.floats(1, 1000)),
)


@given(st.lists(LABELS, max_size=5))
def test_a_label_survives_a_round_trip_and_fits_its_schema(tmp_path_factory, labels):
    log = LabelLog(tmp_path_factory.mktemp("labels") / "l.jsonl")
    for label in labels:
        log.append(label)
        Draft202012Validator(schema("label")).validate(label_row(label))

    assert log.labels() == labels
    log.close()


def test_a_row_is_on_disk_when_append_returns(path, text):
    log = LabelLog(path)
    log.append(said(note=text))

    assert json.loads(path.read_text(encoding="utf-8"))["note"] == text
    log.close()


@pytest.mark.parametrize("whole", [0, 2])
def test_an_incomplete_last_row_is_removed_wherever_it_ends(path, whole):
    log = LabelLog(path)
    for _ in range(whole + 1):
        log.append(said(note="ü"))
    log.close()
    content = path.read_bytes()
    row = len(content) // (whole + 1)
    for remaining in range(1, row - 1):  # one more, and only the line break is missing
        path.write_bytes(content[: whole * row + remaining])
        again = LabelLog(path)
        assert len(again.labels()) == whole
        again.append(said("b"))
        assert len(again.labels()) == whole + 1
        again.close()


def test_only_one_process_can_write(path):
    log = LabelLog(path)
    with pytest.raises(DataError, match="another polyjudge"):
        LabelLog(path)
    log.close()
    LabelLog(path).close()


SCORED = '{"schemaVersion": 1, "id": "a", "outcome": "result", "score": 4.0}'


@pytest.mark.parametrize(
    "content",
    ["id,label\na,pass", '{"id": "a", "label": 1}', '{"id": "a"}\n', "x\ny", SCORED, SCORED[:40], SCORED[:52]],
)
def test_a_file_of_another_kind_is_not_changed(tmp_path, content):
    path = tmp_path / "mine.csv"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(DataError, match="not a label file"):
        LabelLog(path)

    assert path.read_text(encoding="utf-8") == content


def test_an_empty_log_leaves_no_file(path):
    LabelLog(path).close()

    assert not path.exists()


def test_a_row_that_cannot_be_written_leaves_nothing(path):
    log = LabelLog(path)
    log.append(said())
    before = path.read_bytes()
    closed = os.dup(log._rows.descriptor)
    full = os.open("/dev/full", os.O_WRONLY)
    os.dup2(full, log._rows.descriptor)
    with pytest.raises(DataError, match="No space left"):
        log.append(said("b"))
    os.dup2(closed, log._rows.descriptor)
    log.append(said("c"))

    assert path.read_bytes().startswith(before)
    assert [label.id for label in log.labels()] == ["a", "c"]
    os.close(full)
    os.close(closed)
    log.close()


def test_the_newest_label_of_each_person_counts_unless_it_was_undone(path):
    log = LabelLog(path)
    for label in (
        said("a", 1),
        said("a", 5),
        said("a", 2, annotator="Ben"),
        said("b", 3),
        said("b", None, reason="undone"),
        said("c", None, reason="cannot read this language"),
    ):
        log.append(label)
    log.close()

    assert [(label.annotator, label.id, label.label) for label in read_labels(path)] == [
        ("Ada", "a", 5),
        ("Ben", "a", 2),
        ("Ada", "c", None),
    ]


def test_rows_of_other_kinds_are_unchanged():
    label = label_row(said("a", 1))
    rows = [(1, {"id": "a", "label": 3}), (2, label), (3, "is not JSON"), (4, {**label, "label": 2})]

    assert list(newest_rows(rows)) == [(1, {"id": "a", "label": 3}), (3, "is not JSON"), (4, {**label, "label": 2})]


def test_pass_and_fail_have_values_and_no_label_has_none():
    assert [said(label=label).value for label in ("pass", "fail", 3, None)] == [1, 0, 3, None]
    assert not said(label=None, passed=True).is_done
    assert said(label=None, reason="skipped").is_done
    assert newest_labels([said(), said(label=None, reason="undone")]) == {}


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ('{"schemaVersion": 1, "id": "a", "annotator": "x"}', "not a row of a label file"),
        ('{"schemaVersion": 1, "id": "a", "annotator": 5, "labelledAt": "t"}', "annotator"),
        ('{"schemaVersion": 1, "id": "a', "is not JSON"),
    ],
)
def test_an_invalid_row_is_an_error_with_its_line(path, row, words):
    path.parent.mkdir()
    path.write_text(json.dumps(label_row(said())) + f"\n{row}\n", encoding="utf-8")
    with pytest.raises(DataError, match=f"labels.jsonl:2: .*{words}"):
        read_labels(path)


def test_a_link_to_labels_is_followed_and_one_to_a_missing_file_elsewhere_is_not(tmp_path):
    (tmp_path / "big").mkdir()
    (tmp_path / "here").mkdir()
    (tmp_path / "big" / "labels.jsonl").touch()
    (tmp_path / "here" / "labels.jsonl").symlink_to(tmp_path / "big" / "labels.jsonl")
    (tmp_path / "here" / "trap.jsonl").symlink_to(tmp_path / "big" / "new")

    log = LabelLog(tmp_path / "here" / "labels.jsonl")
    assert log.path == (tmp_path / "big" / "labels.jsonl").resolve()
    log.close()
    with pytest.raises(DataError, match="this is a symbolic link to a file in another folder"):
        LabelLog(tmp_path / "here" / "trap.jsonl")
    assert not (tmp_path / "big" / "new").exists()
