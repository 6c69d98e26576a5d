"""Providers of plugins: their calls get the run's timeout, and their errors become ours."""

import asyncio
from typing import Protocol, cast

from polyjudge.errors import PolyjudgeError, ProviderError, TransientError
from polyjudge.plugins import PLUGINS, Plugin, described
from polyjudge.records.requests import ModelName, Origin, Reply, Request

from .base import Provider, Stopwatch, close_provider


class ProviderPlugin(Protocol):
    """What a plugin needs to answer for a model; it may also have `origin` with its address, and `aclose`."""

    async def complete(self, request: Request) -> Reply:
        """Return the model's reply, or raise a `ProviderError`."""
        ...


def open_plugin(name: ModelName, *, timeout_s: float) -> Provider:
    """Open the provider of a plugin for a model."""
    plugin = PLUGINS.plugin("providers", name.provider)
    inner = cast(ProviderPlugin, PLUGINS.make("providers", name.provider, name.model))
    return PluginProvider(inner, plugin, timeout_s)


class PluginProvider:
    """Asks the provider of a plugin; what it raises is a failure of this call and no more."""

    def __init__(self, inner: ProviderPlugin, plugin: Plugin, timeout_s: float) -> None:
        own = getattr(inner, "origin", None)
        self.origin = Origin(plugin.name, own.base_url if isinstance(own, Origin) else "")
        self._inner = inner
        self._plugin = plugin
        self._timeout_s = timeout_s

    async def complete(self, request: Request) -> Reply:
        """Ask, and wait for the answer."""
        watch = Stopwatch()
        try:
            async with asyncio.timeout(self._timeout_s):
                return watch.stamped(await self._inner.complete(request))
        except PolyjudgeError:
            raise
        except TimeoutError:
            told = f"the call to {self._plugin.name} took longer than {self._timeout_s:g} seconds"
            raise TransientError(told, may_be_charged=True) from None
        except Exception as error:
            raise ProviderError(f"{self._plugin} failed: {described(error)}") from error

    async def aclose(self) -> None:
        """Close what the provider has open."""
        await close_provider(cast(Provider, self._inner))
