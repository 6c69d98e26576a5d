"""Read the transcript of an agent's session."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from polyjudge.errors import DataError, DuplicateKeyError
from polyjudge.files.json_lines import parse_data
from polyjudge.files.json_stream import JsonStream
from polyjudge.records.sessions import TranscriptEvent

from .transcript_dialects import DIALECTS, Dialect

Rows = Callable[[], Iterator[tuple[int, object]]]
_ROWS_EXAMINED = 50
"""The number of rows by which the format is detected."""
_MAX_PROBLEMS_SHOWN = 20
_LONGEST_PROBLEM = 300
_LONGEST_PIECE = 1 << 20
_LIST_NAMES = ("messages", "input", "items", "events", "output", "choices")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_WHOLE = re.compile(rf'\s*(?:\[|\{{\s*"(?:{"|".join(_LIST_NAMES)})"\s*:\s*\[)')
"""The start of a file that is a single JSON value."""


class Transcript:
    """A session; after reading its events, `problems` and `unknown` describe rows that could not be used."""

    def __init__(self, path: Path) -> None:
        self.path = path
        if path.exists() and not path.is_file() and not path.is_dir():
            raise DataError("not a regular file; a session is read twice, so save it to a file first", path=path)
        self._rows, self._dialect = self._detect_format()
        self.format = self._dialect.name if self._dialect else "plain text"
        self.problems: list[str] = []
        self.skipped = 0
        """The number of rows that could not be parsed."""
        self.unknown: Counter[str] = Counter()
        """Unknown kinds of events, counted."""

    def events(self) -> Iterator[TranscriptEvent]:
        """Yield the events in order; can be called again."""
        self.problems, self.skipped, self.unknown = [], 0, Counter()
        if self._dialect is None:
            yield from _plain_text(self.path)
            return
        found = self._found(self._dialect)
        for event in _join_fragments(found) if self._dialect.has_fragments else found:
            if event.kind == "unknown":
                self.unknown[event.name] += 1
            yield event

    def _found(self, dialect: Dialect) -> Iterator[TranscriptEvent]:
        unfinished: dict[str, Mapping[str, Any]] = {}
        for line, row in self._rows_before_damage():
            if not isinstance(row, Mapping):
                self._skip(line, row if isinstance(row, str) else "must be a JSON object")
                continue
            given = cast(Mapping[str, Any], row)
            dialect.track_unfinished(given, unfinished)
            try:
                # As a list, so that nothing of an invalid row is used.
                events = list(map(_checked, dialect.read(given)))
            except (AttributeError, KeyError, TypeError, ValueError):
                self._skip(line, f"not a valid event of {dialect.name}")
                continue
            yield from events
        for row in unfinished.values():
            yield TranscriptEvent("call", json.dumps(row, ensure_ascii=False), "begun and not finished")

    def _rows_before_damage(self) -> Iterator[tuple[int, object]]:
        """Yield the rows up to the position at which the file cannot be parsed further."""
        try:
            yield from self._rows()
        except DuplicateKeyError:
            raise
        except DataError as error:
            self._skip(error.line, str(error))

    def _skip(self, line: int, message: str) -> None:
        self.skipped += 1
        if len(self.problems) < _MAX_PROBLEMS_SHOWN:
            self.problems.append(f"{self.path}:{line}: {message[:_LONGEST_PROBLEM]}")

    def _detect_format(self) -> tuple[Rows, Dialect | None]:
        """Return a reader of the rows, and their format, or None for plain text."""
        start = _first_text(self.path)
        if start.lstrip()[:1] not in ("{", "["):
            return lambda: iter(()), None
        if not _WHOLE.match(start):
            lines: Rows = lambda: _json_lines(self.path)  # noqa: E731
            dialect = _dialect_of(lines)
            if dialect is not None and isinstance(next(lines(), (0, ""))[1], dict):
                return lines, dialect
        whole: Rows = lambda: iter(JsonStream(self.path, _LIST_NAMES))  # noqa: E731
        return whole, _dialect_of(whole)


def _checked(event: TranscriptEvent) -> TranscriptEvent:
    """Return an event if its fields are texts, which a file does not guarantee."""
    if not isinstance(cast(object, event.text), str) or not isinstance(cast(object, event.name), str):
        raise TypeError("expected text")
    return event


def _json_lines(path: Path) -> Iterator[tuple[int, object]]:
    """Yield line number and value, or error message, of every non-blank line."""
    try:
        with path.open("rb") as lines:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    yield (
                        number,
                        _json_value(line.removeprefix(_BYTE_ORDER_MARK) if number == 1 else line, path, number),
                    )
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path=path) from None


def _json_value(line: bytes, path: Path, number: int) -> object:
    try:
        value = parse_data(line.decode(), path, number)
    except UnicodeDecodeError:
        return "is not UTF-8 text"
    except RecursionError:
        return "nested too deeply"
    except ValueError as error:
        return f"is not JSON: {error}"
    return cast(object, value) if isinstance(value, dict) else "must be a JSON object"


def _dialect_of(rows: Rows) -> Dialect | None:
    """Return the format that matches most of the first rows, or None if none matches any."""
    seen: list[Mapping[str, Any]] = []
    try:
        for number, (_, row) in enumerate(rows()):
            if number >= _ROWS_EXAMINED:
                break
            if isinstance(row, Mapping):
                seen.append(cast(Mapping[str, Any], row))
    except DataError:  # the rows before the error are enough; a text may also start like JSON
        pass
    known = {dialect: sum(dialect.matches(row) for row in seen) for dialect in DIALECTS}
    best = max(known, key=lambda dialect: known[dialect])
    return best if known[best] else None


def _first_text(path: Path) -> str:
    """Return the first characters of a file that are not white space."""
    try:
        with path.open(encoding="utf-8-sig", errors="replace") as file:
            while piece := file.read(4096):
                if piece.strip():
                    if "\0" in piece:
                        raise DataError("not UTF-8 text", path=path)
                    return piece.lstrip()
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path=path) from None
    raise DataError("the file is empty", path=path)


def _plain_text(path: Path) -> Iterator[TranscriptEvent]:
    """Yield a text in chunks of whole lines."""
    try:
        with path.open(encoding="utf-8-sig") as file:
            while piece := file.read(_LONGEST_PIECE):
                yield TranscriptEvent("system", piece + file.readline(_LONGEST_PIECE), "text")
    except UnicodeDecodeError as error:
        raise DataError(f"not UTF-8 text ({error.reason} at byte {error.start})", path=path) from None


def _join_fragments(events: Iterator[TranscriptEvent]) -> Iterator[TranscriptEvent]:
    """Join consecutive events of one speaker, up to a limit of size."""
    pending: list[TranscriptEvent] = []
    size = 0
    for event in events:
        continues = pending and event.kind == pending[0].kind and event.kind in ("agent", "user")
        if pending and (not continues or size > _LONGEST_PIECE):
            yield _joined(pending)
            pending, size = [], 0
        pending.append(event)
        size += len(event.text)
    if pending:
        yield _joined(pending)


def _joined(pending: Sequence[TranscriptEvent]) -> TranscriptEvent:
    text = "".join(each.text for each in pending)
    return TranscriptEvent(pending[0].kind, text.rstrip("\n"), pending[0].name, pending[0].failed)
