"""`polyjudge vocabulary judge`: judge stored answers, and summarize."""

import argparse
import os
import sys
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass

from msgspec.structs import replace

from polyjudge.cache.protocol import Cache
from polyjudge.concurrency.sync import run_sync
from polyjudge.errors import DataError, MissingExtraError, MissingKeyError
from polyjudge.files.atomic import lock_folder
from polyjudge.formats.vocabulary import recorded_models
from polyjudge.judges.word_verdicts import WordWording
from polyjudge.records.outcomes import Item
from polyjudge.records.requests import ModelName
from polyjudge.records.runs import Event, FallbackCacheUsed, Warned
from polyjudge.runs.run import Run
from polyjudge.runs.stack import ProviderStack, open_run_cache, origin_of_model
from polyjudge.suites.vocabulary import Choice, Job, make_job, wording_of
from polyjudge.suites.vocabulary_judging import JudgementStore, WordJudging, earlier_judgements
from polyjudge.text.display import harmless, one_line

from .environment import load_environment
from .options import limits_of
from .output import print_warning
from .progress import RunProgress, fallback_message
from .signals import explain_end, stop_on_signals
from .summaries import explain_skip, show_estimate, spent_line
from .vocabulary_options import add_suite_options, add_word_judging_options, job_to_judge, open_suite, word_judges
from .vocabulary_summary import add_showing_options, exit_code, show_summary


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_suite_options(parser)
    add_showing_options(parser)
    add_word_judging_options(parser)


def run(options: argparse.Namespace) -> int:
    """Judge the stored answers, and summarize."""
    load_environment()
    choice, names = open_suite(options), word_judges(options)
    wording = wording_of(choice.suite)
    if options.show_prompt is not None:
        return show_prompts(choice, wording, options)
    job = job_to_judge(options, choice)
    try:
        need_judges(options, names)
    except (MissingKeyError, MissingExtraError) as error:
        return explain_skip(error, skipped="judging", is_required=options.require_judge)
    with opened_cache(options) as cache, nullcontext() if options.dry_run else lock_folder(options.output):
        return judge_answers(options, judging_of(options, job, wording, names), cache).code


def need_judges(options: argparse.Namespace, names: Sequence[ModelName]) -> None:
    """Raise an error for a judge that cannot be used, or for damaged judgements, before any call is made."""
    stack = ProviderStack()
    for name in names if not options.dry_run and not options.reread else ():
        stack.open(name)
    earlier_judgements(options.output)


@contextmanager
def opened_cache(options: argparse.Namespace) -> Generator[Cache | None]:
    """Open the cache of the options before any call is made; a replay and a dry run do not write to it."""
    cache = None
    if options.cache != "none":
        read_only, fallback = options.reread, options.local_cache
        opening = open_run_cache(
            options.cache, read_only=read_only, is_dry=options.dry_run, fallback=fallback, emit=_show_event
        )
        cache = run_sync(opening)
    try:
        yield cache
    finally:
        if cache is not None:
            run_sync(cache.aclose())


def _show_event(event: Event) -> None:
    if isinstance(event, Warned):
        print_warning(event.message)
    elif isinstance(event, FallbackCacheUsed):
        print_warning(fallback_message(event))


def judging_of(options: argparse.Namespace, job: Job, wording: WordWording, names: Sequence[ModelName]) -> WordJudging:
    """Return the judges and questions about the answers of a job."""
    judges = {str(name): origin_of_model(name).base_url for name in names}
    return WordJudging(job, wording, judges, assumes_answers=options.dry_run)


@dataclass(frozen=True, slots=True)
class Judged:
    """The exit code of judging, and whether all answers were judged."""

    code: int
    is_finished: bool = False


def judge_answers(
    options: argparse.Namespace,
    judging: WordJudging,
    cache: Cache | None,
    *,
    deadline_s: float | None = None,
    more: Mapping[str, int] | None = None,
) -> Judged:
    """Judge the answers without a judgement, and summarize; `more` are further counts of the estimate."""
    store = JudgementStore(
        judging,
        options.output,
        refresh=options.refresh,
        retry_failures=options.retry_failures,
        read_only=options.dry_run,
    )
    run = Run(
        store.items(),
        judging.panel(store.questions, options.max_judge_tokens),
        output=store,
        cache=cache,
        limits=replace(limits_of(options), deadline_s=deadline_s or options.deadline),
        refresh=options.refresh,
        reread=options.reread,
        retry_failures=options.retry_failures,
    )
    if options.dry_run:
        return Judged(show_estimate(run, options.format, what="answers", more=more))
    return _execute(options, run, store)


def _execute(options: argparse.Namespace, run: Run, store: JudgementStore) -> Judged:
    is_verbose = os.environ.get("VERBOSE") == "1"

    def current(item: Item) -> str:
        judgement = store.judgement(item)
        return f"{judgement.model}: {judgement.word}"

    def detail(item: Item) -> str:
        if not is_verbose:
            return ""
        each = store.judgement(item)
        verdict = f"{each.verdict} ({each.reason})" if each.reason else each.verdict
        return one_line(f"{each.model} · {each.word} · {each.prompt.upper()} · {each.judge}: {verdict}", 300)

    progress = RunProgress(run.budget.spent, wrong="without verdict", current=current, detail=detail)
    with stop_on_signals(run) as signals, progress:
        summary = run.execute(progress)
    if summary.status in ("stopped", "capped"):
        left = f"{summary.scores.not_reached} of {summary.scores.items} answers were not judged"
        return Judged(explain_end(signals, summary.stopped_by, left, options.output))
    report = show_summary(options, store.judgements)
    print(f"asked:   {spent_line(summary.spent)}", file=sys.stderr)
    return Judged(exit_code(options, report), is_finished=True)


def show_prompts(choice: Choice, wording: WordWording, options: argparse.Namespace) -> int:
    """Print the prompts to models and judges about a word, with the model's answer if it is stored."""
    word = options.show_prompt
    job = make_job(choice, tuple(recorded_models(options.output)) or ("…",), options.output, force=options.force)
    tasks = [task for task in job.every_task if task.entry.word == word]
    if not tasks:
        raise DataError(f"no word {word!r} in the suite.", path=choice.suite.name)
    for task in tasks[: len(choice.suite.prompts)]:
        record = job.record(task)
        response = (record and record.response) or "…"
        print(f"to the model:\n{harmless(task.text)}\n\nto the judge:")
        print(f"{harmless(task.judge_prompt(wording, response))}\n")
    return 0
