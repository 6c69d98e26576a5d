"""Requests to providers, their replies, and batches of requests."""

import re
from collections.abc import Mapping
from typing import Any, Literal

from msgspec import Struct

from .codec import Number


class ModelName(Struct, frozen=True):
    """A provider and one of its models."""

    provider: str
    model: str

    def __str__(self) -> str:
        return f"{self.provider}/{self.model}" if self.model else self.provider


class Price(Struct, frozen=True, forbid_unknown_fields=True):
    """The price of a million tokens in USD."""

    input: Number
    output: Number


Finish = Literal["stop", "length", "refusal"]
"""Why the model stopped: it was done, it reached the limit of tokens, or it declined."""


class Origin(Struct, frozen=True):
    """The provider that answers, and its base URL if it has one."""

    provider: str
    base_url: str = ""


class Request(Struct, frozen=True, kw_only=True):
    """A request to a model: all fields that can change the reply, which make up the cache key."""

    prompt: str
    model: str
    system: str = ""
    schema: Mapping[str, Any] | None = None
    """JSON Schema of the reply; providers that can enforce it do, others ignore it."""
    temperature: Number | None = None
    """Left out for models that do not accept it, which the reply records."""
    max_tokens: int | None = None
    repeat: int = 0
    """The index of the repeat of the same question."""
    top_logprobs: int | None = None
    """How many of the most likely tokens are wanted at each place, with their log probabilities."""


class Parameter(Struct, frozen=True):
    """The names of a field of `Request` outside polyjudge; a new parameter is a field there and a row below."""

    sent_as: Mapping[str, str] = {}
    """Its name in each API that accepts it as a plain value."""
    refused_as: tuple[str, ...] = ()
    """Words for it in error messages; without any, it is never left out."""


PARAMETERS: Mapping[str, Parameter] = {
    "temperature": Parameter(
        {"anthropic": "temperature", "chat": "temperature", "google": "temperature", "openai": "temperature"},
        ("temperature",),
    ),
    # Never left out, because cost limits depend on it.
    "max_tokens": Parameter(
        {"anthropic": "max_tokens", "chat": "max_tokens", "google": "max_output_tokens", "openai": "max_output_tokens"}
    ),
    "top_logprobs": Parameter({"chat": "top_logprobs", "google": "logprobs", "openai": "top_logprobs"}, ("logprob",)),
    "schema": Parameter(
        refused_as=(
            *("response_format", "json_schema", "output_config", "response_json_schema", "responsejsonschema"),
            "text.format",
        )
    ),
}
VALUES = tuple(name for name, parameter in PARAMETERS.items() if parameter.sent_as)
"""The parameters that are plain values, which a `BatchForm` also has."""


def parameters_of(request: "Request | BatchForm") -> dict[str, Any]:
    """Return the parameters that are plain values, by field name."""
    return {name: getattr(request, name) for name in VALUES}


def sent_parameters(request: Request, api: str) -> dict[str, Any]:
    """Return the request's parameters that are set, under their names in an API."""
    sent = {PARAMETERS[name].sent_as.get(api, ""): value for name, value in parameters_of(request).items()}
    return {name: value for name, value in sent.items() if name and value is not None}


MOST_LOGPROBS = 20
"""How many tokens are asked for at each place: the most that the APIs give."""


class Token(Struct, frozen=True):
    """A token of a reply, with the most likely tokens at its place."""

    text: str
    """Bytes that are no text are lone surrogates, as with `surrogateescape`."""
    logprob: Number
    others: Mapping[str, Number] = {}
    """The log probabilities of the other tokens that were most likely at this place."""


class Reply(Struct, frozen=True, kw_only=True, rename="camel"):
    """The reply of a provider, complete, so that it can be parsed again without cost."""

    text: str
    model: str
    """The model that answered, which can differ from the requested one."""
    response_id: str = ""
    """The provider's id of the response; for information only, because servers repeat ids or have none."""
    reasoning: str = ""
    """The reasoning of the model, if the provider returns it separately."""
    finish: Finish = "stop"
    schema_enforced: bool = False
    """Whether the provider enforced the schema; the reply is validated in any case."""
    parameters: Mapping[str, Any] = {}
    """The parameters that were sent."""
    dropped: tuple[str, ...] = ()
    """Requested parameters that were left out because the model does not accept them."""
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: Number | None = None
    attempts: int = 1
    duration_ms: int = 0
    answered_at: str = ""
    """When the reply arrived, ISO 8601 in UTC."""
    client: str = ""
    """The program that asked, with its version, if it is not polyjudge itself."""
    batch: str = ""
    """The provider's id of the batch, if it was asked in one."""
    cached: bool = False
    tokens: tuple[Token, ...] = ()
    """The tokens of the text with their log probabilities, if they were wanted and the provider gave them."""


_ID = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._:-]{0,199}(?:/[A-Za-z0-9_-][A-Za-z0-9._:-]{0,199})?")

BatchState = Literal["running", "ended", "failed", "canceled", "expired"]
"""The state of a batch at the provider; all but the first are final."""

ItemFailureKind = Literal["refused", "transient", "provider_error", "unusable", "again", "unkept"]
"""Why nothing is stored in the cache for an item of a batch.

The first three are kinds of failures. `unusable`: no item can succeed, because of the key or the model. `again`: it
must be asked again without a parameter. `unkept`: there is a reply, but it was cut off or declined.
"""


def is_batch_id(text: str) -> bool:
    """Return whether a provider's id of a batch is short and can be part of a URL without changing its path."""
    return _ID.fullmatch(text) is not None


class BatchForm(Struct, frozen=True, kw_only=True, rename="camel"):
    """The fields that all requests of a batch share, with which a result can be parsed without its request."""

    temperature: Number | None = None
    max_tokens: int | None = None
    with_schema: bool = False
    top_logprobs: int | None = None
    dropped: tuple[str, ...] = ()
    """Requested parameters that were left out."""


class BatchIntent(Struct, frozen=True, kw_only=True, rename="camel"):
    """The record of a batch before its submission: enough to recognise it, without prompts."""

    tag: str
    """Our own name of the batch, which is sent to the provider."""
    provider: str
    base_url: str = ""
    model: str
    created_at: str
    """ISO 8601 in UTC."""
    form: BatchForm
    most_tokens: int = 0
    """The most tokens that its requests can use together."""
    most_cost_usd: Number = 0.0
    keys: tuple[str, ...]
    """The cache keys of its requests."""


class ItemFailure(Struct, frozen=True, kw_only=True, rename="camel"):
    """The result of an item of a batch, if there is no reply to store in the cache."""

    kind: ItemFailureKind
    reason: str = ""
    parameter: str = ""
    """The parameter that the model does not accept, for `again`."""
    reply: Reply | None = None
    """The reply, for `unkept`."""
