"""Read a large JSON file element by element, so that memory holds one element and not the file."""

import json
from collections.abc import Iterator
from io import TextIOBase
from pathlib import Path
from typing import Any

from polyjudge.errors import DataError

_CHUNK = 1 << 16
_SPACE = " \t\r\n"


class JsonStream:
    """The elements of a file that is a list, or an object with a list under one of some names.

    What else the object holds is in `rest` once all elements were read.
    """

    def __init__(self, path: Path, names: tuple[str, ...]) -> None:
        self.rest: dict[str, Any] = {}
        self._path = path
        self._names = names
        self._decoder = json.JSONDecoder()
        self._buffer, self._place, self._line, self._ended = "", 0, 1, False

    def __iter__(self) -> Iterator[tuple[int, object]]:
        """Yield the line that an element begins at, and the element."""
        try:
            with self._path.open(encoding="utf-8-sig") as self._file:
                yield from self._top()
        except UnicodeDecodeError as error:
            raise DataError(f"is not UTF-8 text ({error.reason} at byte {error.start})", path=self._path) from None
        except RecursionError:
            raise DataError("is nested too deeply", path=self._path) from None
        except OSError as error:
            raise DataError(f"cannot be read: {error.strerror or error}", path=self._path) from None

    _file: TextIOBase

    def _top(self) -> Iterator[tuple[int, object]]:
        first = self._peek()
        if first == "[":
            yield from self._elements()
        elif first == "{":
            yield from self._members()
        else:
            raise self._wrong("must be a JSON list or object")
        if self._peek():
            raise self._wrong("something stands after the end")

    def _members(self) -> Iterator[tuple[int, object]]:
        self._take("{")
        while self._peek() != "}":
            key = self._value()
            self._take(":")
            if key in self._names and self._peek() == "[":
                yield from self._elements()
            else:
                self.rest[str(key)] = self._value()
            if self._peek() != "}":
                self._take(",")
        self._take("}")

    def _elements(self) -> Iterator[tuple[int, object]]:
        self._take("[")
        while self._peek() != "]":
            line = self._line
            yield line, self._value()
            if self._peek() != "]":
                self._take(",")
        self._take("]")

    def _value(self) -> Any:
        """Return the next value; where the buffer may hold only a part of it, more is read first."""
        self._peek()
        while True:
            try:
                value, end = self._decoder.raw_decode(self._buffer, self._place)
            except json.JSONDecodeError as error:
                if self._ended:
                    raise self._wrong(f"is not JSON: {error.msg}", at=error.pos) from None
            else:
                if end < len(self._buffer) or self._ended:  # a number at the very end may go on
                    self._pass_over(end)
                    return value
            self._read_more()

    def _peek(self) -> str:
        """Return the next sign that is no white space; nothing at the end."""
        while True:
            while self._place < len(self._buffer) and self._buffer[self._place] in _SPACE:
                self._line += self._buffer[self._place] == "\n"
                self._place += 1
            if self._place < len(self._buffer) or self._ended:
                return self._buffer[self._place : self._place + 1]
            self._read_more()

    def _take(self, sign: str) -> None:
        if self._peek() != sign:
            raise self._wrong(f"is not JSON: {sign!r} expected")
        self._place += 1

    def _pass_over(self, end: int) -> None:
        self._line += self._buffer.count("\n", self._place, end)
        self._place = end

    def _read_more(self) -> None:
        """Read as much again as is unread, so that a long element is not tried again for every little piece."""
        unread = self._buffer[self._place :]
        more = self._file.read(max(_CHUNK, len(unread)))
        self._ended = not more
        self._buffer, self._place = unread + more, 0

    def _wrong(self, message: str, at: int | None = None) -> DataError:
        line = self._line if at is None else self._line + self._buffer.count("\n", self._place, at)
        return DataError(message, path=self._path, line=line)
