"""Sets and tables that may be too large for memory."""

import json
import sqlite3
import weakref
from array import array
from bisect import bisect_left
from collections.abc import Iterable
from tempfile import TemporaryFile
from typing import Any
from weakref import finalize


def open_scratch(owner: object, schema: str) -> sqlite3.Connection:
    """Open a database that is closed, and gone, with its owner, and goes to disk only when it grows large."""
    scratch = sqlite3.connect("", isolation_level=None, check_same_thread=False)
    for statement in ("PRAGMA journal_mode = OFF", "PRAGMA synchronous = OFF", "PRAGMA cache_size = -16000", schema):
        scratch.execute(statement)
    scratch.execute("BEGIN")
    weakref.finalize(owner, scratch.close)
    return scratch


def stored(text: str) -> bytes:
    """Return a text so that it is sorted as Python sorts it, half characters and all."""
    return text.encode(errors="surrogatepass")


def unstored(text: bytes) -> str:
    """Return the text that was stored."""
    return text.decode(errors="surrogatepass")


_DIGITS = 16


class KeySet:
    """Hex keys, known by their first sixteen digits; each can be marked once."""

    def __init__(self, keys: Iterable[str] = ()) -> None:
        self._keys = array("Q", sorted(int(key[:_DIGITS], 16) for key in keys))
        self._marks = bytearray(len(self._keys))

    def __len__(self) -> int:
        return len(self._keys)

    def __contains__(self, key: str) -> bool:
        return self._place(key) is not None

    def mark(self, key: str) -> bool:
        """Mark a key; say whether it is here and was not marked before."""
        place = self._place(key)
        if place is None or self._marks[place]:
            return False
        self._marks[place] = 1
        return True

    def _place(self, key: str) -> int | None:
        number = int(key[:_DIGITS], 16)
        place = bisect_left(self._keys, number)
        return place if place < len(self._keys) and self._keys[place] == number else None


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
