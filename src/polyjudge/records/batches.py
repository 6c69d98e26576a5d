"""A batch at a provider: what was put into it, and what became of its items."""

import re
from dataclasses import dataclass
from typing import Literal

from .answers import Reply

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


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchForm:
    """What all requests of a batch have in common; with it a result can be read without its request."""

    temperature: float | None = None
    max_tokens: int | None = None
    with_schema: bool = False
    dropped: tuple[str, ...] = ()
    """Parameters asked for and left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchIntent:
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
    most_cost_usd: float = 0.0
    keys: tuple[str, ...]
    """The cache keys of its requests."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemFailure:
    """What an item of a batch came back as, where that is no reply to keep."""

    kind: ItemTrouble
    reason: str = ""
    parameter: str = ""
    """What the model does not take, for `again`."""
    reply: Reply | None = None
    """What came, for `unkept`."""
