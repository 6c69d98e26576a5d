"""What providers over an official SDK have in common: one client a loop, one attempt a call, errors mapped once."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from polyjudge.errors import PolyjudgeError
from polyjudge.records import Reply, Request

from .adapting import ParameterFilter
from .addresses import origin_of
from .failing import ODD_REPLY, error_for_reply, error_for_status, error_for_transport
from .naming import ModelName, model_facts
from .per_loop import PerLoop
from .stopwatch import Stopwatch


@dataclass(frozen=True, slots=True)
class Sdk:
    """How one SDK is used."""

    open: Callable[[], Any]
    """Make a client, its own retries off: ours decide."""
    close: Callable[[Any], Awaitable[None]]
    ask: Callable[[Any, Request], Awaitable[Reply]]
    errors: tuple[type[Exception], ...]
    """The classes of its own that it raises."""
    mapped: Callable[[Any], PolyjudgeError]
    """Our error for one of them."""


class SdkProvider:
    """Asks through an SDK."""

    def __init__(self, name: ModelName, sdk: Sdk, *, timeout_s: float) -> None:
        self.origin = origin_of(name.provider)
        self._name = name
        self._sdk = sdk
        self._timeout_s = timeout_s
        self._filter = ParameterFilter(model_facts(name))
        self._client = PerLoop(sdk.open, sdk.close)

    async def complete(self, request: Request) -> Reply:
        """Ask, and wait for the answer."""
        return await self._filter.call(request, self._send)

    async def aclose(self) -> None:
        """Close the connections; the next call opens new ones."""
        await self._client.aclose()

    async def _send(self, request: Request) -> Reply:
        watch = Stopwatch()
        try:
            async with asyncio.timeout(self._timeout_s):
                reply = await self._sdk.ask(self._client.get(), request)
        except self._sdk.errors as error:
            raise self._sdk.mapped(error) from None
        except OSError as error:  # a timeout is one too
            raise error_for_transport(error, self._name) from None
        except ODD_REPLY as error:  # an SDK does not check what it is told, and fails in its own ways
            raise error_for_reply(error, self._name) from None
        return watch.stamped(reply)


def open_generated_sdk(
    name: ModelName, module: Any, key: str, ask: Callable[[Any, Request], Awaitable[Reply]], *, timeout_s: float
) -> SdkProvider:
    """Open a provider over Anthropic's or OpenAI's SDK: one generator wrote both, with the same options and errors."""
    base_url = origin_of(name.provider).base_url
    make = module.AsyncAnthropic if name.provider == "anthropic" else module.AsyncOpenAI

    def open_client() -> Any:
        transport = module.DefaultAioHttpClient()
        return make(api_key=key, base_url=base_url, max_retries=0, timeout=timeout_s, http_client=transport)

    def mapped(error: Any) -> PolyjudgeError:
        if isinstance(error, module.APIConnectionError):
            return error_for_transport(error, name)
        told, headers = str(error.body or error), error.response.headers
        return error_for_status(error.status_code, told, name, headers=headers, secret=key)

    errors = (module.APIStatusError, module.APIConnectionError)
    return SdkProvider(name, Sdk(open_client, lambda client: client.close(), ask, errors, mapped), timeout_s=timeout_s)
