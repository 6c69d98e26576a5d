"""`polyjudge vocabulary summary`: what the judgements in a folder come to."""

import argparse

from polyjudge.errors import DataError
from polyjudge.formats.vocabulary import JUDGEMENTS_FILE, read_judgements

from .options import share
from .vocabulary_job import add_output_option
from .vocabulary_showing import add_showing_options, exit_code, show_summary


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_output_option(parser)
    add_showing_options(parser)
    too_many = "a larger share without a verdict is exit 3; default: %(default)s"
    parser.add_argument("--max-unjudged", type=share, default=0.2, metavar="SHARE", help=too_many)


def run(options: argparse.Namespace) -> int:
    """Read what was judged, write the summary, and show it."""
    path = options.output / JUDGEMENTS_FILE
    if not path.is_file():
        raise DataError("is not there; polyjudge vocabulary judge writes it", path=path)
    rows = list(read_judgements(path))
    if not rows:
        raise DataError("holds no judgement", path=path)
    return exit_code(options, show_summary(options, rows))
