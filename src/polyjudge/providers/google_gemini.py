"""`google`: the Gemini API through the official SDK."""

import asyncio
from typing import Any

import aiohttp

from polyjudge.errors import RefusedError
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
_FINISHES: dict[str, Finish] = {
    "STOP": "stop",
    "MAX_TOKENS": "length",
    "CONTINUATION": "length",
    "FINISH_REASON_UNSPECIFIED": "stop",
}


class GoogleProvider:
    """Asks Gemini models; the SDK makes one attempt, retries are ours."""

    def __init__(self, model: str, *, timeout_s: float = 120.0) -> None:
        self._name = ModelName("google", model)
        variables = ("GOOGLE_GENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY")
        self._key = key_for(self._name, *variables, example="...")
        self.origin = origin_of("google")
        self._sdk: Any = require("google.genai", feature="the provider 'google'", extra="google")
        self._transport: Any = require("httpx2", feature="the provider 'google'", extra="google")
        self._timeout_s = timeout_s
        self._filter = ParameterFilter(model_facts(self._name))
        self._client = PerLoop(self._open, lambda client: client.aio.aclose())

    async def complete(self, request: Request) -> Reply:
        """Ask, and wait for the answer."""
        return await self._filter.call(request, self._send)

    async def aclose(self) -> None:
        """Close the connections; the next call opens new ones."""
        await self._client.aclose()

    async def _send(self, request: Request) -> Reply:
        watch = Stopwatch()
        call = {"model": request.model, "contents": request.prompt, "config": self._config(request)}
        # Transport failures come through this SDK unwrapped, in the classes of whichever transport it uses.
        transport_errors = (aiohttp.ClientError, TimeoutError, OSError, self._transport.HTTPError)
        try:
            async with asyncio.timeout(self._timeout_s):
                reply = _reply(await self._client.get().aio.models.generate_content(**call), request)
        except self._sdk.errors.APIError as error:
            headers = getattr(error.response, "headers", None)
            message = f"{error.status}: {error.message}"
            if "API_KEY_INVALID" in str(error.details) or "API key not valid" in message:
                raise error_for_status(401, message, self._name, secret=self._key) from None
            raise error_for_status(error.code, message, self._name, headers=headers, secret=self._key) from None
        except transport_errors as error:
            raise error_for_transport(error, self._name) from None
        except ODD_REPLY as error:  # an SDK does not check what it is told, and fails in its own ways
            raise error_for_reply(error, self._name) from None
        return watch.stamped(reply)

    def _config(self, request: Request) -> Any:
        types = self._sdk.types
        config: dict[str, Any] = {"automatic_continuation": False, **sent_parameters(request, _PARAMETERS)}
        if request.system:
            config["system_instruction"] = request.system
        if request.schema is not None:
            config |= {"response_mime_type": "application/json", "response_json_schema": dict(request.schema)}
        return types.GenerateContentConfig(**config)

    def _open(self) -> Any:
        options = self._sdk.types.HttpOptions(
            base_url=self.origin.base_url,
            timeout=round(self._timeout_s * 1000),
            retry_options=self._sdk.types.HttpRetryOptions(attempts=1),
        )
        return self._sdk.Client(api_key=self._key, http_options=options)


def _reply(response: Any, request: Request) -> Reply:
    if not response.candidates:
        feedback = response.prompt_feedback
        raise RefusedError(f"google gave no answer: {getattr(feedback, 'block_reason', None) or 'no candidates'}")
    candidate, usage = response.candidates[0], response.usage_metadata
    parts: list[Any] = (candidate.content.parts or []) if candidate.content else []
    reason = candidate.finish_reason.name if candidate.finish_reason else "STOP"
    return Reply(
        text="".join(part.text for part in parts if part.text and not part.thought),
        model=response.model_version or request.model,
        finish=_FINISHES.get(reason, "refusal"),
        schema_enforced=request.schema is not None,
        parameters=sent_parameters(request, _PARAMETERS),
        input_tokens=usage.prompt_token_count if usage else None,
        output_tokens=(usage.candidates_token_count or 0) + (usage.thoughts_token_count or 0) if usage else None,
    )
