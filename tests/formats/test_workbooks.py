"""Excel workbooks are read as tables of text, and what cannot be read is one message."""

import datetime
import zipfile
from pathlib import Path

import openpyxl
import pytest

from polyjudge.cli import main
from polyjudge.errors import DataError, MissingExtraError
from polyjudge.extras import require
from polyjudge.formats.items import read_items


@pytest.fixture
def workbook(in_folder):
    """Write a workbook with some sheets, by name."""

    def write(name="m.xlsx", **sheets):
        book = openpyxl.Workbook()
        book.remove(book.active)
        for title, rows in sheets.items():
            sheet = book.create_sheet(title)
            for row in rows:
                sheet.append(row)
        book.save(name)
        return Path(name)

    return write


def test_the_first_sheet_is_read_as_text(workbook):
    day = datetime.date(2026, 1, 2)
    path = workbook(
        First=[["ID", "Reply", "Language", "Rated", "Day"], [1, "Bonjour", "fr", 4.5, day], [2, 42, "fr", True, None]],
        Second=[["other"]],
    )

    items = list(read_items(path, context=["Rated", "Day"]))

    assert [(item.id, item.candidate, item.language) for item in items] == [("1", "Bonjour", "fr"), ("2", "42", "fr")]
    assert [dict(item.context) for item in items] == [
        {"Rated": "4.5", "Day": "2026-01-02"},
        {"Rated": "true"},
    ]


def test_empty_rows_are_skipped_and_another_sheet_can_be_named(workbook):
    path = workbook(Empty=[], Data=[[None, None], ["output", "lang"], [None, None], ["Bonjour", "fr"], [None, None]])

    assert [item.candidate for item in read_items(path, sheet="Data")] == ["Bonjour"]


def test_a_sheet_without_a_header_is_mapped_by_position(workbook):
    path = workbook(Data=[["fr", "Bonjour"], ["de", "Hallo"]])

    items = read_items(path, columns={"language": "1", "candidate": "2"}, header=False)

    assert [(item.language, item.candidate) for item in items] == [("fr", "Bonjour"), ("de", "Hallo")]


def test_the_results_of_formulas_are_read(workbook):
    path = workbook(Data=[["output", "lang"], ["=A1", "fr"]])
    stored = Path("stored.xlsx")
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(stored, "w") as new:
        for name in old.namelist():
            text = old.read(name)
            if name == "xl/worksheets/sheet1.xml":
                text = text.replace(b"<v></v>", b"<v>Bonjour</v>").replace(b"<v />", b"<v>Bonjour</v>")
                text = text.replace(b'<c r="A2">', b'<c r="A2" t="str">')
            new.writestr(name, text)

    assert [item.candidate for item in read_items(stored)] == ["Bonjour"]


@pytest.mark.parametrize(
    ("sheets", "options", "message"),
    [
        ({"Data": [["output", "lang"], ["=A1", "fr"]]}, [], "formulas were saved without their results"),
        ({"Data": []}, [], "m.xlsx: the sheet 'Data' is empty. Name another one (--sheet)"),
        ({"Data": [["output"], ["x"]]}, ["--sheet", "Nope"], "m.xlsx: no sheet 'Nope'. Found: Data (--sheet)."),
        ({"Data": [["a", "a"], ["x", "y"]]}, [], "m.xlsx:1: duplicate column 'a'"),
        ({"Data": [["a", "b"], ["x", "y"]]}, [], "m.xlsx: no candidate column. Found: a, b."),
    ],
)  # fmt: skip
def test_a_workbook_that_cannot_be_used_is_one_message(workbook, capsys, sheets, options, message):
    path = workbook(**sheets)

    assert main(["score", str(path), "--rubric", "translation", "--judge", "offline", *options]) == 2

    [line] = [
        each for each in capsys.readouterr().err.splitlines() if not each.startswith("polyjudge: m.xlsx: candidate=")
    ]
    assert message in line


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(1024),
            "the workbook is protected by a password, or is an old .xls file",
        ),
        (b"PK\x03\x04" + bytes(64), "cannot be read as an Excel workbook"),
        (b"", "cannot be read as an Excel workbook"),
        (b"output,lang\nBonjour,fr\n", "cannot be read as an Excel workbook"),
    ],
)
def test_a_protected_or_broken_workbook_is_one_message(in_folder, content, message):
    Path("m.xlsx").write_bytes(content)

    with pytest.raises(DataError, match=rf"m\.xlsx: {message}"):
        list(read_items("m.xlsx"))


def test_a_truncated_workbook_is_one_message(workbook):
    path = workbook(Data=[["output"], ["x"]])
    path.write_bytes(path.read_bytes()[:-200])

    with pytest.raises(DataError, match=r"m\.xlsx: cannot be read as an Excel workbook"):
        list(read_items(path))


def test_a_workbook_goes_from_the_file_to_a_report(workbook, capsys):
    workbook(Data=[["Source", "Translation", "Language"], ["Where is the station?", "Où est la gare ?", "French"]])

    assert main(["report", "--results", "m.xlsx"]) == 0

    assert "### French" in capsys.readouterr().out


def test_a_missing_extra_is_named():
    with pytest.raises(MissingExtraError, match=r"Run: .* install .*\[excel\]"):
        require("python_calamine_of_no_package", feature="reading Excel workbooks", extra="excel")
