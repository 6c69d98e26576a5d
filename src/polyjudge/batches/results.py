"""Store the results of a batch in the cache, and its failures in the journal."""

import asyncio
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial

from msgspec.structs import replace

from polyjudge.cache.protocol import Cache
from polyjudge.clock import utc_now
from polyjudge.errors import TransientError
from polyjudge.providers.budget import Budget
from polyjudge.providers.caching import once
from polyjudge.providers.request_support import ParameterFilter, error_message_in
from polyjudge.providers.retrying import RetryPolicy, persist
from polyjudge.records.requests import ItemFailure, ModelName, Price, Reply

from .client import BatchClient, BatchStatus, BrokenRowsError, canceled, expired, item_name, request_like
from .journal import BatchJob, BatchJournal


@dataclass(frozen=True, slots=True)
class PollingPolicy:
    """Waits between calls about batches."""

    first_wait_s: float = 2.0
    longest_wait_s: float = 60.0
    growth: float = 1.5
    looks_s: tuple[float, ...] = (0.0, 2.0, 5.0, 10.0)
    """Waits before each look for a batch that may just have been handed over: lists can lag behind."""
    young_s: float = 60.0
    """A batch that was begun longer ago than this is looked for only once."""
    unanswered: int = 10
    """So many questions in a row without an answer, each after its own tries, end the waiting."""
    retries: RetryPolicy = field(default_factory=RetryPolicy)

    def waits(self) -> Iterator[float]:
        """Yield the waits between two looks at the batches under way."""
        wait_s = self.first_wait_s
        while True:
            yield wait_s
            wait_s = min(wait_s * self.growth, self.longest_wait_s)


@dataclass(frozen=True, slots=True)
class BatchContext:
    """Who is asked, where it is written down, and who pays."""

    name: ModelName
    client: BatchClient
    journal: BatchJournal
    cache: Cache
    meter: Budget
    price: Price | None
    """What a batch costs, not what single calls do."""
    parameters: ParameterFilter
    patience: PollingPolicy = field(default_factory=PollingPolicy)
    since: str = ""
    """From when on the run takes replies from the cache, ISO 8601."""


_AT_ONCE = 200
"""Replies that are written together, and share a wait for the disk."""
_MOST_FETCHES = 3
"""Results with lines that cannot be read are fetched so often; then the others count, and these are missing."""


async def take_in(job: BatchJob, status: BatchStatus, means: BatchContext) -> bool:
    """Keep all results of a batch that has ended; False where it turns out to be another's.

    It counts as taken in only when everything is on disk, so a run that is killed meanwhile does this again.
    """
    intake = _Intake(job, means, is_whole=status.state == "ended")
    if status.state != "failed":
        await persist(intake.results, means.patience.retries)
    if intake.is_anothers:
        return False
    job.ended(status.state, status.rest, len(intake.left))
    job.failed(intake.failures)
    job.taken(means.cache.place)
    return True


class _Intake:
    """One batch while it is taken in; tried anew, it goes on with what is left."""

    def __init__(self, job: BatchJob, means: BatchContext, *, is_whole: bool) -> None:
        self._job = job
        self._means = means
        self._is_whole = is_whole
        self._fetches = 0
        self.left = {item_name(job.intent.tag, key): key for key in job.read_keys()}
        """Keys of items without a result, by their names."""
        self._never_made = [told(means.name.provider, job.id) for told in (expired, canceled)]
        self._ours = self._others = 0
        self._waiting: list[tuple[str, Reply]] = []
        self.failures: dict[str, ItemFailure] = {}

    @property
    def is_anothers(self) -> bool:
        """A batch that was looked for has results, and none of them is ours."""
        return self._job.was_found and bool(self._others) and not self._ours

    async def results(self) -> None:
        """Fetch the results and keep them."""
        self._fetches += 1
        answers, broken = self._read(await self._means.client.results(self._job.id, self._job.intent.form))
        for name, answer in answers.items():
            key = self.left.pop(name, None)
            if key is not None:
                self._ours += 1
                self._settle(key, answer)
            else:  # another's, or one that came with an earlier fetch
                self._others += not name.startswith(self._job.intent.tag)
            if len(self._waiting) >= _AT_ONCE:
                await self._keep()
        await self._keep()
        if self.left and broken is not None and self._fetches < _MOST_FETCHES:
            raise broken
        if self.left and self._ours and self._is_whole and self._fetches == 1:
            # A batch that ran to its end has them all; perhaps not all came through.
            raise TransientError(f"{len(self.left)} results of batch {self._job.id} are missing")

    def _read(
        self, answers: Iterable[tuple[str, Reply | ItemFailure]]
    ) -> tuple[dict[str, Reply | ItemFailure], BrokenRowsError | None]:
        """Return the results by their names; two different ones of a name are a failure.

        With them comes the error where some could not be read.
        """
        found: dict[str, Reply | ItemFailure] = {}
        try:
            for name, answer in answers:
                if found.setdefault(name, answer) != answer:
                    told = f"{self._means.name.provider} gave two different results for this in batch {self._job.id}"
                    found[name] = ItemFailure(kind="provider_error", reason=told)
        except BrokenRowsError as error:
            return found, error
        return found, None

    def _settle(self, key: str, answer: Reply | ItemFailure) -> None:
        meter = self._means.meter
        meter.spent.calls += answer not in self._never_made
        if isinstance(answer, ItemFailure):
            self.failures[key] = self._understood(answer)
            return
        # How long one answer took within the batch, nobody tells.
        whole = replace(answer, batch=self._job.id, answered_at=utc_now(), dropped=self._job.intent.form.dropped)
        reply = meter.book(whole, self._means.price)
        if reply.finish == "stop":
            self._waiting.append((key, reply))
        else:  # the cache does not keep what was cut off or declined
            self.failures[key] = ItemFailure(kind="unkept", reply=reply)

    def _understood(self, failure: ItemFailure) -> ItemFailure:
        """Learn from a complaint about a parameter: without it the question can be asked again."""
        if failure.kind != "refused":
            return failure
        intent = self._job.intent
        parameter = error_message_in(failure.reason, request_like(intent.form, intent.model))
        if parameter is None:
            return failure
        self._means.parameters.leave_out(parameter)
        return ItemFailure(kind="again", reason=failure.reason, parameter=parameter)

    async def _keep(self) -> None:
        """Put replies into the cache; what is there from before the batch is replaced."""
        provider, cache = self._job.intent.provider, self._means.cache
        since = max(self._job.intent.created_at, self._means.since)  # the clock may have gone back between the two
        await asyncio.gather(
            *(once(cache, key, partial(_given, reply), provider=provider, since=since) for key, reply in self._waiting)
        )
        self._waiting.clear()


async def _given(reply: Reply) -> Reply:
    return reply
