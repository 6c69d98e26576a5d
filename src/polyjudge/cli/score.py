"""`polyjudge score ITEMS --rubric R`: judge any items by any rubric with any judge."""

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from msgspec.structs import replace

from polyjudge.clock import utc_now
from polyjudge.errors import ConfigError, DataError, MissingExtraError, MissingKeyError
from polyjudge.files.json_lines import item_line
from polyjudge.formats.items import DEFAULT_CONTEXT, ItemSource
from polyjudge.formats.row_files import KnownColumns, spooled
from polyjudge.judges.base import ItemJudge
from polyjudge.judges.offline import can_judge_offline
from polyjudge.judges.rubric import identity_of_models
from polyjudge.providers.models import resolve_model
from polyjudge.providers.registry import provider_entry
from polyjudge.records.outcomes import Item, RunOutcome
from polyjudge.records.requests import ModelName
from polyjudge.records.rubrics import Rubric
from polyjudge.records.runs import ROWS_IN_SHARD, FailUnder, RayEngine
from polyjudge.records.spans import annotator_name
from polyjudge.rubrics.loading import load_rubric, rubric_names
from polyjudge.rubrics.prompts import render_prompt
from polyjudge.runs.run import Run
from polyjudge.runs.stack import judge_by_model, judge_by_models
from polyjudge.store.trust_cards import trust_in
from polyjudge.text.display import harmless
from polyjudge.verdicts.score_gate import parse_fail_under, score_gate
from polyjudge.verdicts.score_gate import refuse_unfit as refuse_unfit_gate

from .cascade_options import CascadeRequest, add_cascade_options, add_token_option, requested_cascade
from .check_options import add_offline_options, checks_of_judge
from .environment import load_environment
from .options import (
    Several,
    add_batch_option,
    add_engine_options,
    add_force_option,
    add_judging_options,
    at_least,
    filters_of,
    judge_names,
    refuse_batch,
    refuse_unfit,
    refuse_without_ray,
    run_options,
)
from .output import add_to_step_summary, print_warning, warn_of_skipped
from .progress import RunProgress
from .signals import explain_end, stop_on_signals
from .summaries import (
    explain_gate,
    explain_skip,
    print_summary,
    print_trust,
    show_estimate,
    step_title,
    too_many_unjudged,
    unmet_calibration,
)
from .tables import add_table_options, input_of, table_options_of

if TYPE_CHECKING:
    from polyjudge.checks.policy import CheckPolicy

    from .cascading import CascadeTally


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add, shipped = parser.add_argument, ", ".join(rubric_names())
    items = "table of texts: CSV, TSV, Excel, JSON, JSONL, Parquet, a folder of such files, or - for stdin"
    add("items", type=Path, metavar="ITEMS", help=items)
    add("--rubric", required=True, metavar="FILE|NAME", help=f"rubric: a TOML file, or one of {shipped}")
    output = "file for the results as JSON Lines, with ray a folder; default: stdout"
    add("--output", type=Path, metavar="FILE", help=output)
    add_force_option(add)
    summary = "format of the summary; github adds it to the summary of a workflow step; default: %(default)s"
    add("--format", choices=["text", "json", "github"], default="text", help=summary)
    least = (
        "exit 1 if the mean score (mean:X), the pass rate (pass:X), or either in any language (language:X) is below "
        "X; may be repeated"
    )
    add("--fail-under", action=Several, default=[], metavar="mean:X|pass:X|language:X", help=least)
    second = "second judge that confirms or rejects each error span; for rubrics of spans, such as mqm"
    add("--verifier", metavar="NAME[/MODEL]", help=second)
    learnt = (
        "consensus by which the error spans of several judges or repeats are combined, from calibrate consensus --save"
    )
    add("--consensus", type=Path, metavar="FILE", help=f"{learnt}; default: majority vote")
    seen = "columns that the judge sees; default: language,source,reference,context"
    add("--context", metavar="COLUMN,…", help=seen)
    add("--card", type=Path, action=Several, default=[], metavar="FILE", help="trust card; default: the judge's own")
    gate = "exit 1 before asking if the judge is not calibrated for the items' languages"
    add("--require-calibrated", action="store_true", help=gate)
    add("--limit", type=at_least(1), metavar="N", help="judge only the first N items")
    chosen = "judge only items with one of these values; language=… takes tags and names"
    add("--filter", action=Several, default=[], metavar="COLUMN=VALUE,…", help=chosen)
    add("--retry-failures", action="store_true", help="judge only the failed items of --output again")
    add("--show-prompt", metavar="ID", help="print the prompt of one item, and stop")
    add_table_options(parser.add_argument_group("table").add_argument)
    add_offline_options(parser)
    add_judging_options(parser, default_judge="opus")
    add_token_option(add)
    add_cascade_options(parser.add_argument_group("cascade").add_argument)
    add_engine_options(parser.add_argument_group("engine").add_argument)
    add_batch_option(add)


@dataclass(frozen=True, slots=True)
class ScoreJob:
    """The options, the rubric, the judges and the items."""

    options: argparse.Namespace
    rubric: Rubric
    judges: list[ModelName]
    source: ItemSource
    required: FailUnder | None
    """What the scores must reach, if anything."""
    checks: "CheckPolicy | None" = None
    """What the project wants of the checks, for the judge `offline`."""
    cascade: CascadeRequest | None = None


def _read_job(options: argparse.Namespace) -> ScoreJob:
    """Check the options, and read all items once."""
    _refuse_clashes(options)
    rules = [rule for given in options.fail_under for rule in given.split(",")]
    required = parse_fail_under(rules) if rules else None
    judges, filters = judge_names(options), filters_of(options.filter)
    rubric = _with_verifier(load_rubric(options.rubric), options.verifier)
    rubric = _with_consensus(rubric, options.consensus, judges, options.repeats)
    in_shards = options.engine == "ray" and not options.dry_run
    refuse_without_ray(options)
    if in_shards:
        refuse_unfit(options, asks=bool(judges))
    checks = checks_of_judge(options, judges, rubric)
    context = None if options.context is None else [name.strip() for name in options.context.split(",") if name.strip()]
    table, known = table_options_of(options), KnownColumns()
    items = spooled(options.items) if in_shards else input_of(options.items, table, known=known)
    source = ItemSource(items, context, filters, options.limit, table=table, known=known)
    _warn_of_language(rubric, judges, context)
    return ScoreJob(options, rubric, judges, source, required, checks, requested_cascade(options, judges))


def run(options: argparse.Namespace) -> int:
    """Check the input, judge, and print the summary."""
    load_environment()
    job = _read_job(options)
    refuse_batch(options, job.judges)
    if options.show_prompt is not None:
        return _show_prompt(job, options.show_prompt)
    judge = _judge(job)
    if isinstance(judge, int):
        return judge
    return _run(job, judge)


def _run(job: ScoreJob, judge: ItemJudge) -> int:
    options, tally = job.options, None
    if job.cascade is not None:
        from .cascading import tally_of  # here, because most runs have no cascade

        tally = tally_of(judge)
    run = _open_run(job, judge, tally)
    plan = run.plan()
    warn_of_skipped(plan.problems, plan.skipped)
    if not job.judges and plan.languages == ("",) and "language_name" not in (job.source.context or ()):
        job.source.known.of(job.source.path, job.source.table).need("language")  # which the checks need
    rubric = job.rubric
    if job.required is not None:
        refuse_unfit_gate(job.required, rubric.scale, has_rule=rubric.passing is not None, languages=plan.languages)
    trust = trust_in(identity_of_models(job.judges, job.rubric, checks=job.checks), options.card)
    if options.require_calibrated and (unmet := unmet_calibration(trust, plan.languages)):
        print(f"polyjudge: {unmet}", file=sys.stderr)
        return 1
    if options.engine == "ray" and not options.dry_run:
        from polyjudge.runs.ray_cluster import need_ray  # only here: other runs do not need its module

        need_ray()
    try:
        code = show_estimate(run, options.format) if options.dry_run else _execute(job, run, tally)
    except (MissingKeyError, MissingExtraError) as error:
        return _explain_skip(error, job)
    if not options.dry_run and options.format == "text" and job.cascade is None:
        to = sys.stdout if options.output is not None else sys.stderr
        print_trust(trust, plan.languages, options, to)
    return code


def _refuse_clashes(options: argparse.Namespace) -> None:
    if options.retry_failures and options.output is None:
        raise ConfigError("--retry-failures needs the --output of an earlier run.")
    if options.token_probabilities and options.engine != "local":
        raise ConfigError(f"--token-probabilities works on one machine only. Leave out --engine {options.engine}.")
    if options.batch and options.engine != "local":
        raise ConfigError(f"--batch works on one machine only. Leave out --engine {options.engine}.")
    items, output = options.items.resolve(), options.output
    if output is not None and items in (output.resolve(), *output.resolve().parents):
        what = "is in the folder of the items" if items.is_dir() else "is the file of the items"
        raise ConfigError(f"--output {str(output)!r} {what}. Give another path.")


def _with_verifier(rubric: Rubric, verifier: str | None) -> Rubric:
    """Return the rubric with the second judge of its spans, which is a part of what is asked."""
    if not verifier:
        return rubric
    if rubric.spans is None:
        raise ConfigError(
            f"--verifier needs a rubric with error spans, and {rubric.name!r} has none. Give --rubric mqm or esa."
        )
    name = resolve_model(verifier)
    provider_entry(name.provider)  # refuses an unknown one, before anything is asked
    return replace(rubric, spans=replace(rubric.spans, verifier=str(name)))


def _with_consensus(rubric: Rubric, path: Path | None, judges: Sequence[ModelName], repeats: int) -> Rubric:
    """Return the rubric with what was learnt about how these judges are combined."""
    if path is None:
        return rubric
    if rubric.spans is None:
        raise ConfigError(
            f"--consensus needs a rubric with error spans, and {rubric.name!r} has none. Give --rubric mqm or esa."
        )
    from polyjudge.store.span_consensus import read_consensus  # here, because most runs need none of it

    consensus = read_consensus(path)
    names = {annotator_name(name.provider, name.model, repeat) for name in judges for repeat in range(repeats)}
    if len(names) < 2:
        raise ConfigError("--consensus needs several judges or repeats. Give --judge a,b or --repeats K.")
    if names != set(consensus.annotators):
        learnt, asked = ", ".join(consensus.annotators), ", ".join(sorted(names))
        raise ConfigError(
            f"{path} was learnt from the spans of {learnt}, but this run asks {asked}. Ask the same judges with "
            "the same --repeats, or learn another consensus from their results."
        )
    return replace(rubric, spans=replace(rubric.spans, consensus=consensus))


def _warn_of_language(rubric: Rubric, judges: list[ModelName], context: list[str] | None) -> None:
    """Warn when the rubric asks about the language but the judge does not see which one it is."""
    asks = any("language" in flag.name.casefold() for flag in rubric.flags)
    if asks and judges and "language" not in (context or DEFAULT_CONTEXT):
        message = "The rubric asks about the language, but the judge does not see it. Give --context language,source."
        print_warning(message)


def _judge(job: ScoreJob) -> ItemJudge | int:
    """Return the judge, or an exit code if a cascade could not be learnt."""
    options, tokens = job.options, job.options.token_probabilities
    if job.cascade is None:
        return judge_by_models(job.rubric, job.judges, checks=job.checks, token_probabilities=tokens)
    judges = [judge_by_model(job.rubric, name, token_probabilities=tokens) for name in job.judges]
    from .cascading import cascade_of  # here, because most runs have no cascade

    job.source.survey()  # refuses duplicate ids before anything is asked
    try:
        return cascade_of(job.cascade, judges, job.source, options)
    except (MissingKeyError, MissingExtraError) as error:
        return _explain_skip(error, job)


def _open_run(job: ScoreJob, judge: ItemJudge, tally: "CascadeTally | None") -> Run:
    options = job.options
    engine: RayEngine | Literal["local"] = "local"
    if options.engine == "ray" and not options.dry_run:
        engine = RayEngine(workers=options.workers, shard_rows=options.shard_rows or ROWS_IN_SHARD)
    return Run(
        job.source,
        judge,
        output=_PrintedRows() if options.output is None and not options.dry_run else options.output,
        engine=engine,
        repeats=options.repeats if job.cascade is None else 1,
        exports=[] if tally is None else [tally],
        retry_failures=options.retry_failures,
        **run_options(options),
    )


def _show_prompt(job: ScoreJob, item_id: str) -> int:
    item = next((item for item in job.source if item.id == item_id), None)
    if item is None:
        raise DataError(f"no item has the id {item_id!r}. Give the id of an item in this file.", path=job.source.path)
    print(harmless(render_prompt(job.rubric, item.candidate, item.context)))
    return 0


def _execute(job: ScoreJob, run: Run, tally: "CascadeTally | None") -> int:
    options = job.options
    with stop_on_signals(run) as signals, RunProgress(run.budget.spent) as progress:
        summary = run.execute(progress)
    if summary.status == "items_changed" and summary.stopped_by is not None:
        raise summary.stopped_by
    scores, is_whole = summary.scores, summary.status in ("finished", "unjudged") and not summary.broken
    gate = None
    if job.required is not None and is_whole:
        gate = score_gate(scores, job.required, run.limits.max_unjudged)
    print_summary(summary, gate, options)
    if tally is not None:
        tally.print(options)
    if summary.status in ("stopped", "capped"):
        where = "are in unfinished shards" if options.engine == "ray" else "were not judged"
        left = f"{scores.not_reached} of {scores.items} items {where}"
        return explain_end(signals, summary.stopped_by, left, options.output)
    if summary.broken:
        return _explain_broken(summary.broken)
    if summary.status == "unjudged":
        return too_many_unjudged(scores.unjudged, scores.items, options.max_unjudged, scores.unjudged_by_kind)
    return explain_gate(gate, options.format) if gate is not None else 0


def _explain_skip(error: MissingKeyError | MissingExtraError, job: ScoreJob) -> int:
    options = job.options
    code = explain_skip(error, is_required=options.require_judge, offline=can_judge_offline(job.rubric))
    if options.fail_under and not code:
        print("polyjudge: --fail-under was not applied. Give --require-judge to exit 3 instead.", file=sys.stderr)
    if options.format == "github":
        from polyjudge.reports.blocks import Heading, Lines, markdown  # here, because most runs need none of it

        lines = Lines(("Not judged:", *str(error).splitlines()))
        add_to_step_summary(markdown([Heading(2, step_title(options)), lines]))
    return code


def _explain_broken(files: Sequence[str]) -> int:
    """Print the files whose items could not be read; return the exit code."""
    for file in files:
        print(f"polyjudge: {harmless(file)}", file=sys.stderr)
    print("polyjudge: These files were not judged. Correct them and run the same command again.", file=sys.stderr)
    return 2


class _PrintedRows:
    """Prints the rows of a run without an output file; such a run cannot be resumed."""

    def __init__(self) -> None:
        self.started_at = utc_now()

    def stored(self) -> Iterator[tuple[str, RunOutcome]]:
        return iter(())

    def append(self, item: Item, outcome: RunOutcome) -> None:
        sys.stdout.write(item_line(item, outcome, with_texts=True))
        sys.stdout.flush()

    def ahead(self) -> Mapping[str, RunOutcome]:
        return {}

    def finish(self) -> None:
        pass

    def discard_if_empty(self) -> None:
        pass

    def close(self) -> None:
        pass
