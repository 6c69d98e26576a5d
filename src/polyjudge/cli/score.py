"""`polyjudge score ITEMS --rubric R`: any items, any rubric, any judge."""

import argparse
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, aclosing
from pathlib import Path

from polyjudge.concurrency.pool import StopToken
from polyjudge.concurrency.sync import run_sync
from polyjudge.errors import DataError, MissingExtraError, MissingKeyError
from polyjudge.files.json_lines import read_json_lines
from polyjudge.judges.base import Judge, close_judge
from polyjudge.judges.rubric import RubricJudge
from polyjudge.records.outcomes import Failure, Outcome, read_outcome_row
from polyjudge.rubrics.loading import rubric_names
from polyjudge.runs.local import answer_of
from polyjudge.runs.plan import kept_answers
from polyjudge.runs.stack import ProviderStack, open_judge
from polyjudge.runs.summary import Tally
from polyjudge.store.run_file import remove_empty_run
from polyjudge.text.display import harmless

from .asking import ask_all, forget_if_unasked
from .batching import Questions, add_batch_option, in_batches, refuse_batch, wait_for_batches
from .environment import load_environment
from .options import Several, add_force_option, add_judging_options, open_access, open_cache
from .progress import ProgressShow
from .ray_options import add_engine_options
from .score_job import ScoreJob, explain_end, finish, read_job, trust_of
from .score_rows import Rows, open_rows
from .stopping import Ended, until_stopped
from .summaries import print_estimate


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add, shipped = parser.add_argument, ", ".join(rubric_names())
    told = "JSONL, CSV, TSV or Parquet with id and candidate; or a folder of them"
    add("items", type=Path, metavar="ITEMS", help=told)
    add("--rubric", required=True, metavar="FILE|NAME", help=f"a TOML file, or {shipped}")
    add("--output", type=Path, metavar="FILE", help="results as JSON Lines; with ray a folder; default: stdout")
    add_force_option(add)
    add("--format", choices=["text", "json"], default="text", help="of the summary; default: %(default)s")
    add("--context", metavar="COLUMN,…", help="columns that the judge sees; default: source, reference, context")
    add("--card", type=Path, action=Several, default=[], metavar="FILE", help="trust card; default: the judge's own")
    gate = "exit 1, before asking, where the judge is not known to tell good from spoiled in the items' languages"
    add("--require-calibrated", action="store_true", help=gate)
    add("--limit", type=int, metavar="N", help="only the first N items")
    add("--filter", action=Several, default=[], metavar="COLUMN=VALUE,…", help="only items with one of these values")
    add("--retry-failures", action="store_true", help="ask again only for what --output holds as failed")
    add("--show-prompt", metavar="ID", help="print the prompt of one item and stop")
    add_judging_options(parser, default_judge="opus")
    add_engine_options(parser.add_argument_group("engine").add_argument)
    add_batch_option(add)


def run(options: argparse.Namespace) -> int:
    """Check the input, open the judge, judge, and sum up."""
    load_environment()
    job = read_job(options)
    refuse_batch(options, job.judges)
    if options.show_prompt is not None:
        return _show_prompt(job, options.show_prompt)
    trust = trust_of(job)
    if options.require_calibrated and (unmet := trust.unmet()):
        print(f"polyjudge: {unmet}", file=sys.stderr)
        return 1
    if job.sharded is not None:
        from .score_ray import run_on_ray  # here, because most runs need none of it

        return run_on_ray(job, job.sharded, trust)
    with ExitStack() as opened:
        try:
            cache = open_cache(options)
            if cache is not None:
                opened.callback(cache.close)
            output = None if options.dry_run else options.output
            rows = opened.enter_context(open_rows(output, job.fingerprint, force=options.force))
            access = open_access(options, cache, rows.began)
            access = opened.enter_context(in_batches(access, options, rows.began))
            judge = open_judge(job.rubric, job.judges, access, repeats=options.repeats)
        except (MissingKeyError, MissingExtraError) as error:
            opened.close()
            if options.output is not None:
                remove_empty_run(options.output)
            print(error, file=sys.stderr)
            return 3 if options.require_judge else 0
        code = run_sync(_run(job, judge, access, rows))
        if not options.dry_run and options.format == "text":
            trust.show(sys.stdout if options.output is not None else sys.stderr)
        return code


def _show_prompt(job: ScoreJob, item_id: str) -> int:
    item = next((item for item in job.source if item.id == item_id), None)
    if item is None:
        raise DataError(f"holds no item with the id {item_id!r}", path=job.options.items)
    print(harmless(RubricJudge(job.rubric).build_prompt(item.candidate, item.context)))
    return 0


async def _run(job: ScoreJob, judge: Judge, access: ProviderStack, rows: Rows) -> int:
    async def work(stop: StopToken) -> Tally:
        try:
            return await _judge_all(job, judge, access, rows, stop)
        finally:
            await close_judge(judge)

    try:
        ended = await until_stopped(work, deadline_s=job.options.deadline)
    finally:
        forget_if_unasked(rows, access)
    return _finish(job, ended, access)


async def _judge_all(job: ScoreJob, judge: Judge, access: ProviderStack, rows: Rows, stop: StopToken) -> Tally:
    """Judge what is left to judge, and write each row as it comes."""
    tally, options = Tally(job.rubric), job.options
    known: Mapping[str, Outcome] = _known_results(job) if options.retry_failures else {}
    if access.batches is not None:
        questions = Questions(answer_of(judge), job.source, rows, known, options.concurrency, stop)
        await wait_for_batches(access.batches, questions.pass_over, stop)
    with ProgressShow(job.survey.count, access.meter.spent, shown=not options.dry_run) as progress:
        items, resume = iter(job.source), progress.resume
        asked = ask_all(answer_of(judge), items, rows, options, stop=stop, known=known, resume=resume)
        async with aclosing(asked):
            async for _, outcome in asked:
                tally.add(outcome)
                progress.advance(unjudged=isinstance(outcome, Failure))
    return tally


def _known_results(job: ScoreJob) -> Mapping[str, Outcome]:
    """Return the results of an earlier run of the same kind by the ids of their items; its failures are left out."""
    path = job.options.output
    known = kept_answers(_earlier(path), job.source, job.rubric, job.judges)
    for item_id in known.unwanted():
        raise DataError(f"holds {item_id!r}, which is not among the items now; --output would lose it", path=path)
    return known


def _earlier(path: Path) -> Iterator[tuple[str, Outcome]]:
    for number, row in read_json_lines(path):
        try:
            yield read_outcome_row(row)
        except DataError as error:
            raise DataError(str(error), path=path, line=number) from None


def _finish(job: ScoreJob, ended: Ended[Tally], access: ProviderStack) -> int:
    if access.estimate is None:
        return finish(job, ended, access.meter.spent)
    if not ended.stop.requested:
        print_estimate(access.estimate, job.survey.count, job.options.format)
        return 0
    return explain_end(ended, f"not all of the {job.survey.count} items were counted", None)
