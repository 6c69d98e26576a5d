"""Parse JSON: `parse_json` for what programs wrote, `parse_data` for files that people hand over."""

import json
import math
import re
from pathlib import Path
from typing import cast

from polyjudge.errors import DuplicateKeyError

_scan = json.JSONDecoder().raw_decode
_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\]:]', re.DOTALL)


def parse_json(text: str) -> object:
    """Return what a text says in JSON; raise the `ValueError` of `json.loads` where it is none."""
    try:
        value, end = _scan(text)
    except ValueError:
        return json.loads(text)
    return value if end == len(text) else json.loads(text)


def parse_data(text: str, path: Path, line: int = 1, *, finite: bool = False) -> object:
    """Return what a text from a file says in JSON; an object with the same key twice is a `DuplicateKeyError`.

    A number that is too large for Python is kept as its text, or with `finite` it is a `ValueError`, as is NaN.
    `line` is where the text starts in its file.
    """
    try:
        return _decoded(_FINITE if finite else _DATA, text)
    except RepeatedKeyError:
        key, position = find_repeated_key(text)
        raise duplicate_key(key, path, line + text.count("\n", 0, position)) from None


def parse_row(text: str, path: Path, line: int) -> object:
    """Return the value of one line of JSON Lines; a number under `id` is kept as it is written."""
    value = parse_data(text, path, line)
    if isinstance(value, dict):
        row = cast(dict[str, object], value)
        if type(row.get("id")) is float:  # as written, 1.10 and 1.1 are two ids, and the same ones as in a CSV file
            row["id"] = _LITERAL.decode(text)["id"]
    return cast(object, value)


def _decoded(decoder: json.JSONDecoder, text: str) -> object:
    """Return the value of a text; faster than `decode` where no white space is around it."""
    try:
        value, end = decoder.raw_decode(text)
    except ValueError:
        return decoder.decode(text)
    return value if end == len(text) else decoder.decode(text)


class RepeatedKeyError(Exception):
    """An object has the same key twice; `find_repeated_key` finds where."""


def without_repeats(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return an object of these members; to be given to a decoder as `object_pairs_hook`."""
    value = dict(pairs)
    if len(value) != len(pairs):
        raise RepeatedKeyError
    return value


def find_repeated_key(text: str, start: int = 0) -> tuple[str, int]:
    """Return the first key that its object has already, and its position."""
    open_keys: list[set[str] | None] = []
    last, position = "", start
    for token in _TOKEN.finditer(text, start):
        sign = token[0]
        if sign in "{[":
            open_keys.append(set() if sign == "{" else None)
        elif sign in "}]":
            open_keys.pop()
        elif sign != ":":
            last, position = sign, token.start()
        else:
            keys, key = open_keys[-1], str(json.loads(last))
            if keys is not None and key in keys:
                return key, position
            if keys is not None:
                keys.add(key)
    raise AssertionError("no object has a key twice")


def duplicate_key(key: str, path: Path, line: int) -> DuplicateKeyError:
    """Return the error about a key that occurs twice."""
    shown = key if len(key) <= 100 else f"{key[:100]}…"
    message = f"duplicate key {shown!r} in one object; remove or rename one of the two"
    return DuplicateKeyError(message, path=path, line=line)


def _whole_number(digits: str) -> int | str:
    try:
        return int(digits)
    except ValueError:  # of more than 4300 digits
        return digits


def _number(digits: str) -> float | str:
    value = float(digits)
    return value if math.isfinite(value) else digits


def _finite(digits: str) -> float:
    value = float(digits)
    return value if math.isfinite(value) else _no_number(digits)


def _no_number(word: str) -> float:
    raise ValueError(f"{word} is not a number that can be used")


# Made once: with options, `json.loads` makes a decoder for every text.
_DATA = json.JSONDecoder(parse_float=_number, parse_int=_whole_number, object_pairs_hook=without_repeats)
_FINITE = json.JSONDecoder(parse_float=_finite, parse_constant=_no_number, object_pairs_hook=without_repeats)
_LITERAL = json.JSONDecoder(parse_float=str, parse_constant=str, parse_int=_whole_number)
