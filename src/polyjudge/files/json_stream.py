"""Read a large JSON file one element at a time."""

import json
from collections.abc import Collection, Container, Iterator
from io import TextIOBase, TextIOWrapper
from pathlib import Path
from typing import Any, cast

from polyjudge.errors import DataError, EncodingError

from .json_lines import RepeatedKeyError, duplicate_key, find_repeated_key, without_repeats
from .opening import open_bytes
from .spill import Spilled

_CHUNK = 1 << 16
_SPACE = " \t\r\n"
_LARGE = 1 << 22
"""Characters of an element that are parsed at once; a million outputs of one language have a hundred times as many."""
_DEEPEST = 100
"""Levels of lists and objects; Python fails at some hundreds, when writing sooner than when reading."""


class _LargeError(Exception):
    """A value is longer than it may be."""


class JsonStream:
    """The elements of a file that is a list, or an object with a list under one of `names`; None for any name.

    The other members of the object are in `rest` after iteration, except, without names, lists of other values.
    """

    def __init__(
        self, path: Path, names: tuple[str, ...] | None, encoding: str = "", *, inner: str = "", large: int = _LARGE
    ) -> None:
        """Read a file; a list under `inner` in a large element, of more than `large` characters, stays on disk."""
        self._inner, self._large = inner, large
        self.rest: dict[str, Any] = {}
        self._path, self._encoding, self._list_name = path, encoding, ""
        self._names = names
        self._decoder = json.JSONDecoder(object_pairs_hook=without_repeats)
        self._buffer, self._position, self._line, self._ended = "", 0, 1, False

    def __iter__(self) -> Iterator[tuple[int, object]]:
        """Yield each element with the line at which it starts."""
        try:
            with open_bytes(self._path, self._encoding) as file:
                self._file = TextIOWrapper(file, encoding="utf-8-sig")
                yield from self._values()
        except UnicodeDecodeError:
            raise _not_utf8(self._path) from None
        except RepeatedKeyError:  # in the value at the current position
            key, at = find_repeated_key(self._buffer, self._position)
            raise duplicate_key(key, self._path, self._line + self._buffer.count("\n", self._position, at)) from None
        except RecursionError:
            raise self._error("nested too deeply") from None
        except OSError as error:
            raise DataError(f"cannot be read: {error.strerror or error}", path=self._path) from None

    _file: TextIOBase

    def _values(self) -> Iterator[tuple[int, object]]:
        first = self._peek()
        if first == "[":
            yield from self._elements()
        elif first == "{":
            yield from self._members()
        else:
            raise self._error("must be a JSON list or object" if first else "is empty")
        if self._peek():
            raise self._error("unexpected text after the end of the JSON value")

    def _members(self) -> Iterator[tuple[int, object]]:
        keys: set[str] = set()
        has_next = self._has_first("{", "}")
        while has_next:
            key = self._key(keys)
            keys.add(key)
            if self._names is None and self._peek() == "[":
                yield from self._objects(key)
            elif key in (self._names or ()) and self._peek() == "[":
                yield from self._elements()
            else:
                self.rest[key] = self._value()
                if is_deep(self.rest[key]):
                    raise self._error("nested too deeply")
            has_next = self._has_next("}")

    def _objects(self, key: str) -> Iterator[tuple[int, object]]:
        """Yield the elements of a list if the first one is an object; a second such list is an error."""
        elements = self._elements()
        first = next(elements, None)
        if first is not None and isinstance(first[1], dict):
            if self._list_name:
                raise self._error(f"has two lists of objects, {self._list_name!r} and {key!r}; save one by itself")
            self._list_name = key
            yield first
            yield from elements
        for _ in elements:
            pass

    def _elements(self) -> Iterator[tuple[int, object]]:
        has_next = self._has_first("[", "]")
        while has_next:
            self._peek()
            line = self._line
            yield line, self._element()
            has_next = self._has_next("]")

    def _element(self) -> object:
        """Parse the next element; if it is large, one member after the other."""
        if not self._inner or self._peek() != "{":
            return self._value()
        try:
            return self._value(most=self._large)
        except _LargeError:
            return self._large_object()

    def _large_object(self) -> dict[str, object]:
        found: dict[str, object] = {}
        has_next = self._has_first("{", "}")
        while has_next:
            key = self._key(found)
            is_inner = key == self._inner and self._peek() == "["
            found[key] = Spilled(self._inner_elements()).close() if is_inner else self._value()
            has_next = self._has_next("}")
        return found

    def _inner_elements(self) -> Iterator[object]:
        has_next = self._has_first("[", "]")
        while has_next:
            yield self._value()
            has_next = self._has_next("]")

    def _key(self, known: Container[str]) -> str:
        """Parse the next key of an object, and the colon after it."""
        if self._peek() != '"':
            raise self._error("is not JSON: expected a name in quotes")
        key = self._value()
        if key in known:
            raise duplicate_key(key, self._path, self._line)
        self._take(":")
        return key

    def _has_first(self, opening: str, closing: str) -> bool:
        """Skip the opening character, and the closing one if nothing is between; return whether there is an element."""
        self._take(opening)
        if self._peek() != closing:
            return True
        self._position += 1
        return False

    def _has_next(self, closing: str) -> bool:
        """Skip a comma or the closing character; return whether it was a comma."""
        is_closed = self._peek() == closing
        self._take(closing if is_closed else ",")
        return not is_closed

    def _value(self, most: int = 0) -> Any:
        """Parse the next value; read more if the buffer may contain only a part of it, up to `most` characters."""
        self._peek()
        while True:
            try:
                value, end = self._decoder.raw_decode(self._buffer, self._position)
            except json.JSONDecodeError as error:
                if self._ended:
                    raise self._error(f"is not JSON: {error.msg}", at=error.pos) from None
            except ValueError:  # Python does not parse numbers of thousands of digits
                if self._ended:
                    raise self._error("a number is too long") from None
            else:
                if end + len("e+") < len(self._buffer) or self._ended:  # a number at the end may continue
                    self._line += self._buffer.count("\n", self._position, end)
                    self._position = end
                    return value
            self._read_more(most)

    def _peek(self) -> str:
        """Return the next character that is not white space, or an empty text at the end."""
        while True:
            while self._position < len(self._buffer) and self._buffer[self._position] in _SPACE:
                self._line += self._buffer[self._position] == "\n"
                self._position += 1
            if self._position < len(self._buffer) or self._ended:
                return self._buffer[self._position : self._position + 1]
            self._read_more()

    def _take(self, character: str) -> None:
        if self._peek() != character:
            raise self._error(f"is not JSON: expected {character!r}")
        self._position += 1

    def _read_more(self, most: int = 0) -> None:
        """Read as much again as is unread, so that a long element is not parsed again for every chunk."""
        unread = self._buffer[self._position :]
        if 0 < most < len(unread):
            raise _LargeError
        more = self._file.read(max(_CHUNK, len(unread)))
        self._ended = not more
        self._buffer, self._position = unread + more, 0

    def _error(self, message: str, at: int | None = None) -> DataError:
        line = self._line if at is None else self._line + self._buffer.count("\n", self._position, at)
        return DataError(message, path=self._path, line=line)


def is_deep(value: object) -> bool:
    """Return whether a value is nested too deeply to be processed."""
    level = [value]
    for _ in range(_DEEPEST):
        level = [part for each in level if isinstance(each, dict | list) for part in _parts(cast(object, each))]
        if not level:
            return False
    return True


def _parts(value: object) -> Collection[object]:
    if isinstance(value, dict):
        return cast(dict[str, object], value).values()
    return cast(list[object], value)


def _not_utf8(path: Path) -> DataError:
    """Return the error with the line, which the decoder does not know."""
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            try:
                line.decode()
            except UnicodeDecodeError as error:
                message = f"not UTF-8 text ({error.reason} at byte {error.start} of the line)"
                return EncodingError(message, path=path, line=number)
    return EncodingError("not UTF-8 text", path=path)
