"""The Google Gemini API."""

from collections.abc import Mapping, Sequence
from typing import Any, cast
from urllib.request import getproxies
from weakref import WeakKeyDictionary

import aiohttp

from polyjudge.errors import PolyjudgeError, RefusedError
from polyjudge.extras import require
from polyjudge.files.json_lines import parse_json
from polyjudge.records.requests import Finish, ModelName, Reply, Request, sent_parameters

from .base import Provider, is_same_but_prompt
from .sdk import UNCONNECTED, Sdk, SdkProvider
from .services import key_for, origin_of
from .token_lists import gemini_tokens
from .wire_errors import error_for_status, error_for_transport, shown

_FINISHES: dict[str, Finish] = {
    "STOP": "stop",
    "MAX_TOKENS": "length",
    "CONTINUATION": "length",
    "FINISH_REASON_UNSPECIFIED": "stop",
}


def open_google(name: ModelName, *, timeout_s: float = 120.0) -> Provider:
    """Open Gemini models."""
    sdk = google_sdk(name, timeout_s=timeout_s)
    return SdkProvider(name, sdk, _Calls(google_module("types")).ask, timeout_s=timeout_s)


def google_sdk(name: ModelName, *, timeout_s: float) -> Sdk:
    """Return how the SDK is used, with the key from the environment."""
    key = key_for(name)
    genai, types, errors = google_module(), google_module("types"), google_module("errors")
    transport: Any = require("httpx2", feature="the provider 'google'", extra="google")
    sessions = WeakKeyDictionary[Any, aiohttp.ClientSession]()

    def open_client() -> Any:
        session = _open_session()
        http_options = types.HttpOptions(
            base_url=origin_of("google").base_url,
            timeout=round(timeout_s * 1000),
            retry_options=types.HttpRetryOptions(attempts=1),
            aiohttp_client=session,
        )
        client = genai.Client(api_key=key, http_options=http_options)
        sessions[client] = session
        return client

    async def close_client(client: Any) -> None:
        await client.aio.aclose()
        await sessions.pop(client).close()

    def mapped(error: Any) -> PolyjudgeError:
        if isinstance(error, errors.APIError):
            return _error(error, name)
        return error_for_transport(error, name, unconnected=UNCONNECTED)

    return Sdk(
        open=open_client,
        close=close_client,
        # This SDK does not wrap transport errors; their classes depend on the transport that it uses.
        errors=(errors.APIError, aiohttp.ClientError, transport.HTTPError),
        mapped=mapped,
        status=lambda error: getattr(error, "code", None),
    )


def _open_session() -> aiohttp.ClientSession:
    """Open an HTTP session: the SDK's own looks up proxies in two threads with every call."""
    return aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0), trust_env=bool(getproxies()))


def google_module(part: str = "") -> Any:
    """Return the SDK's module, or a part of it."""
    return require(f"google.genai.{part}".rstrip("."), feature="the provider 'google'", extra="google")


def _error(error: Any, name: ModelName) -> PolyjudgeError:
    headers = getattr(error.response, "headers", None)
    message = f"{error.status}: {error.message}"
    rejected = "API_KEY_INVALID" in str(error.details) or "API key not valid" in message
    return error_for_status(401 if rejected else error.code, message, name, headers=headers)


class _Calls:
    """Makes calls, and reuses the configuration, which is the same throughout a run and slow to build."""

    def __init__(self, types: Any) -> None:
        self._types = types
        self._last: tuple[Request, Any] | None = None

    async def ask(self, client: Any, request: Request) -> Reply:
        if self._last is None or not is_same_but_prompt(self._last[0], request):
            config = {**content_config(request), "should_return_http_response": True}
            self._last = request, self._types.GenerateContentConfig(**config)
        call = {"model": request.model, "contents": request.prompt, "config": self._last[1]}
        response = await client.aio.models.generate_content(**call)
        return content_reply(cast(dict[str, Any], parse_json(response.sdk_http_response.body)), request)


def content_config(request: Request) -> dict[str, Any]:
    """Return the configuration of the API call for a request: everything but the prompt."""
    config: dict[str, Any] = {"automatic_continuation": False, **sent_parameters(request, "google")}
    if request.top_logprobs is not None:
        config["response_logprobs"] = True
    if request.system:
        config["system_instruction"] = request.system
    if request.schema is not None:
        config |= {"response_mime_type": "application/json", "response_json_schema": request.schema}
    return config


def content_reply(response: Mapping[str, Any], request: Request) -> Reply:
    """Return the reply in a response."""
    if not response.get("candidates"):
        feedback: Mapping[str, Any] = response.get("promptFeedback") or {}
        raise RefusedError(f"google returned no answer: {shown(str(feedback.get('blockReason') or 'no candidates'))}")
    candidate: Mapping[str, Any] = response["candidates"][0]
    content: Mapping[str, Any] = candidate.get("content") or {}
    parts: Sequence[Mapping[str, Any]] = content.get("parts") or []
    usage: Mapping[str, Any] = response.get("usageMetadata") or {}
    written = (usage.get("candidatesTokenCount") or 0) + (usage.get("thoughtsTokenCount") or 0)
    return Reply(
        text="".join(part["text"] for part in parts if part.get("text") and not part.get("thought")),
        model=str(response.get("modelVersion") or request.model),
        response_id=str(response.get("responseId") or ""),
        finish=_FINISHES.get(candidate.get("finishReason") or "STOP", "refusal"),
        schema_enforced=request.schema is not None,
        parameters=sent_parameters(request, "google"),
        input_tokens=usage.get("promptTokenCount"),
        output_tokens=written if usage else None,
        tokens=gemini_tokens(candidate.get("logprobsResult")) if request.top_logprobs is not None else (),
    )
