"""A question to a provider and what came back."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Finish = Literal["stop", "length", "refusal"]
"""Why the model stopped: it was done, it ran out of room, or it declined."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Who answers: a provider's name and, where it has one, the address it is reached at."""

    provider: str
    base_url: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """Everything that can change an answer, and nothing that cannot: the cache key is made of these fields."""

    prompt: str
    model: str
    system: str = ""
    schema: Mapping[str, Any] | None = None
    """JSON Schema of the wanted answer; a provider that can enforces it, the others ignore it."""
    temperature: float | None = None
    """A wish: providers leave it out for models that do not take it, and say so in the reply."""
    max_tokens: int | None = None
    repeat: int = 0
    """Which of several askings of the same question this is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a provider gave back, kept whole so that reading it again costs nothing."""

    text: str
    model: str
    """The model that answered, which need not be the one asked for."""
    reasoning: str = ""
    """What the model thought aloud, where the provider gives it apart from the answer."""
    finish: Finish = "stop"
    schema_enforced: bool = False
    """The provider says that it held the answer to the schema; the reader checks all the same."""
    parameters: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The parameters really sent."""
    dropped: tuple[str, ...] = ()
    """Parameters asked for and left out because the model does not take them."""
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    attempts: int = 1
    duration_ms: int = 0
    answered_at: str = ""
    """When the answer arrived, ISO 8601 in UTC."""
    client: str = ""
    """The program that asked, with its version, where it is not polyjudge itself."""
    batch: str = ""
    """The provider's id of the batch in which this was asked, if it was."""
    cached: bool = False
