"""`polyjudge vocabulary run`: models answer about words, judges judge, and a table says what it comes to."""

import argparse
import sys
from contextlib import ExitStack

from polyjudge.concurrency.pool import StopToken
from polyjudge.concurrency.sync import run_sync
from polyjudge.errors import MissingExtraError, MissingKeyError
from polyjudge.files.atomic import only_run_in
from polyjudge.records.vocabulary import Judgement
from polyjudge.suites.vocabulary import wording_of

from .environment import load_environment
from .stopping import Ended, until_stopped
from .vocabulary_generating import Plan, answer, plan_generation, print_answered, unanswered
from .vocabulary_job import (
    Choice,
    Job,
    add_model_options,
    add_suite_options,
    job_of,
    models_to_ask,
    need_models_file,
    open_suite,
    temperature_of,
)
from .vocabulary_judge import finish, judge_then_close, left_to_judge, open_judging, show_prompts, skip
from .vocabulary_judging import Judging, add_word_judging_options, word_judges
from .vocabulary_showing import add_showing_options


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_suite_options(parser)
    add_showing_options(parser)
    add_model_options(parser, concurrency="--model-concurrency")
    add_word_judging_options(parser, timeout_s=300.0)


def run(options: argparse.Namespace) -> int:
    """Check everything that can be checked, then do both phases."""
    load_environment()
    choice, names = open_suite(options), word_judges(options)
    wording = wording_of(choice.suite)
    if options.show_prompt is not None:
        return show_prompts(choice, wording, options)
    need_models_file(options, choice)
    temperature_of(options)
    with ExitStack() as opened:
        judging, code = None, 0
        try:
            judging = opened.enter_context(open_judging(options, wording, names))
        except (MissingKeyError, MissingExtraError) as error:
            code = skip(options, error)
            if not options.dry_run and not code:
                opened.enter_context(only_run_in(options.output))
        return code or run_sync(_run(options, choice, judging))


async def _run(options: argparse.Namespace, choice: Choice, judging: Judging | None) -> int:
    job = job_of(options, choice, await models_to_ask(options, choice))
    plan = plan_generation(options, job, again=lambda: judging is not None and judging.is_settled(job))
    if not options.dry_run:
        job.records.remove_leftovers()

    async def work(stop: StopToken) -> list[Judgement] | None:
        if not options.dry_run:
            await answer(plan, options, stop)
            print_answered(job)
        if judging is None or stop.requested:
            return None
        return await judge_then_close(judging, job, stop)

    ended = await until_stopped(work, deadline_s=options.deadline)
    if judging is None or ended.result is None:
        return _unjudged(options, job, plan, ended)
    code = finish(options, job, judging, ended, ended.result, {"model_calls": len(plan.left)})
    if not ended.cut_short(left_to_judge(job, judging, ended.result)) and not options.dry_run:
        plan.finish()
    return code


def _unjudged(options: argparse.Namespace, job: Job, plan: Plan, ended: Ended[list[Judgement] | None]) -> int:
    """Say what there is without a judge: it could not be used, or the run ended before its turn."""
    if ended.early:
        left, total = unanswered(job), len(job.tasks)
        told = f"{left} of {total} answers are missing" if left else f"none of the {total} answers was judged"
        return ended.explain(f"{told}; the same command goes on")
    if not options.dry_run:
        print(f"answers: {options.output}; nothing is judged yet, the same command goes on from there", file=sys.stderr)
        return 3 if unanswered(job) > options.max_unjudged * len(job.tasks) else 0
    print(f"model calls: {len(plan.left)}")
    return 0
