"""The Anthropic Messages API."""

from collections.abc import Mapping
from typing import Any

from polyjudge.extras import require
from polyjudge.records.requests import Finish, ModelName, Reply, Request

from .base import Provider
from .request_support import sent_parameters
from .sdk import RawAsk, Sdk, SdkProvider, generated_sdk
from .services import key_for

_DEFAULT_MAX_TOKENS = 4096
# Later versions of the API refuse sampling parameters; models that still take them do so under this one.
HEADERS_WITH_SAMPLING = {"anthropic-version": "2023-06-01"}
_FINISHES: dict[str, Finish] = {
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "pause_turn": "length",
    "refusal": "refusal",
}


def open_anthropic(model: str, *, timeout_s: float = 120.0) -> Provider:
    """Open Claude models."""
    name = ModelName("anthropic", model)
    ask = RawAsk(lambda client: client.messages.with_raw_response.create, _sent, message_reply)
    return SdkProvider(name, anthropic_sdk(name, timeout_s=timeout_s), ask, timeout_s=timeout_s)


def anthropic_sdk(name: ModelName, *, timeout_s: float) -> Sdk:
    """Return how the SDK is used, with the key from the environment."""
    key = key_for(name, "ANTHROPIC_API_KEY", example="sk-ant-...")
    module = require("anthropic", feature="the provider 'anthropic'", extra="anthropic")
    return generated_sdk(name, module, key, timeout_s=timeout_s)


def _sent(request: Request) -> dict[str, Any]:
    """Return the arguments of a call."""
    arguments = message_arguments(request)
    if "temperature" in arguments:  # the SDK no longer knows it by name
        arguments["extra_body"] = {"temperature": arguments.pop("temperature")}
        arguments["extra_headers"] = HEADERS_WITH_SAMPLING
    return arguments


def message_arguments(request: Request) -> dict[str, Any]:
    """Return what a request is in the words of the API."""
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
        arguments["temperature"] = request.temperature
    return arguments


def message_reply(message: Mapping[str, Any], request: Request) -> Reply:
    """Return the reply that a message is to a request."""
    usage: Mapping[str, Any] = message["usage"]
    cached = (usage.get("cache_read_input_tokens") or 0) + (usage.get("cache_creation_input_tokens") or 0)
    sent = sent_parameters(request, {"temperature": "temperature"})
    return Reply(
        text="".join(block["text"] for block in message["content"] if block["type"] == "text"),
        model=str(message["model"]),
        finish=_FINISHES.get(message.get("stop_reason") or "", "stop"),
        schema_enforced=request.schema is not None,
        parameters={**sent, "max_tokens": request.max_tokens or _DEFAULT_MAX_TOKENS},
        input_tokens=usage["input_tokens"] + cached,
        output_tokens=usage["output_tokens"],
    )
