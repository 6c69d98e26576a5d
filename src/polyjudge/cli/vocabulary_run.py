"""`polyjudge vocabulary run`: ask models about words, judge the answers, and summarize."""

import argparse
import sys
import time
from contextlib import ExitStack, nullcontext

from polyjudge.cache.protocol import Cache
from polyjudge.errors import MissingExtraError, MissingKeyError
from polyjudge.files.atomic import lock_folder
from polyjudge.suites.vocabulary import Job, wording_of
from polyjudge.suites.vocabulary_generation import AnswerStore, unanswered
from polyjudge.suites.vocabulary_judging import WordJudging, earlier_judgements

from .environment import load_environment
from .signals import RESUME
from .summaries import explain_skip
from .vocabulary_generate import EarlyEnd, answer
from .vocabulary_judge import judge_answers, judging_of, need_judges, opened_cache, show_prompts
from .vocabulary_options import (
    add_model_options,
    add_suite_options,
    add_word_judging_options,
    job_to_ask,
    need_models_file,
    open_suite,
    temperature_of,
    word_judges,
)
from .vocabulary_summary import add_showing_options


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_suite_options(parser)
    add_showing_options(parser)
    add_model_options(parser, concurrency="--model-concurrency")
    add_word_judging_options(parser, timeout_s=300.0)


def run(options: argparse.Namespace) -> int:
    """Check the options and files first, then ask models and judges."""
    load_environment()
    choice, names = open_suite(options), word_judges(options)
    wording = wording_of(choice.suite)
    if options.show_prompt is not None:
        return show_prompts(choice, wording, options)
    need_models_file(options, choice)
    temperature = temperature_of(options)
    with ExitStack() as opened:
        cache, can_judge = None, True
        try:
            need_judges(options, names)
            cache = opened.enter_context(opened_cache(options))
        except (MissingKeyError, MissingExtraError) as error:
            can_judge = False
            if code := explain_skip(error, skipped="judging", is_required=options.require_judge):
                return code
        opened.enter_context(nullcontext() if options.dry_run else lock_folder(options.output))
        job = job_to_ask(options, choice)
        judging = judging_of(options, job, wording, names) if can_judge else None
        return _run(options, job, temperature, judging, cache)


def _run(
    options: argparse.Namespace, job: Job, temperature: float, judging: WordJudging | None, cache: Cache | None
) -> int:
    def restarts() -> bool:
        kept = earlier_judgements(options.output)
        return judging is not None and judging.is_settled(kept, retry_failures=options.retry_failures)

    started_s = time.monotonic()
    store = AnswerStore(
        job,
        temperature,
        refresh=options.refresh,
        reread=options.reread,
        restarts=restarts,
        read_only=options.dry_run,
    )
    left = store.left
    early = None if options.dry_run else answer(options, job, store)
    if judging is None or early is not None:
        return _explain(options, job, left, early)
    spent_s = time.monotonic() - started_s
    deadline_s = None if options.deadline is None else max(0.001, options.deadline - spent_s)
    judged = judge_answers(options, judging, cache, deadline_s=deadline_s, more={"model_calls": left})
    if judged.is_finished:
        store.forget_restart()
    return judged.code


def _explain(options: argparse.Namespace, job: Job, left: int, early: EarlyEnd | None) -> int:
    """Print the number of answers after a run without judgements; return the exit code."""
    if options.dry_run:
        print(f"model calls: {left}")
        return 0
    missing, total = unanswered(job), len(job.tasks)
    if early is not None:
        unfinished = f"{missing} of {total} answers are missing" if missing else f"none of {total} answers was judged"
        return early.explain(f"{unfinished}. {RESUME}")
    print(f"answers: {options.output}; none judged yet. {RESUME}", file=sys.stderr)
    return 3 if missing > options.max_unjudged * total else 0
