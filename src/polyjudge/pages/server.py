"""A server for one person on this machine: loopback only, a secret in the address, no requests from other pages."""

import asyncio
import hmac
import logging
import os
import secrets
import signal
import socket
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from typing import Any

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from polyjudge.errors import ConfigError, PolyjudgeError
from polyjudge.files.json_lines import readable_json

HOST = "127.0.0.1"
_LAST_PORT = 65535
_LARGEST_BODY = 1 << 22
"""A label with many errors and what a person says of each."""
_SHUTDOWN_S = 1.0
"""Time for in-flight requests when the server ends."""
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
DOCUMENT_POLICY = (
    "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""For whole reports: each allows only its own script by hash; the sandbox has no origin and makes no requests."""
_HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "Server": "polyjudge",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
_OWN_FILES = {
    "style.css": "text/css",
    "label.js": "text/javascript",
    "spans.js": "text/javascript",
    "edit.js": "text/javascript",
    "view.js": "text/javascript",
}
Handler = Callable[[web.Request], Any]


@dataclass(frozen=True, slots=True)
class Site:
    """Pages, and the secret in their addresses."""

    routes: Iterable[tuple[str, str, Handler]]
    """Method, path after the secret, and handler."""
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32))

    def address(self, port: int) -> str:
        """Return the address of the first page."""
        return f"http://{HOST}:{port}/t/{self.token}/"


def application(site: Site) -> web.Application:
    """Return the site as an application that refuses requests without the secret."""
    app = web.Application(middlewares=[_guard(site.token), _explained], client_max_size=_LARGEST_BODY)
    for method, path, handler in (*site.routes, ("GET", "own/{name}", _own_file)):
        app.router.add_route(method, f"/t/{{token}}/{path}", handler)
    app.on_response_prepare.append(_add_headers)
    return app


def listen(port: int) -> socket.socket:
    """Return a socket that accepts connections from this machine; port 0 is a free one."""
    reason = "ports are numbers up to 65535"
    if port <= _LAST_PORT:
        try:
            return socket.create_server((HOST, port))
        except OSError as error:
            reason = os.strerror(error.errno or 0)
    message = f"Port {port} of {HOST} cannot be used: {reason}. Port 0 picks a free one"
    raise ConfigError(message, option="port", value="0")


async def serve(site: Site, listener: socket.socket, announce: Callable[[str], None]) -> None:
    """Serve until Ctrl-C (unless SIGINT is ignored) or SIGTERM; call `announce` with the address when it is ready."""
    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    runner = web.AppRunner(application(site), access_log=None, logger=_log(), shutdown_timeout=_SHUTDOWN_S)
    await runner.setup()
    try:
        await web.SockSite(runner, listener).start()
        for number in (signal.SIGINT, signal.SIGTERM):
            if signal.getsignal(number) is not signal.SIG_IGN:  # ignored in the background of a script
                loop.add_signal_handler(number, stop.set)
        announce(site.address(runner.addresses[0][1]))
        await stop.wait()
    finally:
        await runner.cleanup()


def _log() -> logging.Logger:
    """Return a log for the server's own errors; malformed requests of clients are not logged."""
    log = logging.Logger("polyjudge.pages")
    log.addFilter(lambda record: not (record.exc_info and isinstance(record.exc_info[1], HttpProcessingError)))
    return log


def page(template: str, values: Mapping[str, Any]) -> web.Response:
    """Return a page made from a template, everything in it escaped."""
    return web.Response(text=_templates().get_template(template).render(**values), content_type="text/html")


def document(pieces: Iterable[str]) -> web.Response:
    """Return a whole report in a sandbox, apart from our own pages."""
    headers = {"Content-Security-Policy": DOCUMENT_POLICY}
    return web.Response(text="".join(pieces), content_type="text/html", headers=headers)


def answer(value: object) -> web.Response:
    """Return JSON."""
    return web.Response(text=readable_json(value), content_type="application/json")


def _guard(token: str) -> Any:
    @web.middleware
    async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
        port = request.transport.get_extra_info("sockname")[1] if request.transport else 0
        hosts = {f"{HOST}:{port}", f"localhost:{port}"}
        if not _is_one_of(request.headers.getall("Host", []), hosts):
            raise web.HTTPForbidden(text="this server answers only requests to its own address\n")
        origins = request.headers.getall("Origin", [])
        if origins and not _is_one_of(origins, {f"http://{host}" for host in hosts}):
            raise web.HTTPForbidden(text="requests from other pages are not allowed\n")
        given = request.path.removeprefix("/t/").partition("/")[0]  # also of unknown paths
        if not hmac.compare_digest(given.encode(errors="replace"), token.encode()):
            raise web.HTTPForbidden(text="open the address that polyjudge printed when it was started\n")
        return await handler(request)

    return guard


def _is_one_of(given: list[str], known: set[str]) -> bool:
    return len(given) == 1 and given[0].lower() in known


@web.middleware
async def _explained(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Answer with the message of an error in a request or a file."""
    try:
        return await handler(request)
    except PolyjudgeError as error:
        return web.Response(status=400, text=str(error))


async def _add_headers(request: web.Request, response: web.StreamResponse) -> None:
    del request
    response.headers.update(_HEADERS)
    response.headers.setdefault("Content-Security-Policy", _POLICY)


async def _own_file(request: web.Request) -> web.Response:
    name = request.match_info["name"]
    if name not in _OWN_FILES:
        raise web.HTTPNotFound(text="no such file\n")
    text = (files("polyjudge.pages") / "templates" / name).read_text(encoding="utf-8")
    return web.Response(text=text, content_type=_OWN_FILES[name])


@lru_cache(maxsize=1)
def _templates() -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader("polyjudge.pages")
    return Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
