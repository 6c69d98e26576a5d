"""`polyjudge calibrate agreement RESULTS [--labels L]`: compare a judge with people, or with another judge."""

import argparse
import re
import sys
from pathlib import Path

from polyjudge.calibration.agreement import AgreementOptions, AgreementResult, Span, measure_agreement
from polyjudge.calibration.cards import with_agreement
from polyjudge.calibration.matching import Combination, Matched, match, once_per_item, usual_combination
from polyjudge.clock import utc_now
from polyjudge.errors import ConfigError
from polyjudge.languages.table import language_table
from polyjudge.records.calibration import JudgeIdentity
from polyjudge.reports.agreement import agreement_blocks, agreement_json
from polyjudge.reports.blocks import BLOCK_FORMATS

from .calibrating import add_to_card, check_card, write_figures
from .options import Several, add_report_options, at_least, check_output, whole
from .output import print_warning
from .rating_sides import (
    Sides,
    add_rating_options,
    are_preferences,
    are_words,
    pass_rule,
    read_sides,
    report_unmatched,
)
from .span_sides import are_spans, compare_spans
from .tables import no_column, table_options_of

_MANY = 10
_SPAN = re.compile(r"(-?[\d.]+)(?:\.\.|,|:)(-?[\d.]+)")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add = parser.add_argument
    results = "a judge's scores: from score, from translation, or any rows"
    add("results", type=Path, nargs="+", metavar="RESULTS", help=results)
    labels = "people's labels: rows with id, and label or score; default: the label column of RESULTS"
    add("--labels", type=Path, action=Several, default=[], metavar="FILE", help=labels)
    against = "another judge's scores instead of labels"
    add("--against", type=Path, action=Several, default=[], metavar="FILE", help=against)
    add_rating_options(add)
    add(
        "--group", default="", metavar="COLUMN", help="compare pairs of items only within the same value of this column"
    )
    several = "how the labels of several annotators are combined; default: majority for categories, mean for scores"
    add("--annotators", choices=["majority", "mean", "each"], help=several)
    scale = "scale of the {}, such as {}, to map the labels onto the judge's scale"
    add("--score-scale", type=scale_span, metavar="LOW..HIGH", help=scale.format("judge", "1..5"))
    add("--label-scale", type=scale_span, metavar="LOW..HIGH", help=scale.format("labels", "0..100"))
    spans = "compare error spans, not scores; the default if rows have spans but no scores"
    add("--spans", action="store_true", help=spans)
    people = "annotators in RESULTS who are people; default: names such as human/1"
    add("--people", default="", metavar="NAME,…", help=people)
    by = "also report the agreement for each value of this column; default: category"
    add("--by", default="", metavar="COLUMN", help=by)
    cluster = "column that groups related items; default: cluster or document, else every item is its own group"
    add("--cluster", default="", metavar="COLUMN", help=cluster)
    add("--leave-out", default="", metavar="SYSTEM,…", help="systems to leave out, such as refA or en-de/refA")
    resamples = "number of resamples for intervals; default: %(default)s"
    add("--resamples", type=at_least(100), default=1000, metavar="N", help=resamples)
    add("--seed", type=whole, default=0, metavar="N", help="seed of the resampling; default: 0")
    card = "trust card to add the result to; default: the card of the judge that the rows name"
    add("--card", type=Path, metavar="FILE", help=card)
    add_report_options(add, [*BLOCK_FORMATS, "json"])


def run(options: argparse.Namespace) -> int:
    """Read both sides, match them, measure, and add the result to the judge's card."""
    if options.labels and options.against:
        raise ConfigError(
            "--labels and --against cannot be combined. Give people's labels with --labels, or another judge's "
            "scores with --against."
        )
    inputs = [*options.results, *options.labels, *options.against, options.card]
    check_output(options.output, inputs, force=options.force)
    if are_spans(options):
        return compare_spans(options)
    sides = read_sides(options, options.against)
    judged = once_per_item(sides.judged.ratings) if sides.column else sides.judged.ratings
    how: Combination = options.annotators or usual_combination(sides.others.ratings)
    matched = match(judged, sides.others.ratings, how)
    report_unmatched(matched, options.results, sides.paths)
    _check_columns(options, matched)
    wanted = AgreementOptions(
        pass_rule(options, sides.others),
        options.resamples,
        options.seed,
        words=are_words(sides.others),
        preferences=are_preferences(sides.others),
    )
    result = measure_agreement(judged, matched, how, wanted, scales_of_options(options))
    _warn(result, sides)
    blocks = agreement_blocks(result, language_table(), people=not options.against)
    write_figures(options, agreement_json(result), blocks)
    if not options.against:
        _add_to_card(options, sides.judged.judges, result)
    return 0


def _check_columns(options: argparse.Namespace, matched: Matched) -> None:
    """Raise ConfigError for an option that names a column which no row has."""
    missing = {
        "group": not any(pair.group for pair in matched.pairs),
        "cluster": all(pair.cluster == pair.id for pair in matched.pairs),
        "by": not any(pair.part for pair in matched.pairs),
    }
    for name, is_missing in missing.items():
        if is_missing and (column := getattr(options, name)):
            raise no_column(name, column, options.results, table_options_of(options))


def scales_of_options(options: argparse.Namespace) -> tuple[Span, Span] | None:
    """Return the scales of the judge and of the labels, or None if they are not given."""
    if bool(options.score_scale) != bool(options.label_scale):
        raise ConfigError("Give both --score-scale and --label-scale, or neither.")
    return (options.score_scale, options.label_scale) if options.score_scale else None


def scale_span(text: str) -> Span:
    """Return the ends of a scale such as 1..5."""
    found = _SPAN.fullmatch(text.strip())
    try:
        low, high = (float(part) for part in found.groups()) if found else (0.0, 0.0)
    except ValueError:
        low, high = 0.0, 0.0
    if not low < high:
        raise argparse.ArgumentTypeError(f"must be the ends of a scale, such as 1..5, not {text!r}")
    return low, high


def _warn(result: AgreementResult, sides: Sides) -> None:
    """Warn of scales that differ, and of labels that are all equal to the scores."""
    scales, pairs = result.scales, result.matched.pairs
    if scales is not None and scales.differ and result.mapped is None:
        (low, high), (lowest, highest) = scales.judge, scales.labels
        print_warning(
            f"the judge's scores go from {low:g} to {high:g}, the labels from {lowest:g} to {highest:g}: only measures "
            "of order are given. To map the labels onto the judge's scale, give --score-scale and --label-scale"
        )
    if len(pairs) >= _MANY and len({pair.judge for pair in pairs}) > 2 and all(p.judge == p.people for p in pairs):
        print_warning(f"every label in {sides.paths[0]} equals the judge's score. Are they the same column?")


def _add_to_card(options: argparse.Namespace, judges: list[JudgeIdentity], result: AgreementResult) -> None:
    """Add the agreement to the card of the judge that the rows name; no card is changed for none or several."""
    if len(judges) != 1:
        why = "the results do not name their judge" if not judges else "the results are of several judges"
        print(f"polyjudge: the agreement was not added to a trust card: {why}", file=sys.stderr)
        return
    check_card(options, judges[0])
    at = utc_now()
    about = {"kind": "agreement", "at": at, "labels": result.found[""][0]}
    place = add_to_card(options, judges[0], lambda card: with_agreement(card, result.found, about), at=at)
    print(f"polyjudge: card: {place}", file=sys.stderr)
