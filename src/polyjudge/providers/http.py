"""HTTP requests to the server of one address, over libcurl.

Every request has a connection of its own. HTTP/1.1 does not say which request a response belongs to, so what a server
says late or twice on a connection that is used again would be taken for the answer to the next request.
"""

import os
import re
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
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
    """A response that arrived whole."""

    status: int
    headers: dict[str, str]
    """Their names are in lower case."""
    body: bytes


class HttpClient:
    """Sends requests to the server of one address; belongs to the event loop that it is used in.

    Proxies are those of the environment (`HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY`, `NO_PROXY`), certificates those that
    Python trusts (`SSL_CERT_FILE`). No redirect is followed, and nothing is sent twice.
    """

    def __init__(self, base_url: str, headers: Mapping[str, str], *, timeout_s: float) -> None:
        parts = urlsplit(base_url)
        host = parts.hostname or ""
        host = host if host.isascii() else host.encode("idna").decode()
        named = f"[{host}]" if ":" in host else host
        self._server = f"{named}:{parts.port or (443 if parts.scheme == 'https' else 80)}"
        self._url = f"{parts.scheme}://{self._server}{quote(parts.path, safe=_IN_A_PATH)}"
        # libcurl would send `Accept: */*`, and wait for `100 Continue` before a long body.
        lines = {"Host": f"{named}:{parts.port}" if parts.port else named, "Connection": "close", **headers}
        self._headers = [*(f"{name}: {value}" for name, value in lines.items()), "Accept:", "Expect:"]
        self._timeout_s = timeout_s
        # The type stubs are of a version before it.
        self._multi: Any = pycurl.AsyncCurlMulti()  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
        self._spare: list[pycurl.Curl] = []
        self._in_flight = 0
        self._is_closed = False

    async def send(self, method: str, path: str, body: bytes = b"") -> HttpResponse:
        """Send one request and return the response, whatever its status.

        Raises:
            NotReachedError: There was no connection, so nothing was sent.
            ResponseTooLargeError: The response is longer than `LARGEST_RESPONSE`; the rest of it was not read.
            ConnectionError: The request was sent, and no whole response came.
            TimeoutError: It took too long.
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
        handle.setopt(pycurl.WRITEFUNCTION, received.take)
        self._in_flight += 1
        try:
            await self._multi.add_handle(handle)
        except pycurl.error as error:
            raise self._error(handle, error, received) from None
        finally:
            self._in_flight -= 1
            if self._is_closed and not self._in_flight:
                await self._multi.aclose()
        response = received.response()
        self._spare.append(handle)
        return response

    async def aclose(self) -> None:
        """Send no further request; requests in flight are allowed to finish."""
        self._is_closed = True
        self._spare.clear()
        if not self._in_flight:
            await self._multi.aclose()

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
            _trust_as_python_does(handle)
        elif "http_proxy" not in os.environ and "REQUEST_METHOD" not in os.environ:
            # libcurl reads this name in lower case only: in a CGI program a request's header could set it.
            handle.setopt(pycurl.PROXY, os.environ.get("HTTP_PROXY"))
        return handle

    def _error(self, handle: pycurl.Curl, error: pycurl.error, received: "_Received") -> OSError:
        """Return the error for a request that libcurl gave up."""
        code, message, *_ = *error.args, ""
        if received.is_too_large:
            return ResponseTooLargeError(f"the response is longer than {LARGEST_RESPONSE >> 20} MB")
        took_too_long = code == pycurl.E_OPERATION_TIMEDOUT
        why = "it took too long" if took_too_long else message or f"libcurl gave up with error {code}"
        if not handle.getinfo(pycurl.REQUEST_SIZE):
            return NotReachedError(f"no connection to {self._server}: {why}")
        return TimeoutError(why) if took_too_long else BadResponseError(why)


class _Received:
    """What has arrived of a response."""

    def __init__(self) -> None:
        self.lines: list[bytes] = []
        self.is_too_large = False
        self._size = 0
        self._body: list[bytes] = []

    def take(self, data: bytes) -> int:
        """Keep a piece of the body; to say that none of it was taken ends the request."""
        self._size += len(data)
        self.is_too_large = self._size > LARGEST_RESPONSE
        if self.is_too_large:
            return 0
        self._body.append(data)
        return len(data)

    def response(self) -> HttpResponse:
        """Return the whole response; libcurl reads some that other readers would read otherwise."""
        lines = [line.decode("latin-1").rstrip("\r\n") for line in self.lines]
        start = max((place for place, line in enumerate(lines) if line.startswith("HTTP/")), default=0)
        if "" not in lines[start:]:
            raise BadResponseError("the headers of the response are cut off")
        status, end = _STATUS_LINE.fullmatch(lines[start]), lines.index("", start)
        if status is None:
            raise BadResponseError(f"the answer is not HTTP/1.1: it begins with {lines[start][:80]!r}")
        headers = _headers(lines[start + 1 : end])
        if headers.keys() >= _ONE_VALUE:
            raise BadResponseError("the length of the body is given in two ways")
        return HttpResponse(int(status[1]), headers, b"".join(self._body))


def _headers(lines: list[str]) -> dict[str, str]:
    headers: dict[str, str] = {}
    for line in lines:
        name, _, value = line.partition(":")
        name, value = name.lower(), value.strip()
        if headers.setdefault(name, value) != value:
            if name in _ONE_VALUE:
                raise BadResponseError(f"two different values of {name}")
            headers[name] += f", {value}"
    return headers


def _trust_as_python_does(handle: pycurl.Curl) -> None:
    """Name the certificates that Python's own TLS trusts; libcurl keeps those of a file for all its connections."""
    paths = ssl.get_default_verify_paths()
    if paths.cafile:
        handle.setopt(pycurl.CAINFO, paths.cafile)
    if paths.capath and (not paths.cafile or paths.openssl_capath_env in os.environ):
        handle.setopt(pycurl.CAPATH, paths.capath)


def _milliseconds(seconds: float) -> int:
    return max(1, round(seconds * 1000))
