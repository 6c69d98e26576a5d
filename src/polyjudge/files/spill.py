"""Sets and tables that may be too large for memory."""

import json
import os
import pickle
import sqlite3
import weakref
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from io import BytesIO
from mmap import mmap
from tempfile import TemporaryFile
from typing import IO, Any, Self, TypeVar, overload
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
_FEW = 100_000
_AT_ONCE = 1 << 19


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


class Numbers:
    """Many numbers of 64 bits; all but the last ones, half a million by default, are on disk."""

    def __init__(self, in_memory: int = _AT_ONCE) -> None:
        self._most = in_memory
        self._last = array("Q")
        self._file: IO[bytes] = BytesIO()
        self._stored = 0

    def __len__(self) -> int:
        return self._stored + len(self._last)

    def add(self, number: int) -> None:
        """Add a number."""
        self._last.append(number)
        if len(self._last) == self._most:
            self._store()

    def _store(self) -> None:
        if not self._stored:
            self._file = TemporaryFile()  # noqa: SIM115 - open as long as this object
            finalize(self, self._file.close)
        self._file.seek(8 * self._stored)
        self._last.tofile(self._file)
        self._stored += len(self._last)
        self._last = array("Q")

    def keep(self, count: int) -> None:
        """Remove all but the first numbers."""
        if count < self._stored:
            self._file.seek(8 * (count - count % self._most))
            self._stored, self._last = count - count % self._most, array("Q")
            self._last.frombytes(self._file.read(8 * (count % self._most)))
        del self._last[count - self._stored :]

    def has_duplicates(self) -> bool:
        """Say whether a number occurs twice."""
        if len(self) < min(_FEW, self._most):
            return len(set(self._last)) < len(self._last)
        import numpy as np  # imported here because loading it takes longer than counting a few

        parts = len(self) // self._most + 1
        for part in range(parts):  # of about equal size, because the numbers are hashes
            blocks = (np.frombuffer(block, dtype=np.uint64) for block in self._blocks())
            chosen = np.concatenate([block[block % parts == part] for block in blocks])
            chosen.sort()
            if np.any(chosen[1:] == chosen[:-1]):
                return True
        return False

    def _blocks(self) -> Iterator[Any]:
        self._file.seek(0)
        for _ in range(0, self._stored, self._most):
            yield self._file.read(8 * self._most)
        yield self._last


class Occurrences:
    """Counts how often each of many numbers of 64 bits has occurred, in sixteen to thirty-two bytes each.

    If they are many, by default more than half a million, these bytes are in a file, which the system can keep on disk.
    """

    def __init__(self, earlier: Mapping[int, int] | None = None, *, in_memory: int = _AT_ONCE) -> None:
        self._in_memory = in_memory
        self._slots = self._zeros(1024)
        self._used = 0
        self._more: dict[int, int] = {}
        """The counts of numbers that have occurred more than once."""
        for number, count in (earlier or {}).items():
            self.count(number)
            self._more[number or 1] = count

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
        old, self._slots = self._slots, self._zeros(2 * len(self._slots))
        for number in old:
            if number:
                self._slots[self._slot(number)] = number

    def _zeros(self, count: int) -> "array[int] | memoryview[int]":
        """Return so many zeros of 64 bits, in a temporary file if they are many and there is room for it."""
        if count > 2 * self._in_memory:
            with suppress(OSError), TemporaryFile() as file:
                os.posix_fallocate(file.fileno(), 0, 8 * count)
                return memoryview(mmap(file.fileno(), 8 * count)).cast("Q")
        return array("Q", bytes(8 * count))


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


class Names:
    """Distinct names, numbered in order of appearance."""

    def __init__(self) -> None:
        self._scratch = open_scratch(self, "CREATE TABLE names (name BLOB PRIMARY KEY, number INTEGER) WITHOUT ROWID")
        self._count = 0

    def number(self, name: str) -> int:
        """Return the number of a name, from 0; a new name gets the next number."""
        own = to_blob(name)
        found = self._scratch.execute("SELECT number FROM names WHERE name = ?", (own,)).fetchone()
        if found is not None:
            return found[0]
        self._scratch.execute("INSERT INTO names VALUES (?, ?)", (own, self._count))
        self._count += 1
        return self._count - 1

    def in_order(self) -> Iterator[int]:
        """Yield the numbers in the order of the names."""
        return (number for (number,) in self._scratch.execute("SELECT number FROM names ORDER BY name"))


Item = TypeVar("Item")
_BLOCKS_KEPT = 4
_FEW_ITEMS = 20_000


class SpillFile:
    """A temporary file that holds the blocks of many sequences and is deleted with the last of them.

    It has no name, so that no other program writes what is unpickled here.
    """

    def __init__(self) -> None:
        self._file: IO[bytes] | None = None
        self._read: dict[int, Any] = {}
        """The blocks that were read last, by position: some for each of the sequences that are read together."""

    def add(self, block: object) -> int:
        """Store a block and return its position."""
        if self._file is None:  # most sequences are short
            self._file = TemporaryFile()  # noqa: SIM115 - open as long as this object
            finalize(self, self._file.close)
        position = self._file.seek(0, 2)
        pickle.dump(block, self._file, pickle.HIGHEST_PROTOCOL)
        return position

    def at(self, position: int) -> Any:
        """Return the block at a position."""
        assert self._file is not None
        if position not in self._read:
            self._file.seek(position)
            if len(self._read) == _BLOCKS_KEPT:
                del self._read[next(iter(self._read))]
            self._read[position] = pickle.load(self._file)
        return self._read[position]


class Spilled(Sequence[Item]):
    """A sequence that is appended to, and of which all but the last items are on disk if it is long.

    It is read best from start to end, because it is read in blocks.
    """

    def __init__(
        self,
        items: Iterable[Item] = (),
        *,
        file: SpillFile | None = None,
        in_memory: int = _FEW_ITEMS,
        block: int = 500,
    ) -> None:
        """Begin with some items; the first `in_memory` ones are in memory until there are more, or it is closed."""
        self._file, self._block, self._in_memory = file or SpillFile(), block, max(in_memory, block)
        self._positions = array("q")
        self._last: list[Item] = []
        self._count = 0
        for item in items:
            self.append(item)

    def append(self, item: Item) -> None:
        """Add an item."""
        self._last.append(item)
        self._count += 1
        if len(self._last) == (self._block if self._positions else self._in_memory):
            self._store()

    def close(self) -> Self:
        """Store the last items too; no more can be added."""
        self._store()
        return self

    def _store(self) -> None:
        last = self._last
        for start in range(0, len(last), self._block):
            self._positions.append(self._file.add(last[start : start + self._block]))
        self._last = []

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, place: int) -> Item: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Item]: ...
    def __getitem__(self, place: int | slice) -> Item | Sequence[Item]:
        if isinstance(place, slice):
            return [self[each] for each in range(*place.indices(self._count))]
        if not -self._count <= place < self._count:
            raise IndexError(place)
        number, offset = divmod(place % self._count, self._block)
        return self._items_of(number)[offset] if self._positions else self._last[place]

    def __iter__(self) -> Iterator[Item]:
        for number in range(len(self._positions)):
            yield from self._items_of(number)
        yield from self._last

    def _items_of(self, number: int) -> Sequence[Item]:
        if number == len(self._positions):
            return self._last
        return self._file.at(self._positions[number])

    def short(self) -> "Sequence[Item]":
        """Return the items as a tuple if they are few enough to be in memory, else this sequence."""
        return tuple(self) if self._count <= self._in_memory else self
