"""`polyjudge calibrate watch [NAME]`: ask again what a judge has answered, and say whether it has changed."""

import argparse
from pathlib import Path

from polyjudge.errors import ConfigError
from polyjudge.reports.blocks import BLOCK_FORMATS
from polyjudge.statistics.change_test import FALSE_ALARMS

from .environment import load_environment
from .options import add_call_options, add_report_options, at_least, level, share
from .pinning import pin
from .tables import add_table_options
from .watching import ask_again

_ASKED, _PINNED = 100, 500
_IN_FLIGHT = 4
"""Few, because a watch ends early, and calls that are then in flight were made for nothing."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add = parser.add_argument
    add(
        "name",
        nargs="?",
        default="",
        metavar="NAME",
        help="name of the pinned answers; not needed if there is only one set",
    )
    source = "results of score whose answers to pin under NAME, without asking; default of NAME: the file's name"
    add("--from", dest="results", type=Path, metavar="RESULTS", help=source)
    add("--items", type=Path, metavar="FILE", help="with --from: the items that were judged; default: RESULTS")
    add("--context", metavar="COLUMN,…", help="with --from: columns that the judge saw, if --context was given then")
    rubric = "with --from: the rubric, if it is not a shipped one"
    add("--rubric", metavar="FILE|NAME", help=rubric)
    most = f"ask at most N of the pinned questions, or pin at most N; default: {_ASKED} and {_PINNED}"
    add("--questions", type=at_least(1), metavar="N", help=most)
    words = "also ask with K other wordings of the rubric, and count the answers that change; default: 0"
    add("--rewordings", type=at_least(0), default=0, metavar="K", help=words)
    rate = "maximum share of watches that report a change of an unchanged judge; default: %(default)s"
    add("--false-alarms", type=level, default=FALSE_ALARMS, metavar="SHARE", help=rate)
    add("--fail-on-change", action="store_true", help="exit 1 if a change is shown")
    add_report_options(add, [*BLOCK_FORMATS, "json", "junit"])
    add("--require-judge", action="store_true", help="exit 3 instead of skipping when the judge cannot be used")
    too_many = "exit 3 when a larger share of questions got no verdict; default: %(default)s"
    add("--max-unjudged", type=share, default=0.2, metavar="SHARE", help=too_many)
    add_call_options(parser.add_argument_group("calls").add_argument)
    parser.set_defaults(concurrency=_IN_FLIGHT)
    add_table_options(parser.add_argument_group("table of --items").add_argument)


def run(options: argparse.Namespace) -> int:
    """Pin answers, or ask the pinned questions again."""
    load_environment()
    if options.results is None:
        for name in ("items", "context", "rubric"):
            if getattr(options, name) is not None:
                raise ConfigError(
                    f"--{name} is used only when answers are pinned. Add --from RESULTS, or leave out --{name}."
                )
        options.questions = options.questions or _ASKED
        return ask_again(options)
    options.questions = options.questions or _PINNED
    return pin(options, asked=_ASKED)
