"""The batch interface that all vendors implement, and what their clients share."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol, cast

from polyjudge.errors import (
    ConfigError,
    PolyjudgeError,
    RefusedError,
    TransientError,
    UnusableError,
)
from polyjudge.providers.redacting import without_keys
from polyjudge.providers.registry import PROVIDERS, load_attribute, naming_the_extra, provider_entry
from polyjudge.records.requests import (
    BatchForm,
    BatchState,
    ItemFailure,
    ItemFailureKind,
    ModelName,
    Reply,
    Request,
    is_batch_id,
    parameters_of,
)

_KEY_DIGITS = 32
_RETRY_SINGLY = "retry the failures without a batch"


@dataclass(frozen=True, slots=True)
class BatchLimits:
    """The largest batch that a provider accepts."""

    requests: int = 10_000
    bytes: int = 100_000_000


@dataclass(frozen=True, slots=True)
class BatchStatus:
    """The status of a batch at the provider."""

    state: BatchState
    done: int
    """Finished requests; some providers count them only at the end."""
    total: int
    rest: ItemFailure
    """The failure of items that have no result of their own."""


@dataclass(frozen=True, slots=True)
class BatchQuery:
    """Describes a batch that may have been submitted, but whose id is not known."""

    tag: str
    created_at: datetime
    count: int
    known: frozenset[str] = frozenset()
    """Ids of other batches."""


class BatchClient(Protocol):
    """Submits batches of requests to one model and fetches their results; raises the errors of providers."""

    @property
    def limits(self) -> BatchLimits:
        """The largest batch that the provider accepts."""
        ...

    def body(self, request: Request) -> Mapping[str, Any]:
        """Return the body of a request in a batch."""
        ...

    async def submit(self, tag: str, requests: Mapping[str, Request]) -> str:
        """Submit requests under our names, without retries; return the provider's id of the batch."""
        ...

    async def find(self, query: BatchQuery) -> str | None:
        """Return the id of the batch with a tag; while the tag cannot be checked, it may be that of another batch."""
        ...

    async def status(self, batch_id: str) -> BatchStatus:
        """Fetch the status of a batch."""
        ...

    async def results(self, batch_id: str, form: BatchForm) -> Iterable[tuple[str, Reply | ItemFailure]]:
        """Return the results by the names of the requests, in any order."""
        ...

    async def cancel(self, batch_id: str) -> None:
        """Request the cancellation of a batch; its finished results remain available."""
        ...

    async def aclose(self) -> None:
        """Close the connections; the next call opens new ones."""
        ...


def item_name(tag: str, key: str) -> str:
    """Return the name of a request in a batch: it contains the tag, and is short enough for every provider."""
    return f"{tag}-{key[:_KEY_DIGITS]}"


def form_of(request: Request, dropped: tuple[str, ...]) -> BatchForm:
    """Return the fields of a request that are needed to parse its result."""
    return BatchForm(
        with_schema=request.schema is not None,
        dropped=dropped,
        **parameters_of(request),
    )


def request_like(form: BatchForm, model: str) -> Request:
    """Return a request of a form, without its prompt."""
    schema = dict[str, Any]() if form.with_schema else None
    return Request(prompt="", model=model, schema=schema, **parameters_of(form))


def failure_for(error: PolyjudgeError) -> ItemFailure:
    """Return an error as the failure of an item, with API keys removed."""
    return ItemFailure(kind=_kind(error), reason=without_keys(str(error)))


def _kind(error: PolyjudgeError) -> ItemFailureKind:
    if isinstance(error, UnusableError):
        return "unusable"
    if isinstance(error, TransientError):
        return "transient"
    return "refused" if isinstance(error, RefusedError) else "provider_error"


def expired(provider: str, batch_id: str) -> ItemFailure:
    """Return the failure of items that were not processed before the batch expired."""
    reason = f"{provider} did not process this item before batch {batch_id} expired; {_RETRY_SINGLY}"
    return ItemFailure(kind="transient", reason=reason)


def canceled(provider: str, batch_id: str) -> ItemFailure:
    """Return the failure of items whose batch was canceled."""
    return ItemFailure(kind="transient", reason=f"{provider} canceled this item with batch {batch_id}; {_RETRY_SINGLY}")


def missing(provider: str, batch_id: str) -> ItemFailure:
    """Return the failure of items that the results do not contain."""
    return ItemFailure(kind="provider_error", reason=f"{provider} returned no result for this item in batch {batch_id}")


def unknown_batch(provider: str, batch_id: str) -> str:
    """Return the message for a batch that the provider does not know."""
    return (
        f"{provider} does not know batch {batch_id}. Check that the API key is the one it was submitted with. If the "
        "batch no longer exists, delete its file in .polyjudge/batches to submit its requests again"
    )


def valid_id(value: object) -> str:
    """Return an id from a provider, or raise ValueError if it cannot be part of a URL."""
    if not isinstance(value, str) or not is_batch_id(value):
        raise ValueError(f"invalid id {str(value)[:100]!r}")
    return value


class BrokenRowsError(TransientError):
    """Some lines of the results cannot be parsed; raised after all others were yielded."""


def json_rows(content: bytes, provider: str) -> Iterator[dict[str, Any]]:
    """Parse results in JSON Lines; raise BrokenRowsError at the end if lines cannot be parsed."""
    broken: list[int] = []
    for number, line in enumerate(content.split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            row: object = json.loads(line)
        except (ValueError, RecursionError):
            row = None
        if isinstance(row, dict) and cast(dict[str, Any], row).get("custom_id"):
            yield cast(dict[str, Any], row)
        else:
            broken.append(number)
    if broken:
        raise BrokenRowsError(
            f"the batch results from {provider} cannot be parsed: line {broken[0]} is not a JSON object with a "
            "custom_id"
        )


_BATCH_TIMEOUT_S = 600.0  # a whole batch is uploaded or downloaded in one call


def open_batch_client(name: ModelName, *, timeout_s: float | None = None) -> BatchClient:
    """Open the batch client of a model, importing its module."""
    need_batches(name)
    entry = PROVIDERS[name.provider]
    opener = cast(Callable[..., BatchClient], load_attribute(entry.batches))
    with naming_the_extra(entry):
        return opener(name.model, timeout_s=timeout_s or _BATCH_TIMEOUT_S)


def need_batches(name: ModelName) -> None:
    """Raise ConfigError if a provider has no batch API."""
    if not provider_entry(name.provider).batches:
        available = ", ".join(sorted(each for each, entry in PROVIDERS.items() if entry.batches))
        raise ConfigError(f"{name.provider} has no batch API. Providers with one: {available}.")
