"""Providers that call a vendor's SDK."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import aiohttp

from polyjudge.concurrency.sync import PerLoop
from polyjudge.errors import PolyjudgeError, ProviderError, UnusableError
from polyjudge.files.json_lines import parse_json
from polyjudge.records.requests import ModelName, Reply, Request

from .base import ParameterFilter
from .models import model_facts
from .redacting import without_keys
from .services import origin_of
from .wire_errors import MALFORMED_REPLY, error_for_reply, error_for_status, error_for_transport

UNCONNECTED = (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError)
"""The errors of the HTTP client of all three SDKs if no connection could be made."""
Result = TypeVar("Result")
Call = Callable[[Any], Awaitable[Any]]
"""Makes a call with a client of an SDK."""
Ask = Callable[[Any, Request], Awaitable[Reply]]
"""Sends a request with a client of an SDK."""


@dataclass(frozen=True, slots=True)
class Sdk:
    """Describes how one SDK is used."""

    open: Callable[[], Any]
    """Return a client without retries of its own."""
    close: Callable[[Any], Awaitable[None]]
    errors: tuple[type[Exception], ...]
    """The exceptions that it raises."""
    mapped: Callable[[Any], PolyjudgeError]
    """Return our error for one of them."""
    status: Callable[[Any], int | None]
    """Return the HTTP status in one of them, if there is one."""


class RawAsk:
    """Sends requests with one method of a client, and reads the JSON of the response.

    Building the SDK's own objects from the JSON takes a quarter of a call, and we read only a few fields.
    """

    def __init__(
        self,
        method: Callable[[Any], Callable[..., Awaitable[Any]]],
        arguments: Callable[[Request], Mapping[str, Any]],
        read: Callable[[Any, Request], Reply],
    ) -> None:
        self._method = method
        self._arguments = arguments
        self._read = read
        self._cached: tuple[Any, Callable[..., Awaitable[Any]]] | None = None

    async def __call__(self, client: Any, request: Request) -> Reply:
        """Send a request with a client."""
        if self._cached is None or self._cached[0] is not client:
            self._cached = client, self._method(client)
        response = await self._cached[1](**self._arguments(request))
        return self._read(parse_json(response.http_response.content.decode()), request)


class SdkCalls:
    """Makes calls through an SDK, and translates its errors."""

    def __init__(self, name: ModelName, sdk: Sdk, *, timeout_s: float) -> None:
        self.name = name
        self._sdk = sdk
        self._timeout_s = timeout_s
        self._client = PerLoop(sdk.open, sdk.close)

    async def make(self, call: Callable[[Any], Awaitable[Result]], *, not_found: str = "") -> Result:
        """Make one call with the running loop's client; `not_found` is the message for a 404."""
        try:
            async with asyncio.timeout(self._timeout_s):
                return await call(self._client.get())
        except self._sdk.errors as error:
            if not_found and self._sdk.status(error) == 404:
                raise UnusableError(not_found) from None
            raise self._sdk.mapped(error) from None
        except ProviderError as error:  # a message in a response may repeat the key
            error.args = (without_keys(str(error)), *error.args[1:])
            raise
        except OSError as error:  # also TimeoutError
            raise error_for_transport(error, self.name, unconnected=UNCONNECTED) from None
        except MALFORMED_REPLY as error:  # an SDK does not validate responses
            raise error_for_reply(error, self.name) from None

    async def aclose(self) -> None:
        """Close the connections; the next call opens new ones."""
        await self._client.aclose()


class SdkProvider:
    """Sends requests through an SDK."""

    def __init__(self, name: ModelName, sdk: Sdk, ask: Ask, *, timeout_s: float) -> None:
        self.origin = origin_of(name.provider)
        self._calls = SdkCalls(name, sdk, timeout_s=timeout_s)
        self._ask = ask
        self._filter = ParameterFilter(model_facts(name), name.provider)

    async def complete(self, request: Request) -> Reply:
        """Send a request, and return the reply."""
        return await self._filter.call(request, self._send)

    async def aclose(self) -> None:
        """Close the connections; the next call opens new ones."""
        await self._calls.aclose()

    async def _send(self, request: Request) -> Reply:
        return await self._calls.make(lambda client: self._ask(client, request))


def generated_sdk(name: ModelName, module: Any, key: str, *, timeout_s: float) -> Sdk:
    """Return how Anthropic's or OpenAI's SDK is used; both are generated, with the same options and errors."""
    base_url = origin_of(name.provider).base_url
    make = module.AsyncAnthropic if name.provider == "anthropic" else module.AsyncOpenAI

    def open_client() -> Any:
        transport = module.DefaultAioHttpClient()
        return make(api_key=key, base_url=base_url, max_retries=0, timeout=timeout_s, http_client=transport)

    def mapped(error: Any) -> PolyjudgeError:
        if isinstance(error, module.APIConnectionError):
            return error_for_transport(error, name, unconnected=UNCONNECTED)
        message, headers = str(error.body or error), error.response.headers
        return error_for_status(error.status_code, message, name, headers=headers)

    return Sdk(
        open=open_client,
        close=lambda client: client.close(),
        errors=(module.APIStatusError, module.APIConnectionError),
        mapped=mapped,
        status=lambda error: getattr(error, "status_code", None),
    )
