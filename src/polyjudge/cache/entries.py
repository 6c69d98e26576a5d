"""One row of the cache, and how records are written into it."""

import json
from dataclasses import dataclass
from typing import Any, Literal, TypeVar
from zlib import crc32

from polyjudge.errors import DataError
from polyjudge.files import from_json, to_json

Kind = Literal["reply", "result"]
Record = TypeVar("Record")


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing kept: a provider's reply, or a result that a program put there itself."""

    kind: Kind
    key: str
    provider: str
    model: str
    created_at: str
    value: str
    """The record as JSON."""

    @property
    def checksum(self) -> int:
        """A number that changes when a bit of the value does."""
        return checksum_of(self.value)


def checksum_of(value: str) -> int:
    """Return the checksum of an entry's value."""
    return crc32(value.encode(errors="surrogatepass"))


def intact(value: str, checksum: int) -> str:
    """Return the value of an entry, unless a bit of it has changed since it was written."""
    if checksum_of(value) != checksum:
        raise DataError("the checksum does not agree")
    return value


def encode(record: object) -> str:
    """Return a record as one line of JSON, in ASCII so that no text can be refused by the database."""
    return json.dumps(to_json(record), separators=(",", ":"), allow_nan=False)


def decode(record_type: type[Record], value: str) -> Record:
    """Return the record that `encode` wrote."""
    try:
        data: Any = json.loads(value)
    except ValueError as error:
        raise DataError(f"is not JSON: {error}") from None
    return from_json(record_type, data)
