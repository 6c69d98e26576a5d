"""The OpenAI Responses API."""

from collections.abc import Mapping, Sequence
from typing import Any

from polyjudge.errors import ProviderError
from polyjudge.extras import require
from polyjudge.records.requests import Finish, ModelName, Reply, Request, sent_parameters

from .base import Provider
from .sdk import RawAsk, Sdk, SdkProvider, generated_sdk
from .services import key_for
from .token_lists import tokens_in
from .wire_errors import shown


def open_openai(name: ModelName, *, timeout_s: float = 120.0) -> Provider:
    """Open OpenAI's models."""
    ask = RawAsk(lambda client: client.responses.with_raw_response.create, response_arguments, response_reply)
    return SdkProvider(name, openai_sdk(name, timeout_s=timeout_s), ask, timeout_s=timeout_s)


def openai_sdk(name: ModelName, *, timeout_s: float) -> Sdk:
    """Return how the SDK is used, with the key from the environment."""
    key = key_for(name)
    module = require("openai", feature="the provider 'openai'", extra="openai")
    return generated_sdk(name, module, key, timeout_s=timeout_s)


def response_arguments(request: Request) -> dict[str, Any]:
    """Return the arguments of the API call for a request."""
    arguments: dict[str, Any] = {
        "model": request.model,
        "input": request.prompt,
        "store": False,
        **sent_parameters(request, "openai"),
    }
    if request.top_logprobs is not None:
        arguments["include"] = ["message.output_text.logprobs"]
    if request.system:
        arguments["instructions"] = request.system
    if request.schema is not None:
        form = {"type": "json_schema", "name": "verdict", "schema": request.schema, "strict": True}
        arguments["text"] = {"format": form}
    return arguments


def response_reply(response: Mapping[str, Any], request: Request) -> Reply:
    """Return the reply in a response."""
    if response["status"] == "failed":
        error: Mapping[str, Any] = response.get("error") or {}
        raise ProviderError(f"openai failed to respond: {shown(str(error.get('message') or 'no reason given'))}")
    usage: Mapping[str, Any] = response.get("usage") or {}
    parts = [part for item in response["output"] if item["type"] == "message" for part in item["content"]]
    texts = [part for part in parts if part["type"] == "output_text"]
    return Reply(
        text="".join(part["text"] for part in texts),
        model=str(response["model"]),
        response_id=str(response.get("id") or ""),
        finish=_finish(response, parts),
        schema_enforced=request.schema is not None,
        parameters=sent_parameters(request, "openai"),
        input_tokens=usage.get("input_tokens"),
        output_tokens=usage.get("output_tokens"),
        tokens=tokens_in([part.get("logprobs") for part in texts]) if request.top_logprobs is not None else (),
    )


def _finish(response: Mapping[str, Any], parts: Sequence[Mapping[str, Any]]) -> Finish:
    if response["status"] == "incomplete":
        details: Mapping[str, Any] = response.get("incomplete_details") or {}
        return "refusal" if details.get("reason") == "content_filter" else "length"
    return "refusal" if any(part["type"] == "refusal" for part in parts) else "stop"
