"""Read one HTTP/1.1 response from bytes that come in pieces."""

import re
from collections.abc import Callable
from dataclasses import dataclass

_STATUS_LINE = re.compile(r"HTTP/1\.([01]) ([1-9]\d\d)(?: .*)?")
_DIGITS = re.compile(r"\d{1,15}")
_CHUNK_SIZE = re.compile(rb"[0-9A-Fa-f]{1,13}")
_BEGINNING = b"HTTP/1."
_LONGEST_HEAD = 65_536
_LONGEST_CHUNK_LINE = 4_096
_EMPTY = {204, 304}


class BadResponseError(ConnectionError):
    """What came is no HTTP/1.1 response, or only the beginning of one."""


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """A response that came whole."""

    status: int
    headers: dict[str, str]
    """Their names are in lower case."""
    body: bytes
    may_go_on: bool
    """The connection can take another request."""


class ResponseReader:
    """Takes the bytes of one response as they come, and gives it back once it is whole."""

    def __init__(self) -> None:
        self._bytes = bytearray()
        self._status = 0
        self._headers: dict[str, str] = {}
        self._stays_open = False
        self._length = 0
        self._place = 0
        self._chunks: list[bytes] = []
        # A function and no method of ours: a reader that held itself would wait for the garbage collector.
        self._read: Callable[[ResponseReader], HttpResponse | None] = ResponseReader._read_head

    def feed(self, data: bytes) -> HttpResponse | None:
        """Take some bytes; return the response if they complete it."""
        self._bytes += data
        return self._read(self)

    def end(self) -> HttpResponse:
        """Take the end of the connection, which completes a response of no stated length, and no other."""
        if self._read is ResponseReader._read_to_the_end:
            return self._whole(bytes(self._bytes[self._place :]), may_go_on=False)
        raise BadResponseError("the server closed the connection before it had answered")

    def _read_head(self) -> HttpResponse | None:
        """Read the headers, and pass over those of `100 Continue` and the like, which come before the response."""
        while (end := self._head_end()) >= 0:
            lines = self._bytes[self._place : end].decode("latin-1").split("\r\n")
            self._place = end + 4
            self._read_status(lines[0])
            self._headers = _headers(lines)
            if self._status == 101:
                raise BadResponseError("the server wants to speak another protocol")
            if self._status >= 200:
                self._read = self._framing()
                return self._read(self)
        return None

    def _head_end(self) -> int:
        """Return where the headers at hand end, or -1 while they have not come whole."""
        end = self._bytes.find(b"\r\n\r\n", self._place)
        if end > _LONGEST_HEAD or (end < 0 and len(self._bytes) > _LONGEST_HEAD):
            raise BadResponseError("the headers do not end")
        if end < 0:
            begun = bytes(self._bytes[self._place :])
            if not begun.startswith(_BEGINNING[: len(begun)]) or b"\n\n" in begun:
                raise BadResponseError(f"the answer is not HTTP/1.1: it begins with {begun[:80]!r}")
        return end

    def _read_status(self, line: str) -> None:
        match = _STATUS_LINE.fullmatch(line)
        if match is None:
            raise BadResponseError(f"the answer is not HTTP/1.1: it begins with {line[:80]!r}")
        self._status = int(match[2])
        self._stays_open = match[1] == "1"

    def _framing(self) -> "Callable[[ResponseReader], HttpResponse | None]":
        """Return the way in which the length of the body is told."""
        headers = self._headers
        connection = headers.get("connection", "").lower()
        self._stays_open = "close" not in connection if self._stays_open else "keep-alive" in connection
        if self._status in _EMPTY:
            return ResponseReader._read_length
        if (coding := headers.get("content-encoding", "identity").lower()) != "identity":
            raise BadResponseError(f"a content coding that was not asked for: {coding[:80]!r}")
        if coding := headers.get("transfer-encoding"):
            if coding.lower() != "chunked":
                raise BadResponseError(f"a transfer coding that was not asked for: {coding[:80]!r}")
            return ResponseReader._read_chunks
        length = headers.get("content-length")
        if length is None:
            return ResponseReader._read_to_the_end
        if not _DIGITS.fullmatch(length):
            raise BadResponseError(f"a body of {length[:80]!r} bytes")
        self._length = int(length)
        return ResponseReader._read_length

    def _read_length(self) -> HttpResponse | None:
        end = self._place + self._length
        if len(self._bytes) < end:
            return None
        return self._whole(bytes(self._bytes[self._place : end]), may_go_on=len(self._bytes) == end)

    def _read_to_the_end(self) -> HttpResponse | None:
        return None

    def _read_chunks(self) -> HttpResponse | None:
        while (line_end := self._line_end()) >= 0:
            size = _chunk_size(bytes(self._bytes[self._place : line_end]))
            start = line_end + 2
            if size == 0:
                self._place = start
                self._read = ResponseReader._read_trailers
                return self._read(self)
            if len(self._bytes) < start + size + 2:
                return None
            self._chunks.append(bytes(self._bytes[start : start + size]))
            if not self._bytes.startswith(b"\r\n", start + size):
                raise BadResponseError("a chunk is longer than it says")
            del self._bytes[: start + size + 2]
            self._place = 0
        return None

    def _read_trailers(self) -> HttpResponse | None:
        while (line_end := self._line_end()) >= 0:
            is_last = line_end == self._place
            self._place = line_end + 2
            if is_last:
                return self._whole(b"".join(self._chunks), may_go_on=len(self._bytes) == self._place)
        return None

    def _line_end(self) -> int:
        """Return where the line at hand ends, or -1 while it has not come whole."""
        end = self._bytes.find(b"\r\n", self._place, self._place + _LONGEST_CHUNK_LINE)
        if end < 0 and len(self._bytes) - self._place > _LONGEST_CHUNK_LINE:
            raise BadResponseError("a line between chunks does not end")
        return end

    def _whole(self, body: bytes, *, may_go_on: bool) -> HttpResponse:
        return HttpResponse(self._status, self._headers, body, may_go_on and self._stays_open)


def _headers(lines: list[str]) -> dict[str, str]:
    headers: dict[str, str] = {}
    for line in lines[1:]:
        name, colon, value = line.partition(":")
        if not colon or not name or name != name.strip():
            raise BadResponseError(f"a header that is none: {line[:80]!r}")
        name, value = name.lower(), value.strip()
        if headers.setdefault(name, value) != value:
            if name == "content-length":
                raise BadResponseError("two different lengths")
            headers[name] += f", {value}"
    return headers


def _chunk_size(line: bytes) -> int:
    size = line.partition(b";")[0].strip()
    if not _CHUNK_SIZE.fullmatch(size):
        raise BadResponseError(f"a chunk of {size[:80]!r} bytes")
    return int(size, 16)
