"""`polyjudge vocabulary generate`: ask every model about every word."""

import argparse
import os
import sys
from collections import defaultdict
from contextlib import nullcontext
from dataclasses import dataclass

from polyjudge.errors import UnusableError
from polyjudge.files.atomic import lock_folder
from polyjudge.records.outcomes import Item
from polyjudge.records.runs import Limits
from polyjudge.records.vocabulary import WordRecord
from polyjudge.runs.run import Run
from polyjudge.suites.vocabulary import Job, WordTask
from polyjudge.suites.vocabulary_generation import (
    RETRIES,
    AnswerStore,
    Generation,
    WordGenerator,
    is_answer,
    unanswered,
)
from polyjudge.text.display import one_line

from .environment import load_environment
from .options import add_timing_options, share
from .progress import RunProgress
from .signals import RESUME, Signals, stop_on_signals
from .vocabulary_options import (
    add_model_options,
    add_suite_options,
    job_to_ask,
    need_models_file,
    open_suite,
    temperature_of,
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_suite_options(parser)
    add = parser.add_argument
    add("--refresh", action="store_true", help="ask again about all words, including those already answered")
    too_many = "exit 3 when a larger share fails; default: %(default)s"
    add("--max-failed", type=share, default=0.2, metavar="SHARE", help=too_many)
    add_model_options(parser, concurrency="--concurrency")
    calls = parser.add_argument_group("calls").add_argument
    add_timing_options(calls, timeout_s=300.0)
    calls("--dry-run", action="store_true", help="print the number of calls, and stop")


def run(options: argparse.Namespace) -> int:
    """Ask about words without an answer; if all were answered, ask about all again."""
    load_environment()
    choice = open_suite(options)
    need_models_file(options, choice)
    temperature = temperature_of(options)
    job = job_to_ask(options, choice)
    with nullcontext() if options.dry_run else lock_folder(options.output):
        read_only, refresh = options.dry_run, options.refresh
        store = AnswerStore(job, temperature, refresh=refresh, restarts=lambda: True, read_only=read_only)
        if options.dry_run:
            print(f"answers:     {len(job.tasks)}\nmodel calls: {store.left}")
            return 0
        early = answer(options, job, store)
        if early is not None and (left := unanswered(job)):
            return early.explain(f"{left} of {len(job.tasks)} answers are missing. {RESUME}")
        store.forget_restart()
    return _code(options, job)


@dataclass(frozen=True, slots=True)
class EarlyEnd:
    """A run that was stopped by a signal, the deadline or a cap."""

    signals: Signals
    why: object

    def explain(self, left: str) -> int:
        """Print why the run ended and what is left; return the exit code."""
        return self.signals.explain(self.why, left)


def answer(options: argparse.Namespace, job: Job, store: AnswerStore) -> EarlyEnd | None:
    """Ask about the rest, print how much each model answered, and return why the run ended if that was early."""
    early = _ask(options, job, store) if store.left else None
    _print_answered(job)
    return early


def _ask(options: argparse.Namespace, job: Job, store: AnswerStore) -> EarlyEnd | None:
    settings = Generation(store.temperature, options.max_answer_tokens, options.timeout)
    generator, tasks = WordGenerator(job, settings), {job.name(task): task for task in job.tasks}
    limits = Limits(
        concurrency=options.model_concurrency, timeout_s=options.timeout, deadline_s=options.deadline, max_unjudged=1.0
    )
    is_verbose, known = os.environ.get("VERBOSE") == "1", frozenset(store.ahead())

    def detail(item: Item) -> str:
        return _detail(job, tasks[item.id]) if is_verbose and item.id not in known else ""

    run = Run(generator.items(), generator, output=store, cache=None, limits=limits, retries=RETRIES)
    progress = RunProgress(
        run.budget.spent,
        doing="answering",
        wrong="errors",
        is_wrong=lambda outcome: not is_answer(outcome),
        current=lambda item: f"{tasks[item.id].model}: {tasks[item.id].entry.word}",
        detail=detail,
    )
    with stop_on_signals(run) as signals, progress:
        summary = run.execute(progress)
    if isinstance(summary.stopped_by, UnusableError):  # no server
        raise summary.stopped_by
    return EarlyEnd(signals, summary.stopped_by) if signals.interrupted or summary.stopped_by else None


def _detail(job: Job, task: WordTask) -> str:
    record = job.record(task)
    state = "ok" if record is None or record.response is not None else f"error: {record.error}"
    return one_line(f"{task.model} · {task.entry.word} · {task.prompt.upper()}: {state}", 300)


def _print_answered(job: Job) -> None:
    """Print for each model how many words it answered, and why it did not answer the others."""
    records: dict[str, list[WordRecord | None]] = defaultdict(list)
    for task in job.tasks:
        records[task.model].append(job.record(task))
    for model, found in records.items():
        answered = [record for record in found if record is not None and record.response is not None]
        empty = sum(not (record.response or "").strip() for record in answered)
        errors = [record.error for record in found if record is not None and record.response is None]
        counts = f"{len(answered)} of {len(found)} answered"
        counts += f", {empty} with an empty text" if empty else ""
        counts += f", {len(errors)} failed ({one_line(errors[0], 200)})" if errors else ""
        counts += f", {found.count(None)} not asked" if None in found else ""
        print(f"{one_line(model, 200)}: {counts}", file=sys.stderr)


def _code(options: argparse.Namespace, job: Job) -> int:
    failed, total = unanswered(job), len(job.tasks)
    print(f"answers: {options.output}", file=sys.stderr)
    if failed == total or failed > options.max_failed * total:
        print(
            f"polyjudge: {failed} of {total} answers failed. Run the same command again to retry them.", file=sys.stderr
        )
        return 3
    return 0
