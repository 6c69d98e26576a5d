"""Lines with byte offsets are the lines that Python reads, from any line on."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyjudge.errors import DataError
from polyjudge.files.json_lines import lines_from

PIECES = st.sampled_from(["a", "ข้อ", "👩🏽‍🚀", "\n", "\r", "\r\n", "\n\n", "\x85", "\u2028", "\x1c", " ", "\ufeff", ""])
TEXTS = st.lists(PIECES, max_size=30).map("".join)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("lines") / "text"


@given(TEXTS, st.booleans())
def test_lines_are_those_that_python_reads(path, text, marked):
    path.write_bytes(text.encode("utf-8-sig" if marked else "utf-8"))

    with path.open(encoding="utf-8-sig", newline="") as lines:
        assert [line for line, _ in lines_from(path)] == list(lines)


@given(TEXTS)
def test_reading_can_start_after_any_line(path, text):
    path.write_bytes(text.encode())
    lines = list(lines_from(path))

    for number, (_, end) in enumerate(lines):
        assert list(lines_from(path, end)) == lines[number + 1 :]
    assert not lines or lines[-1][1] == path.stat().st_size


@pytest.mark.parametrize("ending", ["\n", "\r", "\r\n"])
@pytest.mark.parametrize("length", [65_534, 65_535, 65_536, 200_000])
def test_lines_longer_than_a_chunk_are_read_whole(path, ending, length):
    text = f"{'x' * length}{ending}{'y' * length}{ending}z"
    path.write_bytes(text.encode())

    assert [line for line, _ in lines_from(path)] == list(io.StringIO(text, newline=""))


def test_invalid_utf8_is_an_error_with_its_byte(path):
    path.write_bytes(b"good\nba\xffd\n")

    with pytest.raises(DataError, match=r"text: not UTF-8 text \(invalid start byte at byte 7\)"):
        list(lines_from(path))
