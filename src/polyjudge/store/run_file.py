"""The run file: rows are appended in order, and the file takes its final name when it is complete.

While a run is under way its rows stand in `NAME.FINGERPRINT.partial`, in the order of the items. The same run started
again goes on from there; another run, with other items or another judge, has another fingerprint and begins anew.
Outcomes that must wait for a slow item before them stand meanwhile in `NAME.FINGERPRINT.ahead`, unless a cache has
the answers anyway.
"""

import glob
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self, cast

from polyjudge.clock import utc_now
from polyjudge.errors import DataError
from polyjudge.files.json_lines import RowLog, parse_json
from polyjudge.files.ownership import refuse_foreign
from polyjudge.files.spill import open_scratch, stored, unstored
from polyjudge.records.outcomes import Failure, Outcome, outcome_row, read_outcome_row

_SCHEMA = "CREATE TABLE outcomes (id BLOB PRIMARY KEY, outcome TEXT, is_wanted INTEGER DEFAULT 0) WITHOUT ROWID"


class StoredOutcomes(Mapping[str, Outcome]):
    """What was found out about some items; of an id that comes twice the last counts."""

    def __init__(self) -> None:
        self._scratch = open_scratch(self, _SCHEMA)

    def add(self, item_id: str, outcome: Outcome) -> None:
        """Take in an outcome."""
        row = json.dumps(outcome_row(item_id, outcome), default=str)
        self._scratch.execute("INSERT OR REPLACE INTO outcomes (id, outcome) VALUES (?, ?)", (stored(item_id), row))

    def want(self, item_id: str) -> None:
        """Say that an outcome is needed, if it is here."""
        self._scratch.execute("UPDATE outcomes SET is_wanted = 1 WHERE id = ?", (stored(item_id),))

    def unwanted(self) -> Iterator[str]:
        """Yield the ids that nobody wanted."""
        for (item_id,) in self._scratch.execute("SELECT id FROM outcomes WHERE NOT is_wanted ORDER BY id"):
            yield unstored(item_id)

    def drop(self, item_id: str) -> None:
        """Forget an outcome."""
        self._scratch.execute("DELETE FROM outcomes WHERE id = ?", (stored(item_id),))

    def __getitem__(self, item_id: str) -> Outcome:
        query = "SELECT outcome FROM outcomes WHERE id = ?"
        found = self._scratch.execute(query, (stored(item_id),)).fetchone()
        if found is None:
            raise KeyError(item_id)
        return read_outcome_row(cast(dict[str, Any], parse_json(found[0])))[1]

    def __iter__(self) -> Iterator[str]:
        for (item_id,) in self._scratch.execute("SELECT id FROM outcomes ORDER BY id"):
            yield unstored(item_id)

    def __len__(self) -> int:
        return self._scratch.execute("SELECT count(*) FROM outcomes").fetchone()[0]


_MOST_LINKS = 40


class RunFile:
    """Rows of one run, each on disk before the next is written."""

    def __init__(self, path: Path, fingerprint: str, *, force: bool = False) -> None:
        refuse_foreign(path, force=force)
        self._force = force
        if (path.exists() and not path.is_file()) or _leads_to_a_device(path):
            raise DataError("is no ordinary file; name another one", path=path)
        path = path.resolve()  # what a link points to is written, and the link stays
        self.path = path
        self._rows = RowLog(path.with_name(f"{path.name}.{fingerprint}.partial"))
        self.partial = self._rows.path
        self._ahead: RowLog | None = None
        self._rows.lock()
        self._rows.cut_torn_row()
        try:
            self._take_back_what_may_pass()
            self.began = self._note_beginning()
            """When this run was first begun."""
        except OSError as error:
            self._rows.close()
            raise self._problem(error) from None

    def rows(self) -> Iterator[tuple[str, Outcome]]:
        """Yield what an earlier run of the same kind left."""
        return self._rows.outcomes()

    def append(self, row: dict[str, Any]) -> None:
        """Write a row."""
        self._rows.append(row)

    def rows_ahead(self) -> Iterator[tuple[str, Outcome]]:
        """Yield what an earlier run kept ahead of its turn, but for what failed for a while."""
        kept = self._open_ahead().outcomes() if self._ahead_path.exists() else iter(())
        return (row for row in kept if not (isinstance(row[1], Failure) and row[1].kind == "transient"))

    def keep_ahead(self, row: dict[str, Any]) -> None:
        """Keep a row whose turn has not come."""
        self._open_ahead().append(row)

    def finish(self) -> None:
        """Give the whole file its name.

        What stands beside it goes first: a note of the beginning that outlived its run would be the next one's.
        """
        try:
            os.fsync(self._rows.descriptor)
            refuse_foreign(self.path, force=self._force)
            self._ahead_path.unlink(missing_ok=True)
            self._beginning.unlink(missing_ok=True)
            self.partial.replace(self.path)
        except OSError as error:
            raise self._problem(error) from None

    def forget_beginning(self) -> None:
        """Leave nothing behind where no row was written, so that the next run begins when it is begun."""
        if self._rows.is_empty:
            self.partial.unlink(missing_ok=True)
            self._beginning.unlink(missing_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._rows.close()
        if self._ahead is not None:
            self._ahead.close()

    @property
    def _beginning(self) -> Path:
        return self.partial.with_suffix(".begun")

    @property
    def _ahead_path(self) -> Path:
        return self.partial.with_suffix(".ahead")

    def _open_ahead(self) -> RowLog:
        if self._ahead is None:
            self._ahead = RowLog(self._ahead_path)
            self._ahead.cut_torn_row()
        return self._ahead

    def _take_back_what_may_pass(self) -> None:
        """Take back the rows from the first on that failed for a while, so that it is asked again.

        The others among them are kept ahead of their turn.
        """
        place, end = None, 0
        for line in self._rows.lines():
            failed = _failed_for_a_while(line)
            if failed and place is None:
                place = end
            elif place is not None and not failed:
                self._open_ahead().write(line)
            end += len(line)
        if place is not None:
            os.ftruncate(self._rows.descriptor, place)

    def _note_beginning(self) -> str:
        """Return when the run began: a run that asks anew what is kept must know which answers are its own."""
        began = self._beginning.read_text(encoding="ascii", errors="replace") if self._beginning.exists() else ""
        if began or not self._rows.is_empty:
            return began
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW
        # Empty where a full disk or a kill came between.
        with os.fdopen(os.open(self._beginning, flags, 0o666), "w", encoding="ascii") as file:
            file.write(utc_now())
            file.flush()
            os.fsync(file.fileno())
        return self._beginning.read_text(encoding="ascii")

    def _problem(self, error: OSError) -> DataError:
        return DataError(f"cannot be written: {error.strerror}", path=self.path)


def _failed_for_a_while(line: bytes) -> bool:
    """Say whether a row is of trouble that may have passed; most rows need not be parsed for that."""
    if b'"outcome": "failure"' not in line or b'"kind": "transient"' not in line:
        return False
    try:
        row = parse_json(line.decode())
    except ValueError:
        return False  # it is said to be damaged where the rows are read
    return isinstance(row, dict) and cast(dict[str, object], row).get("kind") == "transient"


def _leads_to_a_device(path: Path) -> bool:
    """Say whether a path is one of the system's own, such as /dev/stdout, or a link to one."""
    here = path.absolute()
    for _ in range(_MOST_LINKS):
        if here.is_relative_to("/dev") or here.is_relative_to("/proc"):
            return True
        if not here.is_symlink():
            break
        here = here.parent / here.readlink()
    return False


def remove_empty_run(path: Path) -> None:
    """Remove what a run left that could not begin: its empty file of rows, and the note of its beginning."""
    path = path.resolve()
    for partial in path.parent.glob(f"{glob.escape(path.name)}.*.partial"):
        if not partial.stat().st_size:
            partial.unlink(missing_ok=True)
            partial.with_suffix(".begun").unlink(missing_ok=True)
