"""`polyjudge convert IN OUT`: write the rows of anything that polyjudge reads in another format."""

import argparse
import sys
from pathlib import Path

from polyjudge.errors import ConfigError
from polyjudge.formats.annotation_files import ANNOTATION_FORMATS, write_annotations
from polyjudge.formats.converting import WRITERS, RowsToConvert, write_rows
from polyjudge.formats.metrics_folder import write_metrics_folder
from polyjudge.text.display import harmless

from .options import add_force_option, check_output
from .output import warn_of_skipped
from .tables import add_penalties_option, add_table_options, input_of, table_options_of

_ROWS, _METRICS = "rows", "mt-metrics-eval"
_SUFFIXES = {"mqm": ".tsv", "esa": ".csv", "pearmut": ".jsonl"}
"""The suffix by which each format of error spans is recognised."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add = parser.add_argument
    add("input", type=Path, metavar="IN", help="a table, a run, or another tool's results; - for stdin")
    add("output", type=Path, metavar="OUT", help=f"file to write: {', '.join(WRITERS)}; with --to {_METRICS}, a folder")
    form = (
        f"rows, by the suffix of OUT; a folder in the layout of {_METRICS}; or error spans as WMT's MQM table (.tsv), "
    )
    form += "Appraise's ESA table (.csv) or Pearmut's annotations (.jsonl); default: %(default)s"
    add("--to", choices=[_ROWS, _METRICS, *ANNOTATION_FORMATS], default=_ROWS, help=form)
    add_force_option(add)
    add_table_options(parser.add_argument_group("table").add_argument)
    add_penalties_option(add)


def run(options: argparse.Namespace) -> int:
    """Read the rows and write them."""
    table = table_options_of(options)
    output: Path = options.output
    if options.to == _ROWS and output.suffix.lower() not in WRITERS:
        raise ConfigError(
            f"{str(output)!r}: cannot write this format. Give a name that ends in one of {', '.join(WRITERS)}."
        )
    if output.suffix.lower() != (wanted := _SUFFIXES.get(options.to, output.suffix.lower())):
        raise ConfigError(f"{str(output)!r}: --to {options.to} needs a name that ends in {wanted}.")
    check_output(output, [options.input], force=options.force)
    rows = RowsToConvert(input_of(options.input, table), table)
    if options.to == _METRICS:
        for note in write_metrics_folder(rows, output, force=options.force):
            print(f"polyjudge: {note}", file=sys.stderr)
    elif options.to in ANNOTATION_FORMATS:
        for note in write_annotations(rows, output, options.to, force=options.force):
            print(f"polyjudge: {note}", file=sys.stderr)
    else:
        write_rows(rows, output, force=options.force)
    warn_of_skipped(rows.problems, rows.skipped)
    print(f"{rows.count} rows: {harmless(str(output))}")
    return 0
