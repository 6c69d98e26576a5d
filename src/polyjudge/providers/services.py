"""The address and the API key of each service."""

import os
from collections.abc import Mapping
from urllib.parse import urlsplit

from polyjudge.errors import ConfigError, MissingKeyError
from polyjudge.records.requests import ModelName, Origin

_ADDRESSES = {
    # provider: the variables that may name another address, first one first, and the usual address
    "anthropic": (("ANTHROPIC_BASE_URL",), "https://api.anthropic.com"),
    "google": (("GOOGLE_GEMINI_BASE_URL",), "https://generativelanguage.googleapis.com"),
    # Not OPENAI_BASE_URL: it often names a local server, and the key must not be sent there by accident.
    "openai": (("POLYJUDGE_OPENAI_BASE_URL",), "https://api.openai.com/v1"),
    # The agents' CLIs speak to the same services.
    "claude": (("ANTHROPIC_BASE_URL",), "https://api.anthropic.com"),
    "codex": (("POLYJUDGE_OPENAI_BASE_URL",), "https://api.openai.com/v1"),
    "gemini": (("GOOGLE_GEMINI_BASE_URL",), "https://generativelanguage.googleapis.com"),
    "llm": (("POLYJUDGE_OPENAI_BASE_URL",), "https://api.openai.com/v1"),
    "local": (("LOCAL_OPENAI_BASE_URL", "OPENAI_BASE_URL"), "http://127.0.0.1:11434/v1"),  # Ollama's
}


def origin_of(provider: str) -> Origin:
    """Return who answers for a provider, without opening it."""
    variables, usual = _ADDRESSES[provider]
    address = next((os.environ[name].strip() for name in variables if os.environ.get(name)), usual)
    try:
        parts = urlsplit(address)
        _ = parts.port, (parts.hostname or "").encode("idna")
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigError(f"{variables[0]} is no address of the form http://host or https://host/path")
    if parts.username is not None or parts.query or parts.fragment:
        raise ConfigError(f"{variables[0]} must end with its path and name no user: http://host or https://host/path")
    return Origin(provider, address.rstrip("/"))


def address_of(provider: str) -> str:
    """Return the address of a provider, none where it has none."""
    return origin_of(provider).base_url if is_remote(provider) else ""


def is_remote(provider: str) -> bool:
    """Say whether a provider is reached over the network."""
    return provider in _ADDRESSES


def address_variables() -> dict[str, tuple[str, ...]]:
    """Return the providers that each variable names the address of."""
    named: dict[str, tuple[str, ...]] = {}
    for provider, (variables, _) in _ADDRESSES.items():
        for variable in variables:
            named[variable] = (*named.get(variable, ()), provider)
    return named


def chosen_addresses() -> dict[str, str]:
    """Return the variables that name other addresses than the usual ones, for another process to use the same."""
    return {name: os.environ[name] for name in address_variables() if os.environ.get(name)}


def use_addresses(chosen: Mapping[str, str]) -> None:
    """Reach all providers where another process does."""
    for name in address_variables():
        os.environ.pop(name, None)
    os.environ.update(chosen)


def key_for(name: ModelName, *variables: str, example: str) -> str:
    """Return the first of the variables that is set; without one, raise an error with the two-line instruction."""
    for variable in variables:
        key = os.environ.get(variable, "").strip()
        if key:
            return checked_key(key, variable)
    raise MissingKeyError(variables[0], example=example, skipped=str(name))


def checked_key(key: str, variable: str) -> str:
    """Return a key that can stand in a header; the message does not show it."""
    if not key.isascii() or not key.isprintable() or " " in key:
        raise ConfigError(f"{variable} holds characters that no key has; copy it anew")
    return key
