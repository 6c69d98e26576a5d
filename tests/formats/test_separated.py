"""The delimiter of a table is found, whatever is in its fields."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyjudge.errors import DataError
from polyjudge.formats.columns import TableOptions
from polyjudge.formats.row_files import rows_from

FIELDS = st.text("ab ,;\t|\"'\n", min_size=1, max_size=6).map("x".__add__)
TABLES = st.lists(st.lists(FIELDS, min_size=3, max_size=3), min_size=3, max_size=8)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("separated") / "t.csv"


def rows(path):
    return [row for _, row, _ in rows_from(path)]


def write(path, table, delimiter, **options):
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator="\r\n", **options).writerows(table)
    path.write_text(text.getvalue(), encoding="utf-8", newline="")


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@given(table=TABLES)
def test_the_delimiter_is_found_where_fields_are_quoted(path, delimiter, table):
    names = ["one", "two", "three"]
    write(path, [names, *table], delimiter, quoting=csv.QUOTE_ALL)

    assert rows(path) == [dict(zip(names, row, strict=True)) for row in table]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_the_one_that_splits_the_rows_evenly(path, delimiter):
    other = ";" if delimiter == "," else ","
    table = [["id", "text"], ["a", f"one{other} two{other} three"], ["b", "four"], ["c", f"five{other} six"]]
    write(path, table, delimiter)

    assert rows(path) == [{"id": name, "text": text} for name, text in table[1:]]


def test_a_table_of_one_column_has_no_delimiter(path):
    path.write_text("text\nHello, world\nGood morning\n", encoding="utf-8")

    assert rows(path)[1] == {"text": "Good morning"}


def test_the_line_of_excel_names_the_delimiter(path):
    path.write_text("sep=;\nid;text\na;b, c, d\n", encoding="utf-8")

    assert rows(path) == [{"id": "a", "text": "b, c, d"}]


def test_a_row_with_too_few_fields_is_a_message_and_the_others_are_read(path):
    path.write_text("id,text\na,b\nc\nd,e\n", encoding="utf-8")

    assert rows(path) == [{"id": "a", "text": "b"}, "expected 2 fields, found 1", {"id": "d", "text": "e"}]


def test_a_table_none_of_whose_rows_fits_its_header_is_refused(path):
    path.write_text("id,who,text\na,b\nc,d\n", encoding="utf-8")

    with pytest.raises(DataError, match="no row fits the header: expected 3 fields: id, who, text"):
        rows(path)


def test_two_columns_with_one_name_are_refused(path):
    path.write_text("id,id\na,b\n", encoding="utf-8")

    with pytest.raises(DataError, match="duplicate column 'id'"):
        rows(path)


def test_a_quotation_mark_that_is_not_closed_is_named_where_its_row_starts(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('id,text\n1,a\n2,b\n3,"c\n4,d\n5,e\n', encoding="utf-8")

    with pytest.raises(DataError, match=r"t\.csv:4: invalid row: .*, up to line 6\. Is a quotation mark not closed\?"):
        list(rows_from(path))


@pytest.mark.slow
def test_a_field_that_is_too_long_is_one_message(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(f"id,text\n1,{'a' * 120_000_000}\n", encoding="utf-8")

    with pytest.raises(DataError, match=r"t\.csv:2: invalid row: field larger than field limit"):
        list(rows_from(path))


@pytest.mark.parametrize("text", ["oui", "été", "日本"])
def test_utf_16_without_a_mark_is_refused_with_the_name_of_the_encoding(tmp_path, text):
    path = tmp_path / "t.csv"
    path.write_bytes(f"id,text\n1,{text}\n".encode("utf-16-le"))

    with pytest.raises(DataError, match="UTF-16 without a byte order mark|not UTF-8 text") as raised:
        list(rows_from(path))

    assert (raised.value.option, raised.value.value) == ("encoding", "utf-16-le")
    assert [row for _, row, _ in rows_from(path, options=TableOptions(encoding="utf-16-le"))] == [
        {"id": "1", "text": text}
    ]
