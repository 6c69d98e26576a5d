"""Read rows from CSV, TSV, JSON Lines and Parquet files."""

import csv
import math
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from polyjudge.errors import DataError, DuplicateKeyError
from polyjudge.extras import require
from polyjudge.files.json_lines import START, Mark, json_lines_from, lines_from
from polyjudge.store.parquet import row_decoder

from .plugin import MarkedRows, Row, format_of, plugin_suffixes

_LONGEST_FIELD = 100_000_000
_ROWS_AT_ONCE = 1_000


def rows_from(path: Path, start: Mark = START) -> MarkedRows:
    """Yield the rows of a file that stand behind a place in it."""
    try:
        if (reader := _READERS.get(path.suffix.lower())) is not None:
            yield from reader(path, start)
        elif (format := format_of(path, ROW_KINDS)) is not None:
            yield from format.rows(path, start)
        else:
            known = [*ROW_KINDS, *plugin_suffixes(ROW_KINDS)]
            raise DataError(f"is of an unknown kind; items come as {', '.join(known)}", path=path)
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or error}", path=path) from None


def _json_lines(path: Path, start: Mark) -> MarkedRows:
    return json_lines_from(path, *start)


def _separated(delimiter: str) -> Callable[[Path, Mark], MarkedRows]:
    def read(path: Path, start: Mark) -> MarkedRows:
        csv.field_size_limit(min(_LONGEST_FIELD, sys.maxsize))
        header = _Lines(path, 0)
        columns = _records(header, delimiter, path, START)
        line, names, _ = next(columns, (0, list[str](), 0))
        _refuse_repeated_columns(names, path, line)
        # The header's own reader goes on where nothing was skipped.
        rows = columns if start == START else _records(_Lines(path, start.offset), delimiter, path, start)
        for line, fields, end in rows:
            if fields:  # a blank line is no row
                fits = len(fields) == len(names)
                yield line, dict(zip(names, fields, strict=True)) if fits else _SPILLED, end

    return read


def _refuse_repeated_columns(names: Iterable[str], path: Path, line: int = 0) -> None:
    """Raise where two columns have one name; columns without a name are never read, so there may be several."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise DuplicateKeyError(f"duplicate column {name!r}; remove or rename one of the two", path=path, line=line)
        if name:
            seen.add(name)


_SPILLED = "has not as many fields as the header"


class _Lines:
    """The lines of a file as the csv module takes them, and how far it has come."""

    def __init__(self, path: Path, offset: int) -> None:
        self.offset = offset
        self._lines = lines_from(path, offset)

    def __iter__(self) -> Iterator[str]:
        for text, end in self._lines:
            self.offset = end
            yield text


def _records(lines: _Lines, delimiter: str, path: Path, start: Mark) -> Iterator[tuple[int, list[str], int]]:
    records = csv.reader(lines, delimiter=delimiter, strict=True)
    try:
        for fields in records:
            yield start.line + records.line_num, fields, lines.offset
    except csv.Error as error:
        line = start.line + records.line_num
        raise DataError(f"cannot be read on: {error}", path=path, line=line) from None


def _parquet(path: Path, start: Mark) -> MarkedRows:
    parquet: Any = require("pyarrow.parquet", feature="reading Parquet", extra="parquet")
    arrow: Any = require("pyarrow", feature="reading Parquet", extra="parquet")
    try:
        with parquet.ParquetFile(path, page_checksum_verification=True) as file:
            _refuse_repeated_fields(file.schema_arrow, path)
            decoded = row_decoder(path, file.schema_arrow.metadata)
            groups, skipped = _groups_behind(file.metadata, start.line)
            number = skipped
            for batch in file.iter_batches(batch_size=_ROWS_AT_ONCE, row_groups=groups):
                wanted = batch.slice(max(0, start.line - number))
                number += len(batch) - len(wanted)
                for row in wanted.to_pylist():
                    number += 1
                    yield number, _without_nan_id(decoded(row)), 0
    except (arrow.ArrowException, ValueError, OverflowError) as error:
        raise DataError(f"is no Parquet file that can be read: {error}", path=path) from None


def _refuse_repeated_fields(fields: Any, path: Path) -> None:
    """Raise where two columns have one name, or two fields of a struct."""
    named = list(fields)
    _refuse_repeated_columns([field.name for field in named], path)
    for field in named:
        if field.type.num_fields:
            _refuse_repeated_fields([field.type.field(place) for place in range(field.type.num_fields)], path)


def _without_nan_id(row: Row) -> Row:
    """Return a row whose id, where it is not a number, is missing: this is how a column of numbers says so."""
    own_id = row.get("id")
    return {**row, "id": None} if type(own_id) is float and math.isnan(own_id) else row


def _groups_behind(metadata: Any, rows: int) -> tuple[list[int], int]:
    """Return the row groups that reach behind so many rows, and how many rows stand in those that do not."""
    skipped = first = 0
    while first < metadata.num_row_groups and skipped + metadata.row_group(first).num_rows <= rows:
        skipped += metadata.row_group(first).num_rows
        first += 1
    return list(range(first, metadata.num_row_groups)), skipped


_READERS: dict[str, Callable[[Path, Mark], MarkedRows]] = {
    ".jsonl": _json_lines,
    ".csv": _separated(","),
    ".tsv": _separated("\t"),
    ".parquet": _parquet,
}
ROW_KINDS = tuple(_READERS)
"""How the names of files end that rows can be read from without a plugin."""


def is_table(path: Path) -> bool:
    """Say whether rows can be read from a file of this name."""
    return path.suffix.lower() in ROW_KINDS or format_of(path, ROW_KINDS) is not None
