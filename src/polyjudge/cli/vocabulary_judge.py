"""`polyjudge vocabulary judge`: what models answered earlier is judged."""

import argparse
import sys
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

from polyjudge.cache.protocol import Cache
from polyjudge.concurrency.pool import StopToken
from polyjudge.concurrency.sync import run_sync
from polyjudge.errors import DataError, MissingExtraError, MissingKeyError
from polyjudge.files.atomic import only_run_in
from polyjudge.formats.vocabulary import JUDGEMENTS_FILE, JudgementLog, recorded_models
from polyjudge.judges.base import close_judge
from polyjudge.judges.word import WordJudge
from polyjudge.judges.word_verdicts import WordWording
from polyjudge.records.requests import ModelName
from polyjudge.records.vocabulary import Judgement
from polyjudge.suites.vocabulary import wording_of
from polyjudge.text.display import harmless

from .environment import load_environment
from .options import open_access, open_cache
from .stopping import Ended, until_stopped
from .summaries import print_estimate, spent_line
from .vocabulary_job import Choice, Job, add_suite_options, job_of, open_suite, recorded_job
from .vocabulary_judging import Judging, add_word_judging_options, judge_all, judging_began, word_judges
from .vocabulary_showing import add_showing_options, exit_code, show_summary


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_suite_options(parser)
    add_showing_options(parser)
    add_word_judging_options(parser)


def run(options: argparse.Namespace) -> int:
    """Judge what models answered, and sum up."""
    load_environment()
    choice, names = open_suite(options), word_judges(options)
    wording = wording_of(choice.suite)
    if options.show_prompt is not None:
        return show_prompts(choice, wording, options)
    job = recorded_job(options, choice)
    try:
        with open_judging(options, wording, names) as judging:
            return run_sync(_run(options, job, judging))
    except (MissingKeyError, MissingExtraError) as error:
        return skip(options, error)


def skip(options: argparse.Namespace, error: MissingKeyError | MissingExtraError) -> int:
    """Say what is missing for a judge, and return the exit code."""
    print(error.instead("judging") if isinstance(error, MissingKeyError) else error, file=sys.stderr)
    return 3 if options.require_judge else 0


@contextmanager
def open_judging(options: argparse.Namespace, wording: WordWording, names: list[ModelName]) -> Generator[Judging]:
    """Open the judges, and the file of judgements, which no other process may then write."""
    cache: Cache | None = open_cache(options)
    try:
        began = judging_began(options)
        access = open_access(options, cache, began)
        most, opened = options.max_judge_tokens, {str(name): (name.model, access.open(name)) for name in names}
        judges = {name: WordJudge(wording, model, each, max_tokens=most) for name, (model, each) in opened.items()}
        addresses = {name: each.origin.base_url for name, (_, each) in opened.items()}
        with (
            nullcontext() if options.dry_run else only_run_in(options.output),
            JudgementLog(options.output / JUDGEMENTS_FILE, read_only=options.dry_run) as log,
        ):
            log.kept()  # a file that cannot be read is noticed before anybody is asked
            yield Judging(wording, judges, addresses, access, log, options, began)
    finally:
        if cache is not None:
            run_sync(cache.aclose())


async def _run(options: argparse.Namespace, job: Job, judging: Judging) -> int:
    async def work(stop: StopToken) -> list[Judgement]:
        return await judge_then_close(judging, job, stop)

    ended = await until_stopped(work, deadline_s=options.deadline)
    return finish(options, job, judging, ended, ended.result)


async def judge_then_close(judging: Judging, job: Job, stop: StopToken) -> list[Judgement]:
    """Judge, and close what the judges have open."""
    try:
        return await judge_all(judging, job, stop)
    finally:
        for judge in judging.judges.values():
            await close_judge(judge)


def finish(
    options: argparse.Namespace,
    job: Job,
    judging: Judging,
    ended: Ended[Any],
    judgements: Sequence[Judgement],
    more: Mapping[str, int] | None = None,
) -> int:
    """Sum up, say what is wrong, and return the exit code."""
    questions, left = len(job.tasks) * len(judging.judges), left_to_judge(job, judging, judgements)
    if judging.access.estimate is not None and not ended.stop.requested:
        form = "json" if options.format == "json" else "text"
        print_estimate(judging.access.estimate, questions, form, more)
        return 0
    if ended.cut_short(left):
        code = ended.explain(f"{left} of {questions} answers were not judged")
        print("polyjudge: what was done is kept; the same command goes on from there", file=sys.stderr)
        return code
    report = show_summary(options, judgements)
    print(f"asked:   {spent_line(judging.access.meter.spent)}", file=sys.stderr)
    return exit_code(options, report)


def left_to_judge(job: Job, judging: Judging, judgements: Sequence[Judgement]) -> int:
    """Count the questions of a run that have no judgement; `judgements` may hold those of the rest of the suite too."""
    return max(0, len(job.tasks) * len(judging.judges) - len(judgements))


def show_prompts(choice: Choice, wording: WordWording, options: argparse.Namespace) -> int:
    """Print what models and judges are asked about a word; where a model answered already, with its answer."""
    word = options.show_prompt
    job = job_of(options, choice, tuple(recorded_models(options.output)) or ("…",))
    tasks = [task for task in job.every_task if task.entry.word == word]
    if not tasks:
        raise DataError(f"holds no word {word!r}", path=choice.suite.name)
    for task in tasks[: len(choice.suite.prompts)]:
        record = job.record(task)
        response = (record and record.response) or "…"
        print(f"to the model:\n{harmless(task.text)}\n\nto the judge:")
        print(f"{harmless(task.judge_prompt(wording, response))}\n")
    return 0
