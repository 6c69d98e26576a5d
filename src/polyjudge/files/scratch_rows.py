"""Rows that are too many for memory, kept on disk for as long as somebody needs them."""

import json
from tempfile import TemporaryFile
from typing import Any
from weakref import finalize


class ScratchRows:
    """JSON values in a file without a name, which is gone when this is."""

    def __init__(self) -> None:
        self._file = TemporaryFile()  # noqa: SIM115 - open as long as this is
        finalize(self, self._file.close)

    def add(self, row: object) -> int:
        """Keep a row and return its place; what is no JSON is kept as text."""
        place = self._file.seek(0, 2)
        self._file.write(json.dumps(row, default=str).encode() + b"\n")
        return place

    def at(self, place: int) -> Any:
        """Return the row at a place."""
        self._file.seek(place)
        return json.loads(self._file.readline())
