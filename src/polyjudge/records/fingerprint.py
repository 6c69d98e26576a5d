"""Canonical JSON and the fingerprints made from it."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from hashlib import sha256
from typing import Any, cast

from msgspec import Struct


def prompt_sha256(prompt: str) -> str:
    """Return the hash that identifies a prompt in results and recordings."""
    return sha256(prompt.encode(errors="surrogatepass")).hexdigest()


def canonical_json(value: object) -> str:
    """Return the canonical JSON text of a value: sorted keys, no spaces, 1.0 written as 1."""
    return json.dumps(_plain(value), sort_keys=True, separators=(",", ":"), allow_nan=False)


def fingerprint(value: object, length: int = 64) -> str:
    """Return the first `length` hex digits of the SHA-256 of the canonical form."""
    return sha256(canonical_json(value).encode()).hexdigest()[:length]


def _plain(value: object) -> object:
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return int(value) if value.is_integer() else value
    if isinstance(value, Struct):
        return {name: _plain(getattr(value, name)) for name in value.__struct_fields__}
    if is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return _plain_mapping(cast(Mapping[object, object], value))
    if isinstance(value, list | tuple):
        return [_plain(each) for each in cast(Iterable[Any], value)]
    raise TypeError(f"no canonical form for {type(value).__name__}: {value!r}")


def _plain_mapping(mapping: Mapping[object, object]) -> dict[str, object]:
    plain = {str(key): _plain(each) for key, each in mapping.items()}
    if len(plain) != len(mapping):
        raise TypeError(f"two keys have the same text in {mapping!r}")
    return plain
