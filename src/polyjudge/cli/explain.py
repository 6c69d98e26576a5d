"""`polyjudge explain RUN`: say what decided a status, in order, with the evidence."""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from polyjudge.errors import ConfigError
from polyjudge.languages.table import language_table
from polyjudge.reports.blocks import BLOCK_FORMATS, Block
from polyjudge.reports.explaining import explain_language, explain_output, explain_report
from polyjudge.reports.run_explaining import explain_group, explain_item, explain_run
from polyjudge.reports.runs import Selection

from .options import filters_of
from .output import ignore_closed_pipe
from .report import (
    add_run_options,
    run_commands,
    run_report,
    run_rows,
    translation_commands,
    translation_report,
    translations_of,
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_run_options(parser)
    add = parser.add_argument
    add("--language", metavar="LANGUAGE", help="explain the status of this language: its tag or name")
    add("--item", metavar="ID", help="explain one item, by its id; for translations TAG:N, such as de:1")
    add("--format", choices=list(BLOCK_FORMATS), default="text", help="output format; default: %(default)s")


def run(options: argparse.Namespace) -> int:
    """Read the run, and print what decided."""
    if options.language is not None and options.item is not None:
        raise ConfigError("Give --language or --item, not both.")
    results = translations_of(options)
    blocks = _of_run(options) if results is None else _of_translations(options, results)
    with ignore_closed_pipe():
        sys.stdout.writelines(BLOCK_FORMATS[options.format](blocks))
    return 0


def _of_translations(options: argparse.Namespace, results: Path) -> Iterator[Block]:
    report = translation_report(options, results)
    if options.item is not None:
        return explain_output(report, options.item)
    if options.language is not None:
        return explain_language(report, options.language, translation_commands(options))
    return explain_report(report)


def _of_run(options: argparse.Namespace) -> Iterator[Block]:
    if options.item is not None:
        return explain_item(run_rows(options), options.item, language_table())
    found = run_report(options, Selection(filters=filters_of(options.filter), all_rows=options.language is not None))
    if options.language is not None:
        return explain_group(found, options.language, run_commands(options, found))
    return explain_run(found)
