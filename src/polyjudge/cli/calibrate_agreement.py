"""`polyjudge calibrate agreement RESULTS --labels L`: compare a judge with people, or with another judge."""

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal

from polyjudge.calibration.agreement import AgreementOptions, Matched, agreement_by_language, match
from polyjudge.calibration.cards import with_agreement
from polyjudge.clock import utc_now
from polyjudge.errors import ConfigError, DataError
from polyjudge.files.json_lines import readable_json
from polyjudge.files.ownership import own_fields
from polyjudge.formats.ratings import RatingColumns, Ratings, read_ratings
from polyjudge.languages.table import language_table
from polyjudge.records.calibration import Figure, JudgeIdentity
from polyjudge.records.codec import to_json
from polyjudge.reports.blocks import BLOCK_FORMATS
from polyjudge.reports.calibration import agreement_blocks

from .calibrating import add_to_card, check_card
from .options import Several, add_force_option, at_least, check_output, finite, whole
from .output import print_warning, warn_of_skipped, write_pieces
from .progress import counted
from .tables import add_table_options, input_of, table_options_of

MOST_PASS = 0.5 + 1e-9
"""More than half of several people's verdicts on an item must be pass; a tie does not pass."""
Found = Mapping[str, tuple[int, Mapping[str, Figure]]]
"""By language tag, the empty tag for all languages: the number of items, and each measure."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add = parser.add_argument
    results = "a judge's scores: from score, from translation, or any rows"
    add("results", type=Path, nargs="+", metavar="RESULTS", help=results)
    labels = "people's labels: rows with id, and label or score"
    add("--labels", type=Path, action=Several, default=[], metavar="FILE", help=labels)
    against = "another judge's scores instead of labels"
    add("--against", type=Path, action=Several, default=[], metavar="FILE", help=against)
    add_rating_options(add)
    add(
        "--group", default="", metavar="COLUMN", help="compare pairs of items only within the same value of this column"
    )
    cluster = "column of items that belong together; default: cluster or document, else each item by itself"
    add("--cluster", default="", metavar="COLUMN", help=cluster)
    add("--leave-out", default="", metavar="SYSTEM,…", help="systems to leave out, such as refA or en-de/refA")
    resamples = "number of resamples for intervals; default: %(default)s"
    add("--resamples", type=at_least(100), default=1000, metavar="N", help=resamples)
    add("--seed", type=whole, default=0, metavar="N", help="seed of the resampling; default: 0")
    card = "trust card to add the result to; default: the card of the judge that the rows name"
    add("--card", type=Path, metavar="FILE", help=card)
    add("--output", type=Path, metavar="FILE", help="file for the report; default: stdout")
    add_force_option(add)
    add("--format", choices=[*BLOCK_FORMATS, "json"], default="text", help="output format; default: %(default)s")


def add_rating_options(add: Callable[..., object]) -> None:
    """Add the options of the columns of scores and labels, and of the lowest values that pass."""
    add(
        "--score", default="", metavar="COLUMN", help="column of the results, such as subscores.grammar; default: score"
    )
    add("--label", default="", metavar="COLUMN", help="column of the labels; default: score, else label")
    add("--pass-from", type=finite, metavar="X", help="lowest score of the judge that passes")
    add_table_options(add, wide=False)
    add("--label-pass-from", type=finite, metavar="X", help="lowest label that passes; not needed for pass and fail")


def run(options: argparse.Namespace) -> int:
    """Read both sides, match them, measure, and add the result to the judge's card."""
    if bool(options.labels) == bool(options.against):
        raise ConfigError("Give either --labels of people, or --against another judge.")
    inputs = [*options.results, *options.labels, *options.against, options.card]
    check_output(options.output, inputs, force=options.force)
    judged = read_side(options.results, "score", options)
    others = read_side(options.labels or options.against, "label" if options.labels else "score", options)
    if options.labels:
        check_labels(others, options.labels)
    matched = match(judged.ratings, others.ratings)
    report_unmatched(matched, options.results, options.labels or options.against)
    if options.group and not any(pair.group for pair in matched.pairs):
        raise ConfigError(f"--group {options.group}: no row has that column.")
    if options.cluster and all(pair.cluster == pair.id for pair in matched.pairs):
        raise ConfigError(f"--cluster {options.cluster}: no row has that column.")
    rule = pass_rule(options, others)
    wanted = AgreementOptions(rule, options.resamples, options.seed, words=are_words(others))
    found = agreement_by_language(matched.pairs, wanted)
    _write(options, matched, found)
    if options.labels:
        _add_to_card(options, judged.judges, found)
    return 0


def read_side(paths: Sequence[Path], option: Literal["score", "label"], options: argparse.Namespace) -> Ratings:
    """Read the ratings of one side, whose column `option` names, and warn of rows that cannot be used."""
    left_out = frozenset(name.strip() for name in getattr(options, "leave_out", "").split(",") if name.strip())
    column: str = getattr(options, option)
    columns = RatingColumns(
        value=column,
        option=option,
        group=getattr(options, "group", ""),
        cluster=getattr(options, "cluster", ""),
        leave_out=left_out,
        table=table_options_of(options),
    )
    found = Ratings()
    for path in paths:
        read_ratings(input_of(path, columns.table), columns, found)
    warn_of_skipped(found.problems, found.skipped)
    return found


def check_labels(labels: Ratings, paths: Sequence[Path]) -> None:
    """Refuse labels that a judge has given, or that mix words and numbers."""
    if labels.judges:
        judge = f"{labels.judges[0].provider}/{labels.judges[0].model}"
        raise DataError(f"has scores of {judge}, not labels of people. Compare judges with --against.", path=paths[0])
    points = [rating.value for rating in labels.ratings if not rating.in_words and rating.value not in (None, 0.0, 1.0)]
    if points and any(rating.in_words for rating in labels.ratings):
        raise DataError(f"has both words such as pass and numbers such as {points[0]:g}. Use one kind.", path=paths[0])


def pass_rule(options: argparse.Namespace, labels: Ratings) -> tuple[float, float] | None:
    """Return the lowest passing values of judge and people, or None without options; of words, most must be pass."""
    people = options.label_pass_from
    if people is None and are_words(labels):
        people = MOST_PASS if options.pass_from is not None else None
    if options.pass_from is None and people is None:
        return None
    if options.pass_from is None or people is None:
        missing = "--pass-from" if options.pass_from is None else "--label-pass-from"
        raise ConfigError(f"Both lowest passing values are needed. Give {missing} too.")
    return options.pass_from, people


def are_words(labels: Ratings) -> bool:
    """Say whether labels are pass and fail, not points of a scale: words, or zeros and ones."""
    values = {rating.value for rating in labels.ratings if rating.value is not None}
    return values <= {0.0, 1.0} and (0.0 in values or any(rating.in_words for rating in labels.ratings))


def report_unmatched(matched: Matched, results: Sequence[Path], labels: Sequence[Path]) -> None:
    """Warn of items that could not be compared; an error if none could."""
    if not matched.pairs:
        some = f". The first label is of {matched.unknown[0]!r}" if matched.unknown else ""
        raise ConfigError(f"No common items in {results[0]} and {labels[0]}{some}.")
    if matched.unknown:
        ignored = f"{counted(len(matched.unknown), 'label')} of items that were not judged, such as"
        print_warning(f"ignored {ignored} {matched.unknown[0]!r}")
    if matched.unjudged:
        unjudged = counted(matched.unjudged, "labelled item")
        print_warning(f"{unjudged} without a verdict of the judge")


def _write(options: argparse.Namespace, matched: Matched, found: Found) -> None:
    if options.format == "json":
        pieces = iter([readable_json(_as_json(matched, found), indent=1) + "\n"])
    else:
        shape = BLOCK_FORMATS[options.format]
        pieces = shape(
            agreement_blocks(found, language_table(), people=bool(options.labels), alpha=matched.people_alpha)
        )
    write_pieces(options.output, pieces, format_name=options.format, force=options.force)


def _as_json(matched: Matched, found: Found) -> dict[str, object]:
    return {
        **own_fields(),
        "items": len(matched.pairs),
        "unjudged": matched.unjudged,
        "notLabelled": matched.not_labelled,
        "unknownLabels": len(matched.unknown),
        "annotators": matched.annotators,
        "annotatorsAlpha": matched.people_alpha,
        "languages": {
            tag or "all": {"items": count, **{name: to_json(each) for name, each in figures.items()}}
            for tag, (count, figures) in found.items()
        },
    }


def _add_to_card(options: argparse.Namespace, judges: list[JudgeIdentity], found: Found) -> None:
    """Add the agreement to the card of the judge that the rows name; no card is changed for none or several."""
    if len(judges) != 1:
        why = "the results do not name their judge" if not judges else "the results are of several judges"
        print(f"polyjudge: no trust card was changed: {why}", file=sys.stderr)
        return
    check_card(options, judges[0])
    at = utc_now()
    about = {"kind": "agreement", "at": at, "labels": found[""][0]}
    place = add_to_card(options, judges[0], lambda card: with_agreement(card, found, about), at=at)
    print(f"polyjudge: card: {place}", file=sys.stderr)
