"""The cache interface, how a cache is opened, cache keys, and the results of cache maintenance."""

import re
from collections.abc import Callable, Hashable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from operator import attrgetter
from pathlib import Path
from typing import Any, Protocol

from polyjudge.errors import CacheError
from polyjudge.records.fingerprint import canonical_json, fingerprint
from polyjudge.records.requests import Origin, Reply, Request


@dataclass(frozen=True, slots=True)
class CacheStats:
    """The contents of a cache, counted."""

    entries: int
    bytes_on_disk: int
    oldest: str
    newest: str
    by_model: tuple[tuple[str, str, str, int, int], ...]
    """Kind, provider, model, number of entries, their bytes."""


@dataclass(frozen=True, slots=True)
class Imported:
    """The result of an import."""

    new: int
    known: int
    problems: tuple[str, ...] = ()
    """The rows that were skipped, with position and reason."""


@dataclass(frozen=True, slots=True)
class Verified:
    """The result of a verification."""

    entries: int
    problems: tuple[str, ...] = field(default=())


_FORM = "polyjudge-key-2"
"""Part of every key, so that keys of different versions never collide."""


def hash_key(model: str, prompt: str, candidate: str, **more: object) -> str:
    """Return the key of a judgement of your own; pass everything else that can change the result in `more`."""
    return fingerprint({"form": _FORM, "model": model, "prompt": prompt, "candidate": candidate, "more": more})


def request_key(origin: Origin, request: Request) -> str:
    """Return the key of a request to a provider, a hash of all fields of both."""
    digest = _digest_of_shared(origin, _shared_values(request), _SameObject(request.schema)).copy()
    digest.update(f"{request.repeat}\n{request.prompt}".encode(errors="surrogatepass"))
    return digest.hexdigest()


_VARYING = {"prompt", "repeat", "schema"}
_LATER = {"top_logprobs"}
"""Fields that requests did not always have: part of the key only if they are set, so that older keys stay valid."""
_SHARED = [name for name in Request.__struct_fields__ if name not in _VARYING]
_shared_values: Callable[[Request], tuple[Hashable, ...]] = attrgetter(*_SHARED)


@lru_cache(maxsize=64)
def _digest_of_shared(origin: Origin, shared: tuple[Hashable, ...], schema: "_SameObject") -> Any:
    """Return the digest of the fields that the requests of a run share.

    The canonical form contains no line break, and the repeat number after it contains only digits, so different
    requests are hashed from different texts.
    """
    fields = dict(zip(_SHARED, shared, strict=True))
    request = {name: value for name, value in fields.items() if value is not None or name not in _LATER}
    form = canonical_json({"form": _FORM, "origin": origin, "request": {**request, "schema": schema.value}})
    return sha256(f"{form}\n".encode(errors="surrogatepass"))


@dataclass(frozen=True, slots=True, eq=False)
class _SameObject:
    """Compares by identity: a schema is not hashable, and a run uses a single object."""

    value: Mapping[str, Any] | None

    def __hash__(self) -> int:
        return id(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _SameObject) and self.value is other.value


class Cache(Protocol):
    """Stores replies under the key of their request, in a local file or on a shared server."""

    @property
    def place(self) -> str:
        """The location, as shown in messages: never with a password."""
        ...

    async def connect(self) -> None:
        """Connect now, so that an error is raised before any call is paid for."""
        ...

    async def get(self, key: str, *, since: str = "", snapshot: bool = False) -> Reply | None:
        """Return the reply stored under a key, marked as cached, or None; one older than `since` is ignored.

        A `snapshot` read is cheaper and may miss a reply; read again under the claim before asking.
        """
        ...

    async def put(self, key: str, reply: Reply, *, provider: str = "", since: str = "") -> None:
        """Store a reply, replacing an older one; it is durable when this returns, and written even if cancelled.

        Its time is `since`, an ISO 8601 timestamp, if the clock shows an earlier time.
        """
        ...

    def claim(self, key: str) -> AbstractAsyncContextManager[bool]:
        """Enter with True if the caller may ask; with False, another task, thread, process or machine is asking."""
        ...

    async def aclose(self) -> None:
        """Finish the writes in progress and close."""
        ...


EXAMPLE_URL = "postgresql://USER@HOST:5432/DATABASE"
_SCHEMES = ("postgresql://", "postgres://")
_OTHER_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")


def is_url(place: Path | str) -> bool:
    """Return whether a cache location is a PostgreSQL URL rather than a path."""
    return isinstance(place, str) and place.lower().startswith(_SCHEMES)


def cache_at(place: Path | str, *, read_only: bool = False) -> Cache:
    """Return the cache at a path or URL, connected at first use; `read_only` is for replays."""
    if isinstance(place, str) and is_url(place):
        from .postgres import PostgresCache  # imported here because most runs do not need it

        return PostgresCache(place, read_only=read_only)
    if isinstance(place, str) and (other := _OTHER_URL.match(place)):
        raise CacheError(f"unsupported cache URL {other[1]}://…; use a file path or {EXAMPLE_URL}")
    from .sqlite import SqliteCache  # imported here because it imports this module

    return SqliteCache(Path(place), read_only=read_only)


async def open_cache(place: Path | str, *, read_only: bool = False) -> Cache:
    """Return the cache at a path or URL, connected, so that an error is raised before any call is paid for."""
    cache = cache_at(place, read_only=read_only)
    await cache.connect()
    return cache
