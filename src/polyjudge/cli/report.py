"""`polyjudge report --results R`: turn a translator's results and judge scores into a report."""

import argparse
import sys
from pathlib import Path

from polyjudge.reports.translation import Report
from polyjudge.reports.translation_formats import FORMATS, report
from polyjudge.text.display import one_line

from .options import Several, add_force_option, check_output
from .output import print_warning, write_pieces
from .progress import StatusLine
from .tables import RESULTS_HELP, add_table_options, input_of, table_options_of

_WARNINGS_SHOWN = 5
_LONGEST_WARNING = 400


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add = parser.add_argument
    add("--results", type=Path, required=True, metavar="FILE", help=RESULTS_HELP)
    add("--quick-judge", type=Path, metavar="FILE", help="scores of `translation quick`")
    add("--full-judge", type=Path, metavar="FILE", help="scores of `translation full`")
    add("--card", type=Path, action=Several, default=[], metavar="FILE", help="trust card of a judge; default: its own")
    gate = "exit 1 unless a judge is calibrated for each language that has scores"
    add("--require-calibrated", action="store_true", help=gate)
    add("--output", type=Path, metavar="FILE", help="file for the report; default: stdout")
    add_force_option(add)
    add("--format", choices=list(FORMATS), default="markdown", help="output format; default: %(default)s")
    add_table_options(parser.add_argument_group("table").add_argument)


def run(options: argparse.Namespace) -> int:
    """Read the files and write the report."""
    inputs = [options.results, options.quick_judge, options.full_judge, *options.card]
    check_output(options.output, inputs, force=options.force)
    table = table_options_of(options)
    results = input_of(options.results, table, uses_ids=False)
    with StatusLine() as status:
        found = report(
            results,
            quick_judge=options.quick_judge,
            full_judge=options.full_judge,
            cards=options.card,
            table=table,
            progress=lambda _: status.count("languages read"),
        )
    write_report(found, options.format, options.output, force=options.force)
    warn_of(found)
    return _gate(found) if options.require_calibrated else 0


def _gate(report: Report) -> int:
    """Print the languages for which no judge is calibrated, and return the exit code."""
    unknown = report.uncalibrated()
    if not report.judges:
        print(
            "polyjudge: --require-calibrated needs judge scores. Give --quick-judge or --full-judge.", file=sys.stderr
        )
    elif unknown:
        named = one_line(", ".join(unknown), _LONGEST_WARNING)
        print(f"polyjudge: not calibrated for {len(unknown)} languages: {named}", file=sys.stderr)
    return 1 if unknown or not report.judges else 0


def write_report(report: Report, form: str, path: Path | None, *, force: bool) -> None:
    """Write a report to a file, or to stdout without a path."""
    write_pieces(path, FORMATS[form](report), format_name=form, force=force)


def warn_of(report: Report) -> None:
    """Print warnings about what could not be used."""
    for warning in report.warnings[:_WARNINGS_SHOWN]:
        print_warning(f"{one_line(warning, _LONGEST_WARNING)}")
    if report.skipped_rows > _WARNINGS_SHOWN:
        print_warning(f"{report.skipped_rows} parts of the files could not be used")
