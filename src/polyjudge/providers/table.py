"""The table of providers: adding one is a file in this folder and a row here."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import cast

from polyjudge.errors import UnknownNameError

from .base import Provider
from .naming import ModelName, model_table


@dataclass(frozen=True, slots=True)
class ProviderEntry:
    """What is to be known of a provider before its module is loaded."""

    opener: str
    """Module in this folder, and what in it opens the provider for a model."""
    answers: str
    keys: tuple[str, ...] = ()
    """Environment variables; one of them must hold a key."""
    package: str = ""
    extra: str = ""
    """The extra that installs the package."""


PROVIDERS = {
    "anthropic": ProviderEntry(
        "anthropic_messages:open_anthropic",
        "Anthropic's Messages API",
        ("ANTHROPIC_API_KEY",),
        "anthropic",
        "anthropic",
    ),
    "google": ProviderEntry(
        "google_gemini:open_google",
        "Google's Gemini API",
        ("GOOGLE_GENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"),
        "google.genai",
        "google",
    ),
    "openai": ProviderEntry(
        "openai_responses:open_openai", "OpenAI's Responses API", ("OPENAI_API_KEY",), "openai", "openai"
    ),
    "local": ProviderEntry("local_chat:LocalChatProvider", "any OpenAI-compatible server: Ollama, vLLM, llama.cpp"),
    "scripted": ProviderEntry("scripted:ScriptedProvider.from_recording", "a recording: scripted/FILE.jsonl"),
}


@dataclass(frozen=True, slots=True)
class Readiness:
    """Whether a provider can be used, and what is missing."""

    name: str
    answers: str
    default_model: str
    missing: tuple[str, ...]


def open_provider(name: ModelName, *, timeout_s: float = 120.0) -> Provider:
    """Open the provider that answers for a model; its module is imported now and not before."""
    if name.provider not in PROVIDERS:
        raise UnknownNameError("judge provider", name.provider, PROVIDERS)
    module, _, attribute = PROVIDERS[name.provider].opener.partition(":")
    target: object = import_module(f"polyjudge.providers.{module}")
    for part in attribute.split("."):
        target = getattr(target, part)
    return cast(Callable[..., Provider], target)(name.model, timeout_s=timeout_s)


def readiness() -> list[Readiness]:
    """Say of each provider whether it can be used here and now."""
    defaults = model_table().defaults
    return [
        Readiness(name, entry.answers, defaults.get(name, ""), tuple(_missing(entry)))
        for name, entry in PROVIDERS.items()
    ]


def _missing(entry: ProviderEntry) -> list[str]:
    missing: list[str] = []
    if entry.package and not _is_installed(entry.package):
        missing.append(f"pip install 'polyjudge[{entry.extra}]'")
    if entry.keys and not any(os.environ.get(key) for key in entry.keys):
        missing.append(f"export {entry.keys[0]}=...")
    return missing


def _is_installed(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:  # the package above it is missing
        return False
