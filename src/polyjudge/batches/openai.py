"""Batches of the OpenAI API."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from polyjudge.errors import PolyjudgeError, ProviderError, TransientError
from polyjudge.providers.openai import openai_sdk, response_arguments, response_reply
from polyjudge.providers.sdk import Call, SdkCalls
from polyjudge.providers.wire_errors import MALFORMED_REPLY, error_for_reply, error_for_status, shown
from polyjudge.records.requests import BatchForm, BatchState, ItemFailure, ModelName, Reply, Request

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

_STATES: dict[str, BatchState] = {
    "completed": "ended",
    "failed": "failed",
    "expired": "expired",
    "cancelled": "canceled",
}
_TAG_FIELD = "polyjudge"
_ENDPOINT = "/v1/responses"
_PAGE = 100


def open_openai_batches(model: str, *, timeout_s: float) -> BatchClient:
    """Open batches for one of OpenAI's models."""
    name = ModelName("openai", model)
    return OpenAIBatches(name, SdkCalls(name, openai_sdk(name, timeout_s=timeout_s), timeout_s=timeout_s))


class OpenAIBatches:
    """Batches of one model: requests are uploaded as a file, results downloaded as files."""

    limits = BatchLimits()

    def __init__(self, name: ModelName, calls: SdkCalls) -> None:
        self._name = name
        self._calls = calls

    def body(self, request: Request) -> Mapping[str, Any]:
        """Return the arguments of a response."""
        return response_arguments(request)

    async def submit(self, tag: str, requests: Mapping[str, Request]) -> str:
        """Upload the requests and create a batch; a file without a batch costs nothing and is deleted by OpenAI."""
        data = b"".join(self._line(name, request) for name, request in requests.items())

        async def upload(client: Any) -> str:
            return valid_id((await client.files.create(file=(f"{tag}.jsonl", data), purpose="batch")).id)

        file_id = await self._calls.make(upload)

        async def create(client: Any) -> str:
            made = await client.batches.create(
                input_file_id=file_id, endpoint=_ENDPOINT, completion_window="24h", metadata={_TAG_FIELD: tag}
            )
            return valid_id(made.id)

        return await self._calls.make(create)

    async def find(self, query: BatchQuery) -> str | None:
        """Return the id of the batch that has the tag."""

        async def search(client: Any) -> str | None:
            async for batch in client.batches.list(limit=_PAGE):
                if (batch.metadata or dict[str, str]()).get(_TAG_FIELD) == query.tag and batch.id not in query.known:
                    return valid_id(batch.id)
            return None

        return await self._calls.make(search)

    async def status(self, batch_id: str) -> BatchStatus:
        """Fetch the status of a batch."""

        async def ask(client: Any) -> BatchStatus:
            return self._read_status(await client.batches.retrieve(batch_id), batch_id)

        return await self._about(batch_id, ask)

    async def results(self, batch_id: str, form: BatchForm) -> Iterable[tuple[str, Reply | ItemFailure]]:
        """Fetch and parse the results; replies and errors are in two files, and either may be missing."""

        async def file_ids(client: Any) -> list[str | None]:
            batch = await client.batches.retrieve(batch_id)
            return [batch.output_file_id, batch.error_file_id]

        contents = [await self._file(each) for each in await self._about(batch_id, file_ids) if each]
        request = request_like(form, self._name.model)
        return (answer for content in contents for answer in self._read(batch_id, content, request))

    async def cancel(self, batch_id: str) -> None:
        """Request the cancellation of a batch."""
        await self._about(batch_id, lambda client: client.batches.cancel(batch_id))

    async def aclose(self) -> None:
        """Close the connections."""
        await self._calls.aclose()

    def _line(self, name: str, request: Request) -> bytes:
        row = {"custom_id": name, "method": "POST", "url": _ENDPOINT, "body": self.body(request)}
        return json.dumps(row, ensure_ascii=False).encode() + b"\n"

    async def _file(self, file_id: str) -> bytes:
        async def fetch(client: Any) -> bytes:
            return (await client.files.content(file_id)).content

        return await self._calls.make(fetch)

    async def _about(self, batch_id: str, call: Call) -> Any:
        return await self._calls.make(call, not_found=unknown_batch(self._name.provider, batch_id))

    def _read_status(self, batch: Any, batch_id: str) -> BatchStatus:
        counts = batch.request_counts
        done, total = (counts.completed + counts.failed, counts.total) if counts else (0, 0)
        state = _STATES.get(batch.status, "running")
        rests = {"expired": expired, "canceled": canceled}
        rest = self._failure_of_batch(batch) if state == "failed" else rests.get(state, missing)("openai", batch_id)
        return BatchStatus(state, done, total, rest)

    def _failure_of_batch(self, batch: Any) -> ItemFailure:
        """Return why a batch failed; exceeding the limit of enqueued requests is temporary."""
        errors: list[Any] = (batch.errors.data if batch.errors else None) or []
        message = "; ".join(f"{each.code}: {each.message}" for each in errors[:3]) or "no reason given"
        if "limit" in message:
            text = f"openai rejected batch {batch.id}: {shown(message)}"
            return failure_for(TransientError(text))
        status = 404 if any(each.code == "model_not_found" for each in errors) else 400
        return failure_for(self._error(status, f"batch {batch.id} failed: {message}"))

    def _read(self, batch_id: str, content: bytes, request: Request) -> Iterator[tuple[str, Reply | ItemFailure]]:
        """Parse results one by one; one that cannot be parsed becomes a failure."""
        for row in json_rows(content, self._name.provider):
            try:
                answer = self._answer(row, batch_id, request)
            except ProviderError as error:
                answer = failure_for(error)
            except MALFORMED_REPLY as error:
                answer = failure_for(error_for_reply(error, self._name))
            yield str(row.get("custom_id", "")), answer

    def _answer(self, row: Mapping[str, Any], batch_id: str, request: Request) -> Reply | ItemFailure:
        code = str((row.get("error") or dict[str, Any]()).get("code"))
        if code == "batch_expired":
            return expired(self._name.provider, batch_id)
        if code in ("batch_cancelled", "batch_canceled"):
            return canceled(self._name.provider, batch_id)
        if not row.get("response"):
            return failure_for(self._error(500, row.get("error")))
        response = row["response"]
        if response["status_code"] != 200:
            return failure_for(self._error(response["status_code"], response["body"]))
        return response_reply(response["body"], request)

    def _error(self, status: int, message: object) -> PolyjudgeError:
        return error_for_status(status, str(message), self._name)
