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
_LOOKED_AT = 50
"""Rows by which the dialect is told."""
_PROBLEMS_KEPT = 20
_LONGEST_PROBLEM = 300
_LONGEST_PIECE = 1 << 20
_LIST_NAMES = ("messages", "input", "items", "events", "output", "choices")
_MARK_OF_UTF8 = b"\xef\xbb\xbf"
_WHOLE = re.compile(rf'\s*(?:\[|\{{\s*"(?:{"|".join(_LIST_NAMES)})"\s*:\s*\[)')
"""How a file begins that is one JSON value, so that it need not be read to know it."""


class Transcript:
    """A session; what could not be used is in `problems` and `unknown` once its events were read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        if path.exists() and not path.is_file() and not path.is_dir():
            raise DataError("is no ordinary file, and a session is read twice; save it first", path=path)
        self._rows, self._dialect = self._recognised()
        self.format = self._dialect.name if self._dialect else "plain text"
        self.problems: list[str] = []
        self.skipped = 0
        """Rows that could not be read."""
        self.unknown: Counter[str] = Counter()
        """Kinds of events that the format is not known to have, and how often."""

    def events(self) -> Iterator[TranscriptEvent]:
        """Yield what happened, in order; may be called again."""
        self.problems, self.skipped, self.unknown = [], 0, Counter()
        if self._dialect is None:
            yield from _plain_text(self.path)
            return
        found = self._found(self._dialect)
        for event in _put_together(found) if self._dialect.in_pieces else found:
            if event.kind == "unknown":
                self.unknown[event.name] += 1
            yield event

    def _found(self, dialect: Dialect) -> Iterator[TranscriptEvent]:
        begun: dict[str, Mapping[str, Any]] = {}
        for line, row in self._rows_before_damage():
            if not isinstance(row, Mapping):
                self._skip(line, row if isinstance(row, str) else "must be a JSON object")
                continue
            given = cast(Mapping[str, Any], row)
            dialect.note_unfinished(given, begun)
            try:
                # As a list: of a row that turns out to be broken, nothing is taken.
                events = list(map(_checked, dialect.read(given)))
            except (AttributeError, KeyError, TypeError, ValueError):
                self._skip(line, f"is no event of {dialect.name}")
                continue
            yield from events
        for row in begun.values():
            yield TranscriptEvent("call", json.dumps(row, ensure_ascii=False), "begun and not finished")

    def _rows_before_damage(self) -> Iterator[tuple[int, object]]:
        """Yield the rows; where the rest of the file cannot be read, what came before it is good."""
        try:
            yield from self._rows()
        except DuplicateKeyError:
            raise
        except DataError as error:
            self._skip(error.line, str(error))

    def _skip(self, line: int, told: str) -> None:
        self.skipped += 1
        if len(self.problems) < _PROBLEMS_KEPT:
            self.problems.append(f"{self.path}:{line}: {told[:_LONGEST_PROBLEM]}")

    def _recognised(self) -> tuple[Rows, Dialect | None]:
        """Return what reads the rows, and the dialect they are in; none for plain text."""
        begins = _beginning(self.path)
        if begins.lstrip()[:1] not in ("{", "["):
            return lambda: iter(()), None
        if not _WHOLE.match(begins):
            lines: Rows = lambda: _json_lines(self.path)  # noqa: E731
            dialect = _dialect_of(lines)
            if dialect is not None and isinstance(next(lines(), (0, ""))[1], dict):
                return lines, dialect
        whole: Rows = lambda: iter(JsonStream(self.path, _LIST_NAMES))  # noqa: E731
        return whole, _dialect_of(whole)


def _checked(event: TranscriptEvent) -> TranscriptEvent:
    """Return an event whose texts are texts; what comes from a file need not be."""
    if not isinstance(cast(object, event.text), str) or not isinstance(cast(object, event.name), str):
        raise TypeError("a text is none")
    return event


def _json_lines(path: Path) -> Iterator[tuple[int, object]]:
    """Yield line number and value of every line that is not blank; of a bad line, what is wrong with it."""
    try:
        with path.open("rb") as lines:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    yield number, _json_value(line.removeprefix(_MARK_OF_UTF8) if number == 1 else line, path, number)
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path=path) from None


def _json_value(line: bytes, path: Path, number: int) -> object:
    try:
        value = parse_data(line.decode(), path, number)
    except UnicodeDecodeError:
        return "is not UTF-8 text"
    except RecursionError:
        return "is nested too deeply"
    except ValueError as error:
        return f"is not JSON: {error}"
    return cast(object, value) if isinstance(value, dict) else "must be a JSON object"


def _dialect_of(rows: Rows) -> Dialect | None:
    """Return the dialect that knows most of the first rows; none where no row is known to any."""
    seen: list[Mapping[str, Any]] = []
    try:
        for number, (_, row) in enumerate(rows()):
            if number >= _LOOKED_AT:
                break
            if isinstance(row, Mapping):
                seen.append(cast(Mapping[str, Any], row))
    except DataError:  # the rows before the damage tell it; a text may also only begin like JSON
        pass
    known = {dialect: sum(dialect.knows(row) for row in seen) for dialect in DIALECTS}
    best = max(known, key=lambda dialect: known[dialect])
    return best if known[best] else None


def _beginning(path: Path) -> str:
    """Return the first characters of a file that say something."""
    try:
        with path.open(encoding="utf-8-sig", errors="replace") as file:
            while piece := file.read(4096):
                if piece.strip():
                    if "\0" in piece:
                        raise DataError("is not UTF-8 text", path=path)
                    return piece.lstrip()
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path=path) from None
    raise DataError("is empty", path=path)


def _plain_text(path: Path) -> Iterator[TranscriptEvent]:
    """Yield a text in pieces that end with a line, so that it reads as one."""
    try:
        with path.open(encoding="utf-8-sig") as file:
            while piece := file.read(_LONGEST_PIECE):
                yield TranscriptEvent("system", piece + file.readline(_LONGEST_PIECE), "text")
    except UnicodeDecodeError as error:
        raise DataError(f"is not UTF-8 text ({error.reason} at byte {error.start})", path=path) from None


def _put_together(events: Iterator[TranscriptEvent]) -> Iterator[TranscriptEvent]:
    """Yield what one speaker says in a row as one event, as long as that is not too long to hold."""
    held: list[TranscriptEvent] = []
    size = 0
    for event in events:
        goes_on = held and event.kind == held[0].kind and event.kind in ("agent", "user")
        if held and (not goes_on or size > _LONGEST_PIECE):
            yield _joined(held)
            held, size = [], 0
        held.append(event)
        size += len(event.text)
    if held:
        yield _joined(held)


def _joined(held: Sequence[TranscriptEvent]) -> TranscriptEvent:
    text = "".join(each.text for each in held)
    return TranscriptEvent(held[0].kind, text.rstrip("\n"), held[0].name, held[0].failed)
