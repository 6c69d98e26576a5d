"""The key of a question: every part that can change the answer, in one unambiguous spelling."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import sha256
from typing import Any

from polyjudge.files import canonical_json, fingerprint
from polyjudge.records import Origin, Request

_FORM = "polyjudge-key-1"
"""Named in every key, so that a change of form can never meet an old key by chance."""


def hash_key(model: str, prompt: str, candidate: str, **more: object) -> str:
    """Return the key of a question of one's own; `more` takes whatever else can change the answer."""
    return fingerprint({"form": _FORM, "model": model, "prompt": prompt, "candidate": candidate, "more": more})


def request_key(origin: Origin, request: Request) -> str:
    """Return the key of a request to a provider, made of every field of both."""
    varying = canonical_json([request.prompt, request.repeat])
    return sha256(f"{_shared_part(origin, request)}\n{varying}".encode()).hexdigest()


def _shared_part(origin: Origin, request: Request) -> str:
    """Return the canonical form of what the questions of a run have in common; only the last few are remembered."""
    shared = replace(request, prompt="", repeat=0, schema=None)
    return _canonical_shared(origin, shared, _SameObject(request.schema))


@lru_cache(maxsize=64)
def _canonical_shared(origin: Origin, shared: Request, schema: "_SameObject") -> str:
    return canonical_json({"form": _FORM, "origin": origin, "request": replace(shared, schema=schema.value)})


@dataclass(frozen=True, slots=True, eq=False)
class _SameObject:
    """Compares by identity: a schema cannot be hashed, and a run uses one and the same."""

    value: Mapping[str, Any] | None

    def __hash__(self) -> int:
        return id(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _SameObject) and self.value is other.value
