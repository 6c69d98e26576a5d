"""Statistics, pruning, export, import and verification of any cache."""

import asyncio
import sqlite3
from collections.abc import Callable, Coroutine, Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from polyjudge.errors import CacheError, DataError

from .address import is_url, read_address, shown
from .entries import COLUMNS, Entry, as_export, entries_from, restored, sound, stored
from .protocol import CacheStats, Imported, Verified
from .sqlite_file import DamagedCacheError, Database, prepare_folder

Result = TypeVar("Result")
_Row = tuple[str, Callable[[], Entry]]
"""The key of an entry, and a function that checks and returns the entry."""

_ALL = "select kind, key, provider, model, created_at, value, checksum from polyjudge_entries"
_SPAN = "select min(created_at), max(created_at), pg_total_relation_size('polyjudge_entries') from polyjudge_entries"
_BY_MODEL = "GROUP BY kind, provider, model ORDER BY 4 DESC, 1, 2, 3"
_ROWS_AT_ONCE = 500
_BUSY_TIMEOUT_S = 30.0


def statistics_of(place: Path | str) -> CacheStats:
    """Count what a cache holds, by kind, provider and model."""
    rows: list[Any]
    if is_url(place):
        with _connected(str(place), read_only=True) as server:
            columns = "kind, provider, model, count(*), sum(octet_length(value))"
            rows = server.run(server.connection.fetch(f"SELECT {columns} FROM polyjudge_entries {_BY_MODEL}"))
            oldest, newest, size = server.run(server.connection.fetchrow(_SPAN))
        rows = [(kind, _name(provider), _name(model), count, held) for kind, provider, model, count, held in rows]
    else:
        with _opened(Path(place)) as file:
            columns = "kind, provider, model, count(*), sum(length(value))"
            rows = file.execute(f"SELECT {columns} FROM entries {_BY_MODEL}").fetchall()
            oldest, newest = file.execute("SELECT min(created_at), max(created_at) FROM entries").fetchone()
        size = sum(part.stat().st_size for suffix in ("", "-wal") if (part := Path(f"{place}{suffix}")).exists())
    return CacheStats(sum(row[3] for row in rows), size, oldest or "", newest or "", tuple(rows))


def prune(place: Path | str, *, before: str = "", provider: str = "", model: str = "", dry_run: bool = False) -> int:
    """Delete entries that were made before a time and of a provider or model, as far as given; return how many."""
    if not (before or provider or model):
        raise CacheError("nothing to select by: give an age, a provider or a model", path=shown(place))
    if is_url(place):
        return _prune_table(str(place), {"created_at <": before, "provider =": provider, "model =": model}, dry_run)
    conditions = {"created_at < ?": before, "provider = ?": provider, "model = ?": model}
    given = {condition: value for condition, value in conditions.items() if value}
    matching, values = f"FROM entries WHERE {' AND '.join(given)}", tuple(given.values())
    if dry_run:
        with _opened(Path(place)) as file:
            return file.execute(f"SELECT count(*) {matching}", values).fetchone()[0]
    with _opened_for_writing(Path(place)) as (database, file):
        with database.writing(file):
            deleted = file.execute(f"DELETE {matching}", values).rowcount
        file.execute("VACUUM")
    return deleted


def _prune_table(url: str, conditions: dict[str, str], dry_run: bool) -> int:
    given = {condition: stored(value) for condition, value in conditions.items() if value}
    matching = " and ".join(f"{condition} ${number}" for number, condition in enumerate(given, start=1))
    with _connected(url, read_only=dry_run) as server:
        if dry_run:
            count = f"select count(*) from polyjudge_entries where {matching}"
            return server.run(server.connection.fetchval(count, *given.values()))
        delete = f"delete from polyjudge_entries where {matching}"
        return int(server.run(server.connection.execute(delete, *given.values())).rpartition(" ")[2])


def export_entries(place: Path | str, problems: list[str] | None = None) -> Iterator[dict[str, Any]]:
    """Yield every valid entry as a JSON object, oldest first; `problems` is extended by the others."""
    with _rows(place, in_order=True) as rows:
        for key, read in rows:
            try:
                yield as_export(read())
            except DataError as error:
                if problems is not None:
                    problems.append(f"entry {key}: {error}")


def import_entries(place: Path | str, source: Path) -> Imported:
    """Import what `export` wrote, or what can still be read of a cache file; existing entries stay as they are."""
    problems: list[str] = []
    entries = entries_from(source, problems)
    new, known = _add_to_table(str(place), entries) if is_url(place) else _add_to_file(Path(place), entries)
    return Imported(new, known, tuple(problems))


def _add_to_file(path: Path, entries: Iterator[Entry]) -> tuple[int, int]:
    columns = "kind, key, provider, model, created_at, value, checksum"
    insert = f"INSERT OR IGNORE INTO entries ({columns}) VALUES (?,?,?,?,?,?,?)"
    new = known = 0
    with _opened_for_writing(path, create=True) as (database, file), database.writing(file):
        for entry in entries:
            row = (entry.kind, entry.key, entry.provider, entry.model, entry.created_at, entry.value, entry.checksum)
            added = file.execute(insert, row).rowcount
            new, known = new + added, known + 1 - added
    return new, known


def _add_to_table(url: str, entries: Iterator[Entry]) -> tuple[int, int]:
    from .postgres_writer import ADD, as_columns, in_parts  # here, because most caches are files

    new = known = 0
    with _connected(url, read_only=False, create=True) as server:
        for part in in_parts(entries, lambda entry: len(entry.value)):
            # Of two with one key the first counts, as it does when they come one after the other.
            added = len(server.run(server.connection.fetch(ADD, *as_columns(reversed(part)))))
            new, known = new + added, known + len(part) - added
    return new, known


def verify(place: Path | str) -> Verified:
    """Check every entry's checksum and content, and the structure of a file."""
    problems: list[str] = []
    count = 0
    try:
        if not is_url(place):
            with _opened(Path(place)) as file:
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


@contextmanager
def _rows(place: Path | str, *, in_order: bool) -> Generator[Iterator[_Row]]:
    """Open a cache for reading and yield its rows."""
    if is_url(place):
        with _connected(str(place), read_only=True) as server:
            query = f"{_ALL} order by created_at, key, kind" if in_order else _ALL
            yield ((row["key"], partial(_sound, row)) for row in server.rows(query))
    else:
        with _opened(Path(place)) as file:
            query = f"SELECT {COLUMNS} FROM entries{' ORDER BY rowid' if in_order else ''}"
            yield ((row[1], partial(sound, row)) for row in file.execute(query))


def _sound(row: Any) -> Entry:
    kind, key, provider, model, created_at, value, checksum = row
    return sound((kind, restored(key), restored(provider), restored(model), created_at, value, checksum))


def _name(text: str) -> str:
    try:
        return restored(text)
    except DataError:
        return text


@contextmanager
def _opened(path: Path) -> Generator[sqlite3.Connection]:
    """Open a file for reading only."""
    with _opened_file(path, read_only=True) as (_, file):
        yield file


@contextmanager
def _opened_for_writing(path: Path, *, create: bool = False) -> Generator[tuple[Database, sqlite3.Connection]]:
    if create:
        prepare_folder(path)
    with _opened_file(path, read_only=False, must_exist=not create) as opened:
        yield opened


@contextmanager
def _opened_file(
    path: Path, *, read_only: bool, must_exist: bool = True
) -> Generator[tuple[Database, sqlite3.Connection]]:
    if path.is_dir():
        raise CacheError("is a folder; name a file in it", path=path)
    if must_exist and not path.exists():
        raise CacheError("there is no cache here yet", path=path)
    database = Database(path, busy_timeout_s=_BUSY_TIMEOUT_S, read_only=read_only)
    with closing(database.connect()) as file:
        try:
            yield database, file
        except sqlite3.Error as error:
            raise database.problem(error) from None


@dataclass(frozen=True, slots=True)
class _Server:
    """One connection to PostgreSQL, used from ordinary code: each call runs its event loop for a while."""

    database: Any
    runner: asyncio.Runner
    connection: Any

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        try:
            return self.runner.run(work)
        except self.database.failures as error:
            raise self.database.problem(error) from None

    def rows(self, query: str) -> Iterator[Any]:
        """Yield the rows of a query as it was at the start, a group at a time."""
        self.run(self.connection.transaction(isolation="repeatable_read", readonly=True).start())
        cursor = self.run(self._cursor(query))
        while rows := self.run(cursor.fetch(_ROWS_AT_ONCE)):
            yield from rows

    async def _cursor(self, query: str) -> Any:
        return await self.connection.cursor(query)


@contextmanager
def _connected(url: str, *, read_only: bool, create: bool = False) -> Generator[_Server]:
    """Connect to PostgreSQL, outside of a running event loop."""
    from .postgres_connection import PostgresDatabase  # here, because most caches are files

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
