"""The run file can be resumed, and has its final name only when it is complete."""

import pytest

from polyjudge.errors import DataError
from polyjudge.records.outcomes import Failure, Item, JudgeResult
from polyjudge.store.run_file import RunFile, read_outcomes

ITEM, OUTCOME = Item("i0", "a candidate"), JudgeResult(1.0, "fine")


def beside(path):
    return sorted(file.name for file in path.parent.iterdir())


def test_a_resumed_run_has_its_original_start_time(tmp_path):
    path = tmp_path / "r.jsonl"
    with RunFile(path, "f") as file:
        began = file.started_at
    with RunFile(path, "f") as file:
        assert file.started_at == began
        file.append(ITEM, OUTCOME)
    with RunFile(path, "f") as file:
        assert file.started_at == began
        assert [item_id for item_id, _ in file.stored()] == ["i0"]
        file.finish()

    assert beside(path) == ["r.jsonl"]


def test_an_empty_start_marker_is_written_again(tmp_path):
    (tmp_path / "r.jsonl.f.begun").write_bytes(b"")

    with RunFile(tmp_path / "r.jsonl", "f") as file:
        assert file.started_at
        assert (tmp_path / "r.jsonl.f.begun").read_text(encoding="ascii") == file.started_at


def test_a_run_killed_while_finishing_is_finished_and_not_resumed_as_another(tmp_path):
    """The start marker is deleted before the rows are renamed, so there can be rows without a marker."""
    path = tmp_path / "r.jsonl"
    with RunFile(path, "f") as file:
        file.append(ITEM, OUTCOME)
    (tmp_path / "r.jsonl.f.begun").unlink()

    with RunFile(path, "f") as file:
        assert len(list(file.stored())) == 1
        file.finish()
    assert beside(path) == ["r.jsonl"]


def test_a_folder_deleted_during_the_run_is_an_error(tmp_path):
    path = tmp_path / "folder/r.jsonl"
    with RunFile(path, "f") as file:
        file.append(ITEM, OUTCOME)
        for file_left in path.parent.iterdir():
            file_left.unlink()
        path.parent.rmdir()
        with pytest.raises(DataError, match=r"r\.jsonl: cannot be written: No such file or directory"):
            file.finish()


def test_a_file_that_is_deleted_during_the_run_is_written_again(tmp_path):
    path = tmp_path / "r.jsonl"
    with RunFile(path, "f") as file:
        file.append(ITEM, OUTCOME)
        file.partial.unlink()
        file.append(Item("i1", "another"), OUTCOME)
        file.finish()

    assert [item_id for item_id, _ in read_outcomes(path)] == ["i0", "i1"]
    assert beside(path) == ["r.jsonl"]


def test_a_file_that_is_replaced_during_the_run_has_the_rows_of_the_run(tmp_path):
    path = tmp_path / "r.jsonl"
    with RunFile(path, "f") as file:
        file.append(ITEM, OUTCOME)
        file.partial.unlink()
        file.partial.write_text("something else\n", encoding="utf-8")
        file.finish()

    assert [item_id for item_id, _ in read_outcomes(path)] == ["i0"]


def test_outcomes_stored_ahead_are_found_by_position_and_by_id(tmp_path):
    path = tmp_path / "r.jsonl"
    long = JudgeResult(2.0, "x" * 200_000)
    with RunFile(path, "f") as file:
        positions = [file.append_ahead(Item(f"i{number}", ""), long) for number in range(3)]
        file.append_ahead(Item("busy", ""), Failure("busy", "transient"))
        assert file.read_ahead(positions[1]) == long

    with RunFile(path, "f") as file:
        ahead = file.ahead()
        assert sorted(ahead) == ["i0", "i1", "i2"]
        assert ahead["i2"] == long


def test_an_unfinished_file_of_an_earlier_version_is_resumed_under_its_own_name(tmp_path):
    path = tmp_path / "r.jsonl"
    with RunFile(path, "old") as file:
        file.append(ITEM, OUTCOME)

    with RunFile(path, "new", legacy=["old"]) as file:
        assert [item_id for item_id, _ in file.stored()] == ["i0"]
        file.finish()
    assert beside(path) == ["r.jsonl"]


def test_exported_rows_are_deleted_with_the_files_beside_them(tmp_path):
    path = tmp_path / "scores.json"
    with RunFile(path, "f", is_exported=True) as file:
        file.append_ahead(ITEM, OUTCOME)
        file.append(ITEM, OUTCOME)
        path.write_text("[]", encoding="utf-8")
        file.finish()

    assert beside(path) == ["scores.json"]
    assert path.read_text(encoding="utf-8") == "[]"


def test_exported_rows_are_kept_while_there_are_failures_to_retry(tmp_path):
    path, other = tmp_path / "results.json", Item("i1", "another candidate")
    with RunFile(path, "f", is_exported=True, retries_failures=True) as file:
        began = file.started_at
        file.append(ITEM, Failure("no", "refused"))
        file.append(other, OUTCOME)
        file.finish()

    with RunFile(path, "f", is_exported=True, retries_failures=True) as file:
        assert file.started_at == began
        assert list(file.stored()) == []
        assert dict(file.ahead()) == {"i1": OUTCOME}
        file.append(ITEM, OUTCOME)
        file.append(other, OUTCOME)
        file.finish()
    assert beside(path) == []


def test_the_start_marker_of_an_earlier_version_is_used_even_without_rows(tmp_path):
    path = tmp_path / "scores.json"
    (tmp_path / "scores.json.old.begun").write_text("2026-01-01T00:00:00.000Z", encoding="ascii")

    with RunFile(path, "f", legacy=["old"], is_exported=True) as file:
        assert file.started_at == "2026-01-01T00:00:00.000Z"
    assert beside(path) == ["scores.json.f.begun", "scores.json.f.partial"]
