"""A results file that grows row by row and takes its name only when it is whole.

While a run is under way its rows stand in `NAME.FINGERPRINT.partial`, in the order of the items. The same run started
again goes on from there; another run, with other items or another judge, has another fingerprint and begins anew.
"""

import fcntl
import json
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from polyjudge.errors import DataError
from polyjudge.records import Outcome

from .json_lines import read_json_lines
from .outcome_rows import read_outcome_row


class ResultsFile:
    """Rows of one run, each on disk before the next is written."""

    def __init__(self, path: Path, fingerprint: str) -> None:
        self.path = path
        self.partial = path.with_name(f"{path.name}.{fingerprint}.partial")
        if path.exists() and not path.is_file():
            raise DataError("is no ordinary file; name another one", path=path)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(self.partial, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
        except OSError as error:
            raise DataError(f"cannot be written: {error.strerror}", path=path) from None
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._file)
            raise DataError("is being written by the same run in another process", path=path) from None
        self._cut_torn_row()
        self.began = self._note_beginning()
        """When this run was first begun."""

    def rows(self) -> Iterator[tuple[str, Outcome]]:
        """Yield what an earlier run of the same kind left."""
        for number, row in read_json_lines(self.partial):
            try:
                yield read_outcome_row(row)
            except DataError as error:
                raise DataError(f"{error}; remove the file to begin anew", path=self.partial, line=number) from None

    def append(self, row: dict[str, Any]) -> None:
        """Write a row."""
        rest = row_line(row).encode()
        try:
            while rest:
                rest = rest[os.write(self._file, rest) :]
        except OSError as error:
            raise DataError(f"cannot be written: {error.strerror}", path=self.partial) from None

    def finish(self) -> None:
        """Give the whole file its name."""
        os.fsync(self._file)
        self.partial.replace(self.path)
        self._beginning.unlink(missing_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._file)

    @property
    def _beginning(self) -> Path:
        return self.partial.with_suffix(".begun")

    def _note_beginning(self) -> str:
        """Return when the run began: a run that asks anew what is kept must know which answers are its own."""
        if os.fstat(self._file).st_size == 0 and not self._beginning.exists():
            now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
            self._beginning.write_text(now, encoding="ascii")
        return self._beginning.read_text(encoding="ascii") if self._beginning.exists() else ""

    def _cut_torn_row(self) -> None:
        """Drop the end of a row that a killed run left without its line break."""
        size = os.fstat(self._file).st_size
        place = size
        while place:
            start = max(0, place - 65536)
            newline = os.pread(self._file, place - start, start).rfind(b"\n")
            if newline >= 0:
                place = start + newline + 1
                break
            place = start
        if place != size:
            os.ftruncate(self._file, place)


def row_line(row: dict[str, Any]) -> str:
    """Return a row as a line of readable JSON; halves of characters, which no file can hold, are escaped."""
    line = json.dumps(row, ensure_ascii=False)
    if not line.isascii():
        try:
            line.encode()
        except UnicodeEncodeError:
            line = json.dumps(row)
    return line + "\n"
