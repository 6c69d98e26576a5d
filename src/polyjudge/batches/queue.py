"""Fill, submit and collect the batches of one model."""

import asyncio
import json
import secrets
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

from polyjudge.clock import utc_now
from polyjudge.errors import (
    CapReachedError,
    ProviderError,
    RateLimitedError,
    RefusedError,
    TransientError,
    UnusableError,
)
from polyjudge.providers.base import refused_parameter_in
from polyjudge.providers.budget import bound_request, most_cost, most_tokens
from polyjudge.providers.retrying import Tries, call_with_retries
from polyjudge.providers.services import origin_of
from polyjudge.providers.wire_errors import error_for_reply
from polyjudge.records.requests import BatchForm, BatchIntent, ItemFailure, Origin, Reply, Request

from .client import BatchLimits, BatchQuery, form_of, item_name, request_like
from .journal import BatchJob
from .results import BatchContext, store_results

_LEAST_SHARE = 0.1
"""A run ends if the caps allow fewer requests than this share of its first batches."""


class OpenBatch:
    """Requests of one form to one model that are not submitted yet."""

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
        """Return whether a request of this size fits; a single request always does."""
        if not self._requests:
            return True
        return len(self._requests) < self._limits.requests and self._bytes + size <= self._limits.bytes

    @property
    def is_full(self) -> bool:
        """Whether no further request fits."""
        return len(self._requests) >= self._limits.requests or self._bytes >= self._limits.bytes

    @property
    def most(self) -> tuple[int, float]:
        """The most tokens and dollars that all requests can use."""
        return self._most_tokens, self._most_cost

    def add(self, key: str, request: Request, size: int, most: tuple[int, float]) -> None:
        """Add a request, with the most tokens and dollars that it can use."""
        self._requests[key] = request
        self._bytes += size
        self._most_tokens += most[0]
        self._most_cost += most[1]

    def intent(self, origin: Origin, model: str, form: BatchForm) -> BatchIntent:
        """Return the journal record of this batch, with a new tag."""
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

    def named_requests(self, tag: str) -> Mapping[str, Request]:
        """Return the requests by their names in the batch."""
        return {item_name(tag, key): request for key, request in self._requests.items()}


class BatchQueue:
    """The batches of one model.

    `jobs` are the batches of the journal that concern this run: unfinished ones, and those whose results it stored.
    """

    def __init__(
        self, context: BatchContext, jobs: Iterable[BatchJob], known: set[str], limits: BatchLimits | None = None
    ) -> None:
        self.origin: Origin = origin_of(context.name.provider)
        self.collected = self._first_collected = 0
        """The number of requests put into batches since `start_collecting`, and in the first round."""
        self.blocked: CapReachedError | None = None
        """The cap that prevented further requests."""
        self.unfinished: list[BatchJob] = []
        """Batches that this run needs and whose results are not stored yet."""
        self._context = context
        self._limits = limits or context.client.limits
        self._jobs = list(jobs)
        self._unclaimed: list[BatchJob] = []
        """Unfinished batches that no request of this run needs so far."""
        self._known = known
        self._open: dict[BatchForm, OpenBatch] = {}
        self._stored_now: dict[str, BatchJob] = {}
        self._lock = asyncio.Lock()
        for failure in (each for job in self._jobs for each in job.failures.values()):
            if failure.kind == "again":
                context.parameters.leave_out(failure.parameter)

    @property
    def lost(self) -> int:
        """The number of batches whose id is not known."""
        return sum(not job.id for job in self._jobs)

    async def find_lost(self) -> None:
        """Look for batches whose id a killed run did not record; one that is not found was never submitted."""
        for job in [job for job in self._jobs if not job.id]:
            try:
                await self._find(job)
            except ProviderError as error:
                raise UnusableError(
                    f"cannot find out whether a batch was submitted before the last stop: {error}"
                ) from None
        self._unclaimed = [job for job in self._jobs if not job.stored_in]
        for job in self._unclaimed:
            self._context.meter.hold_anyway(*_reserved(job))

    def start_collecting(self) -> None:
        """Start a new round of collecting requests."""
        self.collected, self.blocked = 0, None

    def size(self, request: Request) -> int:
        """Return the size of a request in bytes, or raise if it cannot be encoded."""
        try:
            return len(json.dumps(self._context.client.body(request), ensure_ascii=False).encode())
        except ValueError as error:
            raise error_for_reply(error, self._context.name) from None

    async def put(self, key: str, request: Request) -> None:
        """Make sure that a request is in a batch: an unfinished one, or the next."""
        async with self._lock:  # a full batch is submitted before the next one is started
            job = next((job for job in self._jobs if key in job.keys and self._may_bring(job, key)), None)
            if job is not None:
                self._require(job)
                return
            allowed, dropped = self._context.parameters.allowed(request)
            bounded, _, _ = bound_request(allowed, self._context.meter.caps, self._context.price)
            form, size = form_of(bounded, dropped), self.size(bounded)
            if form in self._open and not self._open[form].has_room_for(size):
                await self._submit_batch(form)
            self._add(key, bounded, form, size)
            if form in self._open and self._open[form].is_full:
                await self._submit_batch(form)

    async def finish_collecting(self) -> bool:
        """Submit the remaining batches; return whether there may be more to collect afterwards."""
        self._first_collected = self._first_collected or self.collected
        if self.blocked is not None and self.collected < _LEAST_SHARE * self._first_collected:
            for batch in self._open.values():  # the caps allow too few to wait for
                self._context.meter.release(len(batch), *batch.most)
                self.collected -= len(batch)
            self._open.clear()
        for form in list(self._open):
            await self._submit_batch(form)
        unclaimed, self._unclaimed = self._unclaimed, []
        for job in unclaimed:
            self._context.meter.release(*_reserved(job))
        return bool(self.collected or self.unfinished or (unclaimed and self.blocked))

    async def update(self, job: BatchJob) -> int:
        """Fetch the status of a batch, and store its results if it has ended; return how many requests are done."""
        if not job.id:
            await self._find(job)
            return 0
        client, retries = self._context.client, self._context.polling.retries
        status = await call_with_retries(lambda: client.status(job.id), retries)
        if status.state == "running":
            return min(status.done, len(job.keys))
        if await store_results(job, status, self._context):
            self._stored_now[job.id] = job
            self._release(job)
        else:
            job.mark_foreign()
        return len(job.keys)

    def failure_of(self, key: str) -> ItemFailure | None:
        """Return the failure of a request in its last batch, or None if it has a reply or may still get one."""
        for job in reversed(self._jobs):
            if key in job.keys and not self._may_bring(job, key):
                failure = job.failures.get(key, job.rest)
                old = failure.kind == "unusable" and job.id not in self._stored_now
                return None if old or failure.kind == "again" else failure
        return None

    def is_new(self, key: str, reply: Reply) -> bool:
        """Return whether a stored reply came in this run and is used for the first time."""
        job = self._stored_now.get(reply.batch)
        return job is not None and job.keys.mark(key)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._context.client.aclose()

    def _may_bring(self, job: BatchJob, key: str) -> bool:
        """Return whether a batch may have a reply: it is unfinished, or the cache with its reply was lost."""
        if not job.stored_in:
            return True
        return job.id not in self._stored_now and not job.missing_results and key not in job.failures

    def _add(self, key: str, request: Request, form: BatchForm, size: int) -> None:
        batch = self._open.setdefault(form, OpenBatch(self._limits))
        if key in batch or self.blocked is not None:
            return
        tokens = most_tokens(request)
        most = sum(tokens), most_cost(tokens, self._context.price)
        try:
            self._context.meter.hold(*most)
        except CapReachedError as error:
            self.blocked = error
            return
        batch.add(key, request, size, most)
        self.collected += 1

    def _require(self, job: BatchJob) -> None:
        if job in self.unfinished:
            return
        self.unfinished.append(job)
        if job in self._unclaimed:
            self._unclaimed.remove(job)
        else:
            self._context.meter.hold_anyway(*_reserved(job))

    def _release(self, job: BatchJob) -> None:
        if job in self.unfinished:
            self.unfinished.remove(job)
            self._context.meter.release(*_reserved(job))

    async def _submit_batch(self, form: BatchForm) -> None:
        """Record a batch in the journal, then submit it; an error stops the run."""
        batch, name = self._open.pop(form), self._context.name
        if not len(batch):
            return
        job = self._context.journal.create(batch.intent(self.origin, name.model, form))
        self._jobs.append(job)
        self.unfinished.append(job)  # its budget was reserved request by request
        try:
            await self._submit_once(job, batch)
        except RefusedError as error:
            self._abandon(job, str(error))
            parameter = refused_parameter_in(str(error), request_like(form, name.model))
            if parameter is None:
                raise UnusableError(f"{name.provider} rejects the batch: {error}") from None
            self._context.parameters.leave_out(parameter)
        except ProviderError as error:
            raise UnusableError(f"the batch could not be submitted (run again, or without batches): {error}") from None

    async def _submit_once(self, job: BatchJob, batch: OpenBatch) -> None:
        """Submit a batch exactly once: before every retry, look for it at the provider."""
        tries = Tries(self._context.polling.retries)
        requests = batch.named_requests(job.intent.tag)
        while True:
            try:
                self._submitted(job, await self._context.client.submit(job.intent.tag, requests))
                return
            except RefusedError:
                raise
            except ProviderError as error:
                search_waits_s = (0.0,) if isinstance(error, RateLimitedError) else self._context.polling.search_waits_s
                if await self._search(job, search_waits_s):
                    return
                await tries.wait_after(error if isinstance(error, TransientError) else TransientError(str(error)))

    async def _find(self, job: BatchJob) -> None:
        age_s = (datetime.now(UTC) - _created_at(job)).total_seconds()
        search_waits_s = self._context.polling.search_waits_s if age_s < self._context.polling.recent_s else (0.0,)
        if not await self._search(job, search_waits_s):
            self._abandon(job, "not found at the provider")

    async def _search(self, job: BatchJob, search_waits_s: Iterable[float]) -> bool:
        """Look for a batch at the provider; return whether it was found."""
        query = BatchQuery(job.intent.tag, _created_at(job), len(job.keys), frozenset(self._known | job.foreign_ids))
        for wait_s in search_waits_s:
            await asyncio.sleep(wait_s)
            found = await call_with_retries(lambda: self._context.client.find(query), self._context.polling.retries)
            if found is not None:
                self._submitted(job, found, found=True)
                return True
        return False

    def _submitted(self, job: BatchJob, batch_id: str, *, found: bool = False) -> None:
        job.submitted(batch_id, found=found)
        self._known.add(batch_id)

    def _abandon(self, job: BatchJob, reason: str) -> None:
        job.abandon(reason)
        self._jobs.remove(job)
        self._release(job)


def _reserved(job: BatchJob) -> tuple[int, int, float]:
    """Return the most calls, tokens and dollars that a batch can use."""
    return len(job.keys), job.intent.most_tokens, job.intent.most_cost_usd


def _created_at(job: BatchJob) -> datetime:
    return datetime.fromisoformat(job.intent.created_at)
