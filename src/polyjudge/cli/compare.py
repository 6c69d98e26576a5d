"""`polyjudge compare A B`: show what changed between two runs."""

import argparse
import sys
from pathlib import Path

from polyjudge.errors import ConfigError
from polyjudge.files.kinds import FileKind
from polyjudge.formats.scored_runs import ScoredRun, read_run, write_baseline
from polyjudge.languages.table import language_table
from polyjudge.records.comparison import Comparison, ComparisonOptions, FailOn, Ruling
from polyjudge.reports.comparison import compare
from polyjudge.reports.comparison_report import COMPARISON_FORMATS, no_command, undecided_text, workflow_commands
from polyjudge.text.display import one_line
from polyjudge.verdicts.comparison import DEFAULT_MAX_UNJUDGED, compare_gate

from .options import Several, add_force_option, at_least, check_output, finite, share
from .output import add_to_step_summary, print_warning, warn_of_skipped, write_pieces
from .tables import add_table_options, input_of, table_options_of

_ALLOWED = {"judge": {"judge"}, "rubric": {"rubric"}, "both": {"judge", "rubric"}}
_ALARMS_SHOWN = 5


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add = parser.add_argument
    add("a", type=Path, metavar="A", help="earlier run: scores from score or translation, any rows, or a baseline")
    add("b", type=Path, metavar="B", help="later run")
    add(
        "--score",
        default="",
        metavar="COLUMN",
        help="column to compare, such as subscores.grammar; default: score, else label",
    )
    add("--pass-from", type=finite, metavar="X", help="also compare the share of items with a score of at least X")
    cluster = "column of related items; default: cluster, document or source"
    add("--cluster", default="", metavar="COLUMN", help=cluster)
    level = "significance level of adjusted p-values; default: %(default)s"
    add("--alpha", type=_level, default=0.05, metavar="P", help=level)
    failing = (
        "exit 1 if, in a language or over all items, the score is significantly worse (regression), or its mean "
        "fell by more than X and the 95%% interval of the difference is below 0 (drop:X)"
    )
    add("--fail-on", type=_fail_on, metavar="regression|drop:X", help=failing)
    too_many = (
        f"exit 3 when a larger share lost its verdict; default: {DEFAULT_MAX_UNJUDGED} with --fail-on, else never"
    )
    add("--max-unjudged", type=share, metavar="SHARE", help=too_many)
    unequal = "compare even if the judges or rubrics differ"
    add("--allow-different", action=Several, default=[], metavar="judge|rubric|both", help=unequal)
    add("--bless", type=Path, metavar="FILE", help="write B as a baseline for later runs, unless the comparison fails")
    add("--show", type=at_least(0), default=10, metavar="N", help="items to list of each kind; default: %(default)s")
    resamples = "number of resamples for intervals; default: %(default)s"
    add("--resamples", type=at_least(100), default=1_000, metavar="N", help=resamples)
    permutations = "number of permutations for p-values; default: %(default)s"
    add("--permutations", type=at_least(100), default=10_000, metavar="N", help=permutations)
    add("--seed", type=at_least(0), default=0, metavar="N", help="seed of resamples and permutations; default: 0")
    add("--output", type=Path, metavar="FILE", help="file for the report; default: stdout")
    add_force_option(add)
    add("--format", choices=list(COMPARISON_FORMATS), default="text", help="output format; default: %(default)s")
    add_table_options(parser.add_argument_group("table").add_argument, wide=False)


def run(options: argparse.Namespace) -> int:
    """Read both runs, compare them, print the report, and write a baseline if asked."""
    check_output(options.output, [options.a, options.b, options.bless], force=options.force)
    check_output(options.bless, [options.b], kind=FileKind.BASELINE, force=options.force)
    if options.bless is not None and options.bless.suffix.lower() != ".jsonl":
        raise ConfigError(f"--bless {str(options.bless)!r}: a baseline is a JSON Lines file, such as baseline.jsonl.")
    before, after = (_read(path, options) for path in (options.a, options.b))
    if not before.is_baseline:
        check_output(options.bless, [options.a], kind=FileKind.BASELINE, force=options.force)
    wanted = ComparisonOptions(
        alpha=options.alpha,
        pass_from=options.pass_from,
        resamples=options.resamples,
        permutations=options.permutations,
        seed=options.seed,
        show=options.show,
    )
    comparison = compare(before, after, allow_different=_allowed(options), options=wanted)
    _warn_of_few_permutations(comparison)
    ruling = compare_gate(comparison, options.fail_on, options.max_unjudged)
    _bless(options.bless, after, ruling, force=options.force)
    _write(options, comparison, ruling)
    _explain(comparison, ruling)
    return ruling.exit_code


def _read(path: Path, options: argparse.Namespace) -> ScoredRun:
    table = table_options_of(options)
    path = input_of(path, table)
    found = read_run(path, measure=options.score, cluster=options.cluster, table=table)
    warn_of_skipped(found.problems, found.skipped)
    return found


def _allowed(options: argparse.Namespace) -> set[str]:
    """Return what may differ between the judges of both runs."""
    allowed: set[str] = set()
    for name in (name.strip() for given in options.allow_different for name in given.split(",")):
        if name not in _ALLOWED:
            raise ConfigError(f"--allow-different: unknown {name!r}. Available: {', '.join(_ALLOWED)}.")
        allowed |= _ALLOWED[name]
    return allowed


def _warn_of_few_permutations(comparison: Comparison) -> None:
    tested = sum(row.score.p is not None for row in comparison.languages)
    needed = int(tested / comparison.options.alpha) + 1
    if comparison.options.permutations < needed:
        print_warning(
            f"{comparison.options.permutations} permutations are too few to make one language of "
            f"{tested} significant. Give --permutations {needed} or more."
        )


def _write(options: argparse.Namespace, comparison: Comparison, ruling: Ruling) -> None:
    table = language_table()
    pieces = COMPARISON_FORMATS[options.format](comparison, ruling, table)
    is_step = options.format == "github" and options.output is None
    if not (is_step and add_to_step_summary(pieces)):
        write_pieces(options.output, pieces, format_name=options.format, force=options.force)
    if options.format == "github":
        write_pieces(None, workflow_commands(comparison, ruling, table), format_name="", force=False)


def _explain(comparison: Comparison, ruling: Ruling) -> None:
    """Print on stderr why a comparison failed, or could not."""
    if ruling.exit_code == 3:
        lost = f"{ruling.unjudged_share:.1%} of the items judged before have no verdict now"
        print(f"polyjudge: {lost}; --max-unjudged allows {ruling.max_unjudged:.1%}", file=sys.stderr)
    if ruling.fail_on is None:
        return
    if ruling.is_undecided:
        print_warning(undecided_text(comparison, ruling.fail_on))
    for alarm in ruling.alarms[:_ALARMS_SHOWN]:
        where = "over all items" if alarm.is_overall else f"in {one_line(alarm.language, 80) or 'no language'}"
        print(no_command(f"polyjudge: {where} {alarm.sentence}"), file=sys.stderr)
    if len(ruling.alarms) > _ALARMS_SHOWN:
        print(f"polyjudge: and in {len(ruling.alarms) - _ALARMS_SHOWN} more", file=sys.stderr)


def _bless(path: Path | None, run: ScoredRun, ruling: Ruling, *, force: bool) -> None:
    if path is None:
        return
    if ruling.exit_code:
        print(f"polyjudge: {path} was not written, because the comparison failed", file=sys.stderr)
        return
    write_baseline(path, run, force=force)
    print(f"polyjudge: baseline: {path}", file=sys.stderr)


def _level(text: str) -> float:
    level = share(text)
    if not 0 < level <= 0.5:
        raise argparse.ArgumentTypeError(f"must be above 0 and at most 0.5, not {text!r}")
    return level


def _fail_on(text: str) -> FailOn:
    kind, colon, drop = text.partition(":")
    if text == "regression":
        return FailOn()
    if kind != "drop" or not colon or finite(drop) < 0:
        raise argparse.ArgumentTypeError(f"must be regression or drop:X, such as drop:0.3, not {text!r}")
    return FailOn(drop=finite(drop))
