"""Who answers: one file a provider, and the table of their names."""

from collections.abc import Callable
from importlib import import_module
from typing import cast

from polyjudge.errors import UnknownNameError

from .base import Provider
from .cached import CachedProvider, ReplayProvider
from .naming import ModelName, resolve_model
from .scripted import ScriptedProvider, prompt_sha256

__all__ = [
    "PROVIDERS",
    "CachedProvider",
    "ModelName",
    "Provider",
    "ReplayProvider",
    "ScriptedProvider",
    "open_provider",
    "prompt_sha256",
    "resolve_model",
]

PROVIDERS = {
    # A provider is a row here: the module and the function in it that opens the provider for a model.
    "scripted": "scripted:ScriptedProvider.from_recording",
}


def open_provider(name: ModelName) -> Provider:
    """Open the provider that answers for a model; its module is imported now and not before."""
    if name.provider not in PROVIDERS:
        raise UnknownNameError("judge provider", name.provider, PROVIDERS)
    module, _, attribute = PROVIDERS[name.provider].partition(":")
    target: object = import_module(f"polyjudge.providers.{module}")
    for part in attribute.split("."):
        target = getattr(target, part)
    return cast(Callable[[str], Provider], target)(name.model)
