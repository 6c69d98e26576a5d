"""The first phase of `polyjudge vocabulary`: models answer, and every answer is a file at once."""

import argparse
import os
import sys
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from polyjudge.clock import utc_now
from polyjudge.concurrency.pool import StopToken, unless_stopped
from polyjudge.files.atomic import read_timestamp
from polyjudge.providers.local import local_models
from polyjudge.providers.retrying import RetryPolicy
from polyjudge.records.requests import ModelName
from polyjudge.records.vocabulary import WordRecord
from polyjudge.runs.stack import ProviderStack
from polyjudge.suites.vocabulary import WordTask
from polyjudge.suites.vocabulary_generation import Generation, generate_answers
from polyjudge.text.display import one_line

from .heartbeat import Heartbeat
from .progress import ProgressShow
from .vocabulary_job import Job, temperature_of

_ATTEMPTS = 3
_MANY = 1_000_000_000
"""Of tries to reach a server: it answered before the first question, so it may come back."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is left to ask, and how."""

    job: Job
    left: Sequence[WordTask]
    settings: Generation
    again: Path | None
    """Where it is noted that all is asked again, and since when; None where only gaps are filled."""

    def finish(self) -> None:
        """Forget that all was to be asked again, once it was; a part of the suite is not all."""
        if self.again is None:
            return
        records = (self.job.record(task) for task in self.job.every_task)
        if all(record is not None and record.run == self.settings.run for record in records):
            self.again.unlink(missing_ok=True)


def plan_generation(options: argparse.Namespace, job: Job, *, again: Callable[[], bool]) -> Plan:
    """Find what is left: what is missing or failed, or everything where a finished run is done `again`."""
    job.records.refuse_foreign()
    temperature, note = temperature_of(options), options.output / ".asking-again"
    left = [] if options.reread else [task for task in job.tasks if not _is_answered(job, task, temperature)]
    is_again = not options.reread and (note.exists() or options.refresh or (not left and again()))
    run = ""
    if is_again:
        run = read_timestamp(note) if note.exists() or not options.dry_run else utc_now()
        left = [task for task in job.tasks if not _is_answered(job, task, temperature, run)]
    settings = Generation(temperature, options.max_answer_tokens, options.model_concurrency, run)
    return Plan(job, left, settings, note if is_again else None)


def _is_answered(job: Job, task: WordTask, temperature: float, run: str = "") -> bool:
    record = job.record(task)
    if record is None or record.response is None or (run and record.run != run):
        return False
    return record.temperature in (None, temperature)  # other programs write records of this form, too


async def answer(plan: Plan, options: argparse.Namespace, stop: StopToken) -> None:
    """Ask what is left; a server that is not there is noticed before the first question."""
    job, left = plan.job, plan.left
    _renew_references(job)
    if not left:
        return
    with Heartbeat(lambda: "waiting for the local server"):
        if await unless_stopped(local_models(timeout_s=options.timeout), stop) is None:
            return
    access = _access(options)
    is_verbose = os.environ.get("VERBOSE") == "1"

    def keep(task: WordTask, record: WordRecord) -> None:
        job.records.write(record, task.prompt)

    with ProgressShow(len(left), access.meter.spent, doing="answering", wrong="errors") as progress:
        asking = generate_answers(
            lambda model: access.open(ModelName("local", model)), left, plan.settings, stop=stop, done=keep
        )
        async with aclosing(asking):
            async for task, record in asking:
                if is_verbose:
                    progress.line(_line(task, record))
                progress.advance(unjudged=record.response is None, current=f"{task.model}: {task.entry.word}")


def print_answered(job: Job) -> None:
    """Say of each model how many words it answered, and why not the others."""
    records: dict[str, list[WordRecord | None]] = defaultdict(list)
    for task in job.tasks:
        records[task.model].append(job.record(task))
    for model, found in records.items():
        answered = [record for record in found if record is not None and record.response is not None]
        empty = sum(not (record.response or "").strip() for record in answered)
        errors = [record.error for record in found if record is not None and record.response is None]
        told = f"{len(answered)} of {len(found)} answered"
        told += f", {empty} with nothing" if empty else ""
        told += f", {len(errors)} failed ({one_line(errors[0], 200)})" if errors else ""
        told += f", {found.count(None)} not asked" if None in found else ""
        print(f"{one_line(model, 200)}: {told}", file=sys.stderr)


def unanswered(job: Job) -> int:
    """Count the tasks without an answer."""
    records = (job.record(task) for task in job.tasks)
    return sum(record is None or record.response is None for record in records)


def _renew_references(job: Job) -> None:
    """Bring the reference in each record up to the suite: an answer stays good when a definition is mended."""
    for task in job.tasks:
        record = job.record(task)
        if record is not None and record.reference_definition != task.entry.answer:
            job.records.write(replace(record, reference_definition=task.entry.answer), task.prompt)


def _access(options: argparse.Namespace) -> ProviderStack:
    """Return how local models are reached: not cached, since the weights behind a name may change."""
    retries = RetryPolicy(
        attempts=_ATTEMPTS, rate_limited_attempts=_ATTEMPTS, unreachable_attempts=_MANY, first_wait_s=1.0
    )
    return ProviderStack(concurrency=options.model_concurrency, retries=retries, timeout_s=options.timeout)


def _line(task: WordTask, record: WordRecord) -> str:
    told = "ok" if record.response is not None else f"error: {record.error}"
    return one_line(f"{task.model} · {task.entry.word} · {task.prompt.upper()}: {told}", 300)
