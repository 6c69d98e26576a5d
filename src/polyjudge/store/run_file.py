"""The run file: rows are appended in order, and the file gets its final name when it is complete.

During a run its rows are in `NAME.FINGERPRINT.partial`, in the order of the items. The same run started again resumes
there; another run, with other items or another judge, has another fingerprint. Outcomes that wait for a slow item
before them are stored in `NAME.FINGERPRINT.ahead`, and `NAME.FINGERPRINT.begun` is the start marker, with the time of
the start.
"""

import json
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self, cast, get_args, runtime_checkable

from polyjudge.clock import utc_now
from polyjudge.errors import DataError, ForeignFileError
from polyjudge.files.json_lines import RowLog, item_line, parse_json, read_json_lines
from polyjudge.files.kinds import FileKind
from polyjudge.files.ownership import refuse_foreign
from polyjudge.files.spill import from_blob, open_scratch, to_blob
from polyjudge.records.outcomes import Failure, FailureKind, Item, RunOutcome, outcome_row, read_outcome_row

_SCHEMA = "CREATE TABLE outcomes (id BLOB PRIMARY KEY, outcome TEXT, is_wanted INTEGER DEFAULT 0) WITHOUT ROWID"


class StoredOutcomes(Mapping[str, RunOutcome]):
    """The outcomes of items on disk; a later outcome of an id replaces an earlier one."""

    def __init__(self) -> None:
        self._scratch = open_scratch(self, _SCHEMA)

    def add(self, item_id: str, outcome: RunOutcome) -> None:
        """Add an outcome."""
        row = json.dumps(outcome_row(item_id, outcome), default=str)
        self._scratch.execute("INSERT OR REPLACE INTO outcomes (id, outcome) VALUES (?, ?)", (to_blob(item_id), row))

    def want(self, item_id: str) -> None:
        """Mark an outcome as needed, if there is one."""
        self._scratch.execute("UPDATE outcomes SET is_wanted = 1 WHERE id = ?", (to_blob(item_id),))

    def unwanted(self) -> Iterator[str]:
        """Yield the ids that were not marked as needed."""
        for (item_id,) in self._scratch.execute("SELECT id FROM outcomes WHERE NOT is_wanted ORDER BY id"):
            yield from_blob(item_id)

    def drop(self, item_id: str) -> None:
        """Remove an outcome."""
        self._scratch.execute("DELETE FROM outcomes WHERE id = ?", (to_blob(item_id),))

    def __getitem__(self, item_id: str) -> RunOutcome:
        query = "SELECT outcome FROM outcomes WHERE id = ?"
        found = self._scratch.execute(query, (to_blob(item_id),)).fetchone()
        if found is None:
            raise KeyError(item_id)
        return read_outcome_row(cast(dict[str, Any], parse_json(found[0])))[1]

    def __iter__(self) -> Iterator[str]:
        for (item_id,) in self._scratch.execute("SELECT id FROM outcomes ORDER BY id"):
            yield from_blob(item_id)

    def __len__(self) -> int:
        return self._scratch.execute("SELECT count(*) FROM outcomes").fetchone()[0]


_MAX_LINKS = 40
_CHUNK = 1 << 20


def read_outcomes(path: Path) -> Iterator[tuple[str, RunOutcome]]:
    """Yield the rows of a run file with the ids of their items."""
    for number, row in read_json_lines(path):
        try:
            yield read_outcome_row(row)
        except DataError as error:
            raise DataError(str(error), path=path, line=number) from None


_TEMPORARY: frozenset[str] = frozenset({"transient"})
"""The failures whose cause may be gone when the run is resumed."""
_ALL: frozenset[str] = frozenset(get_args(FailureKind)) - {"abstained"}


def asked_again(*, retries_failures: bool) -> frozenset[str]:
    """Return the kinds of failures that a resumed run asks again: with `retries_failures` all, else temporary ones."""
    return _ALL if retries_failures else _TEMPORARY


class OutcomeStore(Protocol):
    """Stores the outcomes of a run in the order of its items."""

    started_at: str
    """When the run was first started, ISO 8601 in UTC."""

    def stored(self) -> Iterator[tuple[str, RunOutcome]]:
        """Yield the rows of an unfinished run with the ids of their items, in the order of the items."""
        ...

    def append(self, item: Item, outcome: RunOutcome) -> None:
        """Write the row of the next item; it survives a kill of the process when this returns."""
        ...

    def ahead(self) -> Mapping[str, RunOutcome]:
        """Return the outcomes that an unfinished run stored ahead of their turn, by item id."""
        ...

    def finish(self) -> None:
        """Give the file its final name, after all rows are written."""
        ...

    def discard_if_empty(self) -> None:
        """Delete the start marker if no row was written, so that the next run starts again."""
        ...

    def close(self) -> None:
        """Release the files."""
        ...


@runtime_checkable
class WaitingStore(Protocol):
    """A store that can also store outcomes ahead of their turn."""

    def append_ahead(self, item: Item, outcome: RunOutcome) -> int:
        """Store an outcome ahead of its turn; return its position for `read_ahead`."""
        ...

    def read_ahead(self, position: int) -> RunOutcome:
        """Return an outcome that `append_ahead` stored."""
        ...


def is_unfinished(path: Path, fingerprint: str) -> bool:
    """Return whether there are rows, or the start marker, of an unfinished run."""
    partial = _partial_of(path.resolve(), fingerprint)
    return partial.exists() or partial.with_suffix(".begun").exists()


def _partial_of(path: Path, fingerprint: str) -> Path:
    return path.with_name(f"{path.name}.{fingerprint}.partial")


class RunFile:
    """The rows of one run in a file."""

    def __init__(
        self,
        path: Path,
        fingerprint: str,
        *,
        force: bool = False,
        legacy: Sequence[str] = (),
        items: int | None = None,
        is_exported: bool = False,
        retries_failures: bool = False,
        with_texts: bool = False,
    ) -> None:
        """Open the run file; `legacy` are the fingerprints of the same run in earlier versions.

        With `items`, a finished file of more rows is not replaced without `force`.
        With `is_exported`, an export writes the file of this name, and the rows are deleted when they are complete.
        With `retries_failures`, rows are kept as long as there are failures, and all of these are retried, not only
        transient ones. `with_texts` writes what was judged into each row.
        """
        _refuse_replacing(path, None if is_exported else items, is_exported=is_exported, force=force)
        self._force, self._is_exported = force, is_exported
        self._retries_failures, self._with_texts = retries_failures, with_texts
        self._retried = asked_again(retries_failures=retries_failures)
        self._has_failures = False
        self.path = path = path.resolve()  # the target of a link is written, and the link stays
        names = [_partial_of(path, each) for each in (fingerprint, *legacy)]
        self.partial = next((name for name in names if name.exists()), names[0])
        _adopt_start_marker(self.partial, names)
        self._rows = RowLog(self.partial)
        self._ahead: RowLog | None = None
        self._rows.lock()
        self._rows.drop_incomplete_row()
        try:
            if not self._rows.is_empty:
                self._cut_retried()
            self.started_at = self._write_start_marker()
        except OSError as error:
            self._rows.close()
            raise self._problem(error) from None

    def stored(self) -> Iterator[tuple[str, RunOutcome]]:
        """Yield the rows of an unfinished run with the ids of their items, in the order of the items."""
        return iter(()) if self._rows.is_empty else self._rows.outcomes()

    def append(self, item: Item, outcome: RunOutcome) -> None:
        """Write the row of the next item; it survives a kill of the process when this returns."""
        self._has_failures |= isinstance(outcome, Failure)
        self._rows.write(item_line(item, outcome, with_texts=self._with_texts).encode())

    def append_ahead(self, item: Item, outcome: RunOutcome) -> int:
        """Store an outcome ahead of its turn; return its position for `read_ahead`."""
        log = self._open_ahead()
        position = os.fstat(log.descriptor).st_size
        log.write(item_line(item, outcome).encode())
        return position

    def read_ahead(self, position: int) -> RunOutcome:
        """Return an outcome that `append_ahead` stored."""
        return read_outcome_row(_row_at(self._open_ahead().descriptor, position))[1]

    def ahead(self) -> Mapping[str, RunOutcome]:
        """Return the outcomes that an unfinished run stored ahead of their turn, by item id."""
        return _Ahead(self._open_ahead(), self._retried) if self._ahead_path.exists() else {}

    def finish(self) -> None:
        """Give the complete file its final name, or delete exported rows; restore a file deleted during the run.

        The files beside it are deleted first, because the next run would use a start marker that remained.
        """
        try:
            os.fsync(self._rows.descriptor)
            if self._retries_failures and self._has_failures:
                return
            if not self._is_exported and os.path.lexists(self.path):
                refuse_foreign(self.path, kind=FileKind.SCORES, force=self._force)
            self._ahead_path.unlink(missing_ok=True)
            self._start_marker.unlink(missing_ok=True)
            if self._is_exported:
                self.partial.unlink(missing_ok=True)
                return
            if not self._is_in_place():
                self._write_again()
            self.partial.replace(self.path)
        except OSError as error:
            raise self._problem(error) from None

    def discard_if_empty(self) -> None:
        """Delete the start marker if no row was written, so that the next run starts again."""
        if self._rows.is_empty:
            self.partial.unlink(missing_ok=True)
            self._start_marker.unlink(missing_ok=True)

    def close(self) -> None:
        """Release the files."""
        self._rows.close()
        if self._ahead is not None:
            self._ahead.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def _start_marker(self) -> Path:
        return self.partial.with_suffix(".begun")

    @property
    def _ahead_path(self) -> Path:
        return self.partial.with_suffix(".ahead")

    def _open_ahead(self) -> RowLog:
        if self._ahead is None:
            self._ahead = RowLog(self._ahead_path)
            self._ahead.drop_incomplete_row()
        return self._ahead

    def _is_in_place(self) -> bool:
        try:
            return os.path.samestat(self.partial.stat(), os.fstat(self._rows.descriptor))
        except FileNotFoundError:
            return False

    def _write_again(self) -> None:
        """Copy the rows from the open file, which exists although its name was deleted."""
        self.partial.unlink(missing_ok=True)
        with self.partial.open("xb") as file:
            position = 0
            while chunk := os.pread(self._rows.descriptor, _CHUNK, position):
                file.write(chunk)
                position += len(chunk)
            file.flush()
            os.fsync(file.fileno())

    def _cut_retried(self) -> None:
        """Remove the rows from the first retried one on; store the others after it ahead of their turn."""
        place, end = None, 0
        for line in self._rows.lines():
            retried = _is_retried_line(line, self._retried)
            if retried and place is None:
                place = end
            elif place is not None and not retried:
                self._open_ahead().write(line)
            end += len(line)
        if place is not None:
            os.ftruncate(self._rows.descriptor, place)

    def _write_start_marker(self) -> str:
        """Return when the run was started, which tells a refresh which replies are its own."""
        marker = self._start_marker
        started_at = marker.read_text(encoding="ascii", errors="replace") if marker.exists() else ""
        if started_at or not self._rows.is_empty:
            return started_at
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW
        # The marker is empty if a full disk or a kill interrupted an earlier run here.
        with os.fdopen(os.open(marker, flags, 0o666), "w", encoding="ascii") as file:
            file.write(utc_now())
            file.flush()
            os.fsync(file.fileno())
        return marker.read_text(encoding="ascii")

    def _problem(self, error: OSError) -> DataError:
        return DataError(f"cannot be written: {error.strerror}", path=self.path)


def _refuse_replacing(path: Path, items: int | None, *, is_exported: bool, force: bool) -> None:
    """Refuse a path whose file must not be replaced, such as a finished run of more items."""
    is_there = os.path.lexists(path)
    if is_there:
        refuse_foreign(path, kind=None if is_exported else FileKind.SCORES, force=force)
    if (is_there and path.exists() and not path.is_file()) or _is_device(path):
        raise DataError("not a regular file; use another path", path=path)
    if items is None or force or not is_there or not path.exists():
        return
    with path.open("rb") as file:
        rows = sum(chunk.count(b"\n") for chunk in iter(lambda: file.read(_CHUNK), b""))
    if rows > items:
        raise ForeignFileError(f"contains {rows:,} results, which this run would replace by {items:,}", path=path)


def _adopt_start_marker(partial: Path, names: Sequence[Path]) -> None:
    """Rename the start marker of a legacy run without rows, whose replies are in a cache."""
    if not partial.exists() and not partial.with_suffix(".begun").exists():
        for name in names:
            if (marker := name.with_suffix(".begun")).exists():
                marker.replace(partial.with_suffix(".begun"))


class _Ahead(Mapping[str, RunOutcome]):
    """Rows stored ahead of their turn; their ids and positions are in memory."""

    def __init__(self, log: RowLog, retried: Collection[str]) -> None:
        self._descriptor = log.descriptor
        self._positions: dict[str, int] = {}
        position = 0
        for line in log.lines():
            row = cast(dict[str, Any], parse_json(line.decode()))
            if row.get("kind") not in retried:
                self._positions[str(row["id"])] = position
            position += len(line)

    def __getitem__(self, item_id: str) -> RunOutcome:
        return read_outcome_row(_row_at(self._descriptor, self._positions[item_id]))[1]

    def __iter__(self) -> Iterator[str]:
        return iter(self._positions)

    def __len__(self) -> int:
        return len(self._positions)


def _row_at(descriptor: int, position: int) -> dict[str, Any]:
    line = b""
    while not line.endswith(b"\n") and (chunk := os.pread(descriptor, 65536, position + len(line))):
        line += chunk
        if (end := line.find(b"\n")) >= 0:
            line = line[: end + 1]
    return cast(dict[str, Any], parse_json(line.decode()))


def _is_retried_line(line: bytes, retried: Collection[str]) -> bool:
    """Return whether a row is retried, without parsing most rows."""
    if b'"failure"' not in line or not any(b'"%b"' % kind.encode() in line for kind in retried):
        return False
    try:
        row = parse_json(line.decode())
    except ValueError:
        return False  # reported as damaged when the rows are read
    return isinstance(row, dict) and cast(dict[str, object], row).get("kind") in retried


def _is_device(path: Path) -> bool:
    """Return whether a path is a device such as /dev/stdout, or a link to one."""
    here = path.absolute()
    for _ in range(_MAX_LINKS):
        if here.is_relative_to("/dev") or here.is_relative_to("/proc"):
            return True
        if not here.is_symlink():
            break
        here = here.parent / here.readlink()
    return False
