"""Ask models about words, one model after the other."""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from itertools import groupby

from polyjudge.clock import utc_second
from polyjudge.concurrency.pool import StopToken, in_order
from polyjudge.errors import ProviderError, UnusableError
from polyjudge.judges.reply_text import split_reasoning
from polyjudge.providers.base import Provider, close_provider
from polyjudge.records.requests import Reply, Request
from polyjudge.records.vocabulary import WordRecord
from polyjudge.version import __version__

from .vocabulary import WordTask

Answered = tuple[WordTask, WordRecord]


@dataclass(frozen=True, slots=True)
class Generation:
    """How models are asked."""

    temperature: float
    max_tokens: int | None = None
    concurrency: int = 4
    run: str = ""
    """When the run was begun; the records say so."""


async def generate_answers(
    open_model: Callable[[str], Provider],
    tasks: Sequence[WordTask],
    settings: Generation,
    *,
    stop: StopToken,
    done: Callable[[WordTask, WordRecord], None],
) -> AsyncGenerator[Answered]:
    """Yield what each model answered to its tasks, or why it did not; `done` is told as soon as it has.

    A model that the server does not have fails all its words at once, and the others are asked all the same.
    """
    for model, group in groupby(tasks, key=lambda task: task.model):
        provider = open_model(model)
        asking = _Asking(provider, settings, done)
        try:
            async with aclosing(in_order(asking.one, group, concurrency=settings.concurrency, stop=stop)) as answers:
                async for answered in answers:
                    yield answered
        finally:
            await close_provider(provider)
        if stop.requested:
            return


class _Asking:
    """Asks one model."""

    def __init__(self, provider: Provider, settings: Generation, done: Callable[[WordTask, WordRecord], None]) -> None:
        self._provider = provider
        self._settings = settings
        self._done = done
        self._unusable: UnusableError | None = None

    async def one(self, task: WordTask) -> Answered:
        record = await self._record(task)
        self._done(task, record)
        return task, record

    async def _record(self, task: WordTask) -> WordRecord:
        if self._unusable is not None:
            return self._failed(task, str(self._unusable), attempts=None)
        settings = self._settings
        request = Request(
            prompt=task.text, model=task.model, temperature=settings.temperature, max_tokens=settings.max_tokens
        )
        try:
            return self._answered(task, await self._provider.complete(request))
        except UnusableError as error:
            self._unusable = error
            return self._failed(task, str(error), attempts=1)
        except ProviderError as error:
            return self._failed(task, str(error), attempts=error.attempts)

    def _answered(self, task: WordTask, reply: Reply) -> WordRecord:
        answer, thought = split_reasoning(reply.text, in_prose=True)
        response, reasoning = answer.strip(), "\n".join(filter(None, (reply.reasoning.strip(), thought)))
        error = ""
        if not response and reply.finish == "length":
            error = "the answer was cut off before it began; give the model more room"
        return WordRecord(
            model=task.model,
            word=task.entry.word,
            prompt=task.text,
            response=None if error else response,
            reference_definition=task.entry.answer,
            timestamp=utc_second(),
            error=error,
            reasoning=reasoning,
            finish=reply.finish,
            temperature=self._settings.temperature,
            dropped=reply.dropped,
            model_answered=reply.model,
            base_url=self._provider.origin.base_url,
            attempts=reply.attempts,
            duration_ms=reply.duration_ms,
            input_tokens=reply.input_tokens,
            output_tokens=reply.output_tokens,
            run=self._settings.run,
            polyjudge_version=__version__,
        )

    def _failed(self, task: WordTask, error: str, *, attempts: int | None) -> WordRecord:
        return WordRecord(
            model=task.model,
            word=task.entry.word,
            prompt=task.text,
            response=None,
            reference_definition=task.entry.answer,
            timestamp=utc_second(),
            error=error,
            temperature=self._settings.temperature,
            base_url=self._provider.origin.base_url,
            attempts=attempts,
            run=self._settings.run,
            polyjudge_version=__version__,
        )
