"""Batches of the Gemini API."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import urlencode

from polyjudge.errors import PolyjudgeError, ProviderError
from polyjudge.providers.google import content_config, content_reply, google_module, google_sdk
from polyjudge.providers.sdk import Call, SdkCalls
from polyjudge.providers.wire_errors import MALFORMED_REPLY, error_for_reply, error_for_status
from polyjudge.records.requests import BatchForm, BatchState, ItemFailure, ModelName, Reply, Request

from .client import (
    BatchClient,
    BatchLimits,
    BatchQuery,
    BatchStatus,
    canceled,
    expired,
    failure_for,
    missing,
    request_like,
    unknown_batch,
    valid_id,
)

_STATES: dict[str, BatchState] = {
    "JOB_STATE_SUCCEEDED": "ended",
    "JOB_STATE_PARTIALLY_SUCCEEDED": "ended",
    "JOB_STATE_FAILED": "failed",
    "JOB_STATE_CANCELLED": "canceled",
    "JOB_STATE_EXPIRED": "expired",
}
_STATUSES = {
    # Single requests fail with gRPC codes; these are the corresponding HTTP statuses.
    1: 499, 2: 500, 3: 400, 4: 504, 5: 404, 6: 409, 7: 403, 8: 429, 9: 400, 10: 409,
    11: 400, 12: 501, 13: 500, 14: 503, 15: 500, 16: 401,
}  # fmt: skip
_NAME_FIELD = "key"
_UNREADABLE = (AttributeError, TypeError, ValueError)
"""Errors that the SDK or our code raises for a malformed response."""
_PAGE = 100


def open_google_batches(model: str, *, timeout_s: float) -> BatchClient:
    """Open batches for a Gemini model."""
    name = ModelName("google", model)
    return GoogleBatches(name, SdkCalls(name, google_sdk(name, timeout_s=timeout_s), timeout_s=timeout_s))


class GoogleBatches:
    """Batches of one model."""

    limits = BatchLimits(bytes=15_000_000)  # the API accepts 20 MB, including what the SDK adds

    def __init__(self, name: ModelName, calls: SdkCalls) -> None:
        self._name = name
        self._calls = calls
        self._types = google_module("types")

    def body(self, request: Request) -> Mapping[str, Any]:
        """Return the contents and the configuration of a request."""
        return {"contents": request.prompt, "config": content_config(request)}

    async def submit(self, tag: str, requests: Mapping[str, Request]) -> str:
        """Create a batch with the tag as its display name."""
        rows = [
            self._types.InlinedRequest(**self.body(request), metadata={_NAME_FIELD: name})
            for name, request in requests.items()
        ]

        async def create(client: Any) -> str:
            config = {"display_name": tag}
            return valid_id((await client.aio.batches.create(model=self._name.model, src=rows, config=config)).name)

        return await self._calls.make(create)

    async def find(self, query: BatchQuery) -> str | None:
        """Return the id of the batch that has the tag."""

        async def search(client: Any) -> str | None:
            try:
                async for batch in await client.aio.batches.list(config={"page_size": _PAGE}):
                    if batch.display_name == query.tag and batch.name not in query.known:
                        return valid_id(batch.name)
            except _UNREADABLE:
                return await _search_raw(client, query)
            return None

        return await self._calls.make(search)

    async def status(self, batch_id: str) -> BatchStatus:
        """Fetch the status of a batch; Google counts finished requests only at the end."""

        async def ask(client: Any) -> BatchStatus:
            return self._read_status(await self._batch(client, batch_id), batch_id)

        return await self._about(batch_id, ask)

    async def results(self, batch_id: str, form: BatchForm) -> Iterable[tuple[str, Reply | ItemFailure]]:
        """Fetch and parse the results."""

        async def fetch(client: Any) -> list[Any]:
            return _answers(await self._batch(client, batch_id))

        return self._read(await self._about(batch_id, fetch), request_like(form, self._name.model))

    async def cancel(self, batch_id: str) -> None:
        """Request the cancellation of a batch."""
        await self._about(batch_id, lambda client: client.aio.batches.cancel(name=batch_id))

    async def aclose(self) -> None:
        """Close the connections."""
        await self._calls.aclose()

    async def _batch(self, client: Any, batch_id: str) -> Any:
        try:
            return await client.aio.batches.get(name=batch_id)
        except _UNREADABLE:
            return self._item_by_item(await _fetch_raw(client, batch_id))

    def _read_status(self, batch: Any, batch_id: str) -> BatchStatus:
        done, state = len(_answers(batch)), _STATES.get(batch.state.name if batch.state else "", "running")
        rests = {"expired": expired, "canceled": canceled}
        rest = rests.get(state, missing)(self._name.provider, batch_id)
        if state == "failed":
            error = self._error(batch.error) if batch.error is not None else None
            rest = failure_for(error or ProviderError(f"batch {batch.name} failed at google, which gave no reason"))
        return BatchStatus(state, done, done, rest)

    def _item_by_item(self, batch: dict[str, Any]) -> Any:
        """Parse a batch as the SDK does, but item by item, so that a malformed item fails alone."""
        metadata = batch["metadata"]
        rows = metadata.get("output", {}).get("inlinedResponses", {}).get("inlinedResponses", [])
        return self._types.BatchJob(
            name=batch["name"],
            display_name=metadata.get("displayName"),
            state=str(metadata.get("state", "")).replace("BATCH_STATE", "JOB_STATE"),
            dest=self._types.BatchJobDestination(inlined_responses=[self._item(row) for row in rows]),
        )

    def _item(self, row: Any) -> Any:
        try:
            error = row.get("error")
            if error is not None:
                row = {**row, "error": {"code": error.get("code"), "message": str(error.get("message"))}}
            return self._types.InlinedResponse.model_validate(row)
        except _UNREADABLE as error:
            message = f"malformed response: {str(error)[:100]}"
            return self._types.InlinedResponse(metadata=_metadata(row), error={"code": 2, "message": message})

    async def _about(self, batch_id: str, call: Call) -> Any:
        return await self._calls.make(call, not_found=unknown_batch(self._name.provider, batch_id))

    def _read(self, answers: Iterable[Any], request: Request) -> Iterator[tuple[str, Reply | ItemFailure]]:
        """Parse results one by one; one that cannot be parsed becomes a failure."""
        for each in answers:
            try:
                answer = self._answer(each, request)
            except ProviderError as error:
                answer = failure_for(error)
            except MALFORMED_REPLY as error:
                answer = failure_for(error_for_reply(error, self._name))
            yield (each.metadata or dict[str, str]()).get(_NAME_FIELD, ""), answer

    def _answer(self, answer: Any, request: Request) -> Reply | ItemFailure:
        if answer.error is not None:
            return failure_for(self._error(answer.error))
        return content_reply(answer.response.model_dump(mode="json", by_alias=True, exclude_none=True), request)

    def _error(self, error: Any) -> PolyjudgeError:
        code = error.code or 0
        status = _STATUSES.get(code, code if code >= 400 else 500)
        return error_for_status(status, str(error.message), self._name)


def _metadata(row: Any) -> dict[str, str] | None:
    """Return the metadata with the name of a row, if it has a name."""
    try:
        name = row["metadata"][_NAME_FIELD]
    except (LookupError, TypeError):
        return None
    return {_NAME_FIELD: name} if isinstance(name, str) else None


async def _fetch_raw(client: Any, path: str) -> dict[str, Any]:
    """Fetch a response as JSON, because one malformed item, such as an error with details, is an error in the SDK."""
    fetched = await client.aio._api_client.async_request("get", path, {}, None)
    return json.loads(fetched.body)


async def _search_raw(client: Any, query: BatchQuery) -> str | None:
    parameters: dict[str, Any] = {"pageSize": _PAGE}
    while True:
        page = await _fetch_raw(client, f"batches?{urlencode(parameters)}")
        for batch in page.get("operations", []):
            if batch["metadata"].get("displayName") == query.tag and batch["name"] not in query.known:
                return valid_id(batch["name"])
        if not page.get("nextPageToken"):
            return None
        parameters["pageToken"] = page["nextPageToken"]


def _answers(batch: Any) -> list[Any]:
    return (batch.dest.inlined_responses if batch.dest else None) or []
