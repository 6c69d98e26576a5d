"""`google`: the Gemini API through the official SDK."""

from typing import Any

import aiohttp

from polyjudge.errors import PolyjudgeError, RefusedError
from polyjudge.extras import require
from polyjudge.records import Finish, Reply, Request

from .adapting import is_same_but_prompt, sent_parameters
from .addresses import origin_of
from .base import Provider
from .failing import error_for_status, error_for_transport
from .keys import key_for
from .naming import ModelName
from .sdk_calls import Sdk, SdkProvider

_PARAMETERS = {"temperature": "temperature", "max_tokens": "max_output_tokens"}
_FINISHES: dict[str, Finish] = {
    "STOP": "stop",
    "MAX_TOKENS": "length",
    "CONTINUATION": "length",
    "FINISH_REASON_UNSPECIFIED": "stop",
}


def open_google(model: str, *, timeout_s: float = 120.0) -> Provider:
    """Open Gemini models."""
    name = ModelName("google", model)
    sdk = google_sdk(name, timeout_s=timeout_s)
    return SdkProvider(name, sdk, _Calls(google_module("types")).ask, timeout_s=timeout_s)


def google_sdk(name: ModelName, *, timeout_s: float) -> Sdk:
    """Return how the SDK is used, with the key from the environment."""
    key = key_for(name, "GOOGLE_GENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", example="...")
    genai, types, errors = google_module(), google_module("types"), google_module("errors")
    transport: Any = require("httpx2", feature="the provider 'google'", extra="google")
    http_options = types.HttpOptions(
        base_url=origin_of("google").base_url,
        timeout=round(timeout_s * 1000),
        retry_options=types.HttpRetryOptions(attempts=1),
    )

    def mapped(error: Any) -> PolyjudgeError:
        return _error(error, name, key) if isinstance(error, errors.APIError) else error_for_transport(error, name)

    return Sdk(
        open=lambda: genai.Client(api_key=key, http_options=http_options),
        close=lambda client: client.aio.aclose(),
        # Transport failures come through this SDK unwrapped, in the classes of whichever transport it uses.
        errors=(errors.APIError, aiohttp.ClientError, transport.HTTPError),
        mapped=mapped,
        status=lambda error: getattr(error, "code", None),
    )


def google_module(part: str = "") -> Any:
    """Return the SDK's module, or a part of it."""
    return require(f"google.genai.{part}".rstrip("."), feature="the provider 'google'", extra="google")


def _error(error: Any, name: ModelName, key: str) -> PolyjudgeError:
    headers = getattr(error.response, "headers", None)
    message = f"{error.status}: {error.message}"
    rejected = "API_KEY_INVALID" in str(error.details) or "API key not valid" in message
    return error_for_status(401 if rejected else error.code, message, name, headers=headers, secret=key)


class _Calls:
    """Makes calls; all but the prompt is the same throughout a run, and to build it takes this SDK a while."""

    def __init__(self, types: Any) -> None:
        self._types = types
        self._last: tuple[Request, Any] | None = None

    async def ask(self, client: Any, request: Request) -> Reply:
        if self._last is None or not is_same_but_prompt(self._last[0], request):
            self._last = request, self._types.GenerateContentConfig(**content_config(request))
        call = {"model": request.model, "contents": request.prompt, "config": self._last[1]}
        return content_reply(await client.aio.models.generate_content(**call), request)


def content_config(request: Request) -> dict[str, Any]:
    """Return what a request is beside its prompt, in the words of the API."""
    config: dict[str, Any] = {"automatic_continuation": False, **sent_parameters(request, _PARAMETERS)}
    if request.system:
        config["system_instruction"] = request.system
    if request.schema is not None:
        config |= {"response_mime_type": "application/json", "response_json_schema": request.schema}
    return config


def content_reply(response: Any, request: Request) -> Reply:
    """Return the reply that a response is to a request."""
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
