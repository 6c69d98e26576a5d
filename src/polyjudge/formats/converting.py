"""Write the rows of any file that can be read to a file of another format."""

import csv
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from polyjudge.errors import DataError
from polyjudge.files.atomic import replacing, write_atomically
from polyjudge.files.json_lines import readable_json, row_line
from polyjudge.files.opening import inner_suffix
from polyjudge.store.parquet import Form, ParquetRows

from .columns import AS_IT_IS, Row, TableOptions
from .row_files import named_rows_of

_MOST_PROBLEMS = 5
_FLAT = (".csv", ".tsv")
_TEXTS = frozenset(
    (
        *("id", "candidate", "source", "reference", "context", "language", "languagePair", "system", "document"),
        *(
            "cluster",
            "annotator",
            "reason",
            "raw",
            "model",
            "otherCandidate",
            "otherSystem",
            "domain",
            "comment",
            "text",
        ),
    )
)
"""Columns that are texts, also where these are written as numbers are."""


@dataclass(slots=True)
class RowsToConvert:
    """The rows of a file or folder, read again for each iteration; invalid rows are counted."""

    path: Path
    table: TableOptions = AS_IT_IS
    problems: list[str] = field(default_factory=list[str])
    """Messages about the first invalid rows."""
    skipped: int = 0
    count: int = 0
    """The rows of the last iteration."""
    names: dict[str, None] = field(default_factory=dict[str, None])
    """The columns of the rows, in the order of appearance."""

    def __iter__(self) -> Iterator[Row]:
        """Yield the rows with the names of roles; those of a table that polyjudge wrote have their types back."""
        self.problems, self.skipped, self.count = [], 0, 0
        restores = inner_suffix(self.path) in _FLAT
        for place, row in named_rows_of(self.path, self.table):
            if isinstance(row, str):
                self.skipped += 1
                if len(self.problems) < _MOST_PROBLEMS:
                    self.problems.append(f"{place}: {row}")
                continue
            self.count += 1
            self.names.update(dict.fromkeys(map(str, row)))
            yield _restored(row) if restores and "schemaVersion" in row else row


def _restored(row: Row) -> Row:
    """Return the row of a table of text with the types that its values had; an empty field had no value."""
    return {name: _value(name, text) for name, text in row.items() if text not in ("", None)}


def _value(name: str, text: object) -> object:
    if name in _TEXTS or not isinstance(text, str):
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def write_rows(rows: RowsToConvert, output: Path, *, force: bool = False) -> None:
    """Write rows to a `.jsonl`, `.csv` or `.parquet` file, which replaces another one when it is complete."""
    writer = WRITERS.get(output.suffix.lower())
    if writer is None:
        raise DataError(f"unknown format to write; supported: {', '.join(WRITERS)}", path=output)
    writer(rows, output, force)


def _refuse_empty(rows: RowsToConvert) -> None:
    """Raise DataError if there were no rows to write."""
    if not rows.count:
        why = f": {rows.problems[0]}" if rows.problems else ""
        raise DataError(f"no rows found{why}", path=rows.path)


def _write_json_lines(rows: RowsToConvert, output: Path, force: bool) -> None:
    with write_atomically(output, force=force) as file:
        for row in rows:
            file.write(row_line(dict(row)))
        _refuse_empty(rows)


def _write_csv(rows: RowsToConvert, output: Path, force: bool) -> None:
    """Write a table, with JSON in the fields of lists and objects; the columns are those of all rows."""
    for _ in rows:
        pass
    names = list(rows.names)
    _refuse_empty(rows)
    with write_atomically(output, force=force) as file:
        written = csv.writer(file, lineterminator="\n")
        written.writerow(names)
        for row in rows:
            is_own = "schemaVersion" in row
            written.writerow([_field(name, row[name], is_own=is_own) if name in row else "" for name in names])


def _field(name: str, value: object, *, is_own: bool) -> str:
    """Return a value as text; in our own rows, one from which `_restored` gets it back."""
    if value is None and (name in _TEXTS or not is_own):
        return ""
    if isinstance(value, str):
        is_plain = not is_own or name in _TEXTS or _value(name, value) == value
        return value if is_plain else json.dumps(value, ensure_ascii=False)
    return readable_json(value)


def _write_parquet(rows: RowsToConvert, output: Path, force: bool) -> None:
    """Write a Parquet file, whose columns have the type of their values, or else are JSON."""
    forms: dict[str, Form] = {}
    for row in rows:
        for name, value in row.items():
            form = _form(value)
            if form is not None:
                forms[str(name)] = form if forms.get(str(name), form) == form else "json"
    _refuse_empty(rows)
    if "schemaVersion" in forms:
        forms["schemaVersion"] = int
    with replacing(output, force=force) as part:
        encoded = [name for name, form in forms.items() if form == "json"]
        written = ParquetRows(part, {**forms, "more": "json"}, json_columns=encoded)
        try:
            for row in rows:
                written.append(row)
            written.finish()
        finally:
            written.close()


def _form(value: object) -> Form | None:
    """Return the form of a column that stores a value; None for a missing value."""
    if value is None:
        return None
    if isinstance(value, bool):
        return bool
    if isinstance(value, str):
        return str
    return float if isinstance(value, float) else "json"


WRITERS: Mapping[str, Callable[[RowsToConvert, Path, bool], None]] = {
    ".jsonl": _write_json_lines,
    ".csv": _write_csv,
    ".parquet": _write_parquet,
}
"""By suffix, what writes rows to a file."""
