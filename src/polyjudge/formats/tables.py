"""Read rows from CSV, TSV, JSON Lines and Parquet files, and from the formats of plugins."""

import csv
import math
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Protocol, cast

from polyjudge.errors import DataError, DuplicateKeyError, PolyjudgeError
from polyjudge.extras import require
from polyjudge.files.json_lines import START, Mark, json_lines_from, lines_from
from polyjudge.plugins import PLUGINS, Plugin, described
from polyjudge.store.parquet import row_decoder

_LONGEST_FIELD = 100_000_000
_ROWS_AT_ONCE = 1_000
Row = Mapping[str, Any]
MarkedRows = Iterator[tuple[int, Row | str, int]]
"""Line number, the row or an error message, and the offset of the end of the row."""
_HEAD = 4096


class Format(Protocol):
    """A file format for rows of items, results or scores, with the usual column names."""

    @property
    def suffixes(self) -> tuple[str, ...]:
        """The file name suffixes of the format, such as `.ini`."""
        ...

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return, by its first bytes, whether a file with one of the suffixes has this format."""
        ...

    def read(self, path: Path) -> Iterable[Row | str]:
        """Yield the rows of a file, and an error message in place of an invalid row."""
        ...


@dataclass(frozen=True, slots=True)
class PluginFormat:
    """A format that another package or the caller has added."""

    plugin: Plugin
    format: Format

    def rows(self, path: Path, start: Mark) -> MarkedRows:
        """Yield the rows from a position, which is a number of rows in such a file."""
        try:
            for number, row in islice(enumerate(self.format.read(path), start=1), start.line, None):
                yield number, _checked(row), 0
        except (PolyjudgeError, OSError):
            raise
        except Exception as error:
            raise DataError(f"cannot be read: {self.plugin} failed: {described(error)}", path=path) from error

    def recognises(self, path: Path) -> bool:
        """Return whether a file has this format; warn about a plugin that raises."""
        try:
            if path.suffix.lower() not in self.format.suffixes:
                return False
            with path.open("rb") as file:
                return self.format.recognises(path, file.read(_HEAD))
        except OSError:
            raise
        except Exception as error:  # noqa: BLE001 - code that is not ours may raise anything
            PLUGINS.warn(self.plugin, f"is not used: {described(error)}")
            return False


def format_of(path: Path, built_in: Collection[str]) -> PluginFormat | None:
    """Return the plugin format of a file; suffixes that are built in are not offered to plugins."""
    if path.suffix.lower() in built_in or not path.is_file():
        return None
    return next((each for each in _formats() if each.recognises(path)), None)


def plugin_suffixes(built_in: Collection[str]) -> list[str]:
    """Return the file name suffixes that plugins read."""
    found = {suffix for each in _formats() for suffix in each.format.suffixes}
    return sorted(found.difference(built_in))


def _formats() -> Iterator[PluginFormat]:
    for plugin, target in PLUGINS.each("formats"):
        try:
            format = target() if isinstance(target, type) else target
        except Exception as error:  # noqa: BLE001 - code that is not ours may raise anything
            PLUGINS.warn(plugin, f"is not used: {described(error)}")
            continue
        yield PluginFormat(plugin, cast(Format, format))


def _checked(row: object) -> Row | str:
    if isinstance(row, str | Mapping):
        return cast(Row | str, row)
    raise TypeError(f"expected a row or an error message, found {row!r}")


def rows_from(path: Path, start: Mark = START) -> MarkedRows:
    """Yield the rows of a file from a position in it."""
    try:
        if (reader := _READERS.get(path.suffix.lower())) is not None:
            yield from reader(path, start)
        elif (format := format_of(path, ROW_KINDS)) is not None:
            yield from format.rows(path, start)
        else:
            known = [*ROW_KINDS, *plugin_suffixes(ROW_KINDS)]
            raise DataError(f"unknown file format; supported: {', '.join(known)}", path=path)
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
        _check_columns(names, path, line)
        # The reader of the header continues if nothing is skipped.
        rows = columns if start == START else _records(_Lines(path, start.offset), delimiter, path, start)
        for line, fields, end in rows:
            if fields:  # not a blank line
                fits = len(fields) == len(names)
                problem = f"expected {len(names)} fields, found {len(fields)}"
                yield line, dict(zip(names, fields, strict=True)) if fits else problem, end

    return read


def _check_columns(names: Iterable[str], path: Path, line: int = 0) -> None:
    """Raise DuplicateKeyError if two columns have the same name; columns without a name are ignored."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise DuplicateKeyError(f"duplicate column {name!r}; remove or rename one of the two", path=path, line=line)
        if name:
            seen.add(name)


class _Lines:
    """The lines of a file for the csv module, and the offset of the last one read."""

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
        raise DataError(f"invalid row: {error}", path=path, line=line) from None


def _parquet(path: Path, start: Mark) -> MarkedRows:
    parquet: Any = require("pyarrow.parquet", feature="reading Parquet", extra="parquet")
    arrow: Any = require("pyarrow", feature="reading Parquet", extra="parquet")
    try:
        with parquet.ParquetFile(path, page_checksum_verification=True) as file:
            _check_fields(file.schema_arrow, path)
            decoded = row_decoder(path, file.schema_arrow.metadata)
            groups, skipped = _groups_after(file.metadata, start.line)
            number = skipped
            for batch in file.iter_batches(batch_size=_ROWS_AT_ONCE, row_groups=groups):
                wanted = batch.slice(max(0, start.line - number))
                number += len(batch) - len(wanted)
                for row in wanted.to_pylist():
                    number += 1
                    yield number, _without_nan_id(decoded(row)), 0
    except (arrow.ArrowException, ValueError, OverflowError) as error:
        raise DataError(f"cannot be read as Parquet: {error}", path=path) from None


def _check_fields(fields: Any, path: Path) -> None:
    """Raise DuplicateKeyError if two columns, or two fields of a struct, have the same name."""
    named = list(fields)
    _check_columns([field.name for field in named], path)
    for field in named:
        if field.type.num_fields:
            _check_fields([field.type.field(place) for place in range(field.type.num_fields)], path)


def _without_nan_id(row: Row) -> Row:
    """Return a row in which an id of NaN is None, because a column of numbers marks missing values so."""
    own_id = row.get("id")
    return {**row, "id": None} if type(own_id) is float and math.isnan(own_id) else row


def _groups_after(metadata: Any, rows: int) -> tuple[list[int], int]:
    """Return the row groups that are not completely within the first rows, and the rows of the others."""
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
"""The suffixes of the built-in file formats."""


def is_table(path: Path) -> bool:
    """Return whether rows can be read from a file."""
    return path.suffix.lower() in ROW_KINDS or format_of(path, ROW_KINDS) is not None
