"""`polyjudge vocabulary judge`: what models answered earlier is judged."""

import argparse
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any

from polyjudge.cache import JudgeCache
from polyjudge.engine import Stop, run_sync
from polyjudge.errors import DataError, MissingExtraError, MissingKeyError
from polyjudge.files import JUDGEMENTS_FILE, JudgementLog
from polyjudge.judges import WordJudge, WordWording, close_judge
from polyjudge.providers import ModelName
from polyjudge.records import Judgement
from polyjudge.suites import wording_of
from polyjudge.text import harmless

from .options import open_access, open_cache
from .settings import load_environment
from .stopping import Ended, until_stopped
from .summaries import print_estimate, spent_line
from .vocabulary_job import Job, add_suite_options, open_suite, recorded_job
from .vocabulary_judging import Judging, add_word_judging_options, judge_all, judging_began, word_judges
from .vocabulary_showing import add_showing_options, exit_code, show_summary


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_suite_options(parser)
    add_showing_options(parser)
    parser.add_argument("--show-prompt", metavar="WORD", help="print what is asked about a word and stop")
    add_word_judging_options(parser)


def run(options: argparse.Namespace) -> int:
    """Judge what models answered, and sum up."""
    load_environment()
    choice, names = open_suite(options), word_judges(options)
    wording = wording_of(choice.suite)
    job = recorded_job(options, choice)
    if options.show_prompt is not None:
        return show_prompts(job, wording, options.show_prompt)
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
    cache: JudgeCache | None = open_cache(options)
    try:
        began = judging_began(options)
        access = open_access(options, cache, began)
        most = options.max_judge_tokens
        judges = {str(name): WordJudge(wording, name.model, access.open(name), max_tokens=most) for name in names}
        with JudgementLog(options.output / JUDGEMENTS_FILE, read_only=options.dry_run) as log:
            yield Judging(wording, judges, access, log, options, began)
    finally:
        if cache is not None:
            cache.close()


async def _run(options: argparse.Namespace, job: Job, judging: Judging) -> int:
    async def work(stop: Stop) -> list[Judgement]:
        return await judge_then_close(judging, job, stop)

    ended = await until_stopped(work, deadline_s=options.deadline)
    return finish(options, job, judging, ended, ended.result)


async def judge_then_close(judging: Judging, job: Job, stop: Stop) -> list[Judgement]:
    """Judge, and close what the judges have open."""
    try:
        return await judge_all(judging, job, stop)
    finally:
        for judge in judging.judges.values():
            await close_judge(judge)


def finish(
    options: argparse.Namespace, job: Job, judging: Judging, ended: Ended[Any], judgements: Sequence[Judgement]
) -> int:
    """Sum up, say what is wrong, and return the exit code."""
    questions = len(job.tasks) * len(judging.judges)
    if judging.access.estimate is not None and not ended.stop.requested:
        print_estimate(judging.access.estimate, questions, "json" if options.format == "json" else "text")
        return 0
    if ended.early:
        code = ended.explain(f"{questions - len(judgements)} of {questions} answers were not judged")
        print("polyjudge: what was done is kept; the same command goes on from there", file=sys.stderr)
        return code
    report = show_summary(options, judgements)
    print(f"asked:   {spent_line(judging.access.meter.spent)}", file=sys.stderr)
    return exit_code(options, report)


def show_prompts(job: Job, wording: WordWording, word: str) -> int:
    """Print what models and judges are asked about a word."""
    tasks = [task for task in job.tasks if task.entry.word == word]
    if not tasks:
        raise DataError(f"holds no word {word!r}", path=job.vocabulary.name)
    for task in tasks[: len(job.vocabulary.prompts)]:
        record = job.record(task)
        response = (record and record.response) or "…"
        print(f"to the model:\n{harmless(task.text)}\n\nto the judge:")
        print(f"{harmless(task.judge_prompt(wording, response))}\n")
    return 0
