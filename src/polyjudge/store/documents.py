"""Read files that are one JSON object of a known kind and version."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar, cast

from msgspec import Struct

from polyjudge.errors import DataError
from polyjudge.files.json_lines import parse_data
from polyjudge.records.codec import from_json

Record = TypeVar("Record", bound=Struct)
_LONGEST_REASON = 200


@dataclass(frozen=True, slots=True)
class Document(Generic[Record]):
    """A kind of file that is one JSON object."""

    record: type[Record]
    what: str
    """What it is called in messages."""
    advice: str
    """What to do with another file."""
    kind: str = ""
    """The value of `kind` in the object; empty for objects without one."""
    version: int = 1
    option: str = ""
    """The option that names the file, for messages."""


def read_document(path: Path, of: Document[Record]) -> Record:
    """Return the record in a file; raise DataError for any other file."""
    return record_in(read_object(path, of), of, path)


def read_object(path: Path, of: Document[Record]) -> dict[str, Any]:
    """Return the JSON object in a file of this kind and version; raise DataError for any other file."""
    try:
        found = parse_data(path.read_text(encoding="utf-8"), path, finite=True)
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path=path) from None
    except (ValueError, RecursionError) as error:
        reason = f"{str(error)[:_LONGEST_REASON]}; {of.advice}"
        raise DataError(f"not JSON, so not {of.what}: {reason}", path=path, option=of.option) from None
    return checked_object(found, of, path)


def checked_object(value: object, of: Document[Record], path: Path, line: int = 0) -> dict[str, Any]:
    """Return a JSON object of this kind and version; raise DataError for any other value."""
    row = cast(dict[str, Any], value) if isinstance(value, dict) else {}
    if row.get("schemaVersion") != of.version or row.get("kind", "") != of.kind:
        message = f"not {of.what} of version {of.version}; {of.advice}"
        raise DataError(message, path=path, line=line, option=of.option)
    return row


def record_in(row: dict[str, Any], of: Document[Record], path: Path, line: int = 0) -> Record:
    """Return the record in a JSON object; raise DataError if it has an invalid value."""
    try:
        return from_json(of.record, row)
    except DataError as error:
        raise DataError(f"cannot be used: {error}; {of.advice}", path=path, line=line, option=of.option) from None
