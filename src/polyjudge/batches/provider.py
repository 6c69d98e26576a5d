"""A provider that submits requests as batches."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from msgspec.structs import replace

from polyjudge.cache.protocol import Cache, request_key
from polyjudge.errors import (
    CapReachedError,
    NotRecordedError,
    PolyjudgeError,
    ProviderError,
    RefusedError,
    TransientError,
    UnusableError,
)
from polyjudge.providers.base import ParameterFilter
from polyjudge.providers.budget import Budget, need_price
from polyjudge.providers.models import model_facts
from polyjudge.providers.services import origin_of
from polyjudge.records.requests import ModelName, Origin, Price, Reply, Request

from .client import BatchClient, BatchLimits, open_batch_client
from .journal import BatchJob, BatchJournal
from .queue import BatchQueue
from .results import BatchContext, PollingPolicy

_ERRORS: dict[str, type[PolyjudgeError]] = {
    "refused": RefusedError,
    "transient": TransientError,
    "unusable": UnusableError,
}


@dataclass(frozen=True, slots=True)
class BatchProgress:
    """The progress of the batches that a run waits for."""

    done: int
    requests: int
    jobs: int
    """Unfinished batches."""


class Batches:
    """The batches of a run.

    While `collecting`, the run asks about all its items, and requests that the cache cannot answer are put into
    batches. Then it waits for the batches, and asks about all its items again to get the replies.
    """

    def __init__(
        self,
        journal: BatchJournal,
        *,
        started_at: str = "",
        polling: PollingPolicy | None = None,
        limits: BatchLimits | None = None,
    ) -> None:
        self.collecting = False
        self._journal = journal
        self._started_at = started_at
        self._polling = polling or PollingPolicy()
        self._limits = limits
        self._jobs = list(journal.jobs(repair=True))
        self._known = {job.id for job in self._jobs if job.id}
        self._queues: dict[ModelName, BatchQueue] = {}

    def open(
        self,
        name: ModelName,
        *,
        cache: Cache,
        meter: Budget,
        price: Price | None,
        since: str = "",
        timeout_s: float | None = None,
        client: BatchClient | None = None,
    ) -> "BatchedProvider":
        """Return the provider for a model; `price` is that of batches."""
        need_price(meter.caps, price, name)
        if name not in self._queues:
            client = client or open_batch_client(name, timeout_s=timeout_s)
            parameters = ParameterFilter(model_facts(name), name.provider)
            context = BatchContext(name, client, self._journal, cache, meter, price, parameters, self._polling, since)
            jobs = [job for job in self._jobs if self._concerns(job, name, cache)]
            self._queues[name] = BatchQueue(context, jobs, self._known, self._limits)
        return BatchedProvider(self, self._queues[name], cache, since=since)

    def _concerns(self, job: BatchJob, name: ModelName, cache: Cache) -> bool:
        """Return whether a batch concerns this run: it is unfinished, or this run has stored its results before."""
        intent, origin = job.intent, origin_of(name.provider)
        if job.is_abandoned or (intent.provider, intent.base_url) != (origin.provider, origin.base_url):
            return False
        is_own = job.stored_in == cache.place and intent.created_at >= self._started_at
        return intent.model == name.model and (not job.stored_in or is_own)

    @property
    def unfinished(self) -> list[tuple[BatchQueue, BatchJob]]:
        """The batches that this run waits for, with their queues."""
        return [(queue, job) for queue in self._queues.values() for job in queue.unfinished]

    @property
    def blocked(self) -> CapReachedError | None:
        """The cap that prevented further requests, if any."""
        return next((queue.blocked for queue in self._queues.values() if queue.blocked is not None), None)

    @property
    def lost(self) -> int:
        """The number of batches that a killed run may have submitted without recording their ids."""
        return sum(queue.lost for queue in self._queues.values())

    async def find_lost(self) -> None:
        """Look for batches that a killed run may have submitted."""
        for queue in self._queues.values():
            await queue.find_lost()

    def start_collecting(self) -> None:
        """Put requests that the cache cannot answer into batches from now on."""
        self.collecting = True
        for queue in self._queues.values():
            queue.start_collecting()

    async def finish_collecting(self) -> bool:
        """Submit the remaining batches; return whether there may be more to collect when they have ended."""
        may_be_more = [await queue.finish_collecting() for queue in self._queues.values()]
        self.collecting = False
        return any(may_be_more)

    async def wait(self, on_progress: Callable[[BatchProgress], None]) -> None:
        """Wait until all batches that the run needs have ended, and store the results of each."""
        waits, failed_polls, done = self._polling.waits(), 0, dict[str, int]()
        while self.unfinished:
            for queue, job in self.unfinished:
                try:
                    done[job.intent.tag] = await queue.update(job)
                except ProviderError as error:
                    failed_polls += 1
                    if failed_polls >= self._polling.max_failed_polls:
                        raise UnusableError(f"cannot get the status of the batches: {error}") from None
                else:
                    failed_polls = 0
                on_progress(self._progress(done))
            if self.unfinished:
                await asyncio.sleep(next(waits))

    def _progress(self, done: dict[str, int]) -> BatchProgress:
        jobs = [job for _, job in self.unfinished]
        finished = sum(done.get(job.intent.tag, 0) for job in jobs)
        return BatchProgress(finished, sum(len(job.keys) for job in jobs), len(jobs))


class BatchedProvider:
    """Answers from the cache; a missing reply is put into a batch, or raises the error of its item in a batch."""

    def __init__(self, batches: Batches, queue: BatchQueue, cache: Cache, *, since: str = "") -> None:
        self._batches = batches
        self._queue = queue
        self._cache = cache
        self._since = since

    @property
    def origin(self) -> Origin:
        """The provider of the batches."""
        return self._queue.origin

    async def complete(self, request: Request) -> Reply:
        """Return the stored reply, or raise because the request is in an unfinished batch or failed there."""
        key = request_key(self.origin, request)
        reply = await self._cache.get(key, since=self._since)
        if self._batches.collecting:
            return reply or await self._collect(key, request)
        if reply is not None:
            return replace(reply, cached=False) if self._queue.is_new(key, reply) else reply
        return self._result(key, request)

    async def _collect(self, key: str, request: Request) -> Reply:
        failure = self._queue.failure_of(key)
        if failure is None:
            await self._queue.put(key, request)
        elif failure.reply is not None:
            return failure.reply
        raise NotRecordedError("waiting for its batch")

    def _result(self, key: str, request: Request) -> Reply:
        """Return a reply that the cache does not store, or raise the error of the request in its batch."""
        failure = self._queue.failure_of(key)
        if failure is None:
            self._queue.size(request)  # raises if the request cannot be encoded and was therefore not collected
            raise self._batches.blocked or NotRecordedError("waiting for its batch")
        if failure.reply is None:
            raise _ERRORS.get(failure.kind, ProviderError)(failure.reason)
        return failure.reply

    async def aclose(self) -> None:
        """Close the connections."""
        await self._queue.aclose()
