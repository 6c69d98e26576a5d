"""Read an agent's session, whichever program wrote it, event by event: memory holds one of them and not the file."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from polyjudge.errors import DataError
from polyjudge.records import TranscriptEvent

from .json_lines import each_json_line
from .json_stream import JsonStream
from .transcript_events import DIALECTS, Dialect

_LOOKED_AT = 50
"""Rows by which the dialect is told."""
_PROBLEMS_KEPT = 20
_LONGEST_PIECE = 1 << 20
_LIST_NAMES = ("messages", "input", "items", "events")


class Transcript:
    """A session; what could not be used is in `problems` and `unknown` once its events were read."""

    def __init__(self, path: Path) -> None:
        self.path = path
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
        for line, row in self._rows():
            if not isinstance(row, Mapping):
                self._skip(line, row if isinstance(row, str) else "must be a JSON object")
                continue
            try:
                # As a list: of a row that turns out to be broken, nothing is taken.
                yield from list(dialect.read(cast(Mapping[str, Any], row)))
            except (AttributeError, KeyError, TypeError, ValueError):
                self._skip(line, f"is no event of {dialect.name}")

    def _skip(self, line: int, told: str) -> None:
        self.skipped += 1
        if len(self.problems) < _PROBLEMS_KEPT:
            self.problems.append(f"{self.path}:{line}: {told}")

    def _recognised(self) -> tuple[Callable[[], Iterator[tuple[int, object]]], Dialect | None]:
        """Return what reads the rows, and the dialect they are in; none for plain text."""
        first = _first_character(self.path)
        if first not in ("{", "["):
            return lambda: iter(()), None
        lines: Callable[[], Iterator[tuple[int, object]]] = lambda: each_json_line(self.path)  # noqa: E731
        dialect = _dialect_of(lines) if first == "{" else None
        if dialect is not None:
            return lines, dialect
        whole: Callable[[], Iterator[tuple[int, object]]] = lambda: iter(JsonStream(self.path, _LIST_NAMES))  # noqa: E731
        try:
            dialect = _dialect_of(whole)
        except DataError:  # it looks like JSON and is none: a text may begin with a brace
            dialect = None
        return whole, dialect


def _dialect_of(rows: Callable[[], Iterator[tuple[int, object]]]) -> Dialect | None:
    """Return the dialect that knows most of the first rows; none where no row is known to any."""
    seen: list[Mapping[str, Any]] = []
    for number, (_, row) in enumerate(rows()):
        if number >= _LOOKED_AT:
            break
        if isinstance(row, Mapping):
            seen.append(cast(Mapping[str, Any], row))
    known = {dialect: sum(dialect.knows(row) for row in seen) for dialect in DIALECTS}
    best = max(known, key=lambda dialect: known[dialect])
    return best if known[best] else None


def _first_character(path: Path) -> str:
    try:
        with path.open(encoding="utf-8-sig") as file:
            while piece := file.read(4096):
                if piece.strip():
                    return piece.lstrip()[0]
    except UnicodeDecodeError as error:
        raise DataError(f"is not UTF-8 text ({error.reason} at byte {error.start})", path=path) from None
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path=path) from None
    raise DataError("is empty", path=path)


def _plain_text(path: Path) -> Iterator[TranscriptEvent]:
    try:
        with path.open(encoding="utf-8-sig") as file:
            while piece := file.read(_LONGEST_PIECE):
                yield TranscriptEvent("system", piece, "text")
    except UnicodeDecodeError as error:
        raise DataError(f"is not UTF-8 text ({error.reason} at byte {error.start})", path=path) from None


def _put_together(events: Iterator[TranscriptEvent]) -> Iterator[TranscriptEvent]:
    """Yield what one speaker says in a row as one event, as long as that is not too long to hold."""
    held: list[TranscriptEvent] = []
    size = 0
    for event in events:
        goes_on = held and event.kind == held[0].kind and event.kind in ("agent", "user")
        if held and (not goes_on or size > _LONGEST_PIECE):
            yield TranscriptEvent(held[0].kind, "".join(each.text for each in held), held[0].name, held[0].failed)
            held, size = [], 0
        held.append(event)
        size += len(event.text)
    if held:
        yield TranscriptEvent(held[0].kind, "".join(each.text for each in held), held[0].name, held[0].failed)
