"""The file of a run's rows: gone on with, and whole only under its own name."""

import pytest

from polyjudge.errors import DataError
from polyjudge.records.outcomes import JudgeResult, outcome_row
from polyjudge.store.run_file import RunFile

ROW = outcome_row("i0", JudgeResult(1.0, "fine"))


def beside(path):
    return sorted(file.name for file in path.parent.iterdir())


def test_a_run_that_is_gone_on_with_knows_when_it_was_begun(tmp_path):
    path = tmp_path / "r.jsonl"
    with RunFile(path, "f") as file:
        began = file.began
    with RunFile(path, "f") as file:
        assert file.began == began
        file.append(ROW)
    with RunFile(path, "f") as file:
        assert file.began == began
        assert [item_id for item_id, _ in file.rows()] == ["i0"]
        file.finish()

    assert beside(path) == ["r.jsonl"]


def test_a_note_of_the_beginning_that_a_full_disk_left_empty_is_written_anew(tmp_path):
    (tmp_path / "r.jsonl.f.begun").write_bytes(b"")

    with RunFile(tmp_path / "r.jsonl", "f") as file:
        assert file.began
        assert (tmp_path / "r.jsonl.f.begun").read_text(encoding="ascii") == file.began


def test_a_run_that_was_killed_while_it_finished_is_finished_and_not_taken_for_the_next_one(tmp_path):
    """The note goes before the rows get their name; between the two there are rows without a note."""
    path = tmp_path / "r.jsonl"
    with RunFile(path, "f") as file:
        file.append(ROW)
    (tmp_path / "r.jsonl.f.begun").unlink()

    with RunFile(path, "f") as file:
        assert len(list(file.rows())) == 1
        file.finish()
    assert beside(path) == ["r.jsonl"]


def test_a_folder_that_is_removed_meanwhile_is_one_clear_error(tmp_path):
    path = tmp_path / "folder/r.jsonl"
    with RunFile(path, "f") as file:
        file.append(ROW)
        for left in path.parent.iterdir():
            left.unlink()
        path.parent.rmdir()
        with pytest.raises(DataError, match=r"r\.jsonl: cannot be written: No such file or directory"):
            file.finish()
