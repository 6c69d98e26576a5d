"""The cache interface, cache keys, and the results of cache maintenance."""

from collections.abc import Callable, Hashable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from operator import attrgetter
from typing import Any, Protocol

from polyjudge.records.fingerprint import canonical_json, fingerprint
from polyjudge.records.requests import Origin, Reply, Request


@dataclass(frozen=True, slots=True)
class CacheStats:
    """What a cache holds."""

    entries: int
    bytes_on_disk: int
    oldest: str
    newest: str
    by_model: tuple[tuple[str, str, str, int, int], ...]
    """Kind, provider, model, number of entries, their bytes."""


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import did."""

    new: int
    known: int
    problems: tuple[str, ...] = ()
    """Rows that were skipped, by position."""


@dataclass(frozen=True, slots=True)
class Verified:
    """What a check found."""

    entries: int
    problems: tuple[str, ...] = field(default=())


_FORM = "polyjudge-key-2"
"""Named in every key, so that a change of form can never meet an old key by chance."""


def hash_key(model: str, prompt: str, candidate: str, **more: object) -> str:
    """Return the key of a judgement of your own; `more` takes whatever else can change the result."""
    return fingerprint({"form": _FORM, "model": model, "prompt": prompt, "candidate": candidate, "more": more})


def request_key(origin: Origin, request: Request) -> str:
    """Return the key of a request to a provider, made of every field of both."""
    digest = _digest_of_shared(origin, _shared_values(request), _SameObject(request.schema)).copy()
    digest.update(f"{request.repeat}\n{request.prompt}".encode(errors="surrogatepass"))
    return digest.hexdigest()


_VARYING = {"prompt", "repeat", "schema"}
_SHARED = [name for name in Request.__struct_fields__ if name not in _VARYING]
_shared_values: Callable[[Request], tuple[Hashable, ...]] = attrgetter(*_SHARED)


@lru_cache(maxsize=64)
def _digest_of_shared(origin: Origin, shared: tuple[Hashable, ...], schema: "_SameObject") -> Any:
    """Return the digest of what the requests of a run have in common; only the last few are remembered.

    Its canonical form holds no line break, and the number that follows no letter, so no two requests are spelled the
    same.
    """
    request = dict(zip(_SHARED, shared, strict=True))
    form = canonical_json({"form": _FORM, "origin": origin, "request": {**request, "schema": schema.value}})
    return sha256(f"{form}\n".encode(errors="surrogatepass"))


@dataclass(frozen=True, slots=True, eq=False)
class _SameObject:
    """Compares by identity: a schema cannot be hashed, and a run uses one and the same."""

    value: Mapping[str, Any] | None

    def __hash__(self) -> int:
        return id(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _SameObject) and self.value is other.value


class Cache(Protocol):
    """Keeps replies under the key of their request: in a file of this machine, or where many machines share them."""

    @property
    def place(self) -> str:
        """Where it is, as messages name it: never with a password."""
        ...

    async def connect(self) -> None:
        """Report what is wrong with it now, before anything is paid for."""
        ...

    async def get(self, key: str, *, since: str = "", snapshot: bool = False) -> Reply | None:
        """Return the reply stored under a key, marked as cached, or None; `since` passes over older ones.

        A `snapshot` read costs less and may miss a reply; read under the claim before you ask.
        """
        ...

    async def put(self, key: str, reply: Reply, *, provider: str = "", since: str = "") -> None:
        """Store a reply in place of an older one; it is durable when this returns, and written even if cancelled.

        It is dated `since`, a timestamp in ISO 8601, if the clock says that it is earlier.
        """
        ...

    def claim(self, key: str) -> AbstractAsyncContextManager[bool]:
        """Enter with True as the one asker among tasks, threads, processes and machines; with False, look again."""
        ...

    async def aclose(self) -> None:
        """Finish what is being written and close."""
        ...
