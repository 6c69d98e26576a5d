"""Statistics, pruning, export, import and verification of a SQLite cache."""

import sqlite3
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from polyjudge.errors import CacheError, DataError

from .entries import COLUMNS, as_export, entries_from, sound
from .protocol import CacheStats, Imported, Verified
from .sqlite_file import DamagedCacheError, Database, prepare_folder

_INSERT = (
    "INSERT OR IGNORE INTO entries (kind, key, provider, model, created_at, value, checksum) VALUES (?,?,?,?,?,?,?)"
)
_BUSY_TIMEOUT_S = 30.0


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


def prune(path: Path, *, before: str, provider: str, model: str, dry_run: bool) -> int:
    """Drop entries made before a moment and of a provider or model, as far as given; return how many."""
    conditions = {"created_at < ?": before, "provider = ?": provider, "model = ?": model}
    given = {condition: value for condition, value in conditions.items() if value}
    matching, values = f"FROM entries WHERE {' AND '.join(given)}", tuple(given.values())
    if dry_run:
        with _opened(path) as connection:
            return connection.execute(f"SELECT count(*) {matching}", values).fetchone()[0]
    with _opened_for_writing(path) as (database, connection):
        with database.writing(connection):
            dropped = connection.execute(f"DELETE {matching}", values).rowcount
        connection.execute("VACUUM")
    return dropped


def export_entries(path: Path, problems: list[str]) -> Iterator[dict[str, Any]]:
    """Yield every sound entry as a JSON object, oldest first; `problems` is told of the others."""
    with _opened(path) as connection:
        for row in connection.execute(f"SELECT {COLUMNS} FROM entries ORDER BY rowid"):
            try:
                yield as_export(sound(row))
            except DataError as error:
                problems.append(f"entry {row[1]}: {error}")


def import_entries(path: Path, source: Path) -> Imported:
    """Take in what `export` wrote, or what can still be read of a cache file; entries already here stay as they are."""
    problems: list[str] = []
    entries = entries_from(source, problems)
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
            for row in connection.execute(f"SELECT {COLUMNS} FROM entries"):
                count += 1
                try:
                    sound(row)
                except DataError as error:
                    problems.append(f"entry {row[1]}: {error}")
    except DamagedCacheError as error:
        return Verified(0, (str(error),))
    return Verified(count, tuple(problems))


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
