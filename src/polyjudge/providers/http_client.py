"""HTTP/1.1 to one server over connections that stay open: what `local` needs, and no more.

A general client takes twice the time of the whole exchange for what is not needed here (cookies, redirects, proxies,
compression, streaming), and a seventh of a second to load; see benchmarks/README.md.
"""

import asyncio
import re
import ssl
from collections.abc import Mapping
from urllib.parse import quote, urlsplit

from .http_reading import BadResponseError, HttpResponse, ResponseReader

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
