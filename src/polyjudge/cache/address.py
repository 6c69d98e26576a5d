"""PostgreSQL URLs of caches, which are validated and shown without their password."""

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import SplitResult, parse_qsl, unquote, urlencode, urlsplit

from polyjudge.errors import CacheError

from .protocol import EXAMPLE_URL, is_url

_HOST = re.compile(r"(\[[0-9a-fA-F:.%]+\]|[^:\[\]@\s]*)(:\d{1,5})?")
_SECRETS = {"password", "sslpassword"}


@dataclass(frozen=True, slots=True)
class Address:
    """A PostgreSQL URL."""

    place: str
    """The URL without its secrets."""
    url: str = field(repr=False)
    secrets: tuple[str, ...] = field(repr=False)

    def without_secrets(self, text: str) -> str:
        """Return a text of another program with the secrets masked."""
        for secret in self.secrets:
            text = text.replace(secret, "***")
        return text


def shown(place: Path | str) -> str:
    """Return a cache location without its password, for messages."""
    return read_address(place).place if isinstance(place, str) and is_url(place) else str(place)


def read_address(url: str) -> Address:
    """Validate a URL. An error does not quote it, because any part of it may be the password."""
    parts = _split(url)
    user, _, password = parts.netloc.rpartition("@")[0].partition(":")
    parameters = _parameters(parts.query)
    secrets = {password, unquote(password), *(value for name, value in parameters if name in _SECRETS)}
    public = [(name, value) for name, value in parameters if name not in _SECRETS]
    # URLs allow a scheme in capitals, but not every library does.
    return Address(
        place=_place(parts, user, public),
        url=f"postgresql://{url.partition('://')[2]}",
        secrets=tuple(sorted(filter(None, secrets), key=len, reverse=True)),
    )


def _split(url: str) -> SplitResult:
    if not is_url(url):
        raise CacheError(f"the cache is not a PostgreSQL URL. Expected {EXAMPLE_URL}.")
    try:
        parts = urlsplit(url)
    except ValueError:
        raise _invalid_url() from None
    logged_in, _, hosts = parts.netloc.rpartition("@")
    is_ambiguous = "@" in logged_in or "@" in parts.path or parts.fragment or any(letter.isspace() for letter in url)
    if is_ambiguous or not all(_HOST.fullmatch(host) for host in hosts.split(",")):
        raise _invalid_url()
    return parts


def _invalid_url() -> CacheError:
    escapes = "%40 for @, %3A for :, %2F for /, %3F for ?, %23 for #, %25 for %"
    return CacheError(f"invalid cache URL. Expected {EXAMPLE_URL}. In a user name or password, write {escapes}.")


def _parameters(query: str) -> list[tuple[str, str]]:
    try:
        return parse_qsl(query, keep_blank_values=True, strict_parsing=bool(query))
    except ValueError:
        raise CacheError(
            f"invalid cache URL. Expected {EXAMPLE_URL}, optionally with ?NAME=VALUE&NAME=VALUE."
        ) from None


def _place(parts: SplitResult, user: str, parameters: list[tuple[str, str]]) -> str:
    hosts = parts.netloc.rpartition("@")[2]
    if hosts and "," not in hosts and ":" not in hosts.rpartition("]")[2]:
        hosts = f"{hosts}:{os.environ.get('PGPORT', '5432')}"
    netloc = f"{user}@{hosts}" if user else hosts
    query = f"?{urlencode(parameters, safe='/,')}" if parameters else ""
    return f"postgresql://{netloc}{parts.path}{query}"
