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
    """Open a temporary database that is deleted with its owner and uses the disk only when it is large."""
    scratch = sqlite3.connect("", isolation_level=None, check_same_thread=False)
    for statement in ("PRAGMA journal_mode = OFF", "PRAGMA synchronous = OFF", "PRAGMA cache_size = -16000", schema):
        scratch.execute(statement)
    scratch.execute("BEGIN")
    weakref.finalize(owner, scratch.close)
    return scratch


def to_blob(text: str) -> bytes:
    """Encode a text, also with lone surrogates, so that SQLite sorts it as Python does."""
    return text.encode(errors="surrogatepass")


def from_blob(text: bytes) -> str:
    """Reverse `to_blob`."""
    return text.decode(errors="surrogatepass")


_DIGITS = 16


class KeySet:
    """A set of hex keys, compared by their first sixteen digits; each can be marked once."""

    def __init__(self, keys: Iterable[str] = ()) -> None:
        self._keys = array("Q", sorted(int(key[:_DIGITS], 16) for key in keys))
        self._marks = bytearray(len(self._keys))

    def __len__(self) -> int:
        return len(self._keys)

    def __contains__(self, key: str) -> bool:
        return self._position(key) is not None

    def mark(self, key: str) -> bool:
        """Mark a key; return whether it is in the set and was not marked before."""
        position = self._position(key)
        if position is None or self._marks[position]:
            return False
        self._marks[position] = 1
        return True

    def _position(self, key: str) -> int | None:
        number = int(key[:_DIGITS], 16)
        position = bisect_left(self._keys, number)
        return position if position < len(self._keys) and self._keys[position] == number else None


class Occurrences:
    """Counts how often each of many numbers of 64 bits has occurred, in sixteen to thirty-two bytes each."""

    def __init__(self) -> None:
        self._slots = array("Q", bytes(8 * 1024))
        self._used = 0
        self._more: dict[int, int] = {}
        """The counts of numbers that have occurred more than once."""

    def count(self, number: int) -> int:
        """Count a number, and return how often it has occurred."""
        number = number or 1  # 0 marks an empty slot
        slot = self._slot(number)
        if self._slots[slot] == number:
            self._more[number] = count = self._more.get(number, 1) + 1
            return count
        self._slots[slot] = number
        self._used += 1
        if self._used * 2 > len(self._slots):
            self._grow()
        return 1

    def _slot(self, number: int) -> int:
        slots, last = self._slots, len(self._slots) - 1
        slot = number & last
        while slots[slot] not in (0, number):
            slot = (slot + 1) & last
        return slot

    def _grow(self) -> None:
        old, self._slots = self._slots, array("Q", bytes(2 * 8 * len(self._slots)))
        for number in old:
            if number:
                self._slots[self._slot(number)] = number


class ScratchRows:
    """JSON values in a temporary file that is deleted with this object."""

    def __init__(self) -> None:
        self._file = TemporaryFile()  # noqa: SIM115 - open as long as this object
        finalize(self, self._file.close)

    def add(self, row: object) -> int:
        """Store a row and return its position; values of other types become text."""
        position = self._file.seek(0, 2)
        self._file.write(json.dumps(row, default=str).encode() + b"\n")
        return position

    def at(self, position: int) -> Any:
        """Return the row at a position."""
        self._file.seek(position)
        return json.loads(self._file.readline())
