"""`polyjudge score ITEMS --rubric R`: any items, any rubric, any judge."""

import argparse
import sys
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from polyjudge.engine import Stop, run_sync
from polyjudge.errors import ConfigError, DataError, MissingExtraError, MissingKeyError
from polyjudge.files import DEFAULT_CONTEXT, ItemSource, Survey, fingerprint, read_json_lines, read_outcome_row
from polyjudge.judges import Judge, OfflineJudge, RubricJudge, close_judge
from polyjudge.providers import Access, ModelName, prompt_sha256
from polyjudge.records import Failure, Outcome, Rubric
from polyjudge.reports import trust_in
from polyjudge.rubrics import PromptRenderer, load_rubric, rubric_fingerprint, rubric_names
from polyjudge.suites import Tally, answer_of, open_judge
from polyjudge.text import harmless

from .asking import ask_all
from .identities import identity_of_models
from .items_trust import ItemsTrust
from .options import Several, add_judging_options, filters_of, judge_names, open_access, open_cache
from .progress import ProgressShow
from .score_rows import Rows, open_rows
from .settings import load_environment
from .stopping import Ended, until_stopped
from .summaries import print_estimate, print_summary, too_many_unjudged


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add, shipped = parser.add_argument, ", ".join(rubric_names())
    add("items", type=Path, metavar="ITEMS", help="JSONL, CSV, TSV or Parquet with id and candidate")
    add("--rubric", required=True, metavar="FILE|NAME", help=f"a TOML file, or {shipped}")
    add("--output", type=Path, metavar="FILE", help="results as JSON Lines; default: stdout")
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


def run(options: argparse.Namespace) -> int:
    """Check the input, open the judge, judge, and sum up."""
    load_environment()
    job = _job(options)
    if options.show_prompt is not None:
        return _show_prompt(job, options.show_prompt)
    trust = _trust(job)
    if options.require_calibrated and (unmet := trust.unmet()):
        print(f"polyjudge: {unmet}", file=sys.stderr)
        return 1
    with ExitStack() as opened:
        try:
            cache = open_cache(options)
            if cache is not None:
                opened.callback(cache.close)
            rows = opened.enter_context(open_rows(None if options.dry_run else options.output, job.fingerprint))
            access = open_access(options, cache, rows.began)
            judge = open_judge(job.rubric, job.judges, access, repeats=options.repeats)
        except (MissingKeyError, MissingExtraError) as error:
            print(error, file=sys.stderr)
            return 3 if options.require_judge else 0
        code = run_sync(_run(job, judge, access, rows))
        if not options.dry_run and options.format == "text":
            trust.show(sys.stdout if options.output is not None else sys.stderr)
        return code


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
    if options.output is not None and options.output.resolve() == options.items.resolve():
        raise ConfigError(f"--output {str(options.output)!r} is the file of the items")
    rubric, judges = load_rubric(options.rubric), judge_names(options)
    if not judges:
        OfflineJudge(rubric)  # refuses a rubric that it has no idea of, before anything is written
    context = None if options.context is None else [name.strip() for name in options.context.split(",") if name.strip()]
    source = ItemSource(options.items, context, filters_of(options.filter), options.limit)
    survey = source.survey()
    _warn_of_language(rubric, judges, context)
    for problem in survey.problems:
        print(f"polyjudge: warning: skipped {harmless(problem)}", file=sys.stderr)
    if survey.skipped > len(survey.problems):
        print(f"polyjudge: warning: skipped {survey.skipped} rows in all", file=sys.stderr)
    return _Job(options, rubric, judges, source, survey)


def _warn_of_language(rubric: Rubric, judges: list[ModelName], context: list[str] | None) -> None:
    """Warn where a model is asked about a language that it is not told."""
    asks = any("language" in flag.name.casefold() for flag in rubric.flags)
    if asks and judges and "language" not in (context or DEFAULT_CONTEXT):
        told = "the rubric asks about the language, but the judge is not told which: give --context language,source"
        print(f"polyjudge: warning: {told}", file=sys.stderr)


def _trust(job: _Job) -> ItemsTrust:
    languages = sorted({item.language for item in job.source})
    return ItemsTrust(trust_in(identity_of_models(job.judges, job.rubric), job.options.card), languages)


def _show_prompt(job: _Job, item_id: str) -> int:
    item = next((item for item in job.source if item.id == item_id), None)
    if item is None:
        raise DataError(f"holds no item with the id {item_id!r}", path=job.options.items)
    print(harmless(RubricJudge(job.rubric).build_prompt(item.candidate, item.context)))
    return 0


async def _run(job: _Job, judge: Judge, access: Access, rows: Rows) -> int:
    async def work(stop: Stop) -> Tally:
        try:
            return await _judge_all(job, judge, access, rows, stop)
        finally:
            await close_judge(judge)

    return _finish(job, await until_stopped(work, deadline_s=job.options.deadline), access)


async def _judge_all(job: _Job, judge: Judge, access: Access, rows: Rows, stop: Stop) -> Tally:
    """Judge what is left to judge, and write each row as it comes."""
    tally, options = Tally(job.rubric), job.options
    known = _known_results(job) if options.retry_failures else {}
    with ProgressShow(job.survey.count, access.meter.spent, shown=not options.dry_run) as progress:
        asked = ask_all(answer_of(judge), iter(job.source), rows, options, stop=stop, known=known)
        async for _, outcome in asked:
            tally.add(outcome)
            progress.advance(unjudged=isinstance(outcome, Failure))
    return tally


def _known_results(job: _Job) -> dict[str, Outcome]:
    """Return the results of an earlier run of the same kind by the ids of their items; its failures are left out."""
    renderer, path = PromptRenderer(job.rubric), job.options.output
    known: dict[str, Outcome] = {}
    for number, row in read_json_lines(path):
        try:
            item_id, outcome = read_outcome_row(row)
        except DataError as error:
            raise DataError(str(error), path=path, line=number) from None
        if not isinstance(outcome, Failure):
            known[item_id] = outcome
    wanted = {item.id: prompt_sha256(renderer.render(item.candidate, item.context)) for item in job.source}
    left_out = [item_id for item_id in known if item_id not in wanted]
    if left_out:
        raise DataError(f"holds {left_out[0]!r}, which is not among the items now; --output would lose it", path=path)
    judges = {(name.provider, name.model) for name in job.judges}
    return {item_id: outcome for item_id, outcome in known.items() if _is_answer_to(outcome, wanted[item_id], judges)}


def _is_answer_to(outcome: Outcome, prompt: str, judges: set[tuple[str, str]]) -> bool:
    """Say whether a result answers this very prompt, by judges of this run."""
    parts = [part for part in outcome.members or (outcome,) if part.provenance is not None]
    asked = [part.provenance for part in parts if part.provenance is not None]
    return bool(asked) and all(each.prompt_sha256 == prompt and (each.provider, each.model) in judges for each in asked)


def _finish(job: _Job, ended: Ended[Tally], access: Access) -> int:
    """Sum up, say what is wrong, and return the exit code."""
    summary = ended.result.summary(job.survey.count)
    if access.estimate is not None and not ended.stop.requested:
        print_estimate(access.estimate, job.survey.count, job.options.format)
        return 0
    if access.estimate is None:
        print_summary(summary, access.meter.spent, job.options, skipped=job.survey.skipped)
    if ended.early:
        code = ended.explain(f"{summary.not_reached} of {summary.items} items were not reached")
        if job.options.output is not None:
            print("polyjudge: what was done is kept; the same command goes on from there", file=sys.stderr)
        return code
    if not summary.judged or summary.unjudged > job.options.max_unjudged * summary.items:
        return too_many_unjudged(summary.unjudged, summary.items)
    return 0
