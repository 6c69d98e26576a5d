"""Statistics, pruning, export, import and verification of a PostgreSQL cache."""

from collections.abc import Coroutine, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from polyjudge.errors import DataError

from .address import read_address
from .entries import Entry, as_export, entries_from, restored, sound, stored
from .loop_thread import LoopThread
from .postgres_connection import PostgresDatabase
from .postgres_writer import ADD, as_columns, in_parts
from .protocol import CacheStats, Imported, Verified

Result = TypeVar("Result")

_ALL = "select kind, key, provider, model, created_at, value, checksum from polyjudge_entries"
_COUNTS = """
select kind, provider, model, count(*), sum(octet_length(value)) from polyjudge_entries
group by kind, provider, model order by 4 desc, 1, 2, 3
"""
_SPAN = "select min(created_at), max(created_at), pg_total_relation_size('polyjudge_entries') from polyjudge_entries"
_ROWS_AT_ONCE = 500


def statistics_of(url: str) -> CacheStats:
    """Count what a cache holds, by kind, provider and model."""
    with _opened(url, read_only=True) as session:
        rows = session.run(session.connection.fetch(_COUNTS))
        oldest, newest, size = session.run(session.connection.fetchrow(_SPAN))
    by_model = [(kind, _name(provider), _name(model), count, held) for kind, provider, model, count, held in rows]
    return CacheStats(sum(row[3] for row in by_model), size, oldest or "", newest or "", tuple(by_model))


def prune(url: str, *, before: str, provider: str, model: str, dry_run: bool) -> int:
    """Drop entries made before a moment and of a provider or model, as far as given; return how many."""
    conditions = {"created_at <": before, "provider =": stored(provider), "model =": stored(model)}
    given = {condition: value for condition, value in conditions.items() if value}
    matching = " and ".join(f"{condition} ${number}" for number, condition in enumerate(given, start=1))
    with _opened(url, read_only=dry_run) as session:
        if dry_run:
            count = f"select count(*) from polyjudge_entries where {matching}"
            return session.run(session.connection.fetchval(count, *given.values()))
        dropped = f"delete from polyjudge_entries where {matching}"
        return int(session.run(session.connection.execute(dropped, *given.values())).rpartition(" ")[2])


def export_entries(url: str, problems: list[str]) -> Iterator[dict[str, Any]]:
    """Yield every sound entry as a JSON object, oldest first; `problems` is told of the others."""
    with _opened(url, read_only=True) as session:
        for row in session.rows(f"{_ALL} order by created_at, key, kind"):
            try:
                yield as_export(_sound(row))
            except DataError as error:
                problems.append(f"entry {row['key']}: {error}")


def import_entries(url: str, source: Path) -> Imported:
    """Take in what `export` wrote, or what can still be read of a cache file; entries already here stay as they are."""
    problems: list[str] = []
    entries = entries_from(source, problems)
    new = known = 0
    with _opened(url, read_only=False, make=True) as session:
        for part in in_parts(entries, lambda entry: len(entry.value)):
            # Of two with one key the first counts, as it does when they come one after the other.
            added = len(session.run(session.connection.fetch(ADD, *as_columns(reversed(part)))))
            new, known = new + added, known + len(part) - added
    return Imported(new, known, tuple(problems))


def verify(url: str) -> Verified:
    """Check every entry's checksum and content."""
    count = 0
    problems: list[str] = []
    with _opened(url, read_only=True) as session:
        for row in session.rows(_ALL):
            count += 1
            try:
                _sound(row)
            except DataError as error:
                problems.append(f"entry {row['key']}: {error}")
    return Verified(count, tuple(problems))


def _sound(row: Any) -> Entry:
    kind, key, provider, model, created_at, value, checksum = row
    return sound((kind, restored(key), restored(provider), restored(model), created_at, value, checksum))


def _name(text: str) -> str:
    try:
        return restored(text)
    except DataError:
        return text


@dataclass(frozen=True, slots=True)
class _Session:
    """One connection, used from ordinary code."""

    database: PostgresDatabase
    thread: LoopThread
    connection: Any

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        try:
            return self.thread.run(work)
        except self.database.failures as error:
            raise self.database.problem(error) from None

    def rows(self, query: str) -> Iterator[Any]:
        """Yield what a query brings, a little at a time."""
        self.run(self.connection.transaction(isolation="repeatable_read", readonly=True).start())
        cursor = self.run(self._cursor(query))
        while rows := self.run(cursor.fetch(_ROWS_AT_ONCE)):
            yield from rows

    async def _cursor(self, query: str) -> Any:
        return await self.connection.cursor(query)


@contextmanager
def _opened(url: str, *, read_only: bool, make: bool = False) -> Generator[_Session]:
    database = PostgresDatabase(read_address(url), read_only=read_only)
    thread = LoopThread("polyjudge-postgres")
    connection: Any = None
    try:
        connection = thread.run(database.connect(timeout_s=None))
        session = _Session(database, thread, connection)
        session.run(database.prepare(connection, make=make))
        yield session
    finally:
        thread.finish(_hang_up(connection))


async def _hang_up(connection: Any) -> None:
    if connection is not None:
        connection.terminate()
