"""The table of providers.

To add a service with OpenAI-compatible chat completions, add a row to `services.toml`. For another API, add a module to
this package, an entry here, and the row.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import cast

from polyjudge.errors import ConfigError, MissingExtraError, MissingKeyError, UnknownNameError
from polyjudge.plugins import PLUGINS
from polyjudge.records.requests import ModelName

from .agent_definitions import load_agent, need_access, program_of
from .base import Provider
from .models import model_table, resolve_model
from .services import services


@dataclass(frozen=True, slots=True)
class ProviderEntry:
    """What is to be known of a provider before its module is loaded."""

    opener: str
    """`module:attribute` of the function that opens the provider for a model; empty for a plugin."""
    answers: str
    keys: tuple[str, ...] = ()
    """Environment variables that may hold a key."""
    package: str = ""
    extra: str = ""
    """The extra that installs the package."""
    batches: str = ""
    """`module:attribute` of the function that opens its batch client; empty if it has no batch API."""
    needs_key: bool = True
    is_agent: bool = False
    """An agent's CLI; what else is to be known of it stands in its file under `agents`."""


_AGENT = ProviderEntry("providers.agents:AgentProvider", "", is_agent=True)
_AGENTS = dict.fromkeys(("claude", "gemini", "codex", "llm"), _AGENT)
_SCRIPTED = ProviderEntry("providers.scripted:ScriptedProvider.from_recording", "a recording: scripted/FILE.jsonl")
_APIS = {
    # How the services of `services.toml` are asked.
    "anthropic": ProviderEntry(
        "providers.anthropic:open_anthropic",
        "",
        package="anthropic",
        extra="anthropic",
        batches="batches.anthropic:open_anthropic_batches",
    ),
    "google": ProviderEntry(
        "providers.google:open_google",
        "",
        package="google.genai",
        extra="google",
        batches="batches.google:open_google_batches",
    ),
    "openai": ProviderEntry(
        "providers.openai:open_openai",
        "",
        package="openai",
        extra="openai",
        batches="batches.openai:open_openai_batches",
    ),
    "chat": ProviderEntry("providers.local:open_chat", ""),
}


class _Providers(Mapping[str, ProviderEntry]):
    """The providers by their names; the table of services is read when this is first used."""

    def __getitem__(self, name: str) -> ProviderEntry:
        return _entries()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(_entries())

    def __len__(self) -> int:
        return len(_entries())


PROVIDERS = _Providers()


@lru_cache(maxsize=1)
def _entries() -> Mapping[str, ProviderEntry]:
    asked = {
        name: replace(_APIS[row.api], answers=row.answers, keys=row.keys, needs_key=not row.own_server)
        for name, row in services().items()
    }
    return {**_AGENTS, **asked, "scripted": _SCRIPTED}


_USUAL_TIMEOUT_S = 120.0


@dataclass(frozen=True, slots=True)
class Readiness:
    """Whether a provider can be used, and what is missing."""

    name: str
    answers: str
    default_model: str
    missing: tuple[str, ...]


def provider_entry(name: str) -> ProviderEntry:
    """Return what is to be known of a provider, built in or of a plugin; one that nobody offers is an error."""
    if name in PROVIDERS:
        return PROVIDERS[name]
    if name in PLUGINS.names("providers", PROVIDERS):
        return ProviderEntry("", str(PLUGINS.plugin("providers", name)), needs_key=False)
    if name in PLUGINS.names("judges"):
        told = "judges items by itself and is no model: it takes part in no batches, pairs, groups, words and sessions"
        raise ConfigError(f"{PLUGINS.plugin('judges', name)} {told}")
    raise UnknownNameError("judge provider", name, provider_names())


def provider_names() -> list[str]:
    """Return the names of all providers, the built-in ones first."""
    return [*PROVIDERS, *PLUGINS.names("providers", PROVIDERS)]


def is_provider(name: str) -> bool:
    """Say whether a provider has this name."""
    return name in PROVIDERS or name in PLUGINS.names("providers", PROVIDERS)


def open_provider(name: ModelName | str, *, timeout_s: float | None = None, workspace: Path | None = None) -> Provider:
    """Open the provider that answers for a model; its module is imported now and not before.

    The model is an alias, `provider/model`, or a provider with a default model.
    Agents take a workspace, whose files they may read as a copy; for others that is an error.
    """
    if isinstance(name, str):
        name = resolve_model(name)
    entry = provider_entry(name.provider)
    if workspace is not None:
        check_workspace(name)
    if not entry.opener:
        from .plugin import open_plugin  # here, because most models are of built-in providers

        return open_plugin(name, timeout_s=timeout_s or _USUAL_TIMEOUT_S)
    opener = cast(Callable[..., Provider], load_attribute(entry.opener))
    if entry.is_agent:
        return opener(name, timeout_s=timeout_s, workspace=workspace)
    given = name if name.provider in services() else name.model
    return opener(given, timeout_s=timeout_s or _USUAL_TIMEOUT_S)


def load_attribute(place: str) -> object:
    """Return the object at `module:attribute`, with the module relative to polyjudge."""
    module, _, attribute = place.partition(":")
    target: object = import_module(f"polyjudge.{module}")
    for part in attribute.split("."):
        target = getattr(target, part)
    return target


def check_workspace(name: ModelName) -> None:
    """Refuse a workspace for whom it cannot be given to."""
    if not provider_entry(name.provider).is_agent:
        raise ConfigError(f"{name.provider} reads no files; a workspace is for agents: claude")
    if not load_agent(name.provider).with_workspace:
        raise ConfigError(f"{name.provider} cannot be kept to a workspace: it could read any file of the machine")


def readiness() -> list[Readiness]:
    """Say of each provider whether it can be used here and now."""
    defaults = model_table().defaults
    built_in = [
        _agent_readiness(name, defaults.get(name, ""))
        if entry.is_agent
        else Readiness(name, entry.answers, defaults.get(name, ""), tuple(_missing(entry)))
        for name, entry in PROVIDERS.items()
    ]
    plugins = [
        Readiness(plugin.name, str(plugin), defaults.get(plugin.name, ""), ())
        for plugin, _ in PLUGINS.each("providers", PROVIDERS)
    ]
    return [*built_in, *plugins]


def _agent_readiness(name: str, default_model: str) -> Readiness:
    agent, missing = load_agent(name), list[str]()
    try:
        program_of(agent)
    except MissingExtraError:
        missing.append(agent.install)
    try:
        need_access(agent, name)
    except MissingKeyError as error:
        missing.append(f"export {error.variable}={error.example}, or log in with {agent.program}")
    return Readiness(name, agent.answers, default_model, tuple(missing))


def key_variables(provider: str) -> tuple[str, ...]:
    """Return the environment variables that may hold a provider's key."""
    entry = PROVIDERS[provider]
    return load_agent(provider).keys if entry.is_agent else entry.keys


def _missing(entry: ProviderEntry) -> list[str]:
    missing: list[str] = []
    if entry.package and not _is_installed(entry.package):
        missing.append(f"pip install 'polyjudge[{entry.extra}]'")
    if entry.keys and entry.needs_key and not any(os.environ.get(key) for key in entry.keys):
        missing.append(f"export {entry.keys[0]}=...")
    return missing


def _is_installed(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:  # the package above it is missing
        return False
