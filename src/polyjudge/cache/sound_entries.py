"""Entries from a cache, an export or the remains of a cache file, each checked before it is trusted."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from polyjudge.errors import DataError
from polyjudge.files import each_json_line, from_json
from polyjudge.records import JudgeResult, Reply

from .database import Database
from .entries import Entry, Kind, decode, intact

SCHEMA_VERSION = 1
COLUMNS = "kind, key, provider, model, created_at, CAST(value AS TEXT), checksum"
"""What `sound` wants of a row, in this order."""
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
    """Return what `export` wrote, or what can still be read of a cache file; `problems` is told of the rest."""
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
