"""`polyjudge calibrate correct RESULTS --labels L`: estimate people's scores from many judged items and few labels."""

import argparse
import sys
from pathlib import Path

from polyjudge.calibration.correction import correct, correct_from_elsewhere
from polyjudge.calibration.matching import Matched, match
from polyjudge.calibration.system_correction import SystemOptions, correct_systems
from polyjudge.errors import ConfigError
from polyjudge.files.ownership import own_fields
from polyjudge.formats.labelled_systems import Source, SystemRows, has_several_systems
from polyjudge.formats.ratings import ALL_INDEPENDENT, Ratings
from polyjudge.languages.table import language_table
from polyjudge.records.codec import to_json
from polyjudge.reports.blocks import BLOCK_FORMATS
from polyjudge.reports.calibration import correction_blocks, elsewhere_blocks
from polyjudge.reports.system_correction import SYSTEM_FORMATS
from polyjudge.text.display import harmless, one_line

from .calibrating import write_figures
from .options import Several, add_report_options, check_output, level, positive
from .output import print_warning, warn_of_skipped, write_pieces
from .progress import counted
from .rating_sides import (
    add_rating_options,
    are_words,
    check_labels,
    pass_rule,
    rating_sources,
    read_side,
    read_sides,
    report_unmatched,
    show_column,
)
from .tables import no_column, table_options_of


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
    other = "the judge's scores for the labelled items, if they are not in RESULTS (pass rates only)"
    add("--elsewhere", type=Path, action=Several, default=[], metavar="FILE", help=other)
    per = "one estimate per system, or one for all systems; default: per system if the files have several"
    add("--per", choices=["system", "all"], help=per)
    cluster = (
        'column that groups related labels of a system, or "none" if all are independent; default: cluster or document'
    )
    add("--cluster", default="", metavar="COLUMN", help=cluster)
    learnt = "systems to learn the correction from; default: all systems for which it holds"
    add("--reference", default="", metavar="NAME,…", help=learnt)
    margin = "largest shift of the judge's error that does not matter, in points; default: every shift matters"
    add("--margin", type=positive, metavar="X", help=margin)
    these = (
        "intervals for the means over the judged items only; default: for the means over the population they were "
        "sampled from, which are wider"
    )
    add("--only-these-items", action="store_true", help=these)
    alpha = (
        "significance level: maximum probability of rejecting a correction that holds, or of distinguishing equal "
        "systems; default: 0.05"
    )
    add("--alpha", type=level, default=0.05, metavar="P", help=alpha)
    gate = "exit 1 if the correction does not hold for a system, or an estimate is assumed or not reliable"
    add("--require-checked", action="store_true", help=gate)
    add_rating_options(add)
    add_report_options(add, [*BLOCK_FORMATS, "json"])


def run(options: argparse.Namespace) -> int:
    """Read both sides, and estimate."""
    if options.elsewhere and not options.labels:
        raise ConfigError(
            "No labels given. Give people's labels with --labels FILE; a few dozen from a random sample are enough."
        )
    check_output(options.output, [*options.results, *options.labels, *options.elsewhere], force=options.force)
    if not options.elsewhere and options.per != "all":
        judged, labels = rating_sources(options)
        if options.per == "system" or has_several_systems(judged):
            return _per_system(options, judged, labels)
    _refuse_options_of_systems(options)
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
    _warn_of_sample(judged, matched)
    found = correct(judged.ratings, matched.pairs, rule, only_these=options.only_these_items)
    what = "pass rate" if rule else "mean"
    figures: dict[str, object] = {
        **own_fields(),
        "estimate": what,
        "all": {**to_json(found.overall), **({"predictionPowered": to_json(found.separate)} if found.separate else {})},
        "languages": {tag or "no language": to_json(each) for tag, each in found.by_language.items()},
    }
    table = language_table()
    write_figures(options, figures, correction_blocks(found.overall, found.by_language, what, table, found.separate))
    return 0


def _warn_of_sample(judged: Ratings, matched: Matched) -> None:
    """Warn of labels that are no random sample of the items: related ones, and those that lack a language."""
    clusters = [pair.cluster for pair in matched.pairs if pair.cluster]
    if len(set(clusters)) < len(clusters):
        related = f"{counted(len(clusters), 'label')} are of {counted(len(set(clusters)), 'cluster')} of related items"
        print_warning(
            f"{related}, and these intervals take labels as independent. Give --per system for ones that hold"
        )
    languages = {rating.language for rating in judged.ratings if rating.value is not None}
    for tag in sorted(languages - {pair.language for pair in matched.pairs}) if matched.pairs else ():
        name = harmless(one_line(tag, 60)) or "no language"
        print_warning(
            f"no label is in {name}: the figure over all items assumes that the judge errs there as elsewhere"
        )


def _refuse_options_of_systems(options: argparse.Namespace) -> None:
    """Raise ConfigError for an option that is for several systems only."""
    given = {
        "--per system": options.per == "system",
        "--reference": options.reference,
        "--margin": options.margin is not None,
        "--cluster": options.cluster,
        "--require-checked": options.require_checked,
    }
    if name := next((name for name, is_given in given.items() if is_given), ""):
        why = "not with --elsewhere" if options.elsewhere else "but there is one estimate for all. Add --per system"
        raise ConfigError(f"{name} is only for estimates by system, {why}.")


def _per_system(options: argparse.Namespace, judged: list[Source], labels: list[Source]) -> int:
    """Estimate each system, and rank them."""
    clustered = options.cluster != ALL_INDEPENDENT
    if not options.labels:
        show_column(options, labels[0][0], labels[0][1].value)
    rows = SystemRows(judged, labels, is_clustered=clustered)
    if clustered and options.cluster and not rows.has_clusters:
        raise no_column("cluster", options.cluster, options.results, table_options_of(options))
    for notes in (rows.notes, rows.label_notes):
        warn_of_skipped(notes.problems, notes.skipped)
    if options.labels:
        check_labels(rows.label_notes, options.labels)
    rule = pass_rule(options, rows.label_notes)
    if rule is None and are_words(rows.label_notes) and not rows.are_verdicts:
        raise ConfigError("The labels are pass and fail. Give --pass-from, the judge's lowest score that passes.")
    if unjudged := sum(rows.unjudged.values()):
        print_warning(f"{unjudged} items have no verdict and are left out")
    found = correct_systems(
        rows.labelled(rule),
        SystemOptions(
            alpha=options.alpha,
            margin=options.margin,
            only_these=options.only_these_items,
            reference=[name.strip() for name in options.reference.split(",") if name.strip()],
        ),
    )
    pieces = SYSTEM_FORMATS[options.format](found, language_table())
    write_pieces(options.output, pieces, format_name=options.format, force=options.force)
    every = found.overall.systems
    return int(options.require_checked and any(each.status != "corrected" for each in every))


def _from_elsewhere(
    options: argparse.Namespace, judged: Ratings, matched: Matched, rule: tuple[float, float] | None
) -> int:
    if rule is None:
        raise ConfigError(
            "With --elsewhere, only a pass rate can be corrected. Give --pass-from, and labels that are pass or fail."
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
