"""Cache entries: encoding, checksums, validation."""

import json
import re
from contextlib import suppress
from typing import Any, Literal, TypeVar, cast
from zlib import crc32

import msgspec
from msgspec import MsgspecError, Struct
from msgspec.structs import replace

from polyjudge.clock import utc_now
from polyjudge.errors import DataError
from polyjudge.files.json_lines import parse_json
from polyjudge.records.codec import from_json, to_json
from polyjudge.records.outcomes import JudgeResult, read_outcome
from polyjudge.records.requests import Reply

_NOT_PLAIN_ASCII = re.compile(r"[^\x01-\x7e]|\\")


def escape(text: str) -> str:
    """Return a text with JSON escapes for the characters that a database might reject."""
    return json.dumps(text)[1:-1] if _NOT_PLAIN_ASCII.search(text) else text


def unescape(text: str) -> str:
    """Reverse `escape`."""
    if "\\" not in text:
        return text
    try:
        return str(json.loads(f'"{text}"'))
    except ValueError:
        raise DataError(f"invalid escape sequence in {text!r}") from None


Kind = Literal["reply", "result"]
Record = TypeVar("Record", bound=Struct)
_ENCODER = json.JSONEncoder(separators=(",", ":"), allow_nan=False)


class Entry(Struct, frozen=True, rename="camel"):
    """A provider's reply, or a result that a program stored itself."""

    kind: Kind
    key: str
    provider: str
    model: str
    created_at: str
    value: str
    """The record as JSON."""

    @property
    def checksum(self) -> int:
        """CRC-32 of the value."""
        return checksum_of(self.value)


def reply_entry(key: str, reply: Reply, provider: str, *, since: str = "") -> Entry:
    """Return the entry of a reply, with the current time.

    The time is never before `since`: a run that refreshes older replies, and is resumed after the clock was set back,
    would otherwise ask for this reply again.
    """
    fresh = replace(reply, cached=False) if reply.cached else reply
    return Entry("reply", key, provider, _without_surrogates(reply.model), max(utc_now(), since), encode(fresh))


def result_entry(key: str, result: JudgeResult) -> Entry:
    """Return the entry of a result, with the current time."""
    provider = result.provenance.provider if result.provenance else ""
    value = encode(replace(result, cached=False))
    return Entry("result", key, provider, _without_surrogates(result.model), utc_now(), value)


def _without_surrogates(name: str) -> str:
    """Replace lone surrogates in a model's name, which databases reject; the record itself keeps them."""
    return name.encode(errors="replace").decode()


def checksum_of(value: str) -> int:
    """Return the checksum of an entry's value."""
    return crc32(value.encode(errors="surrogatepass"))


def verified_value(value: str, checksum: int) -> str:
    """Return the value of an entry, or raise DataError if it does not match its checksum."""
    if checksum_of(value) != checksum:
        raise DataError("checksum mismatch")
    return value


def encode(record: Struct) -> str:
    """Return a record as one line of JSON, in ASCII so that the database accepts any text."""
    return _ENCODER.encode(to_json(record))


def decode(record_type: type[Record], value: str) -> Record:
    """Reverse `encode`."""
    return _record(record_type, _parse(value))


def decode_cached(record_type: type[Record], value: str, checksum: int) -> Record:
    """Return the record of an intact entry, marked as cached."""
    verified_value(value, checksum)
    if record_type is Reply:
        with suppress(MsgspecError, UnicodeEncodeError):  # it is parsed again below, for a better message
            return cast(Record, replace(_decode_reply(value), cached=True))
    data: Any = _parse(value)
    if isinstance(data, dict):
        cast(dict[str, Any], data)["cached"] = True
    return _record(record_type, cast(object, data))


_decode_reply = msgspec.json.Decoder(Reply).decode


def _record(record_type: type[Record], data: object) -> Record:
    if issubclass(record_type, JudgeResult) and isinstance(data, dict):
        return read_outcome(record_type, cast(dict[str, Any], data))
    return from_json(record_type, data)


def _parse(value: str) -> object:
    try:
        return parse_json(value)
    except ValueError as error:
        raise DataError(f"not JSON: {error}") from None


COLUMNS = "kind, key, provider, model, created_at, CAST(value AS TEXT), checksum"
"""The columns that `checked_entry` reads, in this order."""
_RECORDS: dict[Kind, type[Reply] | type[JudgeResult]] = {"reply": Reply, "result": JudgeResult}


def checked_entry(row: tuple[Any, ...]) -> Entry:
    """Return the entry of a row, after validating its checksum and content."""
    kind, key, provider, model, created_at, value, checksum = row
    return check_entry(Entry(kind, key, provider, model, created_at, verified_value(value, checksum)))


def check_entry(entry: Entry) -> Entry:
    """Return an entry if its kind is known and its value can be decoded."""
    if entry.kind not in _RECORDS:
        raise DataError(f"unknown entry kind {entry.kind!r}; expected reply or result")
    decode(_RECORDS[entry.kind], entry.value)
    return entry
