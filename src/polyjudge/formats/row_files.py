"""Find the files of a table, and read their rows: of tables of all kinds, of other tools, and of formats of plugins."""

import hashlib
import re
import shutil
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import BinaryIO, NamedTuple, Protocol, cast

from polyjudge.errors import DataError, EncodingError, PolyjudgeError
from polyjudge.files.json_lines import START, Mark, json_lines_from
from polyjudge.files.json_stream import JsonStream
from polyjudge.files.opening import COMPRESSED, inner_suffix
from polyjudge.folder_trust import make_folder, private_path
from polyjudge.plugins import PLUGINS, Plugin, described
from polyjudge.store.run_folder import MANIFEST_FILE, finished_parts

from .column_search import HEAD_ROWS, columns_of
from .columns import AS_IT_IS, ColumnMap, Row, RowMapper, TableOptions
from .error_spans import with_penalties
from .row_filters import RowFilter
from .separated import separated_rows
from .tools import TOOL_SUFFIXES, ToolFormat, is_metrics_folder, tool_format_of

STDIN = Path("-")
_STDIN_FOLDER = "stdin"
_HEAD = 4096
_SHORT = 1 << 20
"""The size of a file whose rows are kept, if they are all among the first, in bytes."""
_MOST_KNOWN = 1000
"""Files whose columns are remembered, so that memory is bounded for a folder of any size."""
_STARTS = ((b"PAR1", ".parquet"), (b"PK\x03\x04", ".xlsx"), (b"{", ".jsonl"), (b"[", ".json"))
"""How files of a format start."""
_COMPRESSED = ((b"\x1f\x8b", "gzip"), (b"\x28\xb5\x2f\xfd", "zstd"))
_ENDINGS = re.compile(
    r"(\.(jsonl?|[ct]sv|xlsx|parquet|arrow|gz|zst|seg|sys|scores?|results?|annotations))+$", re.IGNORECASE
)


def system_name(path: Path) -> str:
    """Return the name of the system that a file is named after: `gpt-3.5` for `gpt-3.5.scores.jsonl`."""
    return _ENDINGS.sub("", path.name) or path.name


class Place(NamedTuple):
    """The position of a row: its file and line."""

    path: Path
    line: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line}"

    def other(self, place: "Place") -> str:
        """Return the name of another place in a message about this one."""
        return f"at line {place.line}" if place.path == self.path else f"at {place}"


MarkedRow = tuple[int, Row | str, int]
"""Line number, the row or an error message, and the offset of the end of the row."""
MarkedRows = Iterator[MarkedRow]
Reader = Callable[[Path, Mark, TableOptions], MarkedRows]
"""Yields the rows of a file from a position."""


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

    def rows(self, path: Path, start: Mark, _: TableOptions) -> MarkedRows:
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


def reader_of(path: Path, options: TableOptions) -> Reader:
    """Return the function that reads the rows of a file; raise DataError if none does.

    The file is not taken for that of another tool if the options say what its columns are.
    """
    if not (options.columns or options.targets) and (tool := tool_format_of(path)) is not None:
        return partial(_tool_rows, tool)
    if (reader := _READERS.get(inner_suffix(path))) is not None:
        return reader
    if (format := format_of(path, ROW_KINDS)) is not None:
        return format.rows
    known = [*dict.fromkeys((*ROW_KINDS, *sorted(TOOL_SUFFIXES), *plugin_suffixes(ROW_KINDS)))]
    message = f"unknown file format; supported: {', '.join(known)}. Save other spreadsheets as .xlsx or .csv"
    raise DataError(message, path=path)


def rows_from(
    path: Path, start: Mark = START, options: TableOptions = AS_IT_IS, reader: Reader | None = None
) -> MarkedRows:
    """Yield the rows of a file from a position in it, with the columns that they have there."""
    try:
        yield from (reader or reader_of(path, options))(path, start, options)
    except (EncodingError, OSError) as error:
        raise _explained(error, path) from None


def _explained(error: EncodingError | OSError, path: Path) -> DataError:
    """Return the error of a file that cannot be read, with what to do about its encoding."""
    if isinstance(error, EncodingError):
        return DataError(f"{error}. Name its encoding", option="encoding", value=_likely_encoding(path))
    return DataError(f"cannot be read: {error.strerror or error}", path=path)


def _likely_encoding(path: Path) -> str:
    """Return the encoding to name as an example for a file that is not UTF-8."""
    with path.open("rb") as file:
        return "utf-16-le" if path.suffix.lower() not in COMPRESSED and b"\0" in file.read(_HEAD) else "windows-1252"


def _tool_rows(tool: ToolFormat, path: Path, start: Mark, _: TableOptions) -> MarkedRows:
    """Yield the rows of another tool's file; the offset is the number of rows so far."""
    rows = enumerate(tool.rows(path), start=1)
    return ((line, row, count) for count, (line, row) in islice(rows, start.offset, None))


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


_READERS: dict[str, Reader] = {
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


Rows = Iterator[tuple[Place, Row | str]]
"""The place of each row, and the row or an error message."""


def rows_of(path: Path, start: Mark = START, options: TableOptions = AS_IT_IS) -> Rows:
    """Yield the rows, or error messages, of a file or folder, with their places and their own columns."""
    for file in files_of(path):
        for line, row, _ in rows_from(file, start, options):
            yield Place(file, line), row


def named_rows_of(path: Path, options: TableOptions, *needed: str) -> Rows:
    """Yield the rows of a file or folder with the names of roles; each table needs one of the `needed` roles."""
    mapper, chosen = RowMapper(), RowFilter(options.filters)
    for file in files_of(path):
        columns = column_map(file, options)
        if needed:
            columns.need(*needed)
        naming = mapper.naming(columns)
        for line, row, _ in rows_from(file, START, options):
            for named in naming(row):
                if isinstance(named, str):
                    yield Place(file, line), named
                elif chosen.selects(named):
                    yield Place(file, line), with_penalties(named, options.penalties) if options.penalties else named
    chosen.check(path)


def first_row_of(path: Path, options: TableOptions) -> Row:
    """Return the first row of a file or folder with its own columns; empty if there is none or it is invalid."""
    for _, row in rows_of(path, START, options):
        return {} if isinstance(row, str) else row
    return {}


def column_map(path: Path, options: TableOptions) -> ColumnMap:
    """Return the columns of a file, or of the first file of a folder, by their roles."""
    for file in files_of(path):
        return _columns_of(file, rows_from(file, START, options), options)
    return ColumnMap(path)


def _columns_of(file: Path, head: Iterable[MarkedRow], options: TableOptions) -> ColumnMap:
    found = columns_of(file, (row for _, row, _ in head), options)
    return replace(found, is_fixed=inner_suffix(file) in SAME_COLUMNS)


class KnownColumns:
    """The columns of files, and how they are read, for several readings; a changed file is looked at again.

    The rows of a short file, which are all read to find its columns, are kept until the next file is looked at.
    """

    def __init__(self) -> None:
        self._found: dict[Path, tuple[tuple[object, ...], Reader, ColumnMap]] = {}
        self._short: tuple[Path | None, Sequence[MarkedRow]] = (None, ())

    def of(self, path: Path, options: TableOptions) -> ColumnMap:
        """Return what `column_map` returns."""
        return self._known(next(iter(files_of(path)), path), options)[1]

    def opened(self, file: Path, start: Mark, options: TableOptions) -> tuple[ColumnMap, MarkedRows]:
        """Return the columns of a file, and what `rows_from` yields."""
        reader, columns = self._known(file, options)
        short, rows = self._short
        return columns, iter(rows) if short == file and start == START else rows_from(file, start, options, reader)

    def _known(self, file: Path, options: TableOptions) -> tuple[Reader, ColumnMap]:
        try:
            found = file.stat()
            version = (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns, options)
            known = self._found.get(file)
            if known is None or known[0] != version:
                if len(self._found) >= _MOST_KNOWN:
                    self._found.clear()
                reader = reader_of(file, options)
                head = list(islice(rows_from(file, START, options, reader), HEAD_ROWS))
                is_short = len(head) < HEAD_ROWS and found.st_size <= _SHORT
                self._short = (file, head) if is_short else (None, ())
                known = self._found[file] = (version, reader, _columns_of(file, head, options))
        except (EncodingError, OSError) as error:
            raise _explained(error, file) from None
        return known[1:]


def files_of(path: Path) -> Iterable[Path]:
    """Return the file itself, or the files of a folder in the order of their names, or of the parts of a run folder."""
    if path.exists() and not path.is_dir() and not path.is_file():
        raise DataError("not a regular file; items are read more than once, so save them to a file first", path=path)
    if not path.is_dir() or is_metrics_folder(path):
        return [path]
    parts = finished_parts(path)
    if parts is not None:
        return parts
    return _of_data_set(path) or _of_folder(path)


def _of_data_set(path: Path) -> list[Path] | None:
    if not any((path / name).is_file() for name in ("state.json", "dataset_dict.json")):
        return None
    from .arrow_tables import data_set_files  # here, because few folders are data sets

    return data_set_files(path)


def _of_folder(path: Path) -> list[Path]:
    try:
        found = sorted(file for file in path.iterdir() if not file.name.startswith((".", "_")))
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path=path) from None
    files = [file for file in found if file.name != MANIFEST_FILE]
    for file in files:
        if file.is_dir() or not is_table(file):
            raise DataError(
                f"unsupported file {file.name!r}; a folder of items may contain only {', '.join(ROW_KINDS)}", path=path
            )
    if len({inner_suffix(file) for file in files}) != 1:
        several = "contains files of several formats; convert them to one format, or give one of the files"
        raise DataError(several if files else "no tables found; give CSV, JSON Lines or Parquet files", path=path)
    return files


def spooled(path: Path, stream: BinaryIO | None = None) -> Path:
    """Return a path unchanged; for `-`, store the input in the private folder, so that a run can be resumed.

    The file is named by its content: the same input is the same file.
    """
    if path != STDIN:
        return path
    folder = private_path(_STDIN_FOLDER)
    make_folder(folder)
    with NamedTemporaryFile(dir=folder, prefix=".", delete=False) as part:
        written = Path(part.name)
        try:
            shutil.copyfileobj(stream or sys.stdin.buffer, part)
            part.flush()
            stored = folder / f"{_digest(written)}{_suffix(written)}"
        except BaseException:
            written.unlink(missing_ok=True)
            raise
    return written.replace(stored)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, partial(hashlib.blake2b, digest_size=8)).hexdigest()


def _suffix(path: Path) -> str:
    """Return the suffix of the format of some input, by how it starts; separated values are recognised by no mark."""
    with path.open("rb") as file:
        start = file.read(_HEAD)
    for mark, name in _COMPRESSED:
        if start.startswith(mark):
            raise DataError(f"stdin is compressed by {name}. Decompress it, or give the file by name", path=STDIN)
    text = start.removeprefix(b"\xef\xbb\xbf").lstrip()
    return next((suffix for mark, suffix in _STARTS if text.startswith(mark)), ".csv")
