"""The delimiter of a table is found, whatever is in its fields."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyjudge.errors import DataError
from polyjudge.formats.tables import rows_from

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


def test_two_columns_with_one_name_are_refused(path):
    path.write_text("id,id\na,b\n", encoding="utf-8")

    with pytest.raises(DataError, match="duplicate column 'id'"):
        rows(path)
