"""The Anthropic Messages API."""

from collections.abc import Mapping
from typing import Any

from polyjudge.extras import require
from polyjudge.records.requests import PARAMETERS, VALUES, Finish, ModelName, Reply, Request, sent_parameters

from .base import Provider
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


def open_anthropic(name: ModelName, *, timeout_s: float = 120.0) -> Provider:
    """Open Claude models."""
    ask = RawAsk(lambda client: client.messages.with_raw_response.create, _sent, message_reply)
    return SdkProvider(name, anthropic_sdk(name, timeout_s=timeout_s), ask, timeout_s=timeout_s)


def anthropic_sdk(name: ModelName, *, timeout_s: float) -> Sdk:
    """Return how the SDK is used, with the key from the environment."""
    key = key_for(name)
    module = require("anthropic", feature="the provider 'anthropic'", extra="anthropic")
    return generated_sdk(name, module, key, timeout_s=timeout_s)


def _sent(request: Request) -> dict[str, Any]:
    """Return the arguments of a call."""
    arguments = message_arguments(request)
    sampling = {name: arguments.pop(name) for name in sampling_in(arguments)}
    return {**arguments, "extra_body": sampling, "extra_headers": HEADERS_WITH_SAMPLING} if sampling else arguments


def sampling_in(arguments: Mapping[str, Any]) -> set[str]:
    """Return the names of the sampling parameters among the arguments, which the SDK no longer accepts by name."""
    return arguments.keys() & {PARAMETERS[name].sent_as.get("anthropic", "") for name in VALUES} - {"max_tokens"}


def message_arguments(request: Request) -> dict[str, Any]:
    """Return the arguments of the API call for a request."""
    arguments: dict[str, Any] = {
        "model": request.model,
        "messages": [{"role": "user", "content": request.prompt}],
        **_parameters(request),
    }
    if request.system:
        arguments["system"] = request.system
    if request.schema is not None:
        arguments["output_config"] = {"format": {"type": "json_schema", "schema": request.schema}}
    return arguments


def _parameters(request: Request) -> dict[str, Any]:
    """Return the parameters to send; the API requires `max_tokens`."""
    sent = sent_parameters(request, "anthropic")
    return {**sent, "max_tokens": sent.get("max_tokens", _DEFAULT_MAX_TOKENS)}


def message_reply(message: Mapping[str, Any], request: Request) -> Reply:
    """Return the reply in a message."""
    usage: Mapping[str, Any] = message["usage"]
    cached = (usage.get("cache_read_input_tokens") or 0) + (usage.get("cache_creation_input_tokens") or 0)
    return Reply(
        text="".join(block["text"] for block in message["content"] if block["type"] == "text"),
        model=str(message["model"]),
        response_id=str(message.get("id") or ""),
        finish=_FINISHES.get(message.get("stop_reason") or "", "stop"),
        schema_enforced=request.schema is not None,
        parameters=_parameters(request),
        input_tokens=usage["input_tokens"] + cached,
        output_tokens=usage["output_tokens"],
    )
