"""Cache maintenance: statistics, pruning, export, import and verification."""

import asyncio
import json
import sqlite3
from collections.abc import Callable, Coroutine, Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from polyjudge.errors import CacheError, DataError, other_version
from polyjudge.files.json_lines import each_json_line
from polyjudge.records.codec import from_json

from .address import read_address, shown
from .entries import COLUMNS, Entry, check_entry, checked_entry, escape, unescape
from .protocol import CacheStats, Imported, Verified, is_url
from .sqlite_file import DamagedCacheError, Database, prepare_folder

Result = TypeVar("Result")
_Row = tuple[str, Callable[[], Entry]]
"""The key of an entry, and a function that checks and returns the entry."""

_ALL = "select kind, key, provider, model, created_at, value, checksum from polyjudge_entries"
_SPAN = "select min(created_at), max(created_at), pg_total_relation_size('polyjudge_entries') from polyjudge_entries"
_BY_MODEL = "GROUP BY kind, provider, model ORDER BY 4 DESC, 1, 2, 3"
_ROWS_AT_ONCE = 500
_SCHEMA_VERSION = 1
"""Of an exported entry."""
_SMALLEST_ENTRY_BYTES = 100
_BUSY_TIMEOUT_S = 30.0


def statistics_of(place: Path | str) -> CacheStats:
    """Count the entries of a cache by kind, provider and model."""
    rows: list[Any]
    if is_url(place):
        with _connected(str(place), read_only=True) as server:
            columns = "kind, provider, model, count(*), sum(octet_length(value))"
            rows = server.run(server.connection.fetch(f"SELECT {columns} FROM polyjudge_entries {_BY_MODEL}"))
            oldest, newest, disk_bytes = server.run(server.connection.fetchrow(_SPAN))
        rows = [
            (kind, _unescape_if_valid(provider), _unescape_if_valid(model), count, size)
            for kind, provider, model, count, size in rows
        ]
    else:
        with _open_for_reading(Path(place)) as file:
            columns = "kind, provider, model, count(*), sum(length(value))"
            rows = file.execute(f"SELECT {columns} FROM entries {_BY_MODEL}").fetchall()
            oldest, newest = file.execute("SELECT min(created_at), max(created_at) FROM entries").fetchone()
        disk_bytes = sum(part.stat().st_size for suffix in ("", "-wal") if (part := Path(f"{place}{suffix}")).exists())
    return CacheStats(sum(row[3] for row in rows), disk_bytes, oldest or "", newest or "", tuple(rows))


def prune(place: Path | str, *, before: str = "", provider: str = "", model: str = "", dry_run: bool = False) -> int:
    """Delete the entries that match every given filter; return how many."""
    if not (before or provider or model):
        raise CacheError("nothing selected; give an age, a provider or a model", path=shown(place))
    if is_url(place):
        return _prune_table(str(place), {"created_at <": before, "provider =": provider, "model =": model}, dry_run)
    conditions = {"created_at < ?": before, "provider = ?": provider, "model = ?": model}
    given = {condition: value for condition, value in conditions.items() if value}
    matching, values = f"FROM entries WHERE {' AND '.join(given)}", tuple(given.values())
    if dry_run:
        with _open_for_reading(Path(place)) as file:
            return file.execute(f"SELECT count(*) {matching}", values).fetchone()[0]
    with _open_for_writing(Path(place)) as (database, file):
        with database.writing(file):
            deleted = file.execute(f"DELETE {matching}", values).rowcount
        file.execute("VACUUM")
    return deleted


def _prune_table(url: str, conditions: dict[str, str], dry_run: bool) -> int:
    given = {condition: escape(value) for condition, value in conditions.items() if value}
    matching = " and ".join(f"{condition} ${number}" for number, condition in enumerate(given, start=1))
    with _connected(url, read_only=dry_run) as server:
        if dry_run:
            count = f"select count(*) from polyjudge_entries where {matching}"
            return server.run(server.connection.fetchval(count, *given.values()))
        delete = f"delete from polyjudge_entries where {matching}"
        return int(server.run(server.connection.execute(delete, *given.values())).rpartition(" ")[2])


def export_entries(place: Path | str, problems: list[str] | None = None) -> Iterator[dict[str, Any]]:
    """Yield every valid entry as a JSON object, oldest first; add a message to `problems` for each invalid one."""
    with _rows(place, in_order=True) as rows:
        for key, read in rows:
            try:
                yield _as_export(read())
            except DataError as error:
                if problems is not None:
                    problems.append(f"entry {key}: {error}")


def _as_export(entry: Entry) -> dict[str, Any]:
    """Return the exported form of an entry."""
    return {
        "schemaVersion": _SCHEMA_VERSION,
        "kind": entry.kind,
        "key": entry.key,
        "provider": entry.provider,
        "model": entry.model,
        "createdAt": entry.created_at,
        "value": json.loads(entry.value),
    }


def import_entries(place: Path | str, source: Path) -> Imported:
    """Import an export, or the readable entries of a cache file; existing entries are not changed."""
    problems: list[str] = []
    entries = _entries_from(source, problems)
    new, known = _add_to_table(str(place), entries) if is_url(place) else _add_to_file(Path(place), entries)
    return Imported(new, known, tuple(problems))


def _add_to_file(path: Path, entries: Iterator[Entry]) -> tuple[int, int]:
    columns = "kind, key, provider, model, created_at, value, checksum"
    insert = f"INSERT OR IGNORE INTO entries ({columns}) VALUES (?,?,?,?,?,?,?)"
    new = known = 0
    with _open_for_writing(path, create=True) as (database, file), database.writing(file):
        for entry in entries:
            row = (entry.kind, entry.key, entry.provider, entry.model, entry.created_at, entry.value, entry.checksum)
            added = file.execute(insert, row).rowcount
            new, known = new + added, known + 1 - added
    return new, known


def _add_to_table(url: str, entries: Iterator[Entry]) -> tuple[int, int]:
    from .postgres_writer import ADD, as_columns, divide  # imported here because most caches are files

    new = known = 0
    with _connected(url, read_only=False, create=True) as server:
        for part in divide(entries, lambda entry: len(entry.value)):
            # If a key occurs twice in a part, the first entry is used, as it is across parts.
            added = len(server.run(server.connection.fetch(ADD, *as_columns(reversed(part)))))
            new, known = new + added, known + len(part) - added
    return new, known


def verify(place: Path | str) -> Verified:
    """Check the checksum and content of every entry, and the structure of a database file."""
    problems: list[str] = []
    count = 0
    try:
        if not is_url(place):
            with _open_for_reading(Path(place)) as file:
                problems += [row[0] for row in file.execute("PRAGMA integrity_check(20)") if row[0] != "ok"]
        with _rows(place, in_order=False) as rows:
            for key, read in rows:
                count += 1
                try:
                    read()
                except DataError as error:
                    problems.append(f"entry {key}: {error}")
    except DamagedCacheError as error:
        return Verified(0, (str(error),))
    return Verified(count, tuple(problems))


def _entries_from(source: Path, problems: list[str]) -> Iterator[Entry]:
    """Yield the entries of an export or a cache file; add a message to `problems` for each unreadable one."""
    if not source.is_file():
        raise DataError("does not exist; give an export of a cache, or a cache file", path=source)
    return _recover(source, problems) if _is_sqlite(source) else _read_export(source, problems)


def _read_export(source: Path, problems: list[str]) -> Iterator[Entry]:
    for number, row in each_json_line(source):
        try:
            yield check_entry(_entry_from_export(row))
        except DataError as error:
            problems.append(f"{source}:{number}: {error}")


def _entry_from_export(row: dict[str, Any] | str) -> Entry:
    if isinstance(row, str):
        raise DataError(row)
    version = row.get("schemaVersion")
    if version != _SCHEMA_VERSION:
        raise DataError(other_version(version, _SCHEMA_VERSION))
    value = json.dumps(row.get("value"), separators=(",", ":"))
    return from_json(Entry, {**row, "value": value})


def _recover(source: Path, problems: list[str]) -> Iterator[Entry]:
    """Yield the readable entries of a cache file, which may be damaged, row by row."""
    database = Database(source, busy_timeout_s=_BUSY_TIMEOUT_S, read_only=True)
    query = f"SELECT {COLUMNS} FROM entries WHERE rowid = ?"
    with closing(database.connect()) as connection:
        for number in range(1, _last_rowid(connection, source) + 1):
            try:
                row = connection.execute(query, (number,)).fetchone()
                if row:
                    yield checked_entry(row)
            except (sqlite3.DatabaseError, DataError) as error:
                problems.append(f"{source}: entry in row {number}: {error}")


def _last_rowid(connection: sqlite3.Connection, source: Path) -> int:
    try:
        return connection.execute("SELECT max(rowid) FROM entries").fetchone()[0] or 0
    except sqlite3.DatabaseError:
        return source.stat().st_size // _SMALLEST_ENTRY_BYTES


def _is_sqlite(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(16) == b"SQLite format 3\x00"


@contextmanager
def _rows(place: Path | str, *, in_order: bool) -> Generator[Iterator[_Row]]:
    """Open a cache for reading and yield its rows."""
    if is_url(place):
        with _connected(str(place), read_only=True) as server:
            query = f"{_ALL} order by created_at, key, kind" if in_order else _ALL
            yield ((row["key"], partial(_entry_from_server, row)) for row in server.rows(query))
    else:
        with _open_for_reading(Path(place)) as file:
            query = f"SELECT {COLUMNS} FROM entries{' ORDER BY rowid' if in_order else ''}"
            yield ((row[1], partial(checked_entry, row)) for row in file.execute(query))


def _entry_from_server(row: Any) -> Entry:
    kind, key, provider, model, created_at, value, checksum = row
    return checked_entry((kind, unescape(key), unescape(provider), unescape(model), created_at, value, checksum))


def _unescape_if_valid(text: str) -> str:
    try:
        return unescape(text)
    except DataError:
        return text


@contextmanager
def _open_for_reading(path: Path) -> Generator[sqlite3.Connection]:
    with _open_file(path, read_only=True) as (_, file):
        yield file


@contextmanager
def _open_for_writing(path: Path, *, create: bool = False) -> Generator[tuple[Database, sqlite3.Connection]]:
    if create:
        prepare_folder(path)
    with _open_file(path, read_only=False, must_exist=not create) as opened:
        yield opened


@contextmanager
def _open_file(
    path: Path, *, read_only: bool, must_exist: bool = True
) -> Generator[tuple[Database, sqlite3.Connection]]:
    if path.is_dir():
        raise CacheError("this is a folder; give a file in it", path=path)
    if must_exist and not path.exists():
        raise CacheError("no such cache; run a command that judges first, or give another path", path=path)
    database = Database(path, busy_timeout_s=_BUSY_TIMEOUT_S, read_only=read_only)
    with closing(database.connect()) as file:
        try:
            yield database, file
        except sqlite3.Error as error:
            raise database.problem(error) from None


@dataclass(frozen=True, slots=True)
class _Server:
    """A connection to PostgreSQL for synchronous code: each call runs the event loop until it is done."""

    database: Any
    runner: asyncio.Runner
    connection: Any

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        try:
            return self.runner.run(work)
        except self.database.failures as error:
            raise self.database.problem(error) from None

    def rows(self, query: str) -> Iterator[Any]:
        """Yield the rows of a query from one snapshot, fetched in groups."""
        self.run(self.connection.transaction(isolation="repeatable_read", readonly=True).start())
        cursor = self.run(self._cursor(query))
        while rows := self.run(cursor.fetch(_ROWS_AT_ONCE)):
            yield from rows

    async def _cursor(self, query: str) -> Any:
        return await self.connection.cursor(query)


@contextmanager
def _connected(url: str, *, read_only: bool, create: bool = False) -> Generator[_Server]:
    """Connect to PostgreSQL; only for code outside of an event loop."""
    from .postgres_connection import PostgresDatabase  # imported here because most caches are files

    database = PostgresDatabase(read_address(url), read_only=read_only)
    with asyncio.Runner() as runner:
        connection = runner.run(database.connect(timeout_s=None))
        server = _Server(database, runner, connection)
        try:
            server.run(database.configure(connection))
            server.run(database.prepare(connection, create=create))
            yield server
        finally:
            runner.run(_terminate(connection))


async def _terminate(connection: Any) -> None:
    connection.terminate()
