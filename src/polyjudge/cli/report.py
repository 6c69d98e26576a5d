"""`polyjudge report --results R`: what a translator's results and its judges come to."""

import argparse
import sys
from pathlib import Path

from polyjudge.clock import utc_now
from polyjudge.files import TranslationResults, TranslationScores, write_atomically
from polyjudge.languages import language_table
from polyjudge.reports import FORMATS, Report
from polyjudge.text import one_line

from .progress import CountShow

_WARNINGS_SHOWN = 5
_LONGEST_WARNING = 400


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add = parser.add_argument
    add("--results", type=Path, required=True, metavar="FILE", help="what a translator wrote, by language")
    add("--quick-judge", type=Path, metavar="FILE", help="scores of `translation quick`")
    add("--full-judge", type=Path, metavar="FILE", help="scores of `translation full`")
    add("--output", type=Path, metavar="FILE", help="default: stdout")
    add("--format", choices=list(FORMATS), default="markdown", help="default: %(default)s")


def run(options: argparse.Namespace) -> int:
    """Read the files, sum up, and write."""
    given = {"quick": options.quick_judge, "full": options.full_judge}
    scores = {name: TranslationScores(path) for name, path in given.items() if path is not None}
    with CountShow("languages read") as progress:
        report = Report(
            TranslationResults(options.results),
            scores,
            language_table(),
            timestamp=utc_now(),
            progress=lambda _: progress.advance(),
        )
    write_report(report, options.format, options.output)
    warn_of(report)
    return 0


def write_report(report: Report, form: str, path: Path | None) -> None:
    """Write a report to a file, or to stdout where none is named."""
    if path is None:
        sys.stdout.writelines(FORMATS[form](report))
        return
    with write_atomically(path) as file:
        file.writelines(FORMATS[form](report))


def warn_of(report: Report) -> None:
    """Name on stderr what could not be used."""
    for warning in report.warnings[:_WARNINGS_SHOWN]:
        print(f"polyjudge: warning: {one_line(warning, _LONGEST_WARNING)}", file=sys.stderr)
    if report.skipped_rows > _WARNINGS_SHOWN:
        print(f"polyjudge: warning: {report.skipped_rows} parts of the files could not be used", file=sys.stderr)
