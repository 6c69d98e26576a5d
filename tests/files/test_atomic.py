"""Files are written whole or not at all."""

import stat

import pytest

from polyjudge.errors import DataError
from polyjudge.files.atomic import write_atomically
from polyjudge.files.json_lines import read_json_lines


def test_the_new_content_replaces_the_old(tmp_path, text):
    path = tmp_path / "deep" / "file.txt"
    for content in ("old", text):
        with write_atomically(path, force=True) as file:
            file.write(content)

    assert path.read_text(encoding="utf-8") == text
    assert [each.name for each in path.parent.iterdir()] == ["file.txt"]


def test_an_error_while_writing_leaves_the_old_content(tmp_path):
    path = tmp_path / "file.txt"
    path.write_text("old", encoding="utf-8")

    with pytest.raises(ZeroDivisionError), write_atomically(path, force=True) as file:
        file.write("half")
        raise ZeroDivisionError

    assert path.read_text(encoding="utf-8") == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["file.txt"]


def test_a_new_file_has_default_permissions(tmp_path):
    ordinary = tmp_path / "ordinary"
    ordinary.write_text("", encoding="utf-8")
    with write_atomically(tmp_path / "ours"):
        pass

    assert stat.S_IMODE((tmp_path / "ours").stat().st_mode) == stat.S_IMODE(ordinary.stat().st_mode)


def test_an_unwritable_path_is_an_error(tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")

    with pytest.raises(DataError, match="cannot be written"), write_atomically(tmp_path / "file" / "below"):
        pass


def test_json_lines_are_read_with_line_numbers(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"a": 1}\r\n\r\n{"a": 2}')

    assert list(read_json_lines(path)) == [(1, {"a": 1}), (3, {"a": 2})]


def test_invalid_utf8_is_an_error_with_its_position(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b'{"a": "\xff"}')

    with pytest.raises(DataError, match=r"rows\.jsonl: not UTF-8 text"):
        list(read_json_lines(path))
