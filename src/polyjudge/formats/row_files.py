"""Find the files of a table, and read their rows with the names of roles."""

import hashlib
import re
import shutil
import sys
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import BinaryIO, NamedTuple

from polyjudge.errors import DataError
from polyjudge.files.json_lines import START, Mark
from polyjudge.files.opening import inner_suffix
from polyjudge.folder_trust import make_folder, private_path
from polyjudge.store.run_folder import MANIFEST_FILE, finished_parts

from .column_search import columns_of
from .columns import AS_IT_IS, ColumnMap, Row, RowMapper, TableOptions
from .row_filters import RowFilter
from .tables import ROW_KINDS, is_table, rows_from
from .tools import is_metrics_folder

STDIN = Path("-")
_STDIN_FOLDER = "stdin"
_HEAD = 4096
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
                if isinstance(named, str) or chosen.selects(named):
                    yield Place(file, line), named
    chosen.check(path)


def first_row_of(path: Path, options: TableOptions) -> Row:
    """Return the first row of a file or folder with its own columns; empty if there is none or it is invalid."""
    for _, row in rows_of(path, START, options):
        return {} if isinstance(row, str) else row
    return {}


def column_map(path: Path, options: TableOptions) -> ColumnMap:
    """Return the columns of a file, or of the first file of a folder, by their roles."""
    for file in files_of(path):
        return columns_of(file, (row for _, row, _ in rows_from(file, START, options)), options)
    return ColumnMap(path)


class KnownColumns:
    """The columns of files, for readers that need them several times; a changed file is read again."""

    def __init__(self) -> None:
        self._found: dict[Path, tuple[tuple[object, ...], ColumnMap]] = {}

    def of(self, path: Path, options: TableOptions) -> ColumnMap:
        """Return what `column_map` returns."""
        file = next(iter(files_of(path)), path)
        try:
            found = file.stat()
        except OSError:
            return column_map(file, options)  # which says what is wrong
        version = (found.st_ino, found.st_size, found.st_mtime_ns, options)
        known = self._found.get(file)
        if known is None or known[0] != version:
            if len(self._found) >= _MOST_KNOWN:
                self._found.clear()
            known = self._found[file] = (version, column_map(file, options))
        return known[1]


def files_of(path: Path) -> Iterable[Path]:
    """Return the file itself, or the files of a folder in the order of their names, or of the parts of a run folder."""
    if path.exists() and not path.is_dir() and not path.is_file():
        raise DataError("is not a regular file; items are read more than once, so save them to a file first", path=path)
    if not path.is_dir():
        return [path]
    if is_metrics_folder(path):
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
        raise DataError(
            "contains files of several formats; use one format" if files else "no item files found", path=path
        )
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
            raise DataError(f"is compressed by {name}. Decompress it, or give the name of the file", path=STDIN)
    text = start.removeprefix(b"\xef\xbb\xbf").lstrip()
    return next((suffix for mark, suffix in _STARTS if text.startswith(mark)), ".csv")
