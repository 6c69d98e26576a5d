"""`polyjudge calibrate replace RESULTS [--labels L]`: test whether a judge could take the place of a person."""

import argparse
import sys
from pathlib import Path

from polyjudge.calibration.cards import with_replacement
from polyjudge.calibration.matching import once_per_item
from polyjudge.calibration.replacement import (
    USUAL_EPSILONS,
    ReplacementOptions,
    ReplacementResult,
    ScoringName,
    measure_replacement,
)
from polyjudge.clock import utc_now
from polyjudge.errors import ConfigError, DataError
from polyjudge.formats.ratings import Ratings
from polyjudge.formats.row_files import column_map, is_table
from polyjudge.formats.tools import tool_format_of
from polyjudge.languages.table import language_table
from polyjudge.records.calibration import JudgeIdentity
from polyjudge.reports.blocks import BLOCK_FORMATS
from polyjudge.reports.replacement import replacement_blocks, replacement_json
from polyjudge.text.display import one_line

from .annotators import are_annotators, judge_of, read_annotators
from .calibrate_agreement import scale_span, scales_of_options
from .calibrating import add_to_card, check_card, write_figures
from .options import Several, add_report_options, at_least, check_output, whole
from .output import print_warning
from .progress import counted
from .rating_sides import Sides, add_rating_options, are_words, pass_rule, read_sides
from .tables import table_options_of

_LONGEST_LIST = 400
_SCORINGS: dict[str, ScoringName] = {"accuracy": "accuracy", "rmse": "negative RMSE"}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.set_defaults(categories=True)
    add = parser.add_argument
    results = "a judge's verdicts; or labels by people and judges, with a column annotator"
    add("results", type=Path, nargs="+", metavar="RESULTS", help=results)
    labels = "people's labels: rows with id, annotator and label; default: those in RESULTS"
    add("--labels", type=Path, action=Several, default=[], metavar="FILE", help=labels)
    judge = "annotator that is the judge; or the judge's name for the trust card, if the results do not have it"
    add("--judge", dest="judge_of_results", default="", metavar="NAME[/MODEL]", help=judge)
    rubric = "name of the rubric for the trust card, if the results do not have it"
    add("--rubric", dest="rubric_of_results", default="", metavar="NAME", help=rubric)
    people = 'annotators who are people; default: by a column "kind", such as human, else names such as human/1'
    add("--people", default="", metavar="NAME,…", help=people)
    usual = ", ".join(f"{name} ({value:g})" for name, value in USUAL_EPSILONS.items())
    epsilon = f"how much worse than a person the judge may be: a number, or one of {usual}; default: crowd"
    add("--epsilon", type=_epsilon, default=USUAL_EPSILONS["crowd"], metavar="X|WHO", help=epsilon)
    scoring = "how labels are compared; default: accuracy of categories, rmse of other numbers"
    add("--scoring", choices=list(_SCORINGS), help=scoring)
    add_rating_options(add)
    scale = "scale of the {}, such as {}, to map the labels onto the judge's scale"
    add("--score-scale", type=scale_span, metavar="LOW..HIGH", help=scale.format("judge", "1..5"))
    add("--label-scale", type=scale_span, metavar="LOW..HIGH", help=scale.format("labels", "0..100"))
    add("--cluster", default="", metavar="COLUMN", help="column that groups related items, for the interval")
    add("--resamples", type=at_least(100), default=1000, metavar="N", help="number of resamples; default: %(default)s")
    add("--seed", type=whole, default=0, metavar="N", help="seed of the resampling; default: 0")
    fails = "exit 1 unless the judge passes over all items, or also in every language"
    add("--fail-unless", choices=["passes", "languages"], help=fails)
    card = "trust card to add the result to; default: the judge's own in .polyjudge/cards"
    add("--card", type=Path, metavar="FILE", help=card)
    add_report_options(add, [*BLOCK_FORMATS, "json"])


def run(options: argparse.Namespace) -> int:
    """Read both sides, test, report, and add the result to the judge's card."""
    check_output(options.output, [*options.results, *options.labels, options.card], force=options.force)
    sides, annotator = _read(options)
    judge = judge_of(options, sides.judged.judges, annotator)
    result = _measured(options, sides)
    title = f"{judge.provider}/{judge.model}" if judge else ""
    write_figures(options, replacement_json(result, title), replacement_blocks(result, title, language_table()))
    _add_to_card(options, judge, result)
    return int(not _is_met(options.fail_unless, result))


def _read(options: argparse.Namespace) -> tuple[Sides, str]:
    """Return both sides, and the name of the judge if it is one of the annotators."""
    if options.labels or not are_annotators(options):
        if not options.labels:
            _need_people(options)
        return read_sides(options), ""
    return read_annotators(options)


def _need_people(options: argparse.Namespace) -> None:
    """Raise DataError if a table has neither verdicts of a judge nor names of annotators."""
    path: Path = options.results[0]
    if path.is_dir() or not is_table(path) or tool_format_of(path) is not None:
        return
    known = column_map(path, table_options_of(options))
    if known.found and not {"score", "outcome", "annotator"} & {*known.found, *known.columns}:
        found = one_line(", ".join(known.found), _LONGEST_LIST)
        advice = "The column that names the person of each label must be called 'annotator', or give --labels of people"
        raise DataError(f"no column 'annotator'. Found: {found}. {advice}", path=path)


def _warn_of_words(labels: Ratings) -> None:
    """Say that numbers are compared as words, because some labels are words."""
    words = [each.category for each in labels.ratings if each.value is None and each.category]
    numbers = sum(each.value is not None and not each.category for each in labels.ratings)
    if words and numbers:
        shown = f"labels have {counted(len(words), 'word')}, such as {one_line(repr(words[0]), 60)}"
        print_warning(f"{shown}, and {counted(numbers, 'number')}. All are compared as words, by accuracy.")


def _measured(options: argparse.Namespace, sides: Sides) -> ReplacementResult:
    if sides.others.ratings and not any(each.annotator for each in sides.others.ratings):
        raise DataError(
            "no column 'annotator'. Each label needs the name of the person who gave it.", path=sides.paths[0]
        )
    _warn_of_words(sides.others)
    rule = pass_rule(options, sides.others)
    if rule is None and are_words(sides.others) and not are_words(sides.judged):
        raise ConfigError("The labels are pass and fail. Give --pass-from, the judge's lowest score that passes.")
    scoring = _SCORINGS[options.scoring] if options.scoring else None
    wanted = ReplacementOptions(
        options.epsilon, scoring, rule, scales_of_options(options), options.resamples, options.seed
    )
    judged = once_per_item(sides.judged.ratings) if sides.column else sides.judged.ratings
    return measure_replacement(judged, sides.others.ratings, wanted)


def _epsilon(text: str) -> float:
    """Read epsilon: a number, or a word for who the people are."""
    try:
        number = USUAL_EPSILONS[text] if text in USUAL_EPSILONS else float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number < 1:
        usual = ", ".join(USUAL_EPSILONS)
        raise argparse.ArgumentTypeError(f"must be a number from 0 to below 1, or one of {usual}, not {text!r}")
    return number


def _is_met(wanted: str | None, result: ReplacementResult) -> bool:
    tested = {None: [], "passes": [result.found[""]], "languages": list(result.found.values())}[wanted]
    return all(each.replacement.verdict == "passes" for each in tested)


def _add_to_card(options: argparse.Namespace, judge: JudgeIdentity | None, result: ReplacementResult) -> None:
    if judge is None:
        why = "the results do not name their judge. Name it with --judge NAME/MODEL"
        print(f"polyjudge: the result was not added to a trust card: {why}", file=sys.stderr)
        return
    check_card(options, judge)
    at, found = utc_now(), {tag: tested.replacement for tag, tested in result.found.items()}
    about = {"kind": "replacement", "at": at, "items": found[""].items, "people": found[""].people}
    place = add_to_card(options, judge, lambda card: with_replacement(card, found, about), at=at)
    print(f"polyjudge: card: {place}", file=sys.stderr)
