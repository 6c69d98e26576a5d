"""Read the rows of Parquet files, and of the data sets of Hugging Face that were saved to disk."""

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from polyjudge.errors import DataError
from polyjudge.extras import require
from polyjudge.files.json_lines import Mark
from polyjudge.files.text_files import read_text
from polyjudge.store.parquet import row_decoder

from .columns import TableOptions
from .separated import check_columns

_ROWS_AT_ONCE = 1_000
Row = Mapping[str, Any]


def parquet_rows(path: Path, start: Mark, options: TableOptions) -> Iterator[tuple[int, Row, int]]:
    """Yield the rows of a Parquet file after a number of rows."""
    del options
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


def arrow_rows(path: Path, start: Mark, options: TableOptions) -> Iterator[tuple[int, Row, int]]:
    """Yield the rows of a file of a data set saved to disk, after a number of rows."""
    del options
    ipc: Any = require("pyarrow.ipc", feature="reading Hugging Face data sets", extra="parquet")
    arrow: Any = require("pyarrow", feature="reading Hugging Face data sets", extra="parquet")
    number = 0
    try:
        with arrow.memory_map(str(path)) as source, ipc.open_stream(source) as batches:
            _check_fields(batches.schema, path)
            for whole in batches:
                for place in range(0, len(whole), _ROWS_AT_ONCE):
                    batch = whole.slice(place, _ROWS_AT_ONCE)
                    wanted = batch.slice(max(0, start.line - number))
                    number += len(batch) - len(wanted)
                    for row in wanted.to_pylist():
                        number += 1
                        yield number, row, 0
    except (arrow.ArrowException, ValueError, OverflowError) as error:
        raise DataError(f"cannot be read as an Arrow file: {error}", path=path) from None


def data_set_files(folder: Path) -> list[Path] | None:
    """Return the files of a data set of Hugging Face that was saved to disk; None for another folder."""
    splits, state = folder / "dataset_dict.json", folder / "state.json"
    if splits.is_file():
        names = _listed(splits, "splits")
        if len(names) != 1:
            shown = ", ".join(str(folder / name) for name in names)
            raise DataError(f"the data set has several splits. Give the folder of one of them: {shown}", path=folder)
        return data_set_files(folder / names[0])
    if not state.is_file() or not (folder / "dataset_info.json").is_file():
        return None
    return [folder / name for name in _listed(state, "_data_files")]


def _listed(path: Path, key: str) -> list[str]:
    """Return the file or folder names that a description lists."""
    try:
        given: list[Any] = json.loads(read_text(path))[key]
        names = [str(each["filename"] if key == "_data_files" else each) for each in given]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise DataError(f"expected an object with a list {key!r}", path=path) from None
    if not all(Path(name).name == name and name not in ("", "..") for name in names):
        raise DataError(f"{key!r} must be names in the same folder", path=path)
    return names


def _check_fields(fields: Iterable[Any], path: Path) -> None:
    """Raise DuplicateKeyError if two columns, or two fields of a struct, have the same name."""
    named = list(fields)
    check_columns([field.name for field in named], path)
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
