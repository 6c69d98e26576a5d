"""Read rows from tables of all kinds, from the files of other tools, and from the formats of plugins."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Protocol, cast

from polyjudge.errors import DataError, EncodingError, PolyjudgeError
from polyjudge.files.json_lines import START, Mark, json_lines_from
from polyjudge.files.json_stream import JsonStream
from polyjudge.files.opening import COMPRESSED, inner_suffix
from polyjudge.plugins import PLUGINS, Plugin, described

from .columns import AS_IT_IS, Row, TableOptions
from .separated import separated_rows
from .tools import TOOL_SUFFIXES, ToolFormat, tool_format_of

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


def rows_from(path: Path, start: Mark = START, options: TableOptions = AS_IT_IS) -> MarkedRows:
    """Yield the rows of a file from a position in it, with the columns that they have there."""
    try:
        if (tool := _tool_format(path, options)) is not None:
            rows = enumerate(tool.rows(path), start=1)
            yield from ((line, row, count) for count, (line, row) in islice(rows, start.offset, None))
        elif (reader := _READERS.get(inner_suffix(path))) is not None:
            yield from reader(path, start, options)
        elif (format := format_of(path, ROW_KINDS)) is not None:
            yield from format.rows(path, start)
        else:
            known = [*dict.fromkeys((*ROW_KINDS, *sorted(TOOL_SUFFIXES), *plugin_suffixes(ROW_KINDS)))]
            message = f"unknown file format; supported: {', '.join(known)}. Save other spreadsheets as .xlsx or .csv"
            raise DataError(message, path=path)
    except EncodingError as error:
        message = f"{error}. Name its encoding"
        raise DataError(message, option="encoding", value=_likely_encoding(path)) from None
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or error}", path=path) from None


def _tool_format(path: Path, options: TableOptions) -> ToolFormat | None:
    """Return the format of another tool's file, unless the options say what its columns are."""
    return None if options.columns or options.targets else tool_format_of(path)


def _likely_encoding(path: Path) -> str:
    """Return the encoding to name as an example for a file that is not UTF-8."""
    with path.open("rb") as file:
        return "utf-16-le" if path.suffix.lower() not in COMPRESSED and b"\0" in file.read(_HEAD) else "windows-1252"


def _json_lines(path: Path, start: Mark, options: TableOptions) -> MarkedRows:
    return json_lines_from(path, *start, encoding=options.encoding)


def _json_list(path: Path, start: Mark, options: TableOptions) -> MarkedRows:
    """Yield the objects of a list, which may be in an object; the offset is the number of objects so far."""
    rows = enumerate(JsonStream(path, None, options.encoding), start=1)
    for count, (line, row) in islice(rows, start.offset, None):
        yield line, cast(Row, row) if isinstance(row, dict) else "must be a JSON object", count


def _workbook(path: Path, start: Mark, options: TableOptions) -> MarkedRows:
    from .workbooks import sheet_rows  # here, as below: each run reads one kind of file

    return sheet_rows(path, start, options)


def _parquet(path: Path, start: Mark, options: TableOptions) -> MarkedRows:
    from .arrow_tables import parquet_rows

    return parquet_rows(path, start, options)


def _arrow(path: Path, start: Mark, options: TableOptions) -> MarkedRows:
    from .arrow_tables import arrow_rows

    return arrow_rows(path, start, options)


_READERS: dict[str, Callable[[Path, Mark, TableOptions], MarkedRows]] = {
    ".jsonl": _json_lines,
    ".csv": separated_rows,
    ".tsv": separated_rows,
    ".parquet": _parquet,
    ".json": _json_list,
    ".xlsx": _workbook,
    ".arrow": _arrow,
}
ROW_KINDS = tuple(_READERS)
"""The suffixes of the built-in file formats."""
SAME_COLUMNS = set(ROW_KINDS) - {".jsonl", ".json"}
"""The formats in which all rows of a file have the same columns."""


def is_table(path: Path) -> bool:
    """Return whether rows can be read from a file."""
    if inner_suffix(path) in ROW_KINDS or tool_format_of(path) is not None:
        return True
    return format_of(path, ROW_KINDS) is not None
