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
    """What a million tokens cost in USD."""

    input: Number
    output: Number


Finish = Literal["stop", "length", "refusal"]
"""Why the model stopped: it was done, it ran out of room, or it declined."""


class Origin(Struct, frozen=True):
    """Who answers: a provider's name and, where it has one, the address it is reached at."""

    provider: str
    base_url: str = ""


class Request(Struct, frozen=True, kw_only=True):
    """Everything that can change an answer, and nothing that cannot: the cache key is made of these fields."""

    prompt: str
    model: str
    system: str = ""
    schema: Mapping[str, Any] | None = None
    """JSON Schema of the wanted answer; a provider that can enforces it, the others ignore it."""
    temperature: Number | None = None
    """A wish: providers leave it out for models that do not take it, and say so in the reply."""
    max_tokens: int | None = None
    repeat: int = 0
    """Which of several askings of the same question this is."""


class Parameter(Struct, frozen=True):
    """What a field of `Request` is called outside: a new request parameter is a field there and a row below."""

    sent_as: Mapping[str, str] = {}
    """Its name in each API that takes it as a plain value."""
    refused_as: tuple[str, ...] = ()
    """Words by which error messages name it; without any, it is never left out."""


PARAMETERS: Mapping[str, Parameter] = {
    "temperature": Parameter(
        {"anthropic": "temperature", "chat": "temperature", "google": "temperature", "openai": "temperature"},
        ("temperature",),
    ),
    # Caps on spend rest on this one.
    "max_tokens": Parameter(
        {"anthropic": "max_tokens", "chat": "max_tokens", "google": "max_output_tokens", "openai": "max_output_tokens"}
    ),
    "schema": Parameter(
        refused_as=(
            *("response_format", "json_schema", "output_config", "response_json_schema", "responsejsonschema"),
            "text.format",
        )
    ),
}
VALUES = tuple(name for name, parameter in PARAMETERS.items() if parameter.sent_as)
"""The parameters that are plain values; a `BatchForm` has them too."""


def parameters_of(request: "Request | BatchForm") -> dict[str, Any]:
    """Return the parameters that are plain values, by their fields."""
    return {name: getattr(request, name) for name in VALUES}


class Reply(Struct, frozen=True, kw_only=True, rename="camel"):
    """What a provider gave back, kept whole so that reading it again costs nothing."""

    text: str
    model: str
    """The model that answered, which need not be the one asked for."""
    response_id: str = ""
    """What the provider calls its response. Nothing is decided by it: servers repeat ids, or have none."""
    reasoning: str = ""
    """What the model thought aloud, where the provider gives it apart from the answer."""
    finish: Finish = "stop"
    schema_enforced: bool = False
    """The provider says that it held the answer to the schema; the reader checks all the same."""
    parameters: Mapping[str, Any] = {}
    """The parameters really sent."""
    dropped: tuple[str, ...] = ()
    """Parameters asked for and left out because the model does not take them."""
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: Number | None = None
    attempts: int = 1
    duration_ms: int = 0
    answered_at: str = ""
    """When the answer arrived, ISO 8601 in UTC."""
    client: str = ""
    """The program that asked, with its version, where it is not polyjudge itself."""
    batch: str = ""
    """The provider's id of the batch in which this was asked, if it was."""
    cached: bool = False


_ID = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._:-]{0,199}(?:/[A-Za-z0-9_-][A-Za-z0-9._:-]{0,199})?")

BatchState = Literal["running", "ended", "failed", "canceled", "expired"]
"""What the provider says of a batch; all but the first are final."""

ItemTrouble = Literal["refused", "transient", "provider_error", "unusable", "again", "unkept"]
"""Why an item brought nothing that the cache keeps.

The first three are kinds of failures. `unusable`: no item can work, because of the key or the model. `again`: it must
be asked anew without a parameter. `unkept`: there is a reply, but it was cut off or declined.
"""


def is_batch_id(text: str) -> bool:
    """Say whether a provider's id of a batch can be part of an address: it leads nowhere else, and is short."""
    return _ID.fullmatch(text) is not None


class BatchForm(Struct, frozen=True, kw_only=True, rename="camel"):
    """What all requests of a batch have in common; with it a result can be read without its request."""

    temperature: Number | None = None
    max_tokens: int | None = None
    with_schema: bool = False
    dropped: tuple[str, ...] = ()
    """Parameters asked for and left out."""


class BatchIntent(Struct, frozen=True, kw_only=True, rename="camel"):
    """What is written down before a batch is handed over: enough to know it again, and no prompt."""

    tag: str
    """Our own name for it, which goes with it to the provider."""
    provider: str
    base_url: str = ""
    model: str
    created_at: str
    """ISO 8601 in UTC."""
    form: BatchForm
    most_tokens: int = 0
    """The most that its requests can take together."""
    most_cost_usd: Number = 0.0
    keys: tuple[str, ...]
    """The cache keys of its requests."""


class ItemFailure(Struct, frozen=True, kw_only=True, rename="camel"):
    """What an item of a batch came back as, where that is no reply to keep."""

    kind: ItemTrouble
    reason: str = ""
    parameter: str = ""
    """What the model does not take, for `again`."""
    reply: Reply | None = None
    """What came, for `unkept`."""
