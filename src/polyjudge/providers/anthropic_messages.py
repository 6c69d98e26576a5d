"""`anthropic`: the Messages API through the official SDK."""

import asyncio
from typing import Any

from polyjudge.extras import require
from polyjudge.records import Finish, Reply, Request

from .adapting import ParameterFilter, sent_parameters
from .addresses import origin_of
from .clock import Stopwatch
from .failing import ODD_REPLY, error_for_reply, error_for_status, error_for_transport
from .keys import key_for
from .naming import ModelName, model_facts
from .per_loop import PerLoop

_DEFAULT_MAX_TOKENS = 4096
# From this version on the API refuses sampling parameters; models that still take them do so under the old one.
_VERSION_WITH_SAMPLING = "2023-06-01"
_FINISHES: dict[str, Finish] = {
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "pause_turn": "length",
    "refusal": "refusal",
}


class AnthropicProvider:
    """Asks Claude models; retries are ours, so the SDK's are off."""

    def __init__(self, model: str, *, timeout_s: float = 120.0) -> None:
        self._name = ModelName("anthropic", model)
        self._key = key_for(self._name, "ANTHROPIC_API_KEY", example="sk-ant-...")
        self.origin = origin_of("anthropic")
        self._sdk: Any = require("anthropic", feature="the provider 'anthropic'", extra="anthropic")
        self._timeout_s = timeout_s
        self._filter = ParameterFilter(model_facts(self._name))
        self._client = PerLoop(self._open, lambda client: client.close())

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
                reply = _reply(await self._client.get().messages.create(**_arguments(request)), request)
        except self._sdk.APIStatusError as error:
            headers = error.response.headers
            raise error_for_status(
                error.status_code, str(error.body or error), self._name, headers=headers, secret=self._key
            ) from None
        except (self._sdk.APIConnectionError, TimeoutError) as error:
            raise error_for_transport(error, self._name) from None
        except ODD_REPLY as error:  # an SDK does not check what it is told, and fails in its own ways
            raise error_for_reply(error, self._name) from None
        return watch.stamped(reply)

    def _open(self) -> Any:
        return self._sdk.AsyncAnthropic(
            api_key=self._key,
            base_url=self.origin.base_url,
            max_retries=0,
            timeout=self._timeout_s,
            http_client=self._sdk.DefaultAioHttpClient(),
        )


def _arguments(request: Request) -> dict[str, Any]:
    arguments: dict[str, Any] = {
        "model": request.model,
        "max_tokens": request.max_tokens or _DEFAULT_MAX_TOKENS,
        "messages": [{"role": "user", "content": request.prompt}],
    }
    if request.system:
        arguments["system"] = request.system
    if request.schema is not None:
        arguments["output_config"] = {"format": {"type": "json_schema", "schema": request.schema}}
    if request.temperature is not None:
        arguments["extra_body"] = {"temperature": request.temperature}
        arguments["extra_headers"] = {"anthropic-version": _VERSION_WITH_SAMPLING}
    return arguments


def _reply(message: Any, request: Request) -> Reply:
    usage = message.usage
    cached = (usage.cache_read_input_tokens or 0) + (usage.cache_creation_input_tokens or 0)
    sent = sent_parameters(request, {"temperature": "temperature"})
    return Reply(
        text="".join(block.text for block in message.content if block.type == "text"),
        model=message.model,
        finish=_FINISHES.get(message.stop_reason or "", "stop"),
        schema_enforced=request.schema is not None,
        parameters={**sent, "max_tokens": request.max_tokens or _DEFAULT_MAX_TOKENS},
        input_tokens=usage.input_tokens + cached,
        output_tokens=usage.output_tokens,
    )
