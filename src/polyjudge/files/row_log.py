"""A file of JSON rows that only grows: each row is with the system when it is said to be written."""

import fcntl
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from polyjudge.errors import DataError
from polyjudge.folder_trust import make_folder
from polyjudge.records import Outcome

from .json_lines import each_json_line
from .outcome_rows import read_outcome_row
from .writing import readable_json


class RowLog:
    """Rows of outcomes, opened for appending."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            make_folder(path.parent)
            self.descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
        except OSError as error:
            raise DataError(f"cannot be written: {error.strerror}", path=path) from None

    def outcomes(self) -> Iterator[tuple[str, Outcome]]:
        """Yield the rows with the ids of their items."""
        for number, row in each_json_line(self.path):
            try:
                if isinstance(row, str):
                    raise DataError(row)
                yield read_outcome_row(row)
            except DataError as error:
                raise DataError(f"{error}; remove the file to begin anew", path=self.path, line=number) from None

    def lines(self) -> Iterator[bytes]:
        """Yield the rows as they stand there."""
        with self.path.open("rb") as file:
            yield from file

    def append(self, row: dict[str, Any]) -> None:
        """Write a row."""
        self.write(row_line(row).encode())

    def write(self, rest: bytes) -> None:
        """Write a line as it is."""
        try:
            while rest:
                rest = rest[os.write(self.descriptor, rest) :]
        except OSError as error:
            raise DataError(f"cannot be written: {error.strerror}", path=self.path) from None

    def lock(self) -> None:
        """See that no other process writes here; the lock goes with the process."""
        try:
            fcntl.flock(self.descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self.close()
            raise DataError("is being written by the same run in another process", path=self.path) from None

    @property
    def is_empty(self) -> bool:
        """Nothing was written to it yet."""
        return os.fstat(self.descriptor).st_size == 0

    def close(self) -> None:
        """Let go of the file."""
        os.close(self.descriptor)

    def cut_torn_row(self) -> None:
        """Drop the end of a row that a killed run left without its line break."""
        size = os.fstat(self.descriptor).st_size
        place = size
        while place:
            start = max(0, place - 65536)
            newline = os.pread(self.descriptor, place - start, start).rfind(b"\n")
            if newline >= 0:
                place = start + newline + 1
                break
            place = start
        if place != size:
            os.ftruncate(self.descriptor, place)


def row_line(row: dict[str, Any]) -> str:
    """Return a row as a line of readable JSON."""
    return readable_json(row) + "\n"
