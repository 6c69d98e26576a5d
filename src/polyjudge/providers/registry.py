"""The table of providers, built in and of plugins.

To add a service with OpenAI-compatible chat completions, add a row to `services.toml`. For another API, add a module to
this package, an entry here, and the row.
"""

import asyncio
import os
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

from polyjudge.errors import (
    ConfigError,
    MissingExtraError,
    MissingKeyError,
    PolyjudgeError,
    ProviderError,
    TransientError,
    UnknownNameError,
)
from polyjudge.extras import install_command, is_installed
from polyjudge.plugins import PLUGINS, Plugin, described
from polyjudge.records.requests import ModelName, Origin, Reply, Request
from polyjudge.verdicts.items import OFFLINE

from .agent_definitions import how_to_install, load_agent, need_access, program_of
from .base import Provider, Stopwatch, close_provider
from .models import model_table, resolve_model
from .services import address_of, services


@dataclass(frozen=True, slots=True)
class ProviderEntry:
    """Describes a provider before its module is loaded."""

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
    """An agent's CLI; the other fields of it are in its file under `agent_programs`."""


_AGENT = ProviderEntry("providers.agents:AgentProvider", "", is_agent=True)
_AGENTS = dict.fromkeys(("claude", "gemini", "codex", "llm"), _AGENT)
_SCRIPTED = ProviderEntry("providers.scripted:ScriptedProvider.from_recording", "a recording: scripted/FILE.jsonl")
_APIS = {
    # The `api` of the services in `services.toml`.
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
    "chat": ProviderEntry("providers.local:ChatProvider", ""),
}


class _Providers(Mapping[str, ProviderEntry]):
    """The built-in providers by name; the table of services is read on first use."""

    def __getitem__(self, name: str) -> ProviderEntry:
        return _entries()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(_entries())

    def __len__(self) -> int:
        return len(_entries())


PROVIDERS = _Providers()


@lru_cache(maxsize=1)
def _entries() -> Mapping[str, ProviderEntry]:
    remote = {
        name: replace(_APIS[row.api], answers=row.answers, keys=row.keys, needs_key=not row.own_server)
        for name, row in services().items()
    }
    return {**_AGENTS, **remote, "scripted": _SCRIPTED}


_DEFAULT_TIMEOUT_S = 120.0


GROUPS = VENDORS_GROUP, OWN_GROUP, HOSTED_GROUP, AGENTS_GROUP, OTHERS_GROUP = (
    "Vendors", "Your servers", "Hosted", "Agents", "Others",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Readiness:
    """Whether a provider can be used, and what is missing."""

    name: str
    answers: str
    default_model: str
    missing: tuple[str, ...]
    group: str = ""
    """The heading under which it is listed."""
    address: str = ""
    """The address of the user's own server."""


def provider_entry(name: str) -> ProviderEntry:
    """Return the entry of a provider, built in or of a plugin; raise an error for an unknown name."""
    if name in PROVIDERS:
        return PROVIDERS[name]
    if name in PLUGINS.names("providers", PROVIDERS):
        return ProviderEntry("", str(PLUGINS.plugin("providers", name)), needs_key=False)
    if name in PLUGINS.names("judges"):
        reason = (
            "is a judge plugin, not a model; it cannot be used for batches, pairs, several items per call, words or "
            "sessions"
        )
        raise ConfigError(f"{PLUGINS.plugin('judges', name)} {reason}")
    raise UnknownNameError("provider or judge", name, provider_names())


def provider_names() -> list[str]:
    """Return the names of all providers, built-in ones first."""
    return [*PROVIDERS, *PLUGINS.names("providers", PROVIDERS)]


def is_provider(name: str) -> bool:
    """Return whether a provider has this name."""
    return name in PROVIDERS or name in PLUGINS.names("providers", PROVIDERS)


def is_judge_plugin(name: str) -> bool:
    """Return whether a judge of a plugin has this name; it cannot have that of a provider, or `offline`."""
    if name in PROVIDERS or name == OFFLINE:
        return False
    return name in PLUGINS.names("judges", {*provider_names(), OFFLINE})


def names_a_model(name: str) -> bool:
    """Return whether a name is an alias of a model, or starts with the name of a provider."""
    return name in model_table().aliases or is_provider(name.partition("/")[0])


def open_provider(name: ModelName | str, *, timeout_s: float | None = None, workspace: Path | None = None) -> Provider:
    """Import and open the provider of a model: an alias, `provider/model`, or a provider with a default model.

    An agent may read a copy of the files in the workspace; for other providers, a workspace is an error.
    """
    if isinstance(name, str):
        name = resolve_model(name)
    entry = provider_entry(name.provider)
    if workspace is not None:
        check_workspace(name)
    if not entry.opener:
        inner = cast(ProviderPlugin, PLUGINS.make("providers", name.provider, name.model))
        return PluginProvider(inner, PLUGINS.plugin("providers", name.provider), timeout_s or _DEFAULT_TIMEOUT_S)
    opener = cast(Callable[..., Provider], load_attribute(entry.opener))
    if entry.is_agent:
        return opener(name, timeout_s=timeout_s, workspace=workspace)
    model = name if name.provider in services() else name.model
    with naming_the_extra(entry):
        return opener(model, timeout_s=timeout_s or _DEFAULT_TIMEOUT_S)


@contextmanager
def naming_the_extra(entry: ProviderEntry) -> Generator[None]:
    """Say in the error for a missing key that the provider's package is missing too."""
    try:
        yield
    except MissingKeyError as error:
        if not entry.package or is_installed(entry.package):
            raise
        raise error.instead(install=install_command(entry.extra)) from None


class ProviderPlugin(Protocol):
    """The provider of a plugin; it may also have `origin` with its address, and `aclose`."""

    async def complete(self, request: Request) -> Reply:
        """Return the model's reply, or raise a `ProviderError`."""
        ...


class PluginProvider:
    """Calls the provider of a plugin with the run's timeout, and translates its errors."""

    def __init__(self, inner: ProviderPlugin, plugin: Plugin, timeout_s: float) -> None:
        origin = getattr(inner, "origin", None)
        self.origin = Origin(plugin.name, origin.base_url if isinstance(origin, Origin) else "")
        self._inner = inner
        self._plugin = plugin
        self._timeout_s = timeout_s

    async def complete(self, request: Request) -> Reply:
        """Send a request, and return the reply."""
        watch = Stopwatch()
        try:
            async with asyncio.timeout(self._timeout_s):
                return watch.stamped(await self._inner.complete(request))
        except PolyjudgeError:
            raise
        except TimeoutError:
            message = f"the call to {self._plugin.name} took longer than {self._timeout_s:g} seconds"
            raise TransientError(message, may_be_charged=True) from None
        except Exception as error:  # a plugin may raise anything
            raise ProviderError(f"{self._plugin} failed: {described(error)}") from error

    async def aclose(self) -> None:
        """Close the plugin's provider."""
        await close_provider(cast(Provider, self._inner))


def load_attribute(path: str) -> object:
    """Return the object at `module:attribute`, with the module relative to polyjudge."""
    module, _, attribute = path.partition(":")
    target: object = import_module(f"polyjudge.{module}")
    for part in attribute.split("."):
        target = getattr(target, part)
    return target


def check_workspace(name: ModelName) -> None:
    """Raise an error if a provider cannot be given a workspace."""
    if not provider_entry(name.provider).is_agent:
        raise ConfigError(f"{name.provider} cannot read files; only an agent can have a workspace: claude")
    if not load_agent(name.provider).with_workspace:
        raise ConfigError(
            f"{name.provider} cannot be restricted to a workspace, because it can read any file of this machine. Use "
            "claude"
        )


def readiness() -> list[Readiness]:
    """Return for each provider what is missing to use it."""
    defaults = model_table().defaults
    built_in = [
        _agent_readiness(name, defaults.get(name, ""))
        if entry.is_agent
        else Readiness(name, entry.answers, defaults.get(name, ""), _missing(name, entry), *_group_of(name))
        for name, entry in PROVIDERS.items()
    ]
    plugins = [
        Readiness(plugin.name, str(plugin), defaults.get(plugin.name, ""), (), OTHERS_GROUP)
        for plugin, _ in PLUGINS.each("providers", PROVIDERS)
    ]
    return sorted([*built_in, *plugins], key=lambda each: GROUPS.index(each.group))


def _group_of(name: str) -> tuple[str, str]:
    """Return the group of a built-in provider that is no agent, and the address of the user's own server."""
    service = services().get(name)
    if service is None:
        return OTHERS_GROUP, ""
    if service.own_server:
        return OWN_GROUP, address_of(name)
    return (HOSTED_GROUP if service.api == "chat" else VENDORS_GROUP), ""


def _agent_readiness(name: str, default_model: str) -> Readiness:
    agent, missing = load_agent(name), list[str]()
    try:
        program_of(agent)
    except MissingExtraError:
        missing.append(how_to_install(agent))
    try:
        need_access(agent, name)
    except MissingKeyError as error:
        missing.append(f"export {error.variable}={error.example}, or log in with {agent.program}")
    return Readiness(name, agent.answers, default_model, tuple(missing), AGENTS_GROUP)


def key_variables(provider: str) -> tuple[str, ...]:
    """Return the environment variables that may hold a provider's key."""
    entry = PROVIDERS[provider]
    return load_agent(provider).keys if entry.is_agent else entry.keys


def _missing(name: str, entry: ProviderEntry) -> tuple[str, ...]:
    missing: list[str] = []
    if entry.package and not is_installed(entry.package):
        missing.append(install_command(entry.extra))
    if entry.keys and entry.needs_key and not any(os.environ.get(key) for key in entry.keys):
        missing.append(f"export {entry.keys[0]}=...")
    service = services().get(name)
    if service is not None and not service.address and not address_of(name):
        missing.append(f"export {service.address_variables[0]}={service.address_example}")
    return tuple(missing)
