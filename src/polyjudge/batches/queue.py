"""Submit and collect the batches of one model."""

import asyncio
import json
from collections.abc import Iterable
from datetime import UTC, datetime

from polyjudge.errors import (
    CapReachedError,
    ProviderError,
    RateLimitedError,
    RefusedError,
    TransientError,
    UnusableError,
)
from polyjudge.providers.budget import most_cost, most_of, most_tokens
from polyjudge.providers.request_support import error_message_in
from polyjudge.providers.retrying import Tries, persist
from polyjudge.providers.services import origin_of
from polyjudge.providers.wire_errors import error_for_reply
from polyjudge.records.requests import BatchForm, ItemFailure, Origin, Reply, Request

from .client import BatchLimits, BatchQuery, OpenBatch, form_of, request_like
from .journal import BatchJob
from .results import BatchContext, take_in

_LEAST_SHARE = 0.1
"""Where a cap leaves room only for fewer requests than this share of the first batches, the run ends."""


class BatchQueue:
    """Where the requests to one model go.

    `jobs` are those of the journal that this run has to do with: what is under way, and what it was told of before.
    """

    def __init__(
        self, means: BatchContext, jobs: Iterable[BatchJob], known: set[str], limits: BatchLimits | None = None
    ) -> None:
        self.origin: Origin = origin_of(means.name.provider)
        self.collected = self._first_collected = 0
        """Requests that were put into batches since collecting was begun, and the first time."""
        self.blocked: CapReachedError | None = None
        """Why not all of them could be."""
        self.under_way: list[BatchJob] = []
        """Batches that this run needs, and whose results are not here yet."""
        self._means = means
        self._limits = limits or means.client.limits
        self._jobs = list(jobs)
        self._spare: list[BatchJob] = []
        """Batches under way of which it is not known yet whether this run needs them."""
        self._known = known
        self._open: dict[BatchForm, OpenBatch] = {}
        self._taken_now: dict[str, BatchJob] = {}
        self._turn = asyncio.Lock()
        for failure in (each for job in self._jobs for each in job.failures.values()):
            if failure.kind == "again":
                means.parameters.leave_out(failure.parameter)

    @property
    def lost(self) -> int:
        """How many of the batches have no id yet."""
        return sum(not job.id for job in self._jobs)

    async def find_lost(self) -> None:
        """Look for batches of which a killed run did not learn the id; what nobody has was never handed over."""
        for job in [job for job in self._jobs if not job.id]:
            try:
                await self._find(job)
            except ProviderError as error:
                raise UnusableError(f"{error}: whether a batch was handed over cannot be told") from None
        self._spare = [job for job in self._jobs if not job.taken_into]
        for job in self._spare:
            self._means.meter.hold_anyway(*_most(job))

    def begin_collecting(self) -> None:
        """Count anew what is put into batches."""
        self.collected, self.blocked = 0, None

    def size(self, request: Request) -> int:
        """Return how many bytes a request takes; what cannot be written is an error of its own."""
        try:
            return len(json.dumps(self._means.client.body(request), ensure_ascii=False).encode())
        except ValueError as error:
            raise error_for_reply(error, self._means.name) from None

    async def put(self, key: str, request: Request) -> None:
        """See that a request is in a batch: one that is under way, or the next."""
        async with self._turn:  # a batch that is full is gone before the next one is begun
            job = next((job for job in self._jobs if key in job.keys and self._may_bring(job, key)), None)
            if job is not None:
                self._need(job)
                return
            allowed, dropped = self._means.parameters.allowed(request)
            bounded, _, _ = most_of(allowed, self._means.meter.caps, self._means.price)
            form, size = form_of(bounded, dropped), self.size(bounded)
            if form in self._open and not self._open[form].has_room_for(size):
                await self._hand_over(form)
            self._add(key, bounded, form, size)
            if form in self._open and self._open[form].is_full:
                await self._hand_over(form)

    async def end_collecting(self) -> bool:
        """Hand over what was not enough for a full batch; say whether there may be more to collect after this."""
        self._first_collected = self._first_collected or self.collected
        if self.blocked is not None and self.collected < _LEAST_SHARE * self._first_collected:
            self._drop_open()
        for form in list(self._open):
            await self._hand_over(form)
        spare, self._spare = self._spare, []
        for job in spare:
            self._means.meter.release(*_most(job))
        return bool(self.collected or self.under_way or (spare and self.blocked))

    async def look_after(self, job: BatchJob) -> int:
        """Ask how far a batch has come, and take it in when it has ended; return how many requests are done."""
        if not job.id:
            await self._find(job)
            return 0
        client, retries = self._means.client, self._means.patience.retries
        status = await persist(lambda: client.status(job.id), retries)
        if status.state == "running":
            return min(status.done, len(job.keys))
        if await take_in(job, status, self._means):
            self._taken_now[job.id] = job
            self._need_no_more(job)
        else:
            job.disown()
        return len(job.keys)

    def failure_of(self, key: str) -> ItemFailure | None:
        """Return what a request came back as from its last batch, where that is neither a reply nor still to come."""
        for job in reversed(self._jobs):
            if key in job.keys and not self._may_bring(job, key):
                failure = job.failures.get(key, job.rest)
                old = failure.kind == "unusable" and job.id not in self._taken_now
                return None if old or failure.kind == "again" else failure
        return None

    def is_new(self, key: str, reply: Reply) -> bool:
        """Say whether a kept reply came in this run, and is used for the first time."""
        job = self._taken_now.get(reply.batch)
        return job is not None and job.keys.mark(key)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._means.client.aclose()

    def _may_bring(self, job: BatchJob, key: str) -> bool:
        """Say whether there may be a reply in a batch: under way, or brought once and lost with the cache since."""
        if not job.taken_into:
            return True
        return job.id not in self._taken_now and not job.unanswered and key not in job.failures

    def _add(self, key: str, request: Request, form: BatchForm, size: int) -> None:
        batch = self._open.setdefault(form, OpenBatch(self._limits))
        if key in batch or self.blocked is not None:
            return
        tokens = most_tokens(request)
        most = sum(tokens), most_cost(tokens, self._means.price)
        try:
            self._means.meter.hold(*most)
        except CapReachedError as error:
            self.blocked = error
            return
        batch.add(key, request, size, most)
        self.collected += 1

    def _drop_open(self) -> None:
        """Let go of what was collected: a cap leaves room for so little that nobody should wait for it."""
        for batch in self._open.values():
            self._means.meter.release(len(batch), *batch.most)
            self.collected -= len(batch)
        self._open.clear()

    def _need(self, job: BatchJob) -> None:
        if job in self.under_way:
            return
        self.under_way.append(job)
        if job in self._spare:
            self._spare.remove(job)
        else:
            self._means.meter.hold_anyway(*_most(job))

    def _need_no_more(self, job: BatchJob) -> None:
        if job in self.under_way:
            self.under_way.remove(job)
            self._means.meter.release(*_most(job))

    async def _hand_over(self, form: BatchForm) -> None:
        """Write down what is to be handed over, then do it; where that is refused or fails, the run cannot go on."""
        batch, name = self._open.pop(form), self._means.name
        if not len(batch):
            return
        job = self._means.journal.intend(batch.intent(self.origin, name.model, form))
        self._jobs.append(job)
        self.under_way.append(job)  # what it can take is held already, request by request
        try:
            await self._submit(job, batch)
        except RefusedError as error:
            self._give_up(job, str(error))
            parameter = error_message_in(str(error), request_like(form, name.model))
            if parameter is None:
                raise UnusableError(f"{error}: {name.provider} does not take the batch") from None
            self._means.parameters.leave_out(parameter)
        except ProviderError as error:
            raise UnusableError(f"{error}: the batch could not be handed over") from None

    async def _submit(self, job: BatchJob, batch: OpenBatch) -> None:
        """Hand over a batch, once: what seems to have failed may have been carried out, and is looked for first."""
        tries = Tries(self._means.patience.retries)
        requests = batch.named(job.intent.tag)
        while True:
            try:
                self._submitted(job, await self._means.client.submit(job.intent.tag, requests))
                return
            except RefusedError:
                raise
            except ProviderError as error:
                looks_s = (0.0,) if isinstance(error, RateLimitedError) else self._means.patience.looks_s
                if await self._look(job, looks_s):
                    return
                await tries.wait_after(error if isinstance(error, TransientError) else TransientError(str(error)))

    async def _find(self, job: BatchJob) -> None:
        age_s = (datetime.now(UTC) - _moment(job)).total_seconds()
        looks_s = self._means.patience.looks_s if age_s < self._means.patience.young_s else (0.0,)
        if not await self._look(job, looks_s):
            self._give_up(job, "nobody has it")

    async def _look(self, job: BatchJob, looks_s: Iterable[float]) -> bool:
        """Look for a batch at the provider; say whether it is there."""
        sought = BatchQuery(job.intent.tag, _moment(job), len(job.keys), frozenset(self._known | job.disowned))
        for wait_s in looks_s:
            await asyncio.sleep(wait_s)
            found = await persist(lambda: self._means.client.find(sought), self._means.patience.retries)
            if found is not None:
                self._submitted(job, found, found=True)
                return True
        return False

    def _submitted(self, job: BatchJob, batch_id: str, *, found: bool = False) -> None:
        job.submitted(batch_id, found=found)
        self._known.add(batch_id)

    def _give_up(self, job: BatchJob, reason: str) -> None:
        job.give_up(reason)
        self._jobs.remove(job)
        self._need_no_more(job)


def _most(job: BatchJob) -> tuple[int, int, float]:
    """Return the most calls, tokens and dollars that a batch can take."""
    return len(job.keys), job.intent.most_tokens, job.intent.most_cost_usd


def _moment(job: BatchJob) -> datetime:
    return datetime.fromisoformat(job.intent.created_at)
