"""`openai`: the Responses API through the official SDK."""

import asyncio
from typing import Any

from polyjudge.errors import ProviderError
from polyjudge.extras import require
from polyjudge.records import Finish, Reply, Request

from .adapting import ParameterFilter, sent_parameters
from .addresses import origin_of
from .clock import Stopwatch
from .failing import ODD_REPLY, error_for_reply, error_for_status, error_for_transport
from .keys import key_for
from .naming import ModelName, model_facts
from .per_loop import PerLoop

_PARAMETERS = {"temperature": "temperature", "max_tokens": "max_output_tokens"}


class OpenAIProvider:
    """Asks OpenAI's models; retries are ours, so the SDK's are off."""

    def __init__(self, model: str, *, timeout_s: float = 120.0) -> None:
        self._name = ModelName("openai", model)
        self._key = key_for(self._name, "OPENAI_API_KEY", example="sk-...")
        self.origin = origin_of("openai")
        self._sdk: Any = require("openai", feature="the provider 'openai'", extra="openai")
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
                reply = _reply(await self._client.get().responses.create(**_arguments(request)), request)
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
        return self._sdk.AsyncOpenAI(
            api_key=self._key,
            base_url=self.origin.base_url,
            max_retries=0,
            timeout=self._timeout_s,
            http_client=self._sdk.DefaultAioHttpClient(),
        )


def _arguments(request: Request) -> dict[str, Any]:
    arguments: dict[str, Any] = {
        "model": request.model,
        "input": request.prompt,
        "store": False,
        **sent_parameters(request, _PARAMETERS),
    }
    if request.system:
        arguments["instructions"] = request.system
    if request.schema is not None:
        form = {"type": "json_schema", "name": "verdict", "schema": request.schema, "strict": True}
        arguments["text"] = {"format": form}
    return arguments


def _reply(response: Any, request: Request) -> Reply:
    if response.status == "failed":
        raise ProviderError(f"openai could not answer: {getattr(response.error, 'message', 'no reason given')}")
    usage = response.usage
    return Reply(
        text=response.output_text,
        model=response.model,
        finish=_finish(response),
        schema_enforced=request.schema is not None,
        parameters=sent_parameters(request, _PARAMETERS),
        input_tokens=usage.input_tokens if usage else None,
        output_tokens=usage.output_tokens if usage else None,
    )


def _finish(response: Any) -> Finish:
    if response.status == "incomplete":
        reason = response.incomplete_details.reason if response.incomplete_details else ""
        return "refusal" if reason == "content_filter" else "length"
    parts = [part for item in response.output if item.type == "message" for part in item.content]
    return "refusal" if any(part.type == "refusal" for part in parts) else "stop"
