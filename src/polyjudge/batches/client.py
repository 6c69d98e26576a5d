"""The batch interface that all vendors implement, and how a batch is filled."""

import json
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol, cast

from polyjudge.clock import utc_now
from polyjudge.errors import (
    ConfigError,
    PolyjudgeError,
    RefusedError,
    TransientError,
    UnusableError,
)
from polyjudge.providers.redacting import without_keys
from polyjudge.providers.registry import PROVIDERS, load_attribute, provider_entry
from polyjudge.records.requests import (
    BatchForm,
    BatchIntent,
    BatchState,
    ItemFailure,
    ItemTrouble,
    ModelName,
    Origin,
    Reply,
    Request,
    is_batch_id,
    parameters_of,
)

_KEY_DIGITS = 32
_SINGLY = "retry the failures without a batch"


@dataclass(frozen=True, slots=True)
class BatchLimits:
    """The most that goes into one batch."""

    requests: int = 10_000
    bytes: int = 100_000_000


@dataclass(frozen=True, slots=True)
class BatchStatus:
    """What a provider says of a batch."""

    state: BatchState
    done: int
    """Requests that it is done with; some providers tell only at the end."""
    total: int
    rest: ItemFailure
    """What items come back as that have no result of their own."""


@dataclass(frozen=True, slots=True)
class BatchQuery:
    """A batch that may have been handed over, though nobody was told its id."""

    tag: str
    created_at: datetime
    count: int
    known: frozenset[str] = frozenset()
    """Ids that belong to other batches."""


class BatchClient(Protocol):
    """Hands over batches of requests to one model, and brings back what became of them; raises as a provider does."""

    @property
    def limits(self) -> BatchLimits:
        """What this provider takes at once."""
        ...

    def body(self, request: Request) -> Mapping[str, Any]:
        """Return a request as it goes into a batch."""
        ...

    async def submit(self, tag: str, requests: Mapping[str, Request]) -> str:
        """Hand over requests under names of ours, once; return the provider's id of the batch."""
        ...

    async def find(self, sought: BatchQuery) -> str | None:
        """Return the id of a batch that was handed over under a tag; one that cannot be told yet may be another's."""
        ...

    async def status(self, batch_id: str) -> BatchStatus:
        """Ask how far a batch has come."""
        ...

    async def results(self, batch_id: str, form: BatchForm) -> Iterable[tuple[str, Reply | ItemFailure]]:
        """Return what became of the items, under the names they were handed over with, in any order."""
        ...

    async def cancel(self, batch_id: str) -> None:
        """Ask for a batch to be given up; what was done until then is kept."""
        ...

    async def aclose(self) -> None:
        """Close the connections; the next call opens new ones."""
        ...


def item_name(tag: str, key: str) -> str:
    """Return the name of a request in a batch: it tells whose it is, and fits into what every provider allows."""
    return f"{tag}-{key[:_KEY_DIGITS]}"


def form_of(request: Request, dropped: tuple[str, ...]) -> BatchForm:
    """Return what must be known of a request to read its result."""
    return BatchForm(
        with_schema=request.schema is not None,
        dropped=dropped,
        **parameters_of(request),
    )


def request_like(form: BatchForm, model: str) -> Request:
    """Return a request of a form; its prompt is forgotten."""
    schema = dict[str, Any]() if form.with_schema else None
    return Request(prompt="", model=model, schema=schema, **parameters_of(form))


def failure_for(error: PolyjudgeError) -> ItemFailure:
    """Return an error as what an item of a batch comes back as, free of the key."""
    return ItemFailure(kind=_kind(error), reason=without_keys(str(error)))


def _kind(error: PolyjudgeError) -> ItemTrouble:
    if isinstance(error, UnusableError):
        return "unusable"
    if isinstance(error, TransientError):
        return "transient"
    return "refused" if isinstance(error, RefusedError) else "provider_error"


def expired(provider: str, batch_id: str) -> ItemFailure:
    """Return what items come back as that the provider did not get to in time."""
    reason = f"{provider} did not get to this in time: it expired in batch {batch_id}; {_SINGLY}"
    return ItemFailure(kind="transient", reason=reason)


def canceled(provider: str, batch_id: str) -> ItemFailure:
    """Return what items come back as that were given up on request."""
    return ItemFailure(kind="transient", reason=f"{provider} canceled this with batch {batch_id}; {_SINGLY}")


def missing(provider: str, batch_id: str) -> ItemFailure:
    """Return what items come back as of which the provider says nothing."""
    return ItemFailure(kind="provider_error", reason=f"{provider} gave no result for this in batch {batch_id}")


def unknown_batch(provider: str, batch_id: str) -> str:
    """Return what to say of a batch that the provider does not know."""
    return (
        f"{provider} does not know the batch {batch_id}; is this the key it was handed over with? If the batch is gone "
        "for good, remove its file under .polyjudge/batches, and its requests are asked anew"
    )


def named(value: object) -> str:
    """Return an id that a provider gave; one that cannot be part of an address raises a `ValueError`."""
    if not isinstance(value, str) or not is_batch_id(value):
        raise ValueError(f"{str(value)[:100]!r} is no id")
    return value


class BrokenRowsError(TransientError):
    """Some lines of the results cannot be read; all others were yielded before this is raised."""


def json_rows(content: bytes, provider: str) -> Iterator[dict[str, Any]]:
    """Read results in JSON Lines, each with its name; lines that cannot be read are an error at the end."""
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
        raise BrokenRowsError(f"{provider} sent results whose line {broken[0]} cannot be read")


class OpenBatch:
    """Requests of one form to one model that wait to be handed over together."""

    def __init__(self, limits: BatchLimits) -> None:
        self._limits = limits
        self._requests: dict[str, Request] = {}
        self._bytes = self._most_tokens = 0
        self._most_cost = 0.0

    def __len__(self) -> int:
        return len(self._requests)

    def __contains__(self, key: str) -> bool:
        return key in self._requests

    def has_room_for(self, size: int) -> bool:
        """Say whether a request of so many bytes still fits; one alone always does."""
        if not self._requests:
            return True
        return len(self._requests) < self._limits.requests and self._bytes + size <= self._limits.bytes

    @property
    def is_full(self) -> bool:
        """Not even a small request fits any more."""
        return len(self._requests) >= self._limits.requests or self._bytes >= self._limits.bytes

    @property
    def most(self) -> tuple[int, float]:
        """The most tokens and dollars that all can take."""
        return self._most_tokens, self._most_cost

    def add(self, key: str, request: Request, size: int, most: tuple[int, float]) -> None:
        """Put in a request, with the most tokens and dollars that it can take."""
        self._requests[key] = request
        self._bytes += size
        self._most_tokens += most[0]
        self._most_cost += most[1]

    def intent(self, origin: Origin, model: str, form: BatchForm) -> BatchIntent:
        """Return what is to be written down before this is handed over, under a new tag."""
        return BatchIntent(
            tag=f"pj{secrets.token_hex(8)}",
            provider=origin.provider,
            base_url=origin.base_url,
            model=model,
            created_at=utc_now(),
            form=form,
            most_tokens=self._most_tokens,
            most_cost_usd=self._most_cost,
            keys=tuple(self._requests),
        )

    def named(self, tag: str) -> Mapping[str, Request]:
        """Return the requests under the names that they have in the batch."""
        return {item_name(tag, key): request for key, request in self._requests.items()}


_BATCH_TIMEOUT_S = 600.0  # a whole batch goes up, or comes down, in one call


def open_batch_client(name: ModelName, *, timeout_s: float | None = None) -> BatchClient:
    """Open a provider's batches for a model; its module is imported now and not before."""
    need_batches(name)
    opener = cast(Callable[..., BatchClient], load_attribute(PROVIDERS[name.provider].batches))
    return opener(name.model, timeout_s=timeout_s or _BATCH_TIMEOUT_S)


def need_batches(name: ModelName) -> None:
    """Refuse a provider that has no batches."""
    if not provider_entry(name.provider).batches:
        there_are = ", ".join(sorted(each for each, entry in PROVIDERS.items() if entry.batches))
        raise ConfigError(f"{name.provider} has no batch API; there are {there_are}")
