"""The columns of a file are found once, and again when the file changes."""

import pytest

from polyjudge.errors import DataError
from polyjudge.formats.columns import TableOptions
from polyjudge.formats.items import ItemSource
from polyjudge.formats.row_files import KnownColumns, column_map

AS_IT_IS = TableOptions()


def test_the_columns_of_an_unchanged_file_are_found_once(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("key,mt\n1,x\n", encoding="utf-8")
    known = KnownColumns()

    assert known.of(path, AS_IT_IS) is known.of(path, TableOptions())
    assert known.of(path, AS_IT_IS) == column_map(path, AS_IT_IS)
    assert known.of(path, TableOptions({"candidate": "key"})).columns["candidate"] == "key"


def test_a_changed_file_is_read_again(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("id,mt\n1,x\n", encoding="utf-8")
    source = ItemSource(path)
    assert [item.candidate for item in source] == ["x"]

    path.write_text("id,other,output\n1,x,yes\n", encoding="utf-8")
    assert [item.candidate for item in source] == ["yes"]


def test_each_file_of_a_folder_has_its_own_columns(tmp_path):
    (tmp_path / "a.csv").write_text("id,mt\n1,x\n", encoding="utf-8")
    (tmp_path / "b.csv").write_text("id,output\n2,y\n", encoding="utf-8")
    known = KnownColumns()

    assert known.of(tmp_path, AS_IT_IS).columns["candidate"] == "mt"
    assert [item.candidate for item in ItemSource(tmp_path, known=known)] == ["x", "y"]


def test_a_missing_file_is_an_error_that_names_it(tmp_path):
    with pytest.raises(DataError, match=r"gone\.csv"):
        KnownColumns().of(tmp_path / "gone.csv", AS_IT_IS)


def test_with_a_limit_nothing_is_read_after_the_last_item(tmp_path):
    path = tmp_path / "a.jsonl"
    row = '{"id": "%d", "candidate": "x"}\n'
    path.write_text("".join(row % number for number in range(100)) + "{broken\n" + row % 0, encoding="utf-8")

    assert ItemSource(path, limit=100).survey().skipped == 0
    with pytest.raises(DataError, match="duplicate id '0'"):
        ItemSource(path, limit=101).survey()
    assert ItemSource(path, limit=7).survey().count == len(list(ItemSource(path, limit=7))) == 7
