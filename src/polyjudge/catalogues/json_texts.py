"""Read the texts of a JSON file with their paths and lines, however deep or broken it is."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from polyjudge.errors import DataError

from .content import well_formed
from .entries import Problems, repeated

_TOKEN = re.compile(
    r'[ \t\n]*+(?:("[^"\\\x00-\x1f]*+(?:\\.[^"\\\x00-\x1f]*+)*+")|([{}\[\]:,])|(-?[A-Za-z0-9+.-]++)|(\S))?', re.DOTALL
)
_WORD = re.compile(r"true|false|null|-?(?:0|[1-9]\d*+)(?:\.\d++)?(?:[eE][+-]?\d++)?")
_DEEPEST = 100


class Leaf(NamedTuple):
    """A value that contains no others."""

    path: tuple[str, ...]
    """The keys that lead to it, and the places in lists."""
    text: str | None
    """None for null, a number, true or false."""
    line: int
    word: str = ""
    """What is there if it is no text: `null`, or `{}` for an object without values."""


def leaves(text: str, path: str, problems: Problems) -> Iterator[Leaf]:
    """Yield the values of a JSON file in their order; note keys that an object has twice."""
    return _Scanner(text, path, problems).leaves()


class _Scanner:
    """Each state is a method that takes the next token and returns the next state."""

    def __init__(self, text: str, path: str, problems: Problems) -> None:
        self._text, self._path, self._problems = text, path, problems
        self._place, self._line, self._counted = 0, 1, 0
        self._names: list[str] = []
        self._places: list[int] = []
        """The place in each open list; -1 for an object."""
        self._keys: list[dict[str, int]] = []
        """The lines of the keys of each open object."""
        self._before = ("", 0)
        """The last key, and the line at which its object had it before."""
        self._found: list[Leaf] = []

    def leaves(self) -> Iterator[Leaf]:
        state: _State = self._value
        while token := self._token():
            state = state(token)
            if self._found:
                yield self._found.pop()
        if state != self._end:
            raise self._error("the file ends too early; is a bracket not closed?")

    def _token(self) -> str:
        match = _TOKEN.match(self._text, self._place)
        if match is None or match.lastindex is None:
            return ""
        start = match.start(match.lastindex)
        self._line += self._text.count("\n", self._counted, start)
        self._place, self._counted = match.end(), start
        return match[match.lastindex]

    def _value(self, token: str) -> "_State":
        if token == "{":
            self._open(-1)
            return self._first_key
        if token == "[":
            self._open(0)
            return self._first_value
        if token[0] == '"':
            text, word = self._string(token), ""
        elif _WORD.fullmatch(token):
            text, word = None, token
        else:
            raise self._error(f"expected a value, found {token[:20]!r}")
        self._found.append(Leaf(tuple(self._names), text, self._line, word))
        return self._after if self._places else self._end

    def _open(self, place: int) -> None:
        key, line = self._before
        if line:  # texts of the same key are noted where they are read
            self._problems.add(self._line, repeated(key, line))
        if len(self._places) >= _DEEPEST:
            raise self._error(f"is nested more than {_DEEPEST} levels deep")
        self._places.append(place)
        self._names.append("0")
        self._keys.append({})

    def _close(self) -> "_State":
        self._places.pop()
        self._names.pop()
        self._keys.pop()
        return self._after if self._places else self._end

    def _first_value(self, token: str) -> "_State":
        return self._empty("[]") if token == "]" else self._value(token)

    def _first_key(self, token: str) -> "_State":
        return self._empty("{}") if token == "}" else self._key(token)

    def _empty(self, word: str) -> "_State":
        self._found.append(Leaf(tuple(self._names[:-1]), None, self._line, word))
        return self._close()

    def _key(self, token: str) -> "_State":
        if token[0] != '"' or len(token) < 2:
            raise self._error(f"expected a key in quotation marks, found {token[:20]!r}")
        key, keys = self._string(token), self._keys[-1]
        self._before = (key, keys.get(key, 0))
        keys[key] = self._line
        self._names[-1] = key
        return self._colon

    def _colon(self, token: str) -> "_State":
        if token != ":":
            raise self._error(f"expected a colon, found {token[:20]!r}")
        return self._value

    def _after(self, token: str) -> "_State":
        place = self._places[-1]
        if token == ",":
            if place < 0:
                return self._key
            self._places[-1] = place + 1
            self._names[-1] = str(place + 1)
            return self._value
        if token == ("}" if place < 0 else "]"):
            return self._close()
        raise self._error(
            f"expected a comma or the end of the {'object' if place < 0 else 'list'}, found {token[:20]!r}"
        )

    def _end(self, token: str) -> "_State":
        raise self._error(f"unexpected {token[:20]!r} after the end")

    def _string(self, token: str) -> str:
        if len(token) < 2:
            raise self._error("a text is not closed by a quotation mark")
        if "\\" not in token:
            return token[1:-1]
        try:
            return well_formed(json.loads(token))
        except ValueError:
            raise self._error("a text has a backslash before a character that needs none") from None

    def _error(self, message: str) -> DataError:
        return DataError(f"not JSON: {message}", path=self._path, line=self._line)


_State = Callable[[str], Any]
