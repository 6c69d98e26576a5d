"""An HTTP/1.1 client with persistent connections to one server.

A general client takes twice the time of the whole exchange for what is not needed here (cookies, redirects, proxies,
compression, streaming), and a seventh of a second to load; see benchmarks/README.md.
"""

import asyncio
import re
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import quote, urlsplit

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


_LONGEST_IDLE_S = 4.0
"""Servers close what has been idle, many after five seconds. A request that meets the closing is lost."""
_KEEP_ALIVE = re.compile(r"\btimeout=(\d{1,9})\b")
_HAPPY_EYEBALLS_S = 0.25
_LONGEST_CONNECTING_S = 20.0
_IN_A_PATH = "/%:@!$&'()*+,;=~-._?"


class NotReachedError(ConnectionError):
    """No connection could be made, so nothing was sent."""


class HttpClient:
    """Sends requests to the server of one address; belongs to the event loop that it is used in."""

    def __init__(self, base_url: str, headers: Mapping[str, str], *, timeout_s: float) -> None:
        parts = urlsplit(base_url)
        host = parts.hostname or ""
        self._host = host if host.isascii() else host.encode("idna").decode()
        self._is_secure = parts.scheme == "https"
        self._port = parts.port or (443 if self._is_secure else 80)
        self._path = quote(parts.path, safe=_IN_A_PATH)
        named = f"[{self._host}]" if ":" in self._host else self._host
        all_headers = {
            "Host": f"{named}:{parts.port}" if parts.port else named,
            "Accept-Encoding": "identity",
            **headers,
        }
        self._headers = "".join(f"{name}: {value}\r\n" for name, value in all_headers.items())
        self._timeout_s = timeout_s
        self._ssl: ssl.SSLContext | None = None
        self._idle: list[_Connection] = []
        self._is_closed = False

    async def send(self, method: str, path: str, body: bytes = b"") -> HttpResponse:
        """Send one request and return the response, whatever its status.

        Raises:
            NotReachedError: There was nobody to send it to.
            ConnectionError: It was sent, and no whole response came.
            TimeoutError: It took too long.
        """
        length = f"Content-Length: {len(body)}\r\n" if body else ""
        head = f"{method} {self._path}{path} HTTP/1.1\r\n{self._headers}{length}\r\n"
        deadline = asyncio.get_running_loop().time() + self._timeout_s
        connection = self._take_idle() or await self._connect(deadline)
        async with asyncio.timeout_at(deadline):
            response = await connection.exchange(head.encode("latin-1") + body)
        if response.may_go_on and connection.is_free() and not self._is_closed:
            self._idle.append(connection)
        else:
            connection.close()
        return response

    async def aclose(self) -> None:
        """Close the connections that are open, and wait until they are."""
        self._is_closed = True
        idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()
        await asyncio.gather(*(connection.closed for connection in idle))

    def _take_idle(self) -> "_Connection | None":
        """Return the connection that was used last, unless it has been idle for so long that it may be closing."""
        while self._idle:
            connection = self._idle.pop()
            if connection.is_fresh():
                return connection
            connection.close()
        return None

    async def _connect(self, deadline: float) -> "_Connection":
        loop = asyncio.get_running_loop()
        if self._is_secure and self._ssl is None:
            self._ssl = ssl.create_default_context()
        try:
            async with asyncio.timeout_at(min(deadline, loop.time() + _LONGEST_CONNECTING_S)):
                _, connection = await loop.create_connection(
                    _Connection, self._host, self._port, ssl=self._ssl, happy_eyeballs_delay=_HAPPY_EYEBALLS_S
                )
        except (OSError, UnicodeError) as error:
            why = str(error) or "it took too long"
            raise NotReachedError(f"no connection to {self._host}:{self._port}: {why}") from None
        return connection


class _Connection(asyncio.Protocol):
    """One connection: at most one request is on its way over it."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self.closed = self._loop.create_future()
        self._transport: asyncio.Transport | None = None
        self._reader: ResponseReader | None = None
        self._awaited: asyncio.Future[HttpResponse] | None = None
        self._idle_since = 0.0
        self._may_idle_s = _LONGEST_IDLE_S

    async def exchange(self, request: bytes) -> HttpResponse:
        """Send a request and wait for its response; a connection given up in the middle is of no further use."""
        assert self._transport is not None
        self._reader = ResponseReader()
        self._awaited = self._loop.create_future()
        self._transport.write(request)
        response: HttpResponse | None = None
        try:
            response = await self._awaited
            return response
        finally:
            self._awaited = None
            if response is None:
                self.close()

    def is_free(self) -> bool:
        """Say whether all was sent: a server may answer before it has read everything."""
        assert self._transport is not None
        return self._transport.get_write_buffer_size() == 0

    def is_fresh(self) -> bool:
        """Say whether the server can be trusted to be still listening."""
        assert self._transport is not None
        return not self._transport.is_closing() and self._loop.time() - self._idle_since < self._may_idle_s

    def close(self) -> None:
        """Begin to close, without a word to the server: whatever it still says is of no use."""
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep what is written to (asyncio calls this)."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Take a piece of the response (asyncio calls this)."""
        if self._reader is None:
            self.close()  # the server speaks without having been asked
            return
        try:
            response = self._reader.feed(data)
        except BadResponseError as error:
            self._fail(error)
            return
        if response is not None:
            self._finish(response)

    def connection_lost(self, exc: Exception | None) -> None:
        """Finish or fail what is on its way (asyncio calls this)."""
        self.closed.set_result(None)
        if self._reader is None:
            return
        try:
            response = self._reader.end()
        except BadResponseError as error:
            self._fail(exc if isinstance(exc, OSError) else error)
            return
        if exc is None:
            self._finish(response)
        else:  # of no stated length, so it may well have been longer
            self._fail(BadResponseError(f"the connection broke off: {exc}"))

    def _finish(self, response: HttpResponse) -> None:
        self._reader = None
        self._idle_since = self._loop.time()
        if told := _KEEP_ALIVE.search(response.headers.get("keep-alive", "")):
            self._may_idle_s = min(_LONGEST_IDLE_S, int(told[1]) - 1)
        if self._awaited is not None and not self._awaited.done():
            self._awaited.set_result(response)

    def _fail(self, error: OSError) -> None:
        if self._awaited is not None and not self._awaited.done():
            self._awaited.set_exception(error)
