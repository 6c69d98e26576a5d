"""Batches of the Anthropic API."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta
from typing import Any

from polyjudge.extras import require
from polyjudge.providers.anthropic import (
    HEADERS_WITH_SAMPLING,
    anthropic_sdk,
    message_arguments,
    message_reply,
    sampling_in,
)
from polyjudge.providers.sdk import Call, SdkCalls
from polyjudge.providers.wire_errors import MALFORMED_REPLY, error_for_reply, error_for_status
from polyjudge.records.requests import BatchForm, ItemFailure, ModelName, Reply, Request

from .client import (
    BatchClient,
    BatchLimits,
    BatchQuery,
    BatchStatus,
    canceled,
    expired,
    failure_for,
    json_rows,
    missing,
    request_like,
    unknown_batch,
    valid_id,
)

_STATUSES = {
    # Types of errors, and the HTTP status that each has outside of batches.
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "timeout_error": 504,
    "overloaded_error": 529,
}
_SERVER_ERROR = 500
_CLOCK_DIFFERENCE = timedelta(minutes=10)
_PAGE = 100


def open_anthropic_batches(model: str, *, timeout_s: float) -> BatchClient:
    """Open batches for a Claude model."""
    name = ModelName("anthropic", model)
    return AnthropicBatches(name, SdkCalls(name, anthropic_sdk(name, timeout_s=timeout_s), timeout_s=timeout_s))


class AnthropicBatches:
    """Message Batches of one model."""

    limits = BatchLimits()

    def __init__(self, name: ModelName, calls: SdkCalls) -> None:
        self._name = name
        self._calls = calls
        self._transport: Any = require("httpx2", feature="the provider 'anthropic'", extra="anthropic")

    def body(self, request: Request) -> Mapping[str, Any]:
        """Return the arguments of a message."""
        return message_arguments(request)

    async def submit(self, tag: str, requests: Mapping[str, Request]) -> str:
        """Create a batch; its tag is stored only in the names of its requests."""
        del tag
        bodies = {name: self.body(request) for name, request in requests.items()}
        rows = [{"custom_id": name, "params": body} for name, body in bodies.items()]
        sampled = any(map(sampling_in, bodies.values()))
        headers = HEADERS_WITH_SAMPLING if sampled else None

        async def create(client: Any) -> str:
            return valid_id((await client.messages.batches.create(requests=rows, extra_headers=headers)).id)

        return await self._calls.make(create)

    async def find(self, query: BatchQuery) -> str | None:
        """Return the batch that matches best by time and size; one that has ended must also have the tag."""
        candidates = await self._calls.make(lambda client: self._candidates(client, query))
        for batch in sorted(candidates, key=lambda each: abs(each.created_at - query.created_at)):
            if batch.processing_status != "ended" or await self._is_tagged(batch, query.tag):
                return str(batch.id)
        return None

    async def status(self, batch_id: str) -> BatchStatus:
        """Fetch the status of a batch; Anthropic counts finished requests only at the end."""

        async def ask(client: Any) -> BatchStatus:
            return self._read_status(await client.messages.batches.retrieve(batch_id), batch_id)

        return await self._about(batch_id, ask)

    async def results(self, batch_id: str, form: BatchForm) -> Iterable[tuple[str, Reply | ItemFailure]]:
        """Fetch and parse the results."""
        return self._read(batch_id, await self._lines(batch_id), request_like(form, self._name.model))

    async def cancel(self, batch_id: str) -> None:
        """Request the cancellation of a batch."""
        await self._about(batch_id, lambda client: client.messages.batches.cancel(batch_id))

    async def aclose(self) -> None:
        """Close the connections."""
        await self._calls.aclose()

    async def _about(self, batch_id: str, call: Call) -> Any:
        return await self._calls.make(call, not_found=unknown_batch(self._name.provider, batch_id))

    def _read_status(self, batch: Any, batch_id: str) -> BatchStatus:
        provider, counts = self._name.provider, batch.request_counts
        total = _total(counts)
        if batch.processing_status != "ended":
            return BatchStatus("running", total - counts.processing, total, missing(provider, batch_id))
        if not batch.results_url:
            reason = f"{provider} no longer stores the results of batch {batch_id}"
            return BatchStatus("failed", total, total, ItemFailure(kind="provider_error", reason=reason))
        return BatchStatus("ended", total, total, missing(provider, batch_id))

    async def _candidates(self, client: Any, query: BatchQuery) -> list[Any]:
        """Return the batches of matching age and size; the API lists the newest first."""
        candidates: list[Any] = []
        async for batch in client.messages.batches.list(limit=_PAGE):
            if batch.created_at < query.created_at - _CLOCK_DIFFERENCE:
                break
            if valid_id(batch.id) not in query.known and _total(batch.request_counts) == query.count:
                candidates.append(batch)
        return candidates

    async def _is_tagged(self, batch: Any, tag: str) -> bool:
        """Return whether the results of a batch have our tag."""
        if not batch.results_url:
            return False
        first = next(iter(await self._lines(batch.id)), dict[str, Any]())
        return str(first.get("custom_id", "")).startswith(tag)

    async def _lines(self, batch_id: str) -> Iterator[dict[str, Any]]:
        """Fetch the results from our base URL and not from the one in the response, because the key is sent there."""
        path, headers = f"/v1/messages/batches/{batch_id}/results", {"Accept": "application/binary"}
        response: Any = await self._about(
            batch_id,
            lambda client: client.get(path, cast_to=self._transport.Response, options={"headers": headers}),
        )
        return json_rows(response.content, self._name.provider)

    def _read(
        self, batch_id: str, rows: Iterable[dict[str, Any]], request: Request
    ) -> Iterator[tuple[str, Reply | ItemFailure]]:
        """Parse results one by one; one that cannot be parsed becomes a failure."""
        for row in rows:
            try:
                answer = self._answer(row["result"], batch_id, request)
            except MALFORMED_REPLY as error:
                answer = failure_for(error_for_reply(error, self._name))
            yield str(row.get("custom_id", "")), answer

    def _answer(self, result: Mapping[str, Any], batch_id: str, request: Request) -> Reply | ItemFailure:
        if result["type"] == "succeeded":
            return message_reply(result["message"], request)
        if result["type"] == "expired":
            return expired(self._name.provider, batch_id)
        if result["type"] == "canceled":
            return canceled(self._name.provider, batch_id)
        error = result["error"]["error"]
        kind = error["type"]
        status, message = _STATUSES.get(kind, _SERVER_ERROR), f"{kind}: {error['message']}"
        return failure_for(error_for_status(status, message, self._name))


def _total(counts: Any) -> int:
    return counts.processing + counts.succeeded + counts.errored + counts.canceled + counts.expired
