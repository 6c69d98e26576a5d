"""Write a review in the format that was asked for, also one that was stored earlier, and return its exit code."""

import argparse
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace

from polyjudge.errors import ConfigError
from polyjudge.files.text_files import read_toml
from polyjudge.folder_trust import PROJECT_FILE
from polyjudge.languages.table import language_table
from polyjudge.records.messages import Review
from polyjudge.reports.review_comment import review_summary
from polyjudge.reports.review_formats import REVIEW_FORMATS, read_review, render_review
from polyjudge.reports.review_wording import fails_at
from polyjudge.text.display import harmless

from .options import add_force_option
from .output import add_to_step_summary, print_warning, write_pieces

_MOST_SKIPPED = 5
_OF_REVIEWING = ("since", "source", "glossary", "filter", "judge", "checks", "skip_checks", "accepted")


def add_output_options(add: Callable[..., object]) -> None:
    """Add the options that say what is written, and what fails."""
    stored = "show a review that was stored with --format json, instead of reviewing files"
    add("--from", dest="stored", type=Path, metavar="FILE", help=stored)
    add("--format", choices=REVIEW_FORMATS, default="text", help="output format; default: %(default)s")
    add("--output", type=Path, metavar="FILE", help="file for the review; default: stdout")
    add_force_option(add)
    name = "name of the review; each name has its own comment on a pull request"
    add("--name", default="", metavar="TEXT", help=name)
    fails = "exit 1 if a finding has this severity or a higher one; default: fail"
    add("--fail-on", choices=["fail", "warn", "info", "never"], help=fails)


def stored_review(options: argparse.Namespace) -> Review:
    """Read the review that is to be rendered, and refuse options that say what to review."""
    if options.paths:
        raise ConfigError("--from renders a stored review and takes no PATH. Leave one of them out.")
    project = read_toml(PROJECT_FILE) if PROJECT_FILE.is_file() else {}
    settings = {*project, *project.get("review", {})}  # a project sets them for reviews, which this is not
    for name in _OF_REVIEWING:
        value, option = getattr(options, name), name.replace("_", "-")
        if value and option not in settings:
            raise ConfigError(f"--from renders a stored review, so --{option} has no effect. Leave it out.")
    review = read_review(options.stored)
    return replace(review, fail_on=options.fail_on) if options.fail_on is not None else review


def show_review(options: argparse.Namespace, review: Review) -> int:
    """Write a review in the format that was asked for, and return its exit code."""
    is_page = options.output is None and options.format == "text"
    width = shutil.get_terminal_size().columns if is_page and sys.stdout.isatty() else None
    rendered = render_review(review, options.format, name=options.name, width=width)
    write_pieces(options.output, [rendered], format_name=options.format, force=options.force)
    if options.format == "github":
        add_to_step_summary([review_summary(review, language_table(), name=options.name)])
    for line in review.skipped[:_MOST_SKIPPED] if options.format not in ("text", "github") else ():
        print_warning(f"not reviewed: {harmless(line)}")
    if options.output is not None:
        print(f"review:  {harmless(str(options.output))}", file=sys.stderr)
    return 1 if any(fails_at(review, each.severity) for each in review.findings) else 0
