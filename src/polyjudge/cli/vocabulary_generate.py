"""`polyjudge vocabulary generate`: every model answers about every word."""

import argparse
import sys
from contextlib import nullcontext

from polyjudge.concurrency.pool import StopToken
from polyjudge.concurrency.sync import run_sync
from polyjudge.files.atomic import only_run_in

from .environment import load_environment
from .options import add_timing_options, share
from .stopping import until_stopped
from .vocabulary_generating import Plan, answer, plan_generation, print_answered, unanswered
from .vocabulary_job import (
    Choice,
    add_model_options,
    add_suite_options,
    job_of,
    models_to_ask,
    need_models_file,
    open_suite,
    temperature_of,
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_suite_options(parser)
    add = parser.add_argument
    add("--refresh", action="store_true", help="ask again also what was answered")
    add("--max-failed", type=share, default=0.2, metavar="SHARE", help="more failures are exit 3; default: %(default)s")
    add_model_options(parser, concurrency="--concurrency")
    calls = parser.add_argument_group("calls").add_argument
    add_timing_options(calls, timeout_s=300.0)
    calls("--dry-run", action="store_true", help="say how much would be asked")
    parser.set_defaults(reread=False)


def run(options: argparse.Namespace) -> int:
    """Ask what is missing or failed; where nothing is, ask everything again."""
    load_environment()
    choice = open_suite(options)
    need_models_file(options, choice)
    temperature_of(options)
    return run_sync(_run(options, choice))


async def _run(options: argparse.Namespace, choice: Choice) -> int:
    job = job_of(options, choice, await models_to_ask(options, choice))
    with nullcontext() if options.dry_run else only_run_in(options.output):
        plan = plan_generation(options, job, again=lambda: True)
        if options.dry_run:
            print(f"answers:     {len(job.tasks)}\nmodel calls: {len(plan.left)}")
            return 0
        job.records.remove_leftovers()
        return await _generate(options, plan)


async def _generate(options: argparse.Namespace, plan: Plan) -> int:
    job = plan.job

    async def work(stop: StopToken) -> None:
        await answer(plan, options, stop)

    ended = await until_stopped(work, deadline_s=options.deadline)
    print_answered(job)
    if ended.cut_short(left := unanswered(job)):
        return ended.explain(f"{left} of {len(job.tasks)} answers are missing; the same command goes on")
    plan.finish()
    return _code(options, plan)


def _code(options: argparse.Namespace, plan: Plan) -> int:
    failed, total = unanswered(plan.job), len(plan.job.tasks)
    print(f"answers: {options.output}", file=sys.stderr)
    if failed == total or failed > options.max_failed * total:
        print(f"polyjudge: {failed} of {total} answers failed; the same command asks for them again", file=sys.stderr)
        return 3
    return 0
