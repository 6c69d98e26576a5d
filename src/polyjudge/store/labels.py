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
from polyjudge.files.kinds import FileKind
from polyjudge.files.ownership import refuse_foreign
from polyjudge.records.codec import Number, from_json, to_json
from polyjudge.records.spans import ErrorSpan

Where = TypeVar("Where")
"""The type of the place of a row."""
SCHEMA_VERSION = 1
Reason = Literal["", "cannot read this language", "skipped", "undone"]
"""Why there is no label; `undone` removes an earlier label."""
_MOST_POINTS = 1e6
_TIME_KEY = "labelledAt"
"""The field that distinguishes a label from rows of other kinds."""
_ROW_START = b'{"schemaVersion": 1, "id": "'
_ID = re.compile(rb'(?:[^"\\]|\\.)*\\?')
_AFTER_ID = b'", "language": "'
"""Rows of `score` have the same start, and another continuation."""


class Label(Struct, frozen=True, kw_only=True, rename="camel"):
    """The label that one person gave one item, at one time."""

    id: str
    language: str = ""
    label: Number | str | None
    """Points, `pass` or `fail`; None if there is no label."""
    passed: bool | None = None
    """Whether it passes, if that was said in addition to the points."""
    reason: Reason = ""
    """Why there is no label."""
    note: str = ""
    annotator: str
    labelled_at: str
    """ISO 8601 in UTC."""
    seconds: Number | None = None
    """How long the person looked at the item."""
    spans: tuple[ErrorSpan, ...] | None = None
    """The errors that the person marked; None if the person was not asked to mark any."""
    weight: Number | None = None
    """The number of items of its language that the item represents."""
    inclusion_probability: Number | None = None
    """The probability that the item had of being in the sample, if it depends on the item."""

    @property
    def value(self) -> float | None:
        """The label as a number: 1 for pass and 0 for fail."""
        if isinstance(self.label, str):
            return float(self.label == "pass")
        return self.label

    @property
    def is_done(self) -> bool:
        """Whether the item need not be shown to the person again."""
        return self.label is not None or self.reason in ("cannot read this language", "skipped")


class LabelLog:
    """A label file to which one process appends complete rows."""

    def __init__(self, path: Path) -> None:
        if path.is_symlink():
            refuse_foreign(path, kind=FileKind.LABELS)
            path = path.resolve()
        self.path = path
        self._rows = RowLog(path)
        try:
            self._rows.lock()
        except DataError:
            message = "the file is being written by another polyjudge process; stop it, or use another file"
            raise DataError(message, path=path, option="labels") from None
        state = os.fstat(self._rows.descriptor)
        self._file = _identity(state)
        if not stat.S_ISREG(state.st_mode):
            self._rows.close()
            raise DataError("not a regular file; use another file", path=path, option="labels")
        self._check_content()
        self._end_last_row()
        sync_to_disk(path.parent)

    def labels(self) -> list[Label]:
        """Return all rows in order."""
        return list(_labels(self.path))

    def append(self, label: Label) -> None:
        """Write a label to disk; if that fails, remove what was written of it."""
        if not self._is_in_place:
            message = "the file was deleted or replaced while polyjudge was using it; restart polyjudge"
            raise DataError(message, path=self.path)
        try:
            self._rows.append(label_row(label))
            os.fsync(self._rows.descriptor)
        except DataError:
            with suppress(OSError):
                self._rows.drop_incomplete_row()
            raise
        except OSError as error:
            raise DataError(f"cannot be written: {error.strerror}", path=self.path) from None

    def _check_content(self) -> None:
        """Raise DataError if the file has other content, before anything is changed."""
        with self.path.open("rb") as file:
            first = file.readline(1 << 20)
        row = _parsed(first)
        is_ours = _is_incomplete_label(first) if row is None else isinstance(row, dict) and _TIME_KEY in row
        if not is_ours:
            self._rows.close()
            raise DataError("not a label file; use another file", path=self.path, option="labels")

    def _end_last_row(self) -> None:
        """Remove an incomplete last row, or add the line break that some editors leave out."""
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
        """Whether the path still is the file that is open here."""
        try:
            return _identity(self.path.stat()) == self._file
        except OSError:
            return False

    def close(self) -> None:
        """Close the file; delete it if it is empty."""
        if self._rows.is_empty and self._is_in_place:
            self.path.unlink(missing_ok=True)
        self._rows.close()


def label_row(label: Label) -> dict[str, Any]:
    """Return a label as a row; a field that was not given is null."""
    return {
        "schemaVersion": SCHEMA_VERSION,
        "id": label.id,
        "language": label.language,
        "label": label.label,
        "passed": label.passed,
        "reason": label.reason or None,
        "note": label.note,
        "annotator": label.annotator,
        _TIME_KEY: label.labelled_at,
        "seconds": label.seconds,
        "weight": label.weight,
        **({} if label.inclusion_probability is None else {"inclusionProbability": label.inclusion_probability}),
        **({} if label.spans is None else {"spans": [to_json(span) for span in label.spans]}),
    }


def newest_labels(labels: Iterable[Label]) -> dict[tuple[str, str], Label]:
    """Return the newest label by person and item, without those that were undone."""
    newest = {(each.annotator, each.id): each for each in labels}
    return {key: each for key, each in newest.items() if each.reason != "undone"}


def read_labels(path: Path) -> list[Label]:
    """Return the newest labels of a file."""
    return list(newest_labels(_labels(path)).values())


def newest_rows(
    rows: Iterable[tuple[Where, Mapping[str, Any] | str]],
) -> Iterator[tuple[Where, Mapping[str, Any] | str]]:
    """Yield rows of other kinds unchanged, then the newest label of each person and item."""
    newest: dict[tuple[str, str], tuple[Where, Mapping[str, Any]]] = {}
    for place, row in rows:
        if isinstance(row, str) or _TIME_KEY not in row:
            yield place, row
        else:
            newest[str(row.get("annotator") or ""), str(row.get("id"))] = place, row
    yield from ((place, row) for place, row in newest.values() if row.get("reason") != "undone")


def _labels(path: Path) -> Iterator[Label]:
    for number, row in each_json_line(path):
        if isinstance(row, str):
            raise DataError(f"{row}; correct the line or use another file", path=path, line=number, option="labels")
        if row.get("schemaVersion") != SCHEMA_VERSION or _TIME_KEY not in row:
            raise DataError("not a row of a label file; use another file", path=path, line=number, option="labels")
        try:
            given = {name: value for name, value in row.items() if value is not None}
            label = from_json(Label, {"label": None, **given})
            if isinstance(label.label, float | int) and not abs(label.label) < _MOST_POINTS:
                raise DataError(f"{str(label.label)[:40]} is not a valid number of points")
            yield label
        except DataError as error:
            raise DataError(f"invalid label: {error}", path=path, line=number) from None


def _parsed(line: bytes) -> object:
    """Return the JSON value of a line, or None if it is invalid."""
    try:
        return cast(object, json.loads(line))
    except (ValueError, RecursionError):
        return None


def _is_incomplete_label(line: bytes) -> bool:
    """Return whether a line without a line break is the start of a label, or empty."""
    if line.endswith(b"\n"):
        return False
    if not line.startswith(_ROW_START):
        return _ROW_START.startswith(line)
    found = _ID.match(line, len(_ROW_START))
    rest = line[found.end() :] if found else line
    return rest.startswith(_AFTER_ID) or _AFTER_ID.startswith(rest)


def _identity(state: os.stat_result) -> tuple[int, int]:
    return state.st_dev, state.st_ino
