"""Make a trust card from recorded results, for `polyjudge calibrate card --from RESULTS`."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from polyjudge.calibration.agreement import AgreementOptions, AgreementResult, measure_agreement
from polyjudge.calibration.cards import with_span_agreement
from polyjudge.calibration.matching import Combination, match, once_per_item, usual_combination
from polyjudge.calibration.recorded import (
    RecordedResult,
    as_categories,
    measure_recorded,
    measured_spans,
    with_recorded,
    with_repeats,
    without_order,
)
from polyjudge.calibration.span_agreement import SpanAgreement
from polyjudge.catalogues.language_names import language_tag
from polyjudge.clock import utc_now
from polyjudge.errors import ConfigError, DataError
from polyjudge.files.kinds import FileKind
from polyjudge.formats.ratings import Rating, Ratings, label_column
from polyjudge.formats.row_files import spooled
from polyjudge.formats.tools import tool_format_of
from polyjudge.languages.table import language_table
from polyjudge.records.calibration import RECORDED, JudgeIdentity, TrustCard
from polyjudge.store.trust_cards import read_card
from polyjudge.text.display import one_line

from .annotators import are_annotators, judge_of, read_annotators
from .calibrate_agreement import scale_span, scales_of_options
from .calibrating import add_to_card, check_card
from .options import Several, at_least, check_output, whole
from .output import print_warning
from .rating_sides import (
    Sides,
    add_rating_options,
    are_preferences,
    are_words,
    pass_rule,
    read_side,
    read_sides,
    report_unmatched,
)
from .span_sides import are_spans, recorded_spans, spans_of_judge
from .tables import table_options_of

_LONGEST_NAME = 100
_OF_RESULTS = (
    *("labels", "label", "score", "people", "language", "filter", "columns", "pass_from", "label_pass_from"),
    *("score_scale", "label_scale", "cluster", "leave_out", "penalties"),
)


class Given(argparse.Action):
    """Also keeps what was given on the command line as `given_NAME`, apart from what the project file sets."""

    def __call__(self, _: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, __: Any = None) -> None:
        """Keep the value under both names."""
        setattr(namespace, self.dest, values)
        setattr(namespace, f"given_{self.dest}", values)


def add_recorded_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of a card from recorded results."""
    add = parser.add_argument_group("recorded results").add_argument
    results = "make the card from these results of any tool; no model is asked"
    add(
        "--from",
        dest="from_results",
        type=Path,
        nargs="+",
        action="extend",
        default=[],
        metavar="RESULTS",
        help=results,
    )
    labels = "people's labels: rows with id, and label or score; default: the column of labels in RESULTS, if any"
    add("--labels", type=Path, action=Several, default=[], metavar="FILE", help=labels)
    people = "annotators in RESULTS who are people; default: by a column kind, else names such as human/1"
    add("--people", default="", metavar="NAME,…", help=people)
    add("--language", default="", metavar="TAG", help="language of items without a language")
    add_rating_options(add)
    scale = "scale of the {}, such as {}, to map the labels onto the judge's scale"
    add("--score-scale", type=scale_span, metavar="LOW..HIGH", help=scale.format("judge", "1..5"))
    add("--label-scale", type=scale_span, metavar="LOW..HIGH", help=scale.format("labels", "0..100"))
    add(
        "--cluster",
        default="",
        metavar="COLUMN",
        help="column of items that belong together; default: cluster or document",
    )
    add("--leave-out", default="", metavar="SYSTEM,…", help="systems to leave out, such as refA or en-de/refA")
    add("--resamples", type=at_least(100), default=1000, metavar="N", help="number of resamples; default: %(default)s")
    add("--seed", type=whole, default=0, metavar="N", help="seed of the resampling; default: 0")


def refuse_recorded_options(options: argparse.Namespace) -> None:
    """Refuse options that say how results are read, where there are none."""
    given = next((name for name in _OF_RESULTS if getattr(options, name) not in (None, "", [])), "")
    if given:
        raise ConfigError(f"--{given.replace('_', '-')} needs --from RESULTS.")


def card_from_results(options: argparse.Namespace) -> TrustCard:
    """Measure what the results show, add it to the judge's card, and return the card."""
    options.spans, options.against, options.categories = False, [], True
    options.results = [spooled(path) for path in options.from_results]
    options.judge_of_results = getattr(options, "given_judge", None) or ""
    options.rubric_of_results = getattr(options, "given_rubric", None) or ""
    inputs = [*options.results, *options.labels]
    check_output(options.output, [*inputs, options.card], force=options.force)
    check_output(options.card, inputs, kind=FileKind.CARD, force=options.force)
    if are_spans(options, by_people=False):
        return _card_of_spans(options)
    sides, annotator = _sides(options)
    judge = _judge(options, sides.judged.judges, annotator)
    check_card(options, judge)
    in_words = any(each.value is None and each.category for each in sides.others.ratings)
    sides.judged.ratings = once_per_item(sides.judged.ratings) if sides.column else with_repeats(sides.judged.ratings)
    if in_words:
        sides.judged.ratings, sides.others.ratings = as_categories(sides.judged.ratings, sides.others.ratings)
    agreement = _agreement(options, sides, in_words=in_words) if sides.others.ratings else None
    spans = recorded_spans(options)
    result = measure_recorded(
        sides.judged.ratings,
        without_order(agreement) if agreement and in_words else agreement,
        model=f"{judge.provider}/{judge.model}",
        sources=_sources(options.results),
        has_spans=spans is not None,
        preferences=are_preferences(sides.others) and not in_words,
        categories=in_words,
        resamples=options.resamples,
        seed=options.seed,
    )
    place = _add(options, judge, result, spans)
    print(f"polyjudge: card: {place}", file=sys.stderr)
    return read_card(place)


def _card_of_spans(options: argparse.Namespace) -> TrustCard:
    """Make a card from error spans alone."""
    own, spans = spans_of_judge(options, options.judge_of_results)
    judge = _judge(options, list(own.judges.values()), spans.judges[0].name)
    check_card(options, judge)
    result = measured_spans(len(own.annotations), own.no_verdict, _sources(options.results))
    place = _add(options, judge, result, spans)
    print(f"polyjudge: card: {place}", file=sys.stderr)
    return read_card(place)


def _sides(options: argparse.Namespace) -> tuple[Sides, str]:
    """Read the verdicts, and the labels if there are any."""
    if not options.labels and are_annotators(options):
        sides, annotator = read_annotators(options)
    elif options.labels or options.label or any(_has_labels(path, options) for path in options.results):
        sides, annotator = read_sides(options), ""
    else:
        sides, annotator = Sides(read_side(options.results, "score", options), Ratings(), options.results), ""
    if sides.column and sides.judged.default_columns == {"label"}:
        raise DataError(
            "labels found, but no verdicts of a judge. Name the column of the verdicts",
            path=options.results[0],
            option="score",
        )
    if not sides.judged.ratings:
        raise DataError("no verdicts of a judge found. Name their column with --score.", path=options.results[0])
    if options.labels and not sides.others.ratings:
        raise DataError("no labels of people found. Name their column with --label.", path=options.labels[0])
    if options.language:
        tag = _language(options.language)
        for side in (sides.judged, sides.others):
            side.ratings = [_in_language(each, tag) for each in side.ratings]
    return sides, annotator


def _language(given: str) -> str:
    """Return the tag of a language that the user names; raise ConfigError if none is known by this tag or name."""
    table = language_table()
    known = table.find("", given)
    tag = language_tag(given) or (known.tag if known else "")
    if not tag:
        unknown = f"unknown language {one_line(given, _LONGEST_NAME)!r}.{table.suggestion(given)}"
        raise ConfigError(f"{unknown} Give a tag, such as en.", option="language")
    return tag


def _has_labels(path: Path, options: argparse.Namespace) -> bool:
    return bool(label_column(path, table_options_of(options), in_results=True))


def _in_language(rating: Rating, tag: str) -> Rating:
    return rating if rating.language else replace(rating, language=tag)


def _judge(options: argparse.Namespace, judges: Sequence[JudgeIdentity], annotator: str) -> JudgeIdentity:
    found = judge_of(options, judges, annotator)
    if found is None:
        raise ConfigError("The results do not name their judge. Name it with --judge NAME/MODEL.")
    return found


def _agreement(options: argparse.Namespace, sides: Sides, *, in_words: bool) -> AgreementResult:
    judged, labels = sides.judged.ratings, sides.others.ratings
    how: Combination = "majority" if in_words else usual_combination(labels)
    matched = match(judged, labels, how)
    report_unmatched(matched, options.results, sides.paths)
    wanted = AgreementOptions(
        None if in_words else pass_rule(options, sides.others),
        options.resamples,
        options.seed,
        words=not in_words and are_words(sides.others),
        preferences=not in_words and are_preferences(sides.others),
    )
    return measure_agreement(judged, matched, how, wanted, scales_of_options(options))


def _sources(paths: Sequence[Path]) -> list[str]:
    tools = (tool_format_of(path) for path in paths)
    return [tool.name for tool in tools if tool is not None]


def _add(
    options: argparse.Namespace, judge: JudgeIdentity, result: RecordedResult, spans: SpanAgreement | None
) -> Path:
    at, labels = utc_now(), result.agreement.found[""][0] if result.agreement else 0
    about = {"kind": "recorded", "at": at, "items": result.verdicts.items, "labels": labels}

    def change(card: TrustCard) -> TrustCard:
        if card.recorded is not None and judge.rubric == RECORDED:
            known = f"{card.recorded.items:,} recorded items of this judge"
            print_warning(f"the card already has {known}. For another task, name its rubric: --rubric NAME")
        if result.agreement is not None and card.labels > labels:
            kept = f"{card.labels:,} labels is kept, because these results have only {labels:,}"
            print_warning(f"the card's earlier agreement with {kept}")
        card = with_recorded(card, result, about)
        if spans is None or len(spans.judges) != 1:
            return card
        found = spans.judges[0]
        by_language = {"": (found.texts, found.figures), **found.languages}
        return with_span_agreement(card, by_language, {"kind": "spans", "at": at, "texts": spans.texts})

    return add_to_card(options, judge, change, at=at)
