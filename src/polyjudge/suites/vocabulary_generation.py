"""Ask models about words, one model at a time, and store their answers as word records."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import cast

from msgspec.structs import replace

from polyjudge.clock import utc_now, utc_second
from polyjudge.concurrency.pool import Slots, StopToken, unless_stopped
from polyjudge.errors import ProviderError, UnusableError
from polyjudge.files.atomic import read_timestamp
from polyjudge.judges.asking import ProviderSource, Question, provenance_of
from polyjudge.judges.base import ModelAddresses
from polyjudge.judges.reply_text import split_reasoning
from polyjudge.providers.base import Provider, close_provider
from polyjudge.providers.local import local_models
from polyjudge.providers.retrying import RetryPolicy
from polyjudge.providers.services import address_of
from polyjudge.records.fingerprint import fingerprint
from polyjudge.records.outcomes import Failure, FailureKind, Generated, Item, RunOutcome
from polyjudge.records.requests import ModelName, Reply, Request
from polyjudge.records.vocabulary import WordRecord
from polyjudge.version import __version__

from .vocabulary import Job, WordTask

_PROVIDER = "local"
_ATTEMPTS = 3
_UNLIMITED = 1_000_000_000
"""Attempts to reach a server that stopped responding: it responded at the start, so it may return."""
RETRIES = RetryPolicy(
    attempts=_ATTEMPTS, rate_limited_attempts=_ATTEMPTS, unreachable_attempts=_UNLIMITED, first_wait_s=1.0
)
"""Retries of a local model."""
_CUT_OFF = "the reply was cut off before the answer; raise the limit of output tokens"


@dataclass(frozen=True, slots=True)
class Generation:
    """Settings of the requests to models."""

    temperature: float
    max_tokens: int | None = None
    timeout_s: float = 300.0
    """How long to wait for the server before the first request."""


class WordGenerator:
    """Asks local models about words, one model at a time, because the server loads one at a time.

    If the server does not have a model, all its words fail at once; the other models are still asked. Local answers
    are not cached, because the weights behind a name may change.
    """

    def __init__(self, job: Job, settings: Generation, source: ProviderSource | None = None) -> None:
        self._job = job
        self._settings = settings
        self._source = source
        self._tasks = {job.name(task): task for task in job.tasks}
        self.fingerprint = fingerprint([sorted(job.vocabulary.prompts.items())], 16)
        self._turn = asyncio.Condition()
        self._model = ""
        self._asking = 0
        self._provider: Provider | None = None
        self._unusable: UnusableError | None = None

    @property
    def models(self) -> ModelAddresses:
        """The models with their address."""
        names = dict.fromkeys(task.model for task in self._job.tasks)
        return tuple((ModelName(_PROVIDER, name), address_of(_PROVIDER)) for name in names)

    def items(self) -> list[Item]:
        """Return the items of all tasks, without reference definitions."""
        return [Item(name, task.text) for name, task in self._tasks.items()]

    def bind(self, source: ProviderSource) -> "WordGenerator":
        """Return this generator with its providers opened by a run."""
        return WordGenerator(self._job, self._settings, source)

    async def prepare(
        self, stored: Iterable[tuple[str, RunOutcome]], *, concurrency: int | Slots, stop: StopToken
    ) -> None:
        """Wait for the server, so that a missing one is an error before the first request."""
        del stored, concurrency
        await unless_stopped(local_models(timeout_s=self._settings.timeout_s), stop)

    async def judge(self, item: Item, *, repeat: int = 0) -> RunOutcome:
        """Return the answer of the model, or the failure."""
        task, settings = self._tasks[item.id], self._settings
        request = Request(
            prompt=task.text,
            model=task.model,
            temperature=settings.temperature,
            max_tokens=settings.max_tokens,
            repeat=repeat,
        )
        async with self._turn_of(task.model) as provider:
            if self._unusable is not None:
                return self._failure(provider, request, self._unusable, attempts=0)
            try:
                return self._answer(provider, request, await provider.complete(request))
            except UnusableError as error:
                self._unusable = error
                return self._failure(provider, request, error, attempts=1)
            except ProviderError as error:
                return self._failure(provider, request, error, attempts=error.attempts)

    async def aclose(self) -> None:
        """Close the connections of the last model."""
        if self._provider is not None:
            await close_provider(self._provider)

    @asynccontextmanager
    async def _turn_of(self, model: str) -> AsyncGenerator[Provider]:
        """Wait until no other model has requests in flight, then yield the provider of the model."""
        async with self._turn:
            await self._turn.wait_for(lambda: self._model == model or not self._asking)
            if self._provider is None or self._model != model:
                await self.aclose()
                assert self._source is not None
                self._model, self._unusable = model, None
                self._provider = self._source.open(ModelName(_PROVIDER, model))
            self._asking += 1
        try:
            yield self._provider
        finally:
            self._asking -= 1
            async with self._turn:
                self._turn.notify_all()

    def _answer(self, provider: Provider, request: Request, reply: Reply) -> Generated:
        answer, thought = split_reasoning(reply.text, in_prose=True)
        return Generated(
            text=answer.strip(),
            model=reply.model,
            duration_ms=reply.duration_ms,
            cached=reply.cached,
            reasoning="\n".join(filter(None, (reply.reasoning.strip(), thought))),
            finish=reply.finish,
            provenance=provenance_of(provider.origin, request, self._question(request), reply),
        )

    def _failure(
        self, provider: Provider, request: Request, error: ProviderError | UnusableError, *, attempts: int
    ) -> Failure:
        """Return the failure; `attempts` is 0 if the model is known to be unusable and was not asked."""
        reply = Reply(text="", model="", attempts=attempts)
        provenance = provenance_of(provider.origin, request, self._question(request), reply)
        kind = cast(FailureKind, error.kind) if isinstance(error, ProviderError) else "provider_error"
        return Failure(str(error), kind, model=request.model, provenance=provenance)

    def _question(self, request: Request) -> Question:
        return Question(request.prompt, None, self._job.vocabulary.name, self.fingerprint)


def is_answer(outcome: RunOutcome) -> bool:
    """Return whether a model answered, if only with an empty text; a reply cut off before the answer is none."""
    return isinstance(outcome, Generated) and (bool(outcome.text) or outcome.finish != "length")


class AnswerStore:
    """Stores answers as word records as they arrive: the records of a folder serve as its run file.

    Answers at the same temperature are not requested again. A finished run is repeated with `refresh`, or if nothing is
    missing and `restarts` returns true; it has a start marker, so that records of the run before do not count.
    With `reread` nothing is requested, and with `read_only` nothing is written.
    """

    def __init__(
        self,
        job: Job,
        temperature: float,
        *,
        refresh: bool = False,
        reread: bool = False,
        restarts: Callable[[], bool] = lambda: False,
        read_only: bool = False,
    ) -> None:
        job.records.refuse_foreign()
        self._job = job
        self.temperature = temperature
        self._tasks = {job.name(task): task for task in job.tasks}
        self._marker = job.records.folder / ".asking-again"
        self._waiting = dict[int, RunOutcome]()
        self._written = set[str]()
        self.started_at = ""
        """When a repeated run was started; empty if only missing answers are requested."""
        self._asks = not reread
        self._known = self._answers()
        has_marker = self._marker.exists()
        self._is_rerun = self._asks and (has_marker or refresh or (not self.left and restarts()))
        self._is_new = self._is_rerun and not has_marker and not read_only
        if self._is_rerun:
            self.started_at = utc_now() if read_only and not has_marker else read_timestamp(self._marker)
            self._known = self._answers()
        if not read_only:
            job.records.remove_leftovers()
            _renew_references(job)

    @property
    def left(self) -> int:
        """The number of answers to request."""
        return len(self._tasks) - len(self._known) if self._asks else 0

    def stored(self) -> Iterator[tuple[str, RunOutcome]]:
        """Yield the stored answers before the first missing one."""
        for name in self._tasks:
            if name not in self._known:
                return
            yield name, self._known[name]

    def ahead(self) -> Mapping[str, RunOutcome]:
        """Return all stored answers."""
        return self._known

    def append(self, item: Item, outcome: RunOutcome) -> None:
        """Write the record of an item, unless `append_ahead` has."""
        if item.id in self._known or item.id in self._written:
            return
        task = self._tasks[item.id]
        self._job.records.write(word_record(task, outcome, self.temperature, self.started_at), task.prompt)
        self._written.add(item.id)

    def append_ahead(self, item: Item, outcome: RunOutcome) -> int:
        """Write the record of an item out of order; return the position for `read_ahead`."""
        self.append(item, outcome)
        self._waiting[len(self._written)] = outcome
        return len(self._written)

    def read_ahead(self, position: int) -> RunOutcome:
        """Return an outcome that was written out of order."""
        return self._waiting.pop(position)

    def finish(self) -> None:
        """Keep the start marker: judging the answers may be part of the same run."""

    def forget_restart(self) -> None:
        """Remove the start marker if the whole suite was answered again."""
        records = (self._job.record(task) for task in self._job.every_task)
        if self._is_rerun and all(record is not None and record.run == self.started_at for record in records):
            self._marker.unlink(missing_ok=True)

    def discard_if_empty(self) -> None:
        """Remove the start marker of this run if it wrote nothing."""
        if self._is_new and not self._written:
            self._marker.unlink(missing_ok=True)

    def close(self) -> None:
        """Do nothing: no file stays open between two answers."""

    def _answers(self) -> dict[str, RunOutcome]:
        """Return the answers that need no request, by task id."""
        answers = dict[str, RunOutcome]()
        for name, task in self._tasks.items():
            record = self._job.record(task)
            if record is None or record.response is None or (self.started_at and record.run != self.started_at):
                continue
            if record.temperature in (None, self.temperature):  # records of other programs may have none
                answers[name] = Generated(record.response, record.model_answered, cached=True)
        return answers


def _renew_references(job: Job) -> None:
    """Update the reference in each record: an answer stays valid when a definition is corrected."""
    for task in job.tasks:
        record = job.record(task)
        if record is not None and record.reference_definition != task.entry.answer:
            job.records.write(replace(record, reference_definition=task.entry.answer), task.prompt)


def word_record(task: WordTask, outcome: RunOutcome, temperature: float, run: str) -> WordRecord:
    """Return the record of an outcome; `run` is the start time of a repeated run."""
    record = WordRecord(
        model=task.model,
        word=task.entry.word,
        prompt=task.text,
        response=None,
        reference_definition=task.entry.answer,
        timestamp=utc_second(),
        temperature=temperature,
        run=run,
        polyjudge_version=__version__,
    )
    asked = outcome.provenance
    if asked is not None:
        record = replace(record, base_url=asked.base_url, attempts=asked.attempts or None)
    if not isinstance(outcome, Generated):
        return replace(record, error=outcome.reason)
    if asked is not None:
        record = replace(
            record, dropped=asked.dropped, input_tokens=asked.input_tokens, output_tokens=asked.output_tokens
        )
    return replace(
        record,
        response=outcome.text if is_answer(outcome) else None,
        error="" if is_answer(outcome) else _CUT_OFF,
        reasoning=outcome.reasoning,
        finish=outcome.finish,
        model_answered=outcome.model,
        duration_ms=outcome.duration_ms,
    )


def unanswered(job: Job) -> int:
    """Count the tasks without an answer."""
    records = (job.record(task) for task in job.tasks)
    return sum(record is None or record.response is None for record in records)
