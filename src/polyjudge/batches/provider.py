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
from polyjudge.providers.budget import Budget, need_price
from polyjudge.providers.models import model_facts
from polyjudge.providers.request_support import ParameterFilter
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
    """How far the batches that a run waits for have come."""

    done: int
    requests: int
    jobs: int
    """Batches that are not here yet."""


class Batches:
    """The batches of a run.

    First the run passes over its items while this is `collecting`: what the cache does not hold is put into batches.
    Then it waits, and at last it passes over its items once more, to be answered.
    """

    def __init__(
        self,
        journal: BatchJournal,
        *,
        began: str = "",
        patience: PollingPolicy | None = None,
        limits: BatchLimits | None = None,
    ) -> None:
        self.collecting = False
        self._journal = journal
        self._began = began
        self._patience = patience or PollingPolicy()
        self._limits = limits
        self._jobs = list(journal.jobs(mend=True))
        self._known = {job.id for job in self._jobs if job.id}
        self._lines: dict[ModelName, BatchQueue] = {}

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
        need_price(meter.caps, price, str(name))
        if name not in self._lines:
            client = client or open_batch_client(name, timeout_s=timeout_s)
            parameters = ParameterFilter(model_facts(name))
            means = BatchContext(name, client, self._journal, cache, meter, price, parameters, self._patience, since)
            jobs = [job for job in self._jobs if self._concerns(job, name, cache)]
            self._lines[name] = BatchQueue(means, jobs, self._known, self._limits)
        return BatchedProvider(self, self._lines[name], cache, since=since)

    def _concerns(self, job: BatchJob, name: ModelName, cache: Cache) -> bool:
        """Say whether a batch matters to this run: it is under way, or this run was told of it before."""
        intent, origin = job.intent, origin_of(name.provider)
        if job.is_given_up or (intent.provider, intent.base_url) != (origin.provider, origin.base_url):
            return False
        is_own = job.taken_into == cache.place and intent.created_at >= self._began
        return intent.model == name.model and (not job.taken_into or is_own)

    @property
    def under_way(self) -> list[tuple[BatchQueue, BatchJob]]:
        """The batches that this run waits for."""
        return [(line, job) for line in self._lines.values() for job in line.under_way]

    @property
    def blocked(self) -> CapReachedError | None:
        """Why not everything could be put into batches, where a cap was reached."""
        return next((line.blocked for line in self._lines.values() if line.blocked is not None), None)

    @property
    def lost(self) -> int:
        """How many batches a killed run may have handed over without learning their ids."""
        return sum(line.lost for line in self._lines.values())

    async def find_lost(self) -> None:
        """Look for batches that a killed run may have handed over."""
        for line in self._lines.values():
            await line.find_lost()

    def begin_collecting(self) -> None:
        """From now on, what the cache does not hold is put into batches."""
        self.collecting = True
        for line in self._lines.values():
            line.begin_collecting()

    async def end_collecting(self) -> bool:
        """Hand over what is not yet; say whether there may be more to collect when the batches have ended."""
        may_be_more = [await line.end_collecting() for line in self._lines.values()]
        self.collecting = False
        return any(may_be_more)

    async def wait(self, told: Callable[[BatchProgress], None]) -> None:
        """Wait until all batches that the run needs have ended, and take in each as it does."""
        waits, unanswered, done = self._patience.waits(), 0, dict[str, int]()
        while self.under_way:
            for line, job in self.under_way:
                try:
                    done[job.intent.tag] = await line.look_after(job)
                except ProviderError as error:
                    unanswered += 1
                    if unanswered >= self._patience.unanswered:
                        raise UnusableError(f"{error}: how far batches have come cannot be told") from None
                else:
                    unanswered = 0
                told(self._progress(done))
            if self.under_way:
                await asyncio.sleep(next(waits))

    def _progress(self, done: dict[str, int]) -> BatchProgress:
        jobs = [job for _, job in self.under_way]
        made = sum(done.get(job.intent.tag, 0) for job in jobs)
        return BatchProgress(made, sum(len(job.keys) for job in jobs), len(jobs))


class BatchedProvider:
    """Answers from the cache; what is missing there is put into a batch, or fails as its item of a batch did."""

    def __init__(self, batches: Batches, line: BatchQueue, cache: Cache, *, since: str = "") -> None:
        self._batches = batches
        self._line = line
        self._cache = cache
        self._since = since

    @property
    def origin(self) -> Origin:
        """Who answers the batches."""
        return self._line.origin

    async def complete(self, request: Request) -> Reply:
        """Return the kept reply, or raise: it waits for its batch, or failed there."""
        key = request_key(self.origin, request)
        reply = await self._cache.get(key, since=self._since)
        if self._batches.collecting:
            return reply or await self._collect(key, request)
        if reply is not None:
            return replace(reply, cached=False) if self._line.is_new(key, reply) else reply
        return self._settled(key, request)

    async def _collect(self, key: str, request: Request) -> Reply:
        failure = self._line.failure_of(key)
        if failure is None:
            await self._line.put(key, request)
        elif failure.reply is not None:
            return failure.reply
        raise NotRecordedError("waits for its batch")

    def _settled(self, key: str, request: Request) -> Reply:
        """Return the reply that the cache does not keep, or raise the error that the request came back as."""
        failure = self._line.failure_of(key)
        if failure is None:
            self._line.size(request)  # what cannot be written down was never collected
            raise self._batches.blocked or NotRecordedError("waits for its batch")
        if failure.reply is None:
            raise _ERRORS.get(failure.kind, ProviderError)(failure.reason)
        return failure.reply

    async def aclose(self) -> None:
        """Close the connections."""
        await self._line.aclose()
