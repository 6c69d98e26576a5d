"""`polyjudge compare A B [C …]`: which of two runs or systems is better, and where; or several against the first."""

import argparse
import sys
from collections.abc import Callable, Sequence
from itertools import chain
from pathlib import Path

from polyjudge.errors import ConfigError, UnknownNameError
from polyjudge.files.json_lines import readable_json
from polyjudge.files.kinds import FileKind
from polyjudge.formats.ratings import ALL_INDEPENDENT
from polyjudge.formats.scored_runs import ScoredRun, read_run, systems_of, write_baseline
from polyjudge.languages.table import language_table
from polyjudge.records.comparison import Comparison, ComparisonOptions, FailOn, Ruling
from polyjudge.reports.blocks import BLOCK_FORMATS
from polyjudge.reports.comparison import compare
from polyjudge.reports.comparison_many import exit_code, many_blocks, many_json
from polyjudge.reports.comparison_report import COMPARISON_FORMATS, undecided_text, workflow_commands
from polyjudge.reports.escaping import no_command
from polyjudge.text.display import one_line
from polyjudge.verdicts.comparison import DEFAULT_MAX_UNJUDGED, compare_gate

from .options import Several, add_filter_option, add_report_options, at_least, check_output, finite, level, share
from .output import add_to_step_summary, print_warning, warn_of_skipped, write_pieces
from .tables import (
    add_penalties_option,
    add_table_options,
    filtered_table_options_of,
    input_of,
    no_column,
    table_options_of,
)

_ALLOWED = {"judge": {"judge"}, "rubric": {"rubric"}, "both": {"judge", "rubric"}}
_ALARMS_SHOWN = 5


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add = parser.add_argument
    first = "first run: scores from score or translation, any rows, or a baseline; without B, one with several systems"
    add("a", type=Path, metavar="A", help=first)
    add(
        "others", type=Path, nargs="*", metavar="B", help="run to compare with the first: a later one, or another model"
    )
    chosen = "with one run: the systems to compare; the first one is compared with each of the others"
    add("--systems", action=Several, default=[], metavar="NAME,…", help=chosen)
    add(
        "--score",
        default="",
        metavar="COLUMN",
        help="column to compare, such as subscores.grammar; default: score, else label",
    )
    add("--pass-from", type=finite, metavar="X", help="also compare the share of items with a score of at least X")
    cluster = 'column that groups related items, or "none" if all are independent; default: cluster, document or source'
    add("--cluster", default="", metavar="COLUMN", help=cluster)
    failing = (
        "exit 1 if, in a language or over all items, the score is significantly worse (regression), or its mean "
        "fell by more than X and the 95%% interval of the difference is below 0 (drop:X)"
    )
    add("--fail-on", type=_fail_on, metavar="regression|drop:X", help=failing)
    too_many = f"exit 3 if more items lost their verdict; default: {DEFAULT_MAX_UNJUDGED} with --fail-on, else never"
    add("--max-unjudged", type=share, metavar="SHARE", help=too_many)
    unequal = "compare even if the judges or rubrics differ"
    add("--allow-different", action=Several, default=[], metavar="judge|rubric|both", help=unequal)
    add("--bless", type=Path, metavar="FILE", help="write B as a baseline for later runs, unless the comparison fails")
    listed = "number of items to list of each kind; default: %(default)s"
    add("--show", type=at_least(0), default=10, metavar="N", help=listed)
    _add_statistics(add)
    add_filter_option(add, "compare only rows")
    add_report_options(add, COMPARISON_FORMATS)
    add_table_options(parser.add_argument_group("table").add_argument, wide=False)
    add_penalties_option(add)


def _add_statistics(add: Callable[..., object]) -> None:
    alpha = "significance level of adjusted p-values; default: %(default)s"
    add("--alpha", type=level, default=0.05, metavar="P", help=alpha)
    resamples = "number of resamples for intervals; default: %(default)s"
    add("--resamples", type=at_least(100), default=1_000, metavar="N", help=resamples)
    permutations = "number of permutations for p-values; default: %(default)s"
    add("--permutations", type=at_least(100), default=10_000, metavar="N", help=permutations)
    add("--seed", type=at_least(0), default=0, metavar="N", help="seed of resamples and permutations; default: 0")


def run(options: argparse.Namespace) -> int:
    """Read the runs, compare the first with the others, print the report, and write a baseline if asked."""
    paths = [options.a, *options.others]
    check_output(options.output, [*paths, options.bless], force=options.force)
    check_output(options.bless, options.others, kind=FileKind.BASELINE, force=options.force)
    if options.bless is not None and options.bless.suffix.lower() != ".jsonl":
        raise ConfigError(f"--bless {str(options.bless)!r}: a baseline is a JSON Lines file, such as baseline.jsonl.")
    first, *others = _runs(options)
    if options.cluster not in ("", ALL_INDEPENDENT) and not any(run.items.has_clusters for run in (first, *others)):
        raise no_column("cluster", options.cluster, paths, table_options_of(options))
    _check_number(options, len(others))
    if not first.is_baseline:
        check_output(options.bless, [options.a], kind=FileKind.BASELINE, force=options.force)
    wanted = ComparisonOptions(
        alpha=options.alpha / len(others),
        pass_from=options.pass_from,
        resamples=options.resamples,
        permutations=options.permutations,
        seed=options.seed,
        show=options.show,
    )
    allowed = _allowed(options)
    comparisons = [compare(first, other, allow_different=allowed, options=wanted) for other in others]
    rulings = [compare_gate(each, options.fail_on, options.max_unjudged) for each in comparisons]
    for comparison in comparisons:
        _warn_of_few_permutations(comparison)
    _bless(options.bless, others[0], rulings[0], force=options.force)
    if len(others) == 1:
        _write(options, comparisons[0], rulings[0])
    else:
        _write_many(options, comparisons, rulings)
    for comparison, ruling in zip(comparisons, rulings, strict=True):
        _explain(comparison, ruling)
    return exit_code(rulings)


def _runs(options: argparse.Namespace) -> list[ScoredRun]:
    """Return the runs, or the systems of the only one."""
    table = filtered_table_options_of(options)
    if options.others:
        if options.systems:
            raise ConfigError(
                "--systems is for one run with several systems, but several runs are given. Leave out --systems, or "
                "give one run."
            )
        return [_read(input_of(path, table), options) for path in (options.a, *options.others)]
    path = input_of(options.a, table)
    found = systems_of(path, table)
    named = (name.strip() for given in options.systems for name in given.split(","))
    wanted = tuple(dict.fromkeys(name for name in named if name)) or found
    unknown = [name for name in wanted if name not in found]
    if unknown:
        raise UnknownNameError("system", unknown[0], found)
    if len(wanted) < 2 <= len(found):
        raise ConfigError(f"--systems has only {wanted[0]!r}. Name at least two of: {', '.join(found)}.")
    if len(wanted) < 2:
        names = f"the only system in it is {found[0]!r}" if found else "its rows have no column 'system'"
        raise ConfigError(f"Nothing to compare: {options.a} is the only run, and {names}. Give a second run.")
    return [_read(path, options, name) for name in wanted]


def _check_number(options: argparse.Namespace, others: int) -> None:
    """Refuse options that are for two runs only."""
    if others > 1 and options.bless is not None:
        raise ConfigError("--bless writes a baseline from the second of two runs. Give two runs.")
    if others > 1 and options.format == "junit":
        raise ConfigError(
            "--format junit supports only two runs. Compare each run with the first in a separate command."
        )


def _read(path: Path, options: argparse.Namespace, system: str = "") -> ScoredRun:
    table = filtered_table_options_of(options)
    found = read_run(path, measure=options.score, cluster=options.cluster, table=table, system=system)
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


def _write_many(options: argparse.Namespace, comparisons: Sequence[Comparison], rulings: Sequence[Ruling]) -> None:
    table, format_name = language_table(), str(options.format)
    if format_name == "json":
        pieces = iter([readable_json(many_json(comparisons, rulings), indent=1) + "\n"])
    else:
        shape = BLOCK_FORMATS["markdown" if format_name == "github" else format_name]
        pieces = shape(many_blocks(comparisons, rulings, table))
    is_step = format_name == "github" and options.output is None
    if not (is_step and add_to_step_summary(pieces)):
        write_pieces(options.output, pieces, format_name=format_name, force=options.force)
    if format_name == "github":
        commands = chain(*(workflow_commands(*each, table) for each in zip(comparisons, rulings, strict=True)))
        write_pieces(None, commands, format_name="", force=False)


def _explain(comparison: Comparison, ruling: Ruling) -> None:
    """Print on stderr why a comparison failed, or could not."""
    if ruling.exit_code == 3:
        lost = f"{ruling.unjudged_share:.1%} of the items with a verdict in A have none in B"
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


def _fail_on(text: str) -> FailOn:
    kind, colon, drop = text.partition(":")
    if text == "regression":
        return FailOn()
    if kind != "drop" or not colon or finite(drop) < 0:
        raise argparse.ArgumentTypeError(f"must be regression or drop:X, such as drop:0.3, not {text!r}")
    return FailOn(drop=finite(drop))
