"""Read and append JSON Lines, and parse JSON with checks for duplicate keys."""

import fcntl
import json
import math
import os
import re
from collections.abc import Callable, Iterator
from io import BufferedReader
from pathlib import Path
from typing import Any, NamedTuple, cast

import msgspec

from polyjudge.errors import DataError, DuplicateKeyError, EncodingError
from polyjudge.folder_trust import make_folder
from polyjudge.records.outcomes import Item, RunOutcome, item_json, item_row, read_outcome_row

from .opening import open_bytes


class Mark(NamedTuple):
    """A position between two rows of a file."""

    line: int = 0
    """The number of lines before it; in Parquet, of rows."""
    offset: int = 0
    """The number of bytes before it; not used in Parquet."""


START = Mark()


_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_CHUNK = 1 << 16
_LONGEST_LINE = 1 << 27
"""In bytes, so that a large file without line breaks does not fill the memory."""


def lines_from(path: Path, offset: int = 0, encoding: str = "") -> Iterator[tuple[str, int]]:
    """Yield each line with its line break, and the offset of its end in the file, or in its text as UTF-8."""
    with open_bytes(path, encoding, offset=offset) as file:
        if not offset and file.peek(len(_BYTE_ORDER_MARK)).startswith(_BYTE_ORDER_MARK):
            offset = len(file.read(len(_BYTE_ORDER_MARK)))
        for line in _lines(file):
            if line is None:
                raise DataError(
                    f"a line is longer than {_LONGEST_LINE >> 20} MB; write one row per line",
                    path=path,
                )
            try:
                text = line.decode()
            except UnicodeDecodeError as error:
                message = f"not UTF-8 text ({error.reason} at byte {offset + error.start})"
                raise EncodingError(message, path=path) from None
            offset += len(line)
            yield text, offset


def _lines(file: BufferedReader) -> Iterator[bytes | None]:
    """Split at line feeds and carriage returns, as Python does with text; yield None for a line that is too long."""
    unfinished: list[bytes] = []
    size = 0
    while chunk := _read_chunk(file):
        lines = chunk.splitlines(keepends=True)
        if unfinished:
            unfinished.append(lines[0])
            size += len(lines[0])
            if size > _LONGEST_LINE:
                yield None
            if not lines[0].endswith((b"\n", b"\r")):
                continue
            lines[0] = b"".join(unfinished)
            unfinished = []
        if not lines[-1].endswith((b"\n", b"\r")):
            unfinished.append(lines.pop())
            size = len(unfinished[0])
        yield from lines
    if unfinished:
        yield b"".join(unfinished)


def _read_chunk(file: BufferedReader) -> bytes:
    """Read some bytes that do not end between a carriage return and its line feed."""
    chunk = file.read1(_CHUNK)
    while chunk.endswith(b"\r") and (more := file.read(1)):
        chunk += more
    return chunk


_decode = msgspec.json.Decoder().decode
_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\]:]', re.DOTALL)


def parse_json(text: str) -> object:
    """Parse JSON; raise the `ValueError` of `json.loads` if it is invalid.

    msgspec is fast, but rejects lone surrogates, NaN and large numbers, which replies may have; `json` accepts them.
    """
    try:
        return _decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return json.loads(text)


def parse_data(text: str, path: Path, line: int = 1, *, finite: bool = False) -> object:
    """Parse JSON from a file; raise DuplicateKeyError for an object that has a key twice.

    A number that is too large for Python is returned as text. With `finite`, such a number and NaN are a `ValueError`.
    `line` is the line of the file at which the text starts.
    """
    try:
        return _decoded(_FINITE if finite else _DATA, text)
    except RepeatedKeyError:
        key, position = find_repeated_key(text)
        raise duplicate_key(key, path, line + text.count("\n", 0, position)) from None


def parse_row(text: str, path: Path, line: int) -> object:
    """Parse one line of JSON Lines; a decimal number in `id` is returned as it is written."""
    if (plain := _plain_object(text)) is not None:
        return plain
    value = parse_data(text, path, line)
    if isinstance(value, dict):
        row = cast(dict[str, object], value)
        if type(row.get("id")) is float:  # 1.10 and 1.1 are different ids, as in a CSV file
            row["id"] = _LITERAL.decode(text)["id"]
    return cast(object, value)


def _plain_object(text: str) -> dict[str, object] | None:
    """Return an object in which each key is there once; None for other text.

    It is the same that `parse_data` returns, in a third of the time. Of a key that occurs twice, msgspec returns one,
    so that the object written again has fewer quotation marks.
    """
    try:
        value = _decode_object(text)
        if type(value.get("id")) is float or "\\u0022" in text:  # parse_row takes such an id as it is written
            return None
        return value if _encode(value).count(b'"') == text.count('"') else None
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return None


_decode_object = msgspec.json.Decoder(dict[str, object]).decode
_encode = msgspec.json.Encoder().encode


def _decoded(decoder: json.JSONDecoder, text: str) -> object:
    """Parse JSON; faster than `decode` if there is no white space around it."""
    try:
        value, end = decoder.raw_decode(text)
    except ValueError:
        return decoder.decode(text)
    return value if end == len(text) else decoder.decode(text)


class RepeatedKeyError(Exception):
    """An object has the same key twice; `find_repeated_key` returns the position."""


def without_repeats(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return an object with these members; a hook for `json` decoders."""
    value = dict(pairs)
    if len(value) != len(pairs):
        raise RepeatedKeyError
    return value


def find_repeated_key(text: str, start: int = 0) -> tuple[str, int]:
    """Return the first key that occurs twice in its object, and its position."""
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
    except ValueError:  # it has more than 4300 digits
        return digits


def _number(digits: str) -> float | str:
    value = float(digits)
    return value if math.isfinite(value) else digits


def _finite(digits: str) -> float:
    value = float(digits)
    return value if math.isfinite(value) else _reject_number(digits)


def _reject_number(word: str) -> float:
    raise ValueError(f"{word} is not a usable number")


# Created once, because `json.loads` with options creates a decoder for every call.
_DATA = json.JSONDecoder(parse_float=_number, parse_int=_whole_number, object_pairs_hook=without_repeats)
_FINITE = json.JSONDecoder(parse_float=_finite, parse_constant=_reject_number, object_pairs_hook=without_repeats)
_LITERAL = json.JSONDecoder(parse_float=str, parse_constant=str, parse_int=_whole_number)


def read_json_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield line number and object of every non-blank line; raise DataError for an invalid line."""
    for number, row in each_json_line(path):
        if isinstance(row, str):
            raise DataError(row, path=path, line=number)
        yield number, row


def each_json_line(path: Path) -> Iterator[tuple[int, dict[str, Any] | str]]:
    """Yield line number and object, or error message, of every non-blank line.

    An object that has a key twice raises DuplicateKeyError, because it is not clear which value is meant.
    """
    for number, row, _ in json_lines_from(path):
        yield number, row


def json_lines_from(
    path: Path, line: int = 0, offset: int = 0, encoding: str = "", having: Callable[[str], object] | None = None
) -> Iterator[tuple[int, dict[str, Any] | str, int]]:
    """Do what `each_json_line` does from a position in the file; yield also the offset of the end of each row.

    Only the lines that are `having` something are parsed and yielded, if it is given.
    """
    try:
        for number, (text, end) in enumerate(lines_from(path, offset, encoding), start=line + 1):
            if text.strip() and (having is None or having(text)):
                yield number, _object(text.rstrip("\r\n"), path, number), end
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path=path) from None


def _object(text: str, path: Path, number: int) -> dict[str, Any] | str:
    try:
        value = parse_row(text, path, number)
    except RecursionError:
        return "nested too deeply"
    except ValueError as error:
        return f"is not JSON: {error}"
    return cast(dict[str, Any], value) if isinstance(value, dict) else "must be a JSON object"


class RowLog:
    """A JSON Lines file that is open for appending rows."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            make_folder(path.parent)
            self.descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
        except OSError as error:
            raise DataError(f"cannot be written: {error.strerror}", path=path) from None

    def outcomes(self) -> Iterator[tuple[str, RunOutcome]]:
        """Yield the rows as outcomes, with the ids of their items."""
        for number, row in each_json_line(self.path):
            try:
                if isinstance(row, str):
                    raise DataError(row)
                yield read_outcome_row(row)
            except DataError as error:
                raise DataError(f"{error}; delete the file to start again", path=self.path, line=number) from None

    def lines(self) -> Iterator[bytes]:
        """Yield the rows as bytes."""
        with self.path.open("rb") as file:
            yield from file

    def append(self, row: dict[str, Any]) -> None:
        """Append a row."""
        self.write(row_line(row).encode())

    def write(self, line: bytes) -> None:
        """Append an encoded line."""
        try:
            while line:
                line = line[os.write(self.descriptor, line) :]
        except OSError as error:
            raise DataError(f"cannot be written: {error.strerror}", path=self.path) from None

    def lock(self) -> None:
        """Lock the file, or raise if another process has locked it; the lock ends with the process."""
        try:
            fcntl.flock(self.descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self.close()
            raise DataError(
                "the same run is writing this file in another process; wait until it has ended", path=self.path
            ) from None

    @property
    def is_empty(self) -> bool:
        """Whether the file is empty."""
        return os.fstat(self.descriptor).st_size == 0

    def close(self) -> None:
        """Close the file."""
        os.close(self.descriptor)

    def drop_incomplete_row(self) -> None:
        """Remove the last row if it has no line break, because a killed run left it incomplete."""
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


_UNSAFE = re.compile("[\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
# Created once, because `json.dumps` with options creates an encoder for every call.
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, default=str)


def item_line(item: Item, outcome: RunOutcome, *, with_texts: bool = False) -> str:
    """Return the row of an item's outcome as a line of readable JSON."""
    text = item_json(item, outcome, with_texts=with_texts)
    if text is None:
        return row_line(item_row(item, outcome, with_texts=with_texts))
    return _readable(text.decode()) + "\n"


def row_line(row: dict[str, Any]) -> str:
    """Return a row as a line of readable JSON."""
    return readable_json(row) + "\n"


def readable_json(value: object, *, indent: int | None = None) -> str:
    """Return JSON with all scripts unescaped.

    Terminal control characters and lone surrogates are escaped. NaN and infinity become null, values of other types,
    such as a date from Parquet, become text.
    """
    try:
        if indent is None:
            text = _ENCODER.encode(value)
        else:
            text = json.dumps(value, ensure_ascii=False, indent=indent, allow_nan=False, default=str)
    except ValueError:
        text = json.dumps(_with_finite_numbers(value), ensure_ascii=False, indent=indent, default=str)
    return _readable(text)


def _readable(text: str) -> str:
    return text if text.isascii() and "\x7f" not in text else _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _with_finite_numbers(value: object) -> object:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _with_finite_numbers(each) for key, each in cast(dict[str, object], value).items()}
    if isinstance(value, list | tuple):
        return [_with_finite_numbers(each) for each in cast(list[object], value)]
    return value
