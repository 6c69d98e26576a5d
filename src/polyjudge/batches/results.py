"""Store the results of a batch in the cache, and its failures in the journal."""

import asyncio
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial

from msgspec.structs import replace

from polyjudge.cache.protocol import Cache
from polyjudge.clock import utc_now
from polyjudge.errors import TransientError
from polyjudge.providers.base import ParameterFilter, refused_parameter_in
from polyjudge.providers.budget import Budget
from polyjudge.providers.caching import once
from polyjudge.providers.retrying import RetryPolicy, call_with_retries
from polyjudge.records.requests import ItemFailure, ModelName, Price, Reply

from .client import BatchClient, BatchStatus, BrokenRowsError, canceled, expired, item_name, request_like
from .journal import BatchJob, BatchJournal


@dataclass(frozen=True, slots=True)
class PollingPolicy:
    """How often the provider is asked about batches."""

    first_wait_s: float = 2.0
    longest_wait_s: float = 60.0
    growth: float = 1.5
    search_waits_s: tuple[float, ...] = (0.0, 2.0, 5.0, 10.0)
    """Waits before each search for a batch that may just have been submitted, because lists can lag behind."""
    recent_s: float = 60.0
    """An older batch is searched for only once."""
    max_failed_polls: int = 10
    """The run stops after this many failed polls in a row, each with its own retries."""
    retries: RetryPolicy = field(default_factory=RetryPolicy)

    def waits(self) -> Iterator[float]:
        """Yield the waits between two polls."""
        wait_s = self.first_wait_s
        while True:
            yield wait_s
            wait_s = min(wait_s * self.growth, self.longest_wait_s)


@dataclass(frozen=True, slots=True)
class BatchContext:
    """The provider, journal, cache and budget of a batch."""

    name: ModelName
    client: BatchClient
    journal: BatchJournal
    cache: Cache
    meter: Budget
    price: Price | None
    """The price in batches."""
    parameters: ParameterFilter
    polling: PollingPolicy = field(default_factory=PollingPolicy)
    since: str = ""
    """The run ignores replies that were stored before this time, ISO 8601."""


_GROUP_SIZE = 200
"""Replies that are stored together, and share a commit."""
_MAX_FETCHES = 3
"""How often results with broken lines are fetched before the broken ones count as missing."""


async def store_results(job: BatchJob, status: BatchStatus, context: BatchContext) -> bool:
    """Store all results of a batch that has ended; return False if it turns out to be another's.

    The journal records this when all results are on disk, so that a killed run repeats it.
    """
    reader = _ResultReader(job, context, is_whole=status.state == "ended")
    if status.state != "failed":
        await call_with_retries(reader.results, context.polling.retries)
    if reader.is_foreign:
        return False
    job.ended(status.state, status.rest, len(reader.pending))
    job.failed(reader.failures)
    job.stored(context.cache.place)
    return True


class _ResultReader:
    """Reads and stores the results of one batch; a retry continues with the pending items."""

    def __init__(self, job: BatchJob, context: BatchContext, *, is_whole: bool) -> None:
        self._job = job
        self._context = context
        self._is_whole = is_whole
        self._fetches = 0
        self.pending = {item_name(job.intent.tag, key): key for key in job.read_keys()}
        """The keys of items without a result, by name."""
        self._uncharged = [failure_for(context.name.provider, job.id) for failure_for in (expired, canceled)]
        self._ours = self._others = 0
        self._unstored: list[tuple[str, Reply]] = []
        self.failures: dict[str, ItemFailure] = {}

    @property
    def is_foreign(self) -> bool:
        """Whether a batch that was found by searching has results, none of them ours."""
        return self._job.was_found and bool(self._others) and not self._ours

    async def results(self) -> None:
        """Fetch the results and store them."""
        self._fetches += 1
        answers, broken = self._read(await self._context.client.results(self._job.id, self._job.intent.form))
        for name, answer in answers.items():
            key = self.pending.pop(name, None)
            if key is not None:
                self._ours += 1
                self._add(key, answer)
            else:  # of another batch, or from an earlier fetch
                self._others += not name.startswith(self._job.intent.tag)
            if len(self._unstored) >= _GROUP_SIZE:
                await self._store()
        await self._store()
        if self.pending and broken is not None and self._fetches < _MAX_FETCHES:
            raise broken
        if self.pending and self._ours and self._is_whole and self._fetches == 1:
            # A batch that was processed completely has all results, so the download may be incomplete.
            raise TransientError(f"{len(self.pending)} results of batch {self._job.id} are missing")

    def _read(
        self, answers: Iterable[tuple[str, Reply | ItemFailure]]
    ) -> tuple[dict[str, Reply | ItemFailure], BrokenRowsError | None]:
        """Return the results by name, and the error if some could not be parsed.

        Two different results for one name are a failure.
        """
        found: dict[str, Reply | ItemFailure] = {}
        try:
            for name, answer in answers:
                if found.setdefault(name, answer) != answer:
                    provider, batch = self._context.name.provider, self._job.id
                    reason = f"{provider} returned two different results for this item in batch {batch}"
                    found[name] = ItemFailure(kind="provider_error", reason=reason)
        except BrokenRowsError as error:
            return found, error
        return found, None

    def _add(self, key: str, answer: Reply | ItemFailure) -> None:
        meter = self._context.meter
        meter.spent.calls += answer not in self._uncharged
        if isinstance(answer, ItemFailure):
            self.failures[key] = self._classify(answer)
            return
        # The duration of a single reply is not known.
        whole = replace(answer, batch=self._job.id, answered_at=utc_now(), dropped=self._job.intent.form.dropped)
        reply = meter.book(whole, self._context.price)
        if reply.finish == "stop":
            self._unstored.append((key, reply))
        else:  # the cache does not store replies that were cut off or declined
            self.failures[key] = ItemFailure(kind="unkept", reply=reply)

    def _classify(self, failure: ItemFailure) -> ItemFailure:
        """Return a failure that lets the item be asked again if it was caused by an unsupported parameter."""
        if failure.kind != "refused":
            return failure
        intent = self._job.intent
        parameter = refused_parameter_in(failure.reason, request_like(intent.form, intent.model))
        if parameter is None:
            return failure
        self._context.parameters.leave_out(parameter)
        return ItemFailure(kind="again", reason=failure.reason, parameter=parameter)

    async def _store(self) -> None:
        """Store replies in the cache; replies from before the batch are replaced."""
        provider, cache = self._job.intent.provider, self._context.cache
        since = max(self._job.intent.created_at, self._context.since)  # the clock may have been set back
        await asyncio.gather(
            *(once(cache, key, partial(_as_is, reply), provider=provider, since=since) for key, reply in self._unstored)
        )
        self._unstored.clear()


async def _as_is(reply: Reply) -> Reply:
    return reply
