"""Read a large JSON file element by element, so that memory holds one element and not the file."""

import json
from collections.abc import Collection, Iterator
from io import TextIOBase
from pathlib import Path
from typing import Any, cast

from polyjudge.errors import DataError

from .json_lines import RepeatedKeyError, duplicate_key, find_repeated_key, without_repeats

_CHUNK = 1 << 16
_SPACE = " \t\r\n"
_DEEPEST = 100
"""Levels of lists and objects; Python itself gives up at some hundreds, sooner when writing than when reading."""


class JsonStream:
    """The elements of a file that is a list, or an object with a list under one of some names.

    What else the object holds is in `rest` once all elements were read.
    """

    def __init__(self, path: Path, names: tuple[str, ...]) -> None:
        self.rest: dict[str, Any] = {}
        self._path = path
        self._names = names
        self._decoder = json.JSONDecoder(object_pairs_hook=without_repeats)
        self._buffer, self._place, self._line, self._ended = "", 0, 1, False

    def __iter__(self) -> Iterator[tuple[int, object]]:
        """Yield the line that an element begins at, and the element."""
        try:
            with self._path.open(encoding="utf-8-sig") as self._file:
                yield from self._top()
        except UnicodeDecodeError:
            raise _not_utf8(self._path) from None
        except RepeatedKeyError:  # in the value at the present place
            key, at = find_repeated_key(self._buffer, self._place)
            raise duplicate_key(key, self._path, self._line + self._buffer.count("\n", self._place, at)) from None
        except RecursionError:
            raise self._wrong("is nested too deeply") from None
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
            raise self._wrong("must be a JSON list or object" if first else "is empty")
        if self._peek():
            raise self._wrong("something stands after the end")

    def _members(self) -> Iterator[tuple[int, object]]:
        keys: set[str] = set()
        goes_on = self._begins("{", "}")
        while goes_on:
            if self._peek() != '"':
                raise self._wrong("is not JSON: a name in quotes expected")
            key = self._value()
            if key in keys:
                raise duplicate_key(key, self._path, self._line)
            keys.add(key)
            self._take(":")
            if key in self._names and self._peek() == "[":
                yield from self._elements()
            else:
                self.rest[key] = self._value()
                if is_deep(self.rest[key]):
                    raise self._wrong("is nested too deeply")
            goes_on = self._goes_on("}")

    def _elements(self) -> Iterator[tuple[int, object]]:
        goes_on = self._begins("[", "]")
        while goes_on:
            self._peek()
            line = self._line
            yield line, self._value()
            goes_on = self._goes_on("]")

    def _begins(self, opening: str, closing: str) -> bool:
        """Step over what opens, and what closes where nothing is between; say whether something is."""
        self._take(opening)
        if self._peek() != closing:
            return True
        self._place += 1
        return False

    def _goes_on(self, closing: str) -> bool:
        """Step over a comma or what closes; say whether it was a comma, after which something must come."""
        is_closed = self._peek() == closing
        self._take(closing if is_closed else ",")
        return not is_closed

    def _value(self) -> Any:
        """Return the next value; where the buffer may hold only a part of it, more is read first."""
        self._peek()
        while True:
            try:
                value, end = self._decoder.raw_decode(self._buffer, self._place)
            except json.JSONDecodeError as error:
                if self._ended:
                    raise self._wrong(f"is not JSON: {error.msg}", at=error.pos) from None
            except ValueError:  # Python reads no number of thousands of digits
                if self._ended:
                    raise self._wrong("a number is too long") from None
            else:
                if end + len("e+") < len(self._buffer) or self._ended:  # a number at the very end may go on
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


def is_deep(value: object) -> bool:
    """Say whether a value is nested more deeply than it can be worked with."""
    level = [value]
    for _ in range(_DEEPEST):
        level = [part for each in level for part in _parts(each)]
        if not level:
            return False
    return True


def _parts(value: object) -> Collection[object]:
    if isinstance(value, dict):
        return cast(dict[str, object], value).values()
    return cast(list[object], value) if isinstance(value, list) else ()


def _not_utf8(path: Path) -> DataError:
    """Return the error that names the line; the decoder itself knows only the piece that it was given."""
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            try:
                line.decode()
            except UnicodeDecodeError as error:
                message = f"is not UTF-8 text ({error.reason} at byte {error.start} of the line)"
                return DataError(message, path=path, line=number)
    return DataError("is not UTF-8 text", path=path)
