"""`polyjudge score ITEMS --rubric R`: any items, any rubric, any judge."""

import argparse
import asyncio
import signal
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from polyjudge.engine import Stop, run_sync
from polyjudge.errors import CapReachedError, ConfigError, DataError, MissingExtraError, MissingKeyError
from polyjudge.files import ItemSource, Survey, fingerprint, read_json_lines, read_outcome_row
from polyjudge.judges import Judge, RubricJudge, close_judge
from polyjudge.providers import Access, ModelName
from polyjudge.records import Failure, Outcome, Rubric
from polyjudge.rubrics import load_rubric, rubric_fingerprint, rubric_names
from polyjudge.suites import Tally, open_judge, score_items
from polyjudge.text import harmless

from .options import add_judging_options, judge_names, open_access, open_cache
from .progress import ProgressShow
from .score_rows import open_rows
from .settings import load_environment
from .summaries import print_estimate, print_summary

_GRACE_S = 5.0
_WARNINGS_SHOWN = 5


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add, shipped = parser.add_argument, ", ".join(rubric_names())
    add("items", type=Path, metavar="ITEMS", help="JSONL, CSV, TSV or Parquet with id and candidate")
    add("--rubric", required=True, metavar="FILE|NAME", help=f"a TOML file, or {shipped}")
    add("--output", type=Path, metavar="FILE", help="results as JSON Lines; default: stdout")
    add("--format", choices=["text", "json"], default="text", help="of the summary; default: %(default)s")
    add("--context", metavar="COLUMN,…", help="columns that the judge sees; default: source, reference, context")
    add("--limit", type=int, metavar="N", help="only the first N items")
    add("--filter", action="append", default=[], metavar="COLUMN=VALUE,…", help="only items with one of these values")
    add("--retry-failures", action="store_true", help="ask again only for what --output holds as failed")
    add("--show-prompt", metavar="ID", help="print the prompt of one item and stop")
    add_judging_options(parser, default_judge="opus")


def run(options: argparse.Namespace) -> int:
    """Check the input, open the judge, judge, and sum up."""
    load_environment()
    job = _job(options)
    if options.show_prompt is not None:
        return _show_prompt(job, options.show_prompt)
    try:
        cache = open_cache(options)
        access = open_access(options, cache)
        judge = open_judge(job.rubric, job.judges, access, repeats=options.repeats)
    except (MissingKeyError, MissingExtraError) as error:
        print(error, file=sys.stderr)
        return 3 if options.require_judge else 0
    try:
        return run_sync(_run(job, judge, access))
    finally:
        if cache is not None:
            cache.close()


@dataclass(frozen=True, slots=True)
class _Job:
    """What is to be judged, by whom, and where the results go."""

    options: argparse.Namespace
    rubric: Rubric
    judges: list[ModelName]
    source: ItemSource
    survey: Survey

    @property
    def fingerprint(self) -> str:
        """What makes an unfinished run the same as this one."""
        options, judges = self.options, list(map(str, self.judges))
        retrying = options.retry_failures, options.refresh, options.reread
        return fingerprint(
            [self.survey.fingerprint, rubric_fingerprint(self.rubric), judges, options.repeats, retrying], 12
        )


def _job(options: argparse.Namespace) -> _Job:
    if options.retry_failures and options.output is None:
        raise ConfigError("--retry-failures needs the --output of an earlier run")
    if options.limit is not None and options.limit < 1:
        raise ConfigError(f"--limit must be at least 1, not {options.limit}")
    rubric, judges = load_rubric(options.rubric), judge_names(options)
    context = None if options.context is None else [name.strip() for name in options.context.split(",") if name.strip()]
    source = ItemSource(options.items, context, _filters(options.filter), options.limit)
    survey = source.survey()
    for problem in survey.problems[:_WARNINGS_SHOWN]:
        print(f"polyjudge: warning: skipped {harmless(problem)}", file=sys.stderr)
    if len(survey.problems) > _WARNINGS_SHOWN:
        print(f"polyjudge: warning: skipped {len(survey.problems)} rows in all", file=sys.stderr)
    return _Job(options, rubric, judges, source, survey)


def _filters(given: list[str]) -> Mapping[str, frozenset[str]]:
    filters: dict[str, frozenset[str]] = {}
    for text in given:
        name, equals, values = text.partition("=")
        if not equals or not name:
            raise ConfigError(f"--filter {text!r} is not COLUMN=VALUE")
        filters[name] = filters.get(name, frozenset()) | frozenset(values.split(","))
    return filters


def _show_prompt(job: _Job, item_id: str) -> int:
    item = next((item for item in job.source if item.id == item_id), None)
    if item is None:
        raise DataError(f"holds no item with the id {item_id!r}", path=job.options.items)
    print(harmless(RubricJudge(job.rubric).build_prompt(item.candidate, item.context)))
    return 0


async def _run(job: _Job, judge: Judge, access: Access) -> int:
    stop, interrupted = Stop(), asyncio.Event()
    loop = asyncio.get_running_loop()

    def interrupt() -> None:
        """Give what is in flight some seconds; who asks twice does not want to wait for it."""
        stop.request(grace_s=0.0 if interrupted.is_set() else _GRACE_S)
        interrupted.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, interrupt)
    if job.options.deadline:
        reached = CapReachedError(f"stopped after {job.options.deadline:g} seconds, the deadline")
        loop.call_later(job.options.deadline, lambda: stop.request(reached, grace_s=0.0))
    try:
        tally = await _judge_all(job, judge, access, stop)
    finally:
        await close_judge(judge)
    return _finish(job, tally, access, stop, interrupted=interrupted.is_set())


async def _judge_all(job: _Job, judge: Judge, access: Access, stop: Stop) -> Tally:
    """Judge what is left to judge, and write each row as it comes."""
    tally, options = Tally(job.rubric), job.options
    if options.dry_run:
        async for _ in score_items(judge, job.source, concurrency=options.concurrency, stop=stop):
            pass
        return tally
    with (
        ProgressShow(job.survey.count, access.meter.spent) as progress,
        open_rows(job.options.output, job.fingerprint) as rows,
    ):
        done = 0
        for outcome in rows.kept():
            done += 1
            tally.add(outcome)
            progress.advance(unjudged=isinstance(outcome, Failure))
        left = islice(job.source, done, None)
        known = _known_results(options.output) if options.retry_failures else {}
        async for item, outcome in score_items(judge, left, concurrency=options.concurrency, stop=stop, known=known):
            rows.write(item, outcome)
            tally.add(outcome)
            progress.advance(unjudged=isinstance(outcome, Failure))
        if not stop.requested:
            rows.finish()
    return tally


def _known_results(path: Path) -> dict[str, Outcome]:
    """Return the results of an earlier run by the ids of their items; its failures are left out."""
    rows = (read_outcome_row(row) for _, row in read_json_lines(path))
    return {item_id: outcome for item_id, outcome in rows if not isinstance(outcome, Failure)}


def _finish(job: _Job, tally: Tally, access: Access, stop: Stop, *, interrupted: bool) -> int:
    """Sum up, say what is wrong, and return the exit code."""
    if access.estimate is not None:
        print_estimate(access.estimate, job.survey.count, job.options.format)
        return 0
    summary = tally.summary(job.survey.count)
    print_summary(summary, access.meter.spent, job.options)
    if interrupted or stop.error is not None:
        why = "interrupted" if interrupted else str(stop.error)
        print(f"polyjudge: {why}; {summary.not_reached} of {summary.items} items were not reached", file=sys.stderr)
        print("polyjudge: what was done is kept; the same command goes on from there", file=sys.stderr)
        return 130 if interrupted else 3
    if not summary.judged or summary.unjudged > job.options.max_unjudged * summary.items:
        share = summary.unjudged / summary.items
        print(
            f"polyjudge: {share:.1%} of the items could not be judged, more than --max-unjudged allows", file=sys.stderr
        )
        return 3
    return 0
