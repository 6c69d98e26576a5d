"""The label file: an append-only log of the labels that people give."""

import json
import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, TypeVar, cast

from msgspec import Struct

from polyjudge.errors import DataError
from polyjudge.files.atomic import sync_to_disk
from polyjudge.files.json_lines import RowLog, each_json_line
from polyjudge.files.ownership import refuse_foreign
from polyjudge.records.codec import Number, from_json

Where = TypeVar("Where")
"""Names the place of a row."""
SCHEMA_VERSION = 1
Reason = Literal["", "cannot read this language", "skipped", "undone"]
"""Why there is no label; what is undone is as if it had never been labelled."""
_MOST_POINTS = 1e6
_MARK = "labelledAt"
"""By this field a row of ours is known among rows of any kind."""
_BEGINNING = b'{"schemaVersion": 1, "id": "'
_ID = re.compile(rb'(?:[^"\\]|\\.)*\\?')
_AFTER_ID = b'", "language": "'
"""Rows of `score` begin as ours do, and go on otherwise."""


class Label(Struct, frozen=True, kw_only=True, rename="camel"):
    """What one person said of one item, at one moment."""

    id: str
    language: str = ""
    label: Number | str | None
    """Points, or `pass` or `fail`; None where there are none, or none yet."""
    passed: bool | None = None
    """Good enough or not, where that was said beside the points."""
    reason: Reason = ""
    """Why there is no label."""
    note: str = ""
    annotator: str
    labelled_at: str
    """ISO 8601 in UTC."""
    seconds: Number | None = None
    """How long the item was looked at."""
    weight: Number | None = None
    """How many items of its language the item stands for."""

    @property
    def value(self) -> float | None:
        """The label as a number: 1 for pass and 0 for fail."""
        if isinstance(self.label, str):
            return float(self.label == "pass")
        return self.label

    @property
    def is_done(self) -> bool:
        """The person has nothing more to say of the item."""
        return self.label is not None or self.reason in ("cannot read this language", "skipped")


class LabelLog:
    """A file of labels that one process adds to; what others read of it is whole."""

    def __init__(self, path: Path) -> None:
        if path.is_symlink():
            refuse_foreign(path)
            path = path.resolve()
        self.path = path
        self._rows = RowLog(path)
        try:
            self._rows.lock()
        except DataError:
            told = "is being written by another polyjudge; end that one, or name another file"
            raise DataError(told, path=path, option="labels") from None
        state = os.fstat(self._rows.descriptor)
        self._file = _identity(state)
        if not stat.S_ISREG(state.st_mode):
            self._rows.close()
            raise DataError("is no regular file; name another one", path=path, option="labels")
        self._refuse_others()
        self._end_last_row()
        sync_to_disk(path.parent)

    def labels(self) -> list[Label]:
        """Return all rows in the order in which they came."""
        return list(_labels(self.path))

    def append(self, label: Label) -> None:
        """Put a label on disk; where that fails, nothing of it stays."""
        if not self._is_in_place:
            told = "was removed or replaced while polyjudge wrote to it; end polyjudge and start it again"
            raise DataError(told, path=self.path)
        try:
            self._rows.append(label_row(label))
            os.fsync(self._rows.descriptor)
        except DataError:
            with suppress(OSError):
                self._rows.drop_incomplete_row()
            raise
        except OSError as error:
            raise DataError(f"cannot be written: {error.strerror}", path=self.path) from None

    def _refuse_others(self) -> None:
        """Refuse a file that is not ours before anything is cut off or added."""
        with self.path.open("rb") as file:
            first = file.readline(1 << 20)
        row = _parsed(first)
        is_ours = _is_torn_label(first) if row is None else isinstance(row, dict) and _MARK in row
        if not is_ours:
            self._rows.close()
            raise DataError("is no labels file; name another one", path=self.path, option="labels")

    def _end_last_row(self) -> None:
        """Drop half a row at the end; a whole one lacks only its line break, as some editors leave it."""
        last = self.path.read_bytes().rpartition(b"\n")[2]
        if _parsed(last) is None:
            self._rows.drop_incomplete_row()
            return
        try:
            os.write(self._rows.descriptor, b"\n")
        except OSError as error:
            self._rows.close()
            raise DataError(f"cannot be written: {error.strerror}", path=self.path) from None

    @property
    def _is_in_place(self) -> bool:
        """Under the path still stands the file that is open here."""
        try:
            return _identity(self.path.stat()) == self._file
        except OSError:
            return False

    def close(self) -> None:
        """Let go of the file; one that nothing came into is gone."""
        if self._rows.is_empty and self._is_in_place:
            self.path.unlink(missing_ok=True)
        self._rows.close()


def label_row(label: Label) -> dict[str, Any]:
    """Return a label as it stands on disk; what was not said is null."""
    return {
        "schemaVersion": SCHEMA_VERSION,
        "id": label.id,
        "language": label.language,
        "label": label.label,
        "passed": label.passed,
        "reason": label.reason or None,
        "note": label.note,
        "annotator": label.annotator,
        _MARK: label.labelled_at,
        "seconds": label.seconds,
        "weight": label.weight,
    }


def newest_labels(labels: Iterable[Label]) -> dict[tuple[str, str], Label]:
    """Return the newest label by person and item; what was undone is none."""
    newest = {(each.annotator, each.id): each for each in labels}
    return {key: each for key, each in newest.items() if each.reason != "undone"}


def read_labels(path: Path) -> list[Label]:
    """Return the labels of a file that count."""
    return list(newest_labels(_labels(path)).values())


def newest_rows(
    rows: Iterable[tuple[Where, Mapping[str, Any] | str]],
) -> Iterator[tuple[Where, Mapping[str, Any] | str]]:
    """Yield rows of any kind as they come; those of a labels file at the end, only each person's newest."""
    newest: dict[tuple[str, str], tuple[Where, Mapping[str, Any]]] = {}
    for place, row in rows:
        if isinstance(row, str) or _MARK not in row:
            yield place, row
        else:
            newest[str(row.get("annotator") or ""), str(row.get("id"))] = place, row
    yield from ((place, row) for place, row in newest.values() if row.get("reason") != "undone")


def _labels(path: Path) -> Iterator[Label]:
    for number, row in each_json_line(path):
        if isinstance(row, str):
            raise DataError(f"{row}; correct the line or name another file", path=path, line=number, option="labels")
        if row.get("schemaVersion") != SCHEMA_VERSION or _MARK not in row:
            raise DataError("is no row of a labels file; name another one", path=path, line=number, option="labels")
        try:
            said = {name: value for name, value in row.items() if value is not None}
            label = from_json(Label, {"label": None, **said})
            if isinstance(label.label, float | int) and not abs(label.label) < _MOST_POINTS:
                raise DataError(f"{str(label.label)[:40]} is no number of points")
            yield label
        except DataError as error:
            raise DataError(f"is no label: {error}", path=path, line=number) from None


def _parsed(line: bytes) -> object:
    """Return what a line says; None where it is no JSON."""
    try:
        return cast(object, json.loads(line))
    except (ValueError, RecursionError):
        return None


def _is_torn_label(line: bytes) -> bool:
    """Say whether a line is how a label begins, without a line break; nothing at all is too."""
    if line.endswith(b"\n"):
        return False
    if not line.startswith(_BEGINNING):
        return _BEGINNING.startswith(line)
    found = _ID.match(line, len(_BEGINNING))
    rest = line[found.end() :] if found else line
    return rest.startswith(_AFTER_ID) or _AFTER_ID.startswith(rest)


def _identity(state: os.stat_result) -> tuple[int, int]:
    return state.st_dev, state.st_ino
