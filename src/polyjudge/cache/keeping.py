"""Looking after a cache file: how full it is, what to drop, taking it elsewhere, and whether it is sound."""

import json
import sqlite3
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from polyjudge.errors import CacheError, DataError
from polyjudge.files import each_json_line, from_json
from polyjudge.records import JudgeResult, Reply

from .database import DamagedCacheError, Database, prepare_folder
from .entries import Entry, Kind, decode, intact

SCHEMA_VERSION = 1
_COLUMNS = "kind, key, provider, model, created_at, value"
_INTACT = "kind, key, provider, model, created_at, CAST(value AS TEXT), checksum"
_RECORDS: dict[Kind, type[Reply] | type[JudgeResult]] = {"reply": Reply, "result": JudgeResult}
_INSERT = f"INSERT OR IGNORE INTO entries ({_COLUMNS}, checksum) VALUES (?,?,?,?,?,?,?)"
_SMALLEST_ENTRY_BYTES = 100
_BUSY_TIMEOUT_S = 30.0


@dataclass(frozen=True, slots=True)
class CacheStats:
    """What a cache holds."""

    entries: int
    bytes_on_disk: int
    oldest: str
    newest: str
    by_model: tuple[tuple[str, str, str, int, int], ...]
    """Kind, provider, model, number of entries, their bytes."""


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import did."""

    new: int
    known: int
    problems: tuple[str, ...] = ()
    """Rows that were skipped, by place."""


@dataclass(frozen=True, slots=True)
class Verified:
    """What a check found."""

    entries: int
    problems: tuple[str, ...] = field(default=())


def statistics_of(path: Path) -> CacheStats:
    """Count what a cache holds, by kind, provider and model."""
    with _opened(path) as connection:
        rows = connection.execute(
            "SELECT kind, provider, model, count(*), sum(length(value)) FROM entries "
            "GROUP BY kind, provider, model ORDER BY 4 DESC, 1, 2, 3"
        ).fetchall()
        oldest, newest = connection.execute("SELECT min(created_at), max(created_at) FROM entries").fetchone()
    size = sum(part.stat().st_size for suffix in ("", "-wal") if (part := Path(f"{path}{suffix}")).exists())
    return CacheStats(sum(row[3] for row in rows), size, oldest or "", newest or "", tuple(map(tuple, rows)))


def prune(path: Path, *, before: str = "", provider: str = "", model: str = "", dry_run: bool = False) -> int:
    """Drop entries made before a moment and of a provider or model, as far as given; return how many."""
    conditions = {"created_at < ?": before, "provider = ?": provider, "model = ?": model}
    given = {condition: value for condition, value in conditions.items() if value}
    if not given:
        raise CacheError("nothing to go by: say how old, which provider or which model", path=path)
    matching, values = f"FROM entries WHERE {' AND '.join(given)}", tuple(given.values())
    if dry_run:
        with _opened(path) as connection:
            return connection.execute(f"SELECT count(*) {matching}", values).fetchone()[0]
    with _opened_for_writing(path) as (database, connection):
        with database.writing(connection):
            dropped = connection.execute(f"DELETE {matching}", values).rowcount
        connection.execute("VACUUM")
    return dropped


def export_entries(path: Path, problems: list[str] | None = None) -> Iterator[dict[str, Any]]:
    """Yield every sound entry as a JSON object, oldest first; `problems` is told of the others."""
    with _opened(path) as connection:
        for row in connection.execute(f"SELECT {_INTACT} FROM entries ORDER BY rowid"):
            try:
                entry = _sound(row)
            except DataError as error:
                if problems is not None:
                    problems.append(f"entry {row[1]}: {error}")
                continue
            yield {
                "schemaVersion": SCHEMA_VERSION,
                "kind": entry.kind,
                "key": entry.key,
                "provider": entry.provider,
                "model": entry.model,
                "createdAt": entry.created_at,
                "value": json.loads(entry.value),
            }


def import_entries(path: Path, source: Path) -> Imported:
    """Take in what `export` wrote, or what can still be read of a cache file; entries already here stay as they are."""
    if not source.is_file():
        raise DataError("does not exist", path=source)
    problems: list[str] = []
    entries = _salvaged(source, problems) if _is_sqlite(source) else _exported(source, problems)
    new = known = 0
    with _opened_for_writing(path, make=True) as (database, connection), database.writing(connection):
        for entry in entries:
            row = (entry.kind, entry.key, entry.provider, entry.model, entry.created_at, entry.value, entry.checksum)
            added = connection.execute(_INSERT, row).rowcount
            new, known = new + added, known + 1 - added
    return Imported(new, known, tuple(problems))


def verify(path: Path) -> Verified:
    """Check the file's structure, and every entry's checksum and content."""
    try:
        with _opened(path) as connection:
            problems = [row[0] for row in connection.execute("PRAGMA integrity_check(20)") if row[0] != "ok"]
            count = 0
            for row in connection.execute(f"SELECT {_INTACT} FROM entries"):
                count += 1
                try:
                    _sound(row)
                except DataError as error:
                    problems.append(f"entry {row[1]}: {error}")
    except DamagedCacheError as error:
        return Verified(0, (str(error),))
    return Verified(count, tuple(problems))


def _sound(row: tuple[Any, ...]) -> Entry:
    """Return the entry of a row, checked."""
    kind, key, provider, model, created_at, value, checksum = row
    return _check(Entry(kind, key, provider, model, created_at, intact(value, checksum)))


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
    query = f"SELECT {_INTACT} FROM entries WHERE rowid = ?"
    with closing(database.connect()) as connection:
        for number in range(1, _last_number(connection, source) + 1):
            try:
                row = connection.execute(query, (number,)).fetchone()
                if row:
                    yield _sound(row)
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


@contextmanager
def _opened(path: Path) -> Generator[sqlite3.Connection]:
    """Open for reading only."""
    with _connected(path, read_only=True) as (_, connection):
        yield connection


@contextmanager
def _opened_for_writing(path: Path, *, make: bool = False) -> Generator[tuple[Database, sqlite3.Connection]]:
    if make:
        prepare_folder(path)
    with _connected(path, read_only=False, must_exist=not make) as opened:
        yield opened


@contextmanager
def _connected(
    path: Path, *, read_only: bool, must_exist: bool = True
) -> Generator[tuple[Database, sqlite3.Connection]]:
    if path.is_dir():
        raise CacheError("is a folder; name a file in it", path=path)
    if must_exist and not path.exists():
        raise CacheError("there is no cache here yet", path=path)
    database = Database(path, busy_timeout_s=_BUSY_TIMEOUT_S, read_only=read_only)
    with closing(database.connect()) as connection:
        try:
            yield database, connection
        except sqlite3.Error as error:
            raise database.problem(error) from None
