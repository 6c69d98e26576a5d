"""Run rows in Parquet files.

Fields that every result has are typed columns, so that other tools can read them: text, numbers, booleans, and objects
by their fields. Fields without a fixed type are JSON text. A value that its column cannot store, such as a lone
surrogate, is stored as JSON in the column `more`.
"""

import json
import types
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Literal, Union, cast, get_args, get_origin, get_type_hints

from polyjudge.errors import DataError
from polyjudge.extras import require
from polyjudge.files.atomic import replacing
from polyjudge.files.json_lines import readable_json
from polyjudge.records.codec import field_names
from polyjudge.records.outcomes import (
    ITEM_TEXTS,
    SCHEMA_VERSION,
    Failure,
    JudgeResult,
    Outcome,
    Provenance,
    read_outcome,
)

Form = type | str | dict[str, Any]
"""The form of a column: a scalar type, `json`, `texts`, or the forms of an object's fields."""
_MARK, _KIND = b"polyjudge", "results"
_JSON = b"polyjudge.json"
"""The key of the names of columns whose values are JSON."""
_MORE = "more"
_ROWS_IN_GROUP = 2_000
_LARGEST_INTEGER = 2**63
_SUMMARY_COLUMNS = ("outcome", "kind", "score", "subscores", "flags", "cached", "members", _MORE)


class ParquetRows:
    """Writes rows of outcomes in groups."""

    def __init__(self, path: Path, forms: Mapping[str, Form], *, json_columns: Sequence[str] = ()) -> None:
        """Open a file; the columns named in `json_columns` have values that are read back from JSON."""
        arrow: Any = require("pyarrow", feature="writing Parquet", extra="parquet")
        parquet: Any = require("pyarrow.parquet", feature="writing Parquet", extra="parquet")
        description = json.dumps({"kind": _KIND, "schemaVersion": SCHEMA_VERSION})
        named = [(name, _arrow_type(form, arrow)) for name, form in forms.items()]
        about = {_MARK: description.encode(), **({_JSON: json.dumps(json_columns).encode()} if json_columns else {})}
        self._schema = arrow.schema(named, metadata=about)
        self._arrow = arrow
        self._forms = forms
        self._rows: list[dict[str, Any]] = []
        self._writer = parquet.ParquetWriter(path, self._schema, compression="zstd", write_page_checksum=True)

    def append(self, row: Mapping[str, Any]) -> None:
        """Add a row."""
        stored, rest = _encoded(row, self._forms)
        stored[_MORE] = readable_json(rest) if rest else None
        self._rows.append(stored)
        if len(self._rows) >= _ROWS_IN_GROUP:
            self._write()

    def finish(self) -> None:
        """Write the remaining rows."""
        if self._rows:
            self._write()

    def close(self) -> None:
        """Close the file."""
        self._writer.close()

    def _write(self) -> None:
        batch = self._arrow.RecordBatch.from_pylist(self._rows, schema=self._schema)
        self._rows.clear()
        self._writer.write_batch(batch, row_group_size=_ROWS_IN_GROUP)


@contextmanager
def write_parquet_rows(path: Path, criteria: Sequence[str], flags: Sequence[str]) -> Generator[ParquetRows]:
    """Open a file for rows of a rubric with these criteria and flags; it appears when all rows are written."""
    with replacing(path) as part:
        rows = ParquetRows(part, _forms(criteria, flags))
        try:
            yield rows
            rows.finish()
        finally:
            rows.close()


def row_decoder(path: Path, metadata: Mapping[bytes, bytes] | None) -> Callable[[dict[str, Any]], Mapping[str, Any]]:
    """Return a decoder for the rows of a Parquet file; rows of other programs are not changed."""
    message = (metadata or {}).get(_MARK)
    if message is None:
        return lambda row: row
    about: object = json.loads(message)
    if about != {"kind": _KIND, "schemaVersion": SCHEMA_VERSION}:
        raise DataError(f"unknown version of the results format: {message.decode(errors='replace')}", path=path)
    named = (metadata or {}).get(_JSON)
    return partial(_decoded, json_columns=cast(list[str], json.loads(named)) if named else _JSON_COLUMNS)


def outcomes_in(path: Path) -> Iterator[tuple[str, Outcome]]:
    """Yield the language and the outcome of each row of results, with only the fields that summaries need."""
    parquet: Any = require("pyarrow.parquet", feature="reading Parquet", extra="parquet")
    arrow: Any = require("pyarrow", feature="reading Parquet", extra="parquet")
    try:
        with parquet.ParquetFile(path, page_checksum_verification=True) as file:
            decoded = row_decoder(path, file.schema_arrow.metadata)
            wanted = [name for name in ("language", *_SUMMARY_COLUMNS) if name in file.schema_arrow.names]
            for batch in file.iter_batches(batch_size=_ROWS_IN_GROUP, columns=wanted):
                for row in map(decoded, batch.to_pylist()):
                    yield str(row.get("language") or ""), _summary_outcome(row)
    except (arrow.ArrowException, ValueError, OSError) as error:
        raise DataError(f"cannot be read: {error}", path=path) from None


def _summary_outcome(row: Mapping[str, Any]) -> Outcome:
    known = {"reason": "", **{name: row[name] for name in _SUMMARY_COLUMNS if name in row}}
    return read_outcome(Failure if row.get("outcome") == "failure" else JudgeResult, known)


_JSON_COLUMNS = ("members",)


def _decoded(row: dict[str, Any], json_columns: Sequence[str]) -> dict[str, Any]:
    rest = row.pop(_MORE, None)
    found = _without_empty(row)
    found |= {name: json.loads(found[name]) for name in json_columns if name in found}
    if json_columns is _JSON_COLUMNS and "parameters" in found.get("provenance", {}):
        found["provenance"]["parameters"] = json.loads(found["provenance"]["parameters"])
    return _merged(found, json.loads(rest)) if rest else found


def _without_empty(row: Mapping[str, Any]) -> dict[str, Any]:
    """Remove nulls and empty objects and lists."""
    cleaned = (
        (name, _without_empty(cast(Mapping[str, Any], each)) if isinstance(each, Mapping) else each)
        for name, each in row.items()
    )
    return {name: each for name, each in cleaned if each is not None and each != {} and each != []}


def _merged(row: dict[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    for name, value in more.items():
        current = row.get(name)
        both = isinstance(current, dict) and isinstance(value, dict)
        row[name] = _merged(cast(dict[str, Any], current), cast(dict[str, Any], value)) if both else value
    return row


def _forms(criteria: Sequence[str], flags: Sequence[str]) -> dict[str, Form]:
    """Return the form of each column; objects without fields are left out, because Parquet does not have them."""
    by_name = {"subscores": dict.fromkeys(criteria, float), "flags": dict.fromkeys(flags, bool)}
    forms: dict[str, Form] = {"schemaVersion": int, "id": str, "outcome": str}
    for name, form in (*_record_forms(JudgeResult), *_record_forms(Failure)):
        forms.setdefault(name, by_name.get(name, form))
    forms.update(dict.fromkeys(("language", "cluster", "candidate", *ITEM_TEXTS), str))
    forms[_MORE] = "json"
    return {name: form for name, form in forms.items() if form != {}}


def _record_forms(record_type: type) -> Iterator[tuple[str, Form]]:
    hints = get_type_hints(record_type)
    for name, key in field_names(record_type).items():
        yield key, _form(hints[name])


def _form(hint: Any) -> Form:
    if get_origin(hint) in (Union, types.UnionType):
        rest = [each for each in get_args(hint) if each is not type(None)]
        hint = float if set(rest) == {int, float} else rest[0]
    if hint in (str, bool, int, float):
        return hint
    if get_origin(hint) is Literal:
        return str
    if hint is Provenance:
        return dict(_record_forms(Provenance))
    return "texts" if hint == tuple[str, ...] else "json"


def _arrow_type(form: Form, arrow: Any) -> Any:
    if isinstance(form, dict):
        return arrow.struct([(name, _arrow_type(each, arrow)) for name, each in form.items()])
    kinds = {str: arrow.string(), "json": arrow.string(), bool: arrow.bool_(), int: arrow.int64()}
    return {**kinds, float: arrow.float64(), "texts": arrow.list_(arrow.string())}[form]


def _encoded(row: Mapping[str, Any], forms: Mapping[str, Form]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the part of a row that the columns can store, and the rest."""
    stored: dict[str, Any] = {}
    rest: dict[str, Any] = {}
    for name, value in row.items():
        form = forms.get(name)
        if isinstance(form, dict) and isinstance(value, dict):
            stored[name], inner = _encoded(cast(dict[str, Any], value), form)
            if inner:
                rest[name] = inner
        elif form == "json":
            stored[name] = readable_json(value)
        elif form is not None and _fits(value, form):
            stored[name] = value
        else:
            rest[name] = value
            if isinstance(value, str) and form is str:
                stored[name] = value.encode(errors="replace").decode()
    return stored, rest


def _fits(value: object, form: Form) -> bool:
    """Return whether a column of this form stores a value without loss."""
    if form == "texts":
        return isinstance(value, list) and all(_fits(each, str) for each in cast(list[object], value))
    if form is str:
        return isinstance(value, str) and _is_encodable(value)
    if form is float:
        return isinstance(value, float) or (type(value) is int and abs(value) <= 2**53)
    if form is int:
        return type(value) is int and -_LARGEST_INTEGER <= value < _LARGEST_INTEGER
    return isinstance(value, bool)


def _is_encodable(text: str) -> bool:
    """Return whether a text has no lone surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
