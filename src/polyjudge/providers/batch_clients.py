"""Batches at a provider: what all of them can do, whichever words each has for it."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol, cast

from polyjudge.errors import PolyjudgeError, RefusedError, TransientError, UnusableError
from polyjudge.records import BatchForm, BatchState, ItemFailure, ItemTrouble, Reply, Request, is_batch_id

from .redacting import without_keys

_KEY_DIGITS = 32
_SINGLY = "ask again singly: --retry-failures"


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
class Sought:
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

    async def find(self, sought: Sought) -> str | None:
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
        temperature=request.temperature,
        max_tokens=request.max_tokens,
        with_schema=request.schema is not None,
        dropped=dropped,
    )


def request_like(form: BatchForm, model: str) -> Request:
    """Return a request of a form; its prompt is forgotten."""
    schema = dict[str, Any]() if form.with_schema else None
    return Request(prompt="", model=model, schema=schema, temperature=form.temperature, max_tokens=form.max_tokens)


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
