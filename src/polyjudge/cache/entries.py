"""One row of the cache, and how records are written into it."""

import json
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar, cast
from zlib import crc32

from polyjudge.clock import utc_now
from polyjudge.errors import DataError
from polyjudge.files import from_json, parse_json, to_json
from polyjudge.records import JudgeResult, Reply

Kind = Literal["reply", "result"]
Record = TypeVar("Record")
_ENCODER = json.JSONEncoder(separators=(",", ":"), allow_nan=False)


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


def reply_entry(key: str, reply: Reply, provider: str, *, since: str = "") -> Entry:
    """Return what is kept of a reply, from now on.

    Where it was asked for because what was kept before `since` would not do, it is not kept as of before: a run that
    is gone on with after the clock went back would ask for it again.
    """
    kept = replace(reply, cached=False) if reply.cached else reply
    return Entry("reply", key, provider, _unbroken(reply.model), max(utc_now(), since), encode(kept))


def result_entry(key: str, result: JudgeResult) -> Entry:
    """Return what is kept of a result, from now on."""
    provider = result.provenance.provider if result.provenance else ""
    value = encode(replace(result, cached=False))
    return Entry("result", key, provider, _unbroken(result.model), utc_now(), value)


def _unbroken(name: str) -> str:
    """Return a model's name without half characters, which no database takes; the record itself keeps them."""
    return name.encode(errors="replace").decode()


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
    return _ENCODER.encode(to_json(record))


def decode(record_type: type[Record], value: str) -> Record:
    """Return the record that `encode` wrote."""
    return from_json(record_type, _loaded(value))


def decode_kept(record_type: type[Record], value: str, checksum: int) -> Record:
    """Return the record of an intact entry, marked as cached."""
    data: Any = _loaded(intact(value, checksum))
    if isinstance(data, dict):
        cast(dict[str, Any], data)["cached"] = True
    return from_json(record_type, cast(object, data))


def _loaded(value: str) -> object:
    try:
        return parse_json(value)
    except ValueError as error:
        raise DataError(f"is not JSON: {error}") from None
