"""Read the rows of a sheet of an Excel workbook, as text."""

import datetime
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

from polyjudge.errors import DataError
from polyjudge.extras import require
from polyjudge.files.json_lines import Mark

from .columns import TableOptions
from .separated import check_columns

_COMPOUND = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""How encrypted workbooks start, which are no ZIP files."""
_FORMULA = re.compile(rb"<f[ >/][^<]*(?:</f>)?<v\s*/?>(?:</v>)?</c>|<f[ >/][^<]*(?:</f>)?</c>")
"""A formula without a stored value."""


def sheet_rows(path: Path, start: Mark, options: TableOptions) -> Iterator[tuple[int, Mapping[str, str] | str, int]]:
    """Yield the rows of a sheet, by default the first one, after a number of rows."""
    calamine: Any = require("python_calamine", feature="reading Excel workbooks", extra="excel")
    with path.open("rb") as file:
        if file.read(len(_COMPOUND)) == _COMPOUND:
            raise DataError(
                "the workbook is protected by a password, or is an old .xls file. Save it as .xlsx without a password",
                path=path,
            )
    try:
        workbook = calamine.CalamineWorkbook.from_path(str(path))
        name = _sheet(workbook.sheet_names, path, options)
        rows = workbook.get_sheet_by_name(name).iter_rows()
        cells = ((number, [_text(value) for value in row]) for number, row in enumerate(rows, start=1))
    except calamine.CalamineError as error:
        raise DataError(f"cannot be read as an Excel workbook: {error}", path=path) from None
    yield from _named(((number, row) for number, row in cells if any(row)), path, name, start, options)


def _sheet(names: list[str], path: Path, options: TableOptions) -> str:
    if options.sheet and options.sheet not in names:
        raise DataError(f"no sheet {options.sheet!r}. Found: {', '.join(names)}.", path=path, option="sheet")
    if not names:
        raise DataError("no sheet found in the workbook", path=path)
    return options.sheet or names[0]


def _named(
    rows: Iterator[tuple[int, list[str]]], path: Path, sheet: str, start: Mark, options: TableOptions
) -> Iterator[tuple[int, Mapping[str, str] | str, int]]:
    first = next(rows, None)
    if first is None:
        raise DataError(f"the sheet {sheet!r} is empty. Name another one", path=path, option="sheet")
    line, names = first
    if not options.header:
        names = [str(place) for place, _ in enumerate(names, start=1)]
        yield line, dict(zip(names, first[1], strict=True)), 0
    check_columns(names, path, line)
    filled: set[str] = set()
    for number, row in rows:
        if number > start.line:
            named = dict(zip(names, row, strict=True))
            filled.update(name for name, value in named.items() if value)
            yield number, named, 0
    _refuse_formulas(path, [name for name in names if name and name not in filled])


def _refuse_formulas(path: Path, empty: list[str]) -> None:
    """Raise DataError if a column is empty because its formulas were saved without their results."""
    if not empty:
        return
    try:
        with ZipFile(path) as parts:
            sheets = [name for name in parts.namelist() if name.startswith("xl/worksheets/")]
            has_formulas = any(_FORMULA.search(parts.read(name)) for name in sheets)
    except (BadZipFile, OSError):
        return
    if has_formulas:
        columns = ", ".join(map(repr, empty))
        message = f"formulas were saved without their results, so {columns} is empty"
        raise DataError(f"{message}. Open the file in a spreadsheet program and save it", path=path)


def _text(value: object) -> str:
    """Return the text of a cell; a whole number has no decimals."""
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime.datetime | datetime.date | datetime.time):
        return value.isoformat()
    return str(value)
