"""Cache entries: their encoding, checksums, and the check of imported ones."""

import json
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Literal, TypeVar, cast
from zlib import crc32

from msgspec import Struct
from msgspec.structs import replace

from polyjudge.clock import utc_now
from polyjudge.errors import DataError
from polyjudge.files.json_lines import each_json_line, parse_json
from polyjudge.records.codec import from_json, to_json
from polyjudge.records.outcomes import JudgeResult, read_outcome
from polyjudge.records.requests import Reply

from .sqlite_file import Database

_ODD = re.compile(r"[^\x01-\x7e]|\\")


def stored(text: str) -> str:
    """Return a text as it is, or with escapes if it has characters that a database might refuse."""
    return json.dumps(text)[1:-1] if _ODD.search(text) else text


def restored(text: str) -> str:
    """Return the text that `stored` was given."""
    if "\\" not in text:
        return text
    try:
        return str(json.loads(f'"{text}"'))
    except ValueError:
        raise DataError(f"{text!r} has a broken escape") from None


Kind = Literal["reply", "result"]
Record = TypeVar("Record", bound=Struct)
_ENCODER = json.JSONEncoder(separators=(",", ":"), allow_nan=False)


class Entry(Struct, frozen=True, rename="camel"):
    """A provider's reply, or a result that a program stored itself."""

    kind: Kind
    key: str
    provider: str
    model: str
    created_at: str
    value: str
    """The record as JSON."""

    @property
    def checksum(self) -> int:
        """A number that changes when a bit of the value does."""
        return checksum_of(self.value)


def reply_entry(key: str, reply: Reply, provider: str, *, since: str = "") -> Entry:
    """Return the entry of a reply, dated now.

    It is not dated before `since`: a run that asks again for older replies, and is resumed after the clock went back,
    would ask for this one again.
    """
    kept = replace(reply, cached=False) if reply.cached else reply
    return Entry("reply", key, provider, _unbroken(reply.model), max(utc_now(), since), encode(kept))


def result_entry(key: str, result: JudgeResult) -> Entry:
    """Return the entry of a result, dated now."""
    provider = result.provenance.provider if result.provenance else ""
    value = encode(replace(result, cached=False))
    return Entry("result", key, provider, _unbroken(result.model), utc_now(), value)


def _unbroken(name: str) -> str:
    """Return a model's name without lone surrogates, which no database takes; the record itself keeps them."""
    return name.encode(errors="replace").decode()


def checksum_of(value: str) -> int:
    """Return the checksum of an entry's value."""
    return crc32(value.encode(errors="surrogatepass"))


def intact(value: str, checksum: int) -> str:
    """Return the value of an entry, unless a bit of it has changed since it was written."""
    if checksum_of(value) != checksum:
        raise DataError("the checksum does not agree")
    return value


def encode(record: Struct) -> str:
    """Return a record as one line of JSON, in ASCII so that no text can be refused by the database."""
    return _ENCODER.encode(to_json(record))


def decode(record_type: type[Record], value: str) -> Record:
    """Return the record that `encode` wrote."""
    return _record(record_type, _loaded(value))


def decode_kept(record_type: type[Record], value: str, checksum: int) -> Record:
    """Return the record of an intact entry, marked as cached."""
    data: Any = _loaded(intact(value, checksum))
    if isinstance(data, dict):
        cast(dict[str, Any], data)["cached"] = True
    return _record(record_type, cast(object, data))


def _record(record_type: type[Record], data: object) -> Record:
    if issubclass(record_type, JudgeResult) and isinstance(data, dict):
        return read_outcome(record_type, cast(dict[str, Any], data))
    return from_json(record_type, data)


def _loaded(value: str) -> object:
    try:
        return parse_json(value)
    except ValueError as error:
        raise DataError(f"is not JSON: {error}") from None


SCHEMA_VERSION = 1
COLUMNS = "kind, key, provider, model, created_at, CAST(value AS TEXT), checksum"
"""What `sound` takes of a row, in this order."""
_RECORDS: dict[Kind, type[Reply] | type[JudgeResult]] = {"reply": Reply, "result": JudgeResult}
_SMALLEST_ENTRY_BYTES = 100
_BUSY_TIMEOUT_S = 30.0


def sound(row: tuple[Any, ...]) -> Entry:
    """Return the entry of a row, checked."""
    kind, key, provider, model, created_at, value, checksum = row
    return _check(Entry(kind, key, provider, model, created_at, intact(value, checksum)))


def as_export(entry: Entry) -> dict[str, Any]:
    """Return an entry as `export` writes it."""
    return {
        "schemaVersion": SCHEMA_VERSION,
        "kind": entry.kind,
        "key": entry.key,
        "provider": entry.provider,
        "model": entry.model,
        "createdAt": entry.created_at,
        "value": json.loads(entry.value),
    }


def entries_from(source: Path, problems: list[str]) -> Iterator[Entry]:
    """Return what `export` wrote, or what can still be read of a cache file; `problems` is extended by the rest."""
    if not source.is_file():
        raise DataError("does not exist", path=source)
    return _salvaged(source, problems) if _is_sqlite(source) else _exported(source, problems)


def _check(entry: Entry) -> Entry:
    if entry.kind not in _RECORDS:
        raise DataError(f"unknown kind {entry.kind!r}")
    decode(_RECORDS[entry.kind], entry.value)
    return entry


def _exported(source: Path, problems: list[str]) -> Iterator[Entry]:
    for number, row in each_json_line(source):
        try:
            yield _check(_entry_from_export(row))
        except DataError as error:
            problems.append(f"{source}:{number}: {error}")


def _entry_from_export(row: dict[str, Any] | str) -> Entry:
    if isinstance(row, str):
        raise DataError(row)
    version = row.get("schemaVersion")
    if version != SCHEMA_VERSION:
        raise DataError(f"schemaVersion is {version!r}, expected {SCHEMA_VERSION}")
    value = json.dumps(row.get("value"), separators=(",", ":"))
    return from_json(Entry, {**row, "value": value})


def _salvaged(source: Path, problems: list[str]) -> Iterator[Entry]:
    """Yield every entry of a cache file that can still be read, asking for each by its number."""
    database = Database(source, busy_timeout_s=_BUSY_TIMEOUT_S, read_only=True)
    query = f"SELECT {COLUMNS} FROM entries WHERE rowid = ?"
    with closing(database.connect()) as connection:
        for number in range(1, _last_number(connection, source) + 1):
            try:
                row = connection.execute(query, (number,)).fetchone()
                if row:
                    yield sound(row)
            except (sqlite3.DatabaseError, DataError) as error:
                problems.append(f"{source}: entry number {number}: {error}")


def _last_number(connection: sqlite3.Connection, source: Path) -> int:
    try:
        return connection.execute("SELECT max(rowid) FROM entries").fetchone()[0] or 0
    except sqlite3.DatabaseError:
        return source.stat().st_size // _SMALLEST_ENTRY_BYTES


def _is_sqlite(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(16) == b"SQLite format 3\x00"
