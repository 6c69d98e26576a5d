"""`polyjudge rank RUN…`: rank systems by scores of the same items, or by preferences between two."""

import argparse
from pathlib import Path

from polyjudge.errors import ConfigError
from polyjudge.formats.systems import read_compared
from polyjudge.languages.table import language_table
from polyjudge.records.ranking import RankingOptions
from polyjudge.reports.ranking import ranking_of
from polyjudge.reports.ranking_report import RANKING_FORMATS

from .options import add_filter_option, add_report_options, at_least, check_output, level
from .output import warn_of_skipped, write_pieces
from .tables import add_penalties_option, add_table_options, filtered_table_options_of, input_of


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add = parser.add_argument
    runs = (
        'results with scores, one file per system or with a column "system"; or rows of pairs, such as those of '
        "pairwise"
    )
    add("runs", type=Path, nargs="+", metavar="RUN", help=runs)
    add("--systems", default="", metavar="NAME,…", help="rank only these systems")
    by = "language: also rank within each language; none: only over all items; default: %(default)s"
    add("--by", choices=["language", "none"], default="language", help=by)
    column = "column of the score or preference, such as subscores.grammar; default: score, else label"
    add("--score", default="", metavar="COLUMN", help=column)
    cluster = 'column that groups related items, or "none" if all are independent; default: cluster, document or source'
    add("--cluster", default="", metavar="COLUMN", help=cluster)
    alpha = "significance level: maximum probability that any two equal systems are distinguished; default: %(default)s"
    add("--alpha", type=level, default=0.05, metavar="P", help=alpha)
    permutations = "number of permutations for p-values; default: %(default)s"
    add("--permutations", type=at_least(100), default=10_000, metavar="N", help=permutations)
    add("--seed", type=at_least(0), default=0, metavar="N", help="seed of the permutations; default: 0")
    add_filter_option(add, "rank by rows only")
    add_report_options(add, RANKING_FORMATS)
    add_table_options(parser.add_argument_group("table").add_argument, wide=False)
    add_penalties_option(add)


def run(options: argparse.Namespace) -> int:
    """Read the runs, rank their systems, and print the report."""
    check_output(options.output, options.runs, force=options.force)
    wanted = RankingOptions(
        alpha=options.alpha,
        permutations=options.permutations,
        seed=options.seed,
        by_language=options.by == "language",
    )
    table = filtered_table_options_of(options)
    paths = [input_of(path, table) for path in options.runs]
    if len({path.resolve() for path in paths}) < len(paths):
        raise ConfigError("The same file is given twice. Give each run once.")
    systems = [name.strip() for name in options.systems.split(",") if name.strip()]
    found = read_compared(paths, systems=systems, measure=options.score, cluster=options.cluster, table=table)
    warn_of_skipped(found.problems, found.skipped)
    ranking = ranking_of(found, tuple(map(str, options.runs)), wanted)
    pieces = RANKING_FORMATS[options.format](ranking, language_table())
    write_pieces(options.output, pieces, format_name=options.format, force=options.force)
    return 0
