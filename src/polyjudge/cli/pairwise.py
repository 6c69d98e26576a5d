"""`polyjudge pairwise A B`: ask a judge which of two systems' texts is better, in both orders."""

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from polyjudge.errors import ConfigError, MissingExtraError, MissingKeyError
from polyjudge.files.kinds import FileKind
from polyjudge.formats.items import ItemSource
from polyjudge.formats.pairs import PairedTexts, paired_texts
from polyjudge.formats.row_files import KnownColumns
from polyjudge.judges.base import ItemJudge
from polyjudge.judges.jury import Jury
from polyjudge.judges.pair_items import PairJudge
from polyjudge.judges.pairwise import PairwiseJudge
from polyjudge.languages.table import language_table
from polyjudge.providers.registry import is_judge_plugin
from polyjudge.records.ranking import RankingOptions
from polyjudge.records.requests import ModelName
from polyjudge.reports.blocks import BLOCK_FORMATS
from polyjudge.reports.pairwise import PairTally, pairwise_report
from polyjudge.rubrics.loading import load_rubric, rubric_names
from polyjudge.runs.run import Run
from polyjudge.runs.summary import RunSummary

from .cascade_options import CascadeRequest, add_cascade_options, add_token_option, requested_cascade
from .environment import load_environment
from .options import (
    Several,
    add_batch_option,
    add_force_option,
    add_judging_options,
    at_least,
    check_output,
    filters_of,
    judge_names,
    refuse_batch,
    run_options,
)
from .output import print_warning, write_pieces
from .progress import RunProgress, counted
from .signals import explain_end, stop_on_signals
from .summaries import explain_skip, show_estimate, spent_line, too_many_unjudged
from .tables import add_table_options, input_of, table_options_of

if TYPE_CHECKING:
    from .cascading import CascadeTally


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add, shipped = parser.add_argument, ", ".join(rubric_names())
    add("a", type=Path, metavar="A", help="texts of one system: a table as for score, or results of score")
    add("b", type=Path, metavar="B", help="texts of the other system, for the same items")
    criteria = f"compare by the criteria of this rubric: a TOML file, or one of {shipped}; default: overall quality"
    add("--rubric", default="", metavar="FILE|NAME", help=criteria)
    output = "file for the preferences as JSON Lines, for rank, report and calibrate; default: they are not stored"
    add("--output", type=Path, metavar="FILE", help=output)
    add_force_option(add)
    add(
        "--format", choices=[*BLOCK_FORMATS, "json"], default="text", help="format of the summary; default: %(default)s"
    )
    seen = "columns that the judge sees; default: language,source,reference,context"
    add("--context", metavar="COLUMN,…", help=seen)
    add("--limit", type=at_least(1), metavar="N", help="compare only the first N items")
    chosen = "compare only items of A with one of these values"
    add("--filter", action=Several, default=[], metavar="COLUMN=VALUE,…", help=chosen)
    independent = '"none" if all items are independent; default: grouped by the column cluster or document, else source'
    add("--cluster", choices=["", "none"], default="", metavar="none", help=independent)
    add_table_options(parser.add_argument_group("table").add_argument)
    add_judging_options(parser, default_judge="opus")
    add_token_option(add)
    add_cascade_options(parser.add_argument_group("cascade").add_argument)
    add_batch_option(add)


@dataclass(frozen=True, slots=True)
class _Job:
    """The options, the pairs and the judges."""

    options: argparse.Namespace
    pairs: PairedTexts
    judges: list[ModelName]
    tally: PairTally
    cascade: CascadeRequest | None = None

    def judge(self) -> ItemJudge | int:
        """Return the judge of pairs, or an exit code if a cascade could not be learnt."""
        judges = [_pair_judge(name, self.options) for name in self.judges]
        if self.cascade is not None:
            from .cascading import cascade_of  # here, because most runs have no cascade

            return cascade_of(self.cascade, judges, self.pairs.items, self.options)
        return judges[0] if len(judges) == 1 else Jury(judges)

    def open_run(self, judge: ItemJudge, cascade: "CascadeTally | None") -> Run:
        """Return the run that asks about all pairs."""
        options = self.options
        return Run(
            self.pairs.items,
            judge,
            output=options.output,
            repeats=options.repeats if self.cascade is None else 1,
            exports=[self.tally, *([] if cascade is None else [cascade])],
            **run_options(options),
        )


def run(options: argparse.Namespace) -> int:
    """Pair the texts, ask about each pair in both orders, and print which system is better."""
    load_environment()
    judges = _judges(options)
    cascade = requested_cascade(options, judges)
    refuse_batch(options, judges)
    check_output(options.output, [options.a, options.b], kind=FileKind.SCORES, force=options.force)
    pairs = _read_pairs(options)
    job = _Job(options, pairs, judges, PairTally(pairs.systems, options.cluster), cascade)
    try:
        judge = job.judge()
        if isinstance(judge, int):
            return judge
        tally = _tally_of(job, judge)
        run = job.open_run(judge, tally)
        return show_estimate(run, options.format, what="pairs") if options.dry_run else _execute(job, run, tally)
    except (MissingKeyError, MissingExtraError) as error:
        return explain_skip(error, is_required=options.require_judge)


def _tally_of(job: _Job, judge: ItemJudge) -> "CascadeTally | None":
    if job.cascade is None:
        return None
    from .cascading import tally_of  # here, because most runs have no cascade

    return tally_of(judge)


def _judges(options: argparse.Namespace) -> list[ModelName]:
    """Return the models to ask; a judge that scores single texts is an error."""
    judges = judge_names(options)
    if not judges:
        raise ConfigError("The judge 'offline' cannot compare two texts. Give a model, such as openai/gpt-5-mini.")
    own = next((name for name in judges if is_judge_plugin(name.provider)), None)
    if own is not None:
        raise ConfigError(f"The judge {own} scores single texts. Give a model, such as openai/gpt-5-mini.")
    return judges


def _pair_judge(name: ModelName, options: argparse.Namespace) -> PairJudge:
    wanted: bool = options.token_probabilities
    if not options.rubric:
        return PairJudge(PairwiseJudge(model=str(name), token_probabilities=wanted))
    criteria = load_rubric(options.rubric).criteria
    return PairJudge(PairwiseJudge(criteria, str(name), token_probabilities=wanted))


def _read_pairs(options: argparse.Namespace) -> PairedTexts:
    table, known = table_options_of(options), KnownColumns()
    context = None if options.context is None else [name.strip() for name in options.context.split(",") if name.strip()]
    first, second = (input_of(path, table, known=known) for path in (options.a, options.b))
    if first.resolve() == second.resolve():
        raise ConfigError("A and B are the same file. Give the texts of two systems.")
    pairs = paired_texts(
        ItemSource(first, context, filters_of(options.filter), table=table, known=known),
        ItemSource(second, table=table, known=known),
        options.limit,
    )
    for note in pairs.notes:
        print(f"polyjudge: {note}", file=sys.stderr)
    left_out = [(pairs.only_first, options.a), (0 if options.filter else pairs.only_second, options.b)]
    for count, path in left_out:
        if count:
            print_warning(f"{counted(count, 'item')} of {path} {'is' if count == 1 else 'are'} not in the other table")
    return pairs


def _execute(job: _Job, run: Run, cascade: "CascadeTally | None") -> int:
    options = job.options
    if options.output is None:
        print_warning("The preferences of single pairs are not kept. Give --output FILE to rank and report on them.")
    with stop_on_signals(run) as signals, RunProgress(run.budget.spent) as progress:
        summary = run.execute(progress)
    scores = summary.scores
    _show(job, summary)
    if cascade is not None:
        cascade.print(options)
    if summary.status in ("stopped", "capped"):
        left = f"{scores.not_reached} of {scores.items} pairs were not judged"
        return explain_end(signals, summary.stopped_by, left, options.output)
    if summary.status == "unjudged":
        return too_many_unjudged(scores.unjudged, scores.items, options.max_unjudged, scores.unjudged_by_kind)
    return 0


def _show(job: _Job, summary: RunSummary) -> None:
    """Print which system is better; what was asked goes to stderr, because the summary may be JSON."""
    options = job.options
    found = job.tally.summary(RankingOptions())
    pieces = pairwise_report(found, options.format, language_table())
    write_pieces(None, pieces, format_name=options.format, force=False)
    print(f"polyjudge: asked {spent_line(summary.spent)}", file=sys.stderr)
    if options.output is not None and not summary.scores.not_reached:
        print(f"polyjudge: preferences: {options.output}", file=sys.stderr)
