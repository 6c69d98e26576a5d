"""HTTP requests to the server of one address, over libcurl.

Every request has its own connection. HTTP/1.1 does not say which request a response belongs to: on a reused connection,
a late or duplicate response would be taken as the response to the next request.
"""

import asyncio
import os
import re
import selectors
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote, urlsplit

import pycurl

from polyjudge.version import __version__

from .wire_errors import BadResponseError, NotReachedError, ResponseTooLargeError

LARGEST_RESPONSE = 64 * 2**20
"""Bytes of a body, after decompression."""
_LONGEST_CONNECTING_S = 20.0
_IN_A_PATH = "/%:@!$&'()*+,;=~-._?"
_STATUS_LINE = re.compile(r"HTTP/1\.[01] ([1-9]\d\d)(?: .*)?")
_ONE_VALUE = {"content-length", "transfer-encoding"}


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """A complete response."""

    status: int
    headers: dict[str, str]
    """Header names are in lower case."""
    body: bytes


class HttpClient:
    """Sends requests to the server of one address, in one event loop.

    Proxies come from the environment (`HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY`, `NO_PROXY`), certificates are those
    that Python trusts (`SSL_CERT_FILE`). Redirects are not followed, and requests are not repeated.
    """

    def __init__(self, base_url: str, headers: Mapping[str, str], *, timeout_s: float) -> None:
        parts = urlsplit(base_url)
        host = parts.hostname or ""
        host = host if host.isascii() else host.encode("idna").decode()
        host = f"[{host}]" if ":" in host else host
        self._server = f"{host}:{parts.port or (443 if parts.scheme == 'https' else 80)}"
        self._url = f"{parts.scheme}://{self._server}{quote(parts.path, safe=_IN_A_PATH)}"
        # Without these, libcurl sends `Accept: */*`, and waits for `100 Continue` before a long body.
        lines = {"Host": f"{host}:{parts.port}" if parts.port else host, "Connection": "close", **headers}
        self._headers = [*(f"{name}: {value}" for name, value in lines.items()), "Accept:", "Expect:"]
        self._timeout_s = timeout_s
        self._transfers: _Transfers | None = None
        self._spare: list[pycurl.Curl] = []
        self._in_flight = 0
        self._is_closed = False

    async def send(self, method: str, path: str, body: bytes = b"") -> HttpResponse:
        """Send one request and return the response, whatever its status.

        Raises:
            NotReachedError: No connection could be made, so nothing was sent.
            ResponseTooLargeError: The response is longer than `LARGEST_RESPONSE`; the rest of it was not read.
            ConnectionError: The request was sent, but no complete response was received.
            TimeoutError: The response took too long.
        """
        handle = self._spare.pop() if self._spare else self._new_handle()
        received = _Received()
        handle.setopt(pycurl.URL, self._url + path)
        handle.setopt(pycurl.CUSTOMREQUEST, method)
        if body:
            handle.setopt(pycurl.POSTFIELDS, body)
        else:
            handle.setopt(pycurl.HTTPGET, 1)
        handle.setopt(pycurl.HEADERFUNCTION, received.lines.append)
        handle.setopt(pycurl.WRITEFUNCTION, received.add)
        self._transfers = self._transfers or _Transfers()
        self._in_flight += 1
        try:
            await self._transfers.perform(handle)
        except pycurl.error as error:
            raise self._error(handle, error, received) from None
        finally:
            self._in_flight -= 1
            if self._is_closed:
                self._close_if_idle()
        response = received.response()
        self._spare.append(handle)
        return response

    async def aclose(self) -> None:
        """Send no further request; requests in flight are allowed to finish."""
        self._is_closed = True
        self._spare.clear()
        self._close_if_idle()

    def _close_if_idle(self) -> None:
        if self._transfers is not None and not self._in_flight:
            self._transfers.close()
            self._transfers = None

    def _new_handle(self) -> pycurl.Curl:
        handle = pycurl.Curl()
        handle.setopt(pycurl.HTTPHEADER, self._headers)
        handle.setopt(pycurl.USERAGENT, f"polyjudge/{__version__}")
        handle.setopt(pycurl.ACCEPT_ENCODING, "gzip")
        handle.setopt(pycurl.HTTP_VERSION, pycurl.CURL_HTTP_VERSION_1_1)
        handle.setopt(pycurl.PATH_AS_IS, 1)
        handle.setopt(pycurl.NOSIGNAL, 1)
        handle.setopt(pycurl.FRESH_CONNECT, 1)
        handle.setopt(pycurl.FORBID_REUSE, 1)
        handle.setopt(pycurl.TIMEOUT_MS, _milliseconds(self._timeout_s))
        handle.setopt(pycurl.CONNECTTIMEOUT_MS, _milliseconds(min(self._timeout_s, _LONGEST_CONNECTING_S)))
        if self._url.startswith("https:"):
            _set_certificates(handle)
        elif "http_proxy" not in os.environ and "REQUEST_METHOD" not in os.environ:
            # libcurl reads this name in lower case only, because in a CGI program a request's header could set it.
            handle.setopt(pycurl.PROXY, os.environ.get("HTTP_PROXY"))
        return handle

    def _error(self, handle: pycurl.Curl, error: pycurl.error, received: "_Received") -> OSError:
        """Return our error for a request that failed."""
        code, message, *_ = *error.args, ""
        if received.is_too_large:
            return ResponseTooLargeError(f"the response is longer than {LARGEST_RESPONSE >> 20} MB")
        is_timeout = code == pycurl.E_OPERATION_TIMEDOUT
        reason = "it took too long" if is_timeout else message or f"libcurl error {code}"
        if not handle.getinfo(pycurl.REQUEST_SIZE):
            return NotReachedError(f"no connection to {self._server}: {reason}")
        return TimeoutError(reason) if is_timeout else BadResponseError(reason)


class _Transfers:
    """Runs transfers of libcurl in the running event loop.

    The loop watches one selector, which watches the sockets of all transfers. Since every transfer has its own socket,
    it would take twice as long if the loop watched each of them, as with `pycurl.AsyncCurlMulti`.
    """

    def __init__(self) -> None:
        self._futures: dict[pycurl.Curl, asyncio.Future[None]] = {}
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.Handle | None = None
        self._selector = selectors.DefaultSelector()
        self._watched: set[int] = set()
        self._loop.add_reader(self._selector, self._continue_ready)
        self._multi = pycurl.CurlMulti()
        self._multi.setopt(pycurl.M_SOCKETFUNCTION, self._watch)
        self._multi.setopt(pycurl.M_TIMERFUNCTION, self._set_timer)

    async def perform(self, handle: pycurl.Curl) -> None:
        """Run a transfer; raise `pycurl.error` if it fails."""
        future = self._futures[handle] = self._loop.create_future()
        self._multi.add_handle(handle)
        try:
            await future
        finally:
            if self._futures.pop(handle, None) is not None:  # the task was cancelled
                self._multi.remove_handle(handle)

    def close(self) -> None:
        """Release all resources; no transfer may be running."""
        self._set_timer(-1)
        self._multi.close()
        self._loop.remove_reader(self._selector)
        self._selector.close()

    def _watch(self, what: int, socket: int, _multi: object, _data: object) -> None:
        """Watch a socket for the events that libcurl waits for; selectors use the same numbers for them."""
        events = what & pycurl.POLL_INOUT
        if socket not in self._watched:
            if events:
                self._watched.add(socket)
                self._selector.register(socket, events)
        elif events:
            self._selector.modify(socket, events)
        else:
            self._watched.discard(socket)
            self._selector.unregister(socket)

    def _set_timer(self, timeout_ms: int) -> None:
        """Set when to continue; this replaces the previous timer."""
        if self._timer is not None:
            self._timer.cancel()
        if timeout_ms < 0:
            self._timer = None
        elif timeout_ms == 0:  # not immediately: libcurl must not be called from its own callback
            self._timer = self._loop.call_soon(self._continue_timed)
        else:
            self._timer = self._loop.call_later(timeout_ms / 1000, self._continue_timed)

    def _continue_timed(self) -> None:
        self._timer = None
        self._continue([(pycurl.SOCKET_TIMEOUT, 0)])

    def _continue_ready(self) -> None:
        self._continue([(key.fd, events) for key, events in self._selector.select(0)])

    def _continue(self, ready: list[tuple[int, int]]) -> None:
        """Let libcurl read and write, then finish the transfers that have ended."""
        for socket, events in ready:
            self._multi.socket_action(socket, events)
        _, succeeded, failed = self._multi.info_read()
        for handle in succeeded:
            self._finish(handle, None)
        for handle, code, message in failed:
            self._finish(handle, pycurl.error(code, message))

    def _finish(self, handle: pycurl.Curl, error: pycurl.error | None) -> None:
        self._multi.remove_handle(handle)
        future = self._futures.pop(handle)
        if future.done():  # the task was cancelled, and has not run since
            return
        if error is None:
            future.set_result(None)
        else:
            future.set_exception(error)


class _Received:
    """The received part of a response."""

    def __init__(self) -> None:
        self.lines: list[bytes] = []
        self.is_too_large = False
        self._size = 0
        self._body: list[bytes] = []

    def add(self, data: bytes) -> int:
        """Add a part of the body; returning 0 makes libcurl end the request."""
        self._size += len(data)
        self.is_too_large = self._size > LARGEST_RESPONSE
        if self.is_too_large:
            return 0
        self._body.append(data)
        return len(data)

    def response(self) -> HttpResponse:
        """Return the complete response; raise an error for one that clients may interpret in different ways."""
        lines = [line.decode("latin-1").rstrip("\r\n") for line in self.lines]
        start = max((place for place, line in enumerate(lines) if line.startswith("HTTP/")), default=0)
        if "" not in lines[start:]:
            raise BadResponseError("the headers of the response are incomplete")
        status, end = _STATUS_LINE.fullmatch(lines[start]), lines.index("", start)
        if status is None:
            raise BadResponseError(f"the response is not HTTP/1.1: it starts with {lines[start][:80]!r}")
        headers = _headers(lines[start + 1 : end])
        if headers.keys() >= _ONE_VALUE:
            raise BadResponseError("the response has both Content-Length and Transfer-Encoding")
        return HttpResponse(int(status[1]), headers, b"".join(self._body))


def _headers(lines: list[str]) -> dict[str, str]:
    headers: dict[str, str] = {}
    for line in lines:
        name, _, value = line.partition(":")
        name, value = name.lower(), value.strip()
        if headers.setdefault(name, value) != value:
            if name in _ONE_VALUE:
                raise BadResponseError(f"the response has two different values of {name}")
            headers[name] += f", {value}"
    return headers


def _set_certificates(handle: pycurl.Curl) -> None:
    """Use the certificates that Python's TLS trusts; libcurl caches those of a file for all its connections."""
    paths = ssl.get_default_verify_paths()
    if paths.cafile:
        handle.setopt(pycurl.CAINFO, paths.cafile)
    if paths.capath and (not paths.cafile or paths.openssl_capath_env in os.environ):
        handle.setopt(pycurl.CAPATH, paths.capath)


def _milliseconds(seconds: float) -> int:
    return max(1, round(seconds * 1000))
