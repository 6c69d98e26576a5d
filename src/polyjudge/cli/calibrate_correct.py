"""`polyjudge calibrate correct RESULTS --labels L`: estimate people's scores from many judged items and few labels."""

import argparse
import sys
from pathlib import Path

from polyjudge.calibration.correction import correct, correct_from_elsewhere
from polyjudge.calibration.matching import Matched, match
from polyjudge.errors import ConfigError
from polyjudge.files.ownership import own_fields
from polyjudge.formats.ratings import Ratings
from polyjudge.languages.table import language_table
from polyjudge.records.codec import to_json
from polyjudge.reports.blocks import BLOCK_FORMATS
from polyjudge.reports.calibration import correction_blocks, elsewhere_blocks

from .calibrating import write_figures
from .options import Several, add_report_options, check_output
from .output import print_warning
from .rating_sides import add_rating_options, are_words, pass_rule, read_side, read_sides, report_unmatched


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add = parser.add_argument
    add("results", type=Path, nargs="+", metavar="RESULTS", help="the judge's scores of all items")
    add(
        "--labels",
        type=Path,
        action=Several,
        default=[],
        metavar="FILE",
        help="people's labels: rows with id and label; default: the column of labels in RESULTS",
    )
    other = "the judge's scores of the labelled items, if they are not in RESULTS (for pass rates only)"
    add("--elsewhere", type=Path, action=Several, default=[], metavar="FILE", help=other)
    add_rating_options(add)
    add_report_options(add, [*BLOCK_FORMATS, "json"])


def run(options: argparse.Namespace) -> int:
    """Read both sides, and estimate."""
    if options.elsewhere and not options.labels:
        raise ConfigError("Give --labels of people; a few dozen of a random sample are enough.")
    check_output(options.output, [*options.results, *options.labels, *options.elsewhere], force=options.force)
    sides = read_sides(options)
    judged, labels = sides.judged, sides.others
    seen = read_side(options.elsewhere, "score", options) if options.elsewhere else judged
    matched = match(seen.ratings, labels.ratings)
    report_unmatched(matched, options.elsewhere or options.results, sides.paths)
    rule = pass_rule(options, labels)
    if rule is None and are_words(labels) and not are_words(judged):
        raise ConfigError("The labels are pass and fail. Give --pass-from, the judge's lowest score that passes.")
    if options.elsewhere:
        match(judged.ratings, ())  # refuses duplicate ids
    unjudged = sum(rating.value is None for rating in judged.ratings)
    if unjudged:
        print_warning(f"{unjudged} items have no verdict and are left out")
    if options.elsewhere:
        return _from_elsewhere(options, judged, matched, rule)
    found, what = correct(judged.ratings, matched.pairs, rule), "pass rate" if rule else "mean"
    figures: dict[str, object] = {
        **own_fields(),
        "estimate": what,
        "all": {**to_json(found.overall), **({"predictionPowered": to_json(found.separate)} if found.separate else {})},
        "languages": {tag or "no language": to_json(each) for tag, each in found.by_language.items()},
    }
    table = language_table()
    write_figures(options, figures, correction_blocks(found.overall, found.by_language, what, table, found.separate))
    return 0


def _from_elsewhere(
    options: argparse.Namespace, judged: Ratings, matched: Matched, rule: tuple[float, float] | None
) -> int:
    if rule is None:
        raise ConfigError(
            "Labels of other items can correct only a pass rate. Give --pass-from, and labels of pass and fail."
        )
    overall, languages = correct_from_elsewhere(judged.ratings, matched.pairs, rule)
    if overall.value is None:
        print(
            "polyjudge: no correction possible: the judge is no better than chance on the labelled items",
            file=sys.stderr,
        )
    found: dict[str, object] = {
        **own_fields(),
        "estimate": "pass rate",
        "labels": len(matched.pairs),
        "all": to_json(overall),
        "languages": {tag or "no language": to_json(each) for tag, each in languages.items()},
    }
    write_figures(options, found, elsewhere_blocks(overall, languages, len(matched.pairs), language_table()))
    return 0
