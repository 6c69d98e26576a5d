"""Places of caches: paths, and PostgreSQL URLs, which are checked and shown without the password."""

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import SplitResult, parse_qsl, unquote, urlencode, urlsplit

from polyjudge.errors import CacheError

from .protocol import Cache

_SCHEMES = ("postgresql://", "postgres://")
_HOST = re.compile(r"(\[[0-9a-fA-F:.%]+\]|[^:\[\]@\s]*)(:\d{1,5})?")
_OTHER_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_SECRETS = {"password", "sslpassword"}
_EXAMPLE = "postgresql://USER@HOST:5432/DATABASE"


def cache_at(place: Path | str, *, read_only: bool = False) -> Cache:
    """Return the cache at a path or a URL; `read_only` is for replaying. A server is connected to at first use."""
    if isinstance(place, str) and is_url(place):
        from .postgres import PostgresCache  # here, because most runs do not need it

        return PostgresCache(place, read_only=read_only)
    if isinstance(place, str) and (other := _OTHER_URL.match(place)):
        raise CacheError(f"a cache is a file or postgresql://…, not {other[1]}://…")
    from .sqlite import SqliteCache  # here, because it refuses URLs

    return SqliteCache(Path(place), read_only=read_only)


async def open_cache(place: Path | str, *, read_only: bool = False) -> Cache:
    """Do what `cache_at` does, and connect at once: what is wrong is reported before anything is paid for."""
    cache = cache_at(place, read_only=read_only)
    await cache.connect()
    return cache


@dataclass(frozen=True, slots=True)
class Address:
    """A PostgreSQL URL."""

    place: str
    """The URL without what is secret in it."""
    url: str = field(repr=False)
    secrets: tuple[str, ...] = field(repr=False)

    def without_secrets(self, text: str) -> str:
        """Return a foreign text with the secrets replaced."""
        for secret in self.secrets:
            text = text.replace(secret, "***")
        return text


def is_url(place: Path | str) -> bool:
    """Return whether a cache is named by a PostgreSQL URL and not by a path."""
    return isinstance(place, str) and place.lower().startswith(_SCHEMES)


def shown(place: Path | str) -> str:
    """Return the name of a cache as messages show it."""
    return read_address(place).place if isinstance(place, str) and is_url(place) else str(place)


def read_address(url: str) -> Address:
    """Check a URL. An error does not quote it, because any part may be the password."""
    parts = _split(url)
    user, _, password = parts.netloc.rpartition("@")[0].partition(":")
    parameters = _parameters(parts.query)
    secrets = {password, unquote(password), *(value for name, value in parameters if name in _SECRETS)}
    public = [(name, value) for name, value in parameters if name not in _SECRETS]
    # A scheme in capitals is allowed by URLs, but not by every reader of them.
    return Address(
        place=_place(parts, user, public),
        url=f"postgresql://{url.partition('://')[2]}",
        secrets=tuple(sorted(filter(None, secrets), key=len, reverse=True)),
    )


def _split(url: str) -> SplitResult:
    if not is_url(url):
        raise CacheError(f"the cache is not a PostgreSQL URL; write {_EXAMPLE}")
    try:
        parts = urlsplit(url)
    except ValueError:
        raise _unreadable() from None
    logged_in, _, hosts = parts.netloc.rpartition("@")
    is_odd = "@" in logged_in or "@" in parts.path or parts.fragment or any(letter.isspace() for letter in url)
    if is_odd or not all(_HOST.fullmatch(host) for host in hosts.split(",")):
        raise _unreadable()
    return parts


def _unreadable() -> CacheError:
    escapes = "%40 for @, %3A for :, %2F for /, %3F for ?, %23 for #, %25 for %"
    return CacheError(f"the cache's URL cannot be read; write {_EXAMPLE}, and in a name or password {escapes}")


def _parameters(query: str) -> list[tuple[str, str]]:
    try:
        return parse_qsl(query, keep_blank_values=True, strict_parsing=bool(query))
    except ValueError:
        raise CacheError(f"the cache's URL must end in ?NAME=VALUE&NAME=VALUE after {_EXAMPLE}, or there") from None


def _place(parts: SplitResult, user: str, parameters: list[tuple[str, str]]) -> str:
    hosts = parts.netloc.rpartition("@")[2]
    if hosts and "," not in hosts and ":" not in hosts.rpartition("]")[2]:
        hosts = f"{hosts}:{os.environ.get('PGPORT', '5432')}"
    netloc = f"{user}@{hosts}" if user else hosts
    query = f"?{urlencode(parameters, safe='/,')}" if parameters else ""
    return f"postgresql://{netloc}{parts.path}{query}"
