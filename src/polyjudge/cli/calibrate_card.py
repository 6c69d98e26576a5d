"""`polyjudge calibrate card`: show a judge's trust card, list all cards, or make one from recorded results."""

import argparse
from collections.abc import Iterator
from pathlib import Path

from polyjudge.errors import ConfigError, DataError
from polyjudge.files.atomic import write_atomically
from polyjudge.files.names import safe_name
from polyjudge.folder_trust import private_path
from polyjudge.judges.rubric import identity_of_models
from polyjudge.languages.table import language_table
from polyjudge.records.calibration import RECORDED, TrustCard
from polyjudge.reports.severity_plots import card_plots
from polyjudge.reports.translation_formats import CARD_FORMATS
from polyjudge.rubrics.loading import load_rubric
from polyjudge.store.trust_cards import CARDS_FOLDER, FoundCard, find_card, read_card
from polyjudge.text.display import one_line
from polyjudge.verdicts.trust import TRUST_VERDICTS

from .check_options import add_offline_options, checks_of_judge
from .options import add_report_options, judge_names
from .output import print_table, print_warning, write_pieces
from .recorded_card import Given, add_recorded_options, card_from_results, refuse_recorded_options
from .span_sides import is_called
from .summaries import card_command

_LONGEST_NAME = 100


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add = parser.add_argument
    card = (
        "file of the card; default: the card of --judge, or without --judge a list of all cards; with --from, the "
        "card to add to"
    )
    add("card", type=Path, nargs="?", metavar="CARD", help=card)
    judge = "judge whose card to show; with --from, the judge's name if the results do not have it"
    add("--judge", action=Given, metavar="NAME[/MODEL][,…]", help=judge)
    add("--judge-model", metavar="MODEL", help="use this model of the judge's provider")
    rubric = "rubric of the judge; default: %(default)s; with --from, the rubric's name if the results do not have it"
    add("--rubric", action=Given, default="translation", metavar="FILE|NAME", help=rubric)
    add_report_options(add, CARD_FORMATS, what="card")
    add_offline_options(parser)
    add_recorded_options(parser)
    add(
        "--plots", type=Path, metavar="DIR", help="folder for plots of score against severity, one SVG per perturbation"
    )


def run(options: argparse.Namespace) -> int:
    """Find the card, or make it from recorded results, and show it."""
    if options.from_results:
        return _show(options, card_from_results(options))
    refuse_recorded_options(options)
    if options.card is None and options.judge is None:
        return _list()
    return _show(options, _card(options))


def _show(options: argparse.Namespace, card: TrustCard) -> int:
    pieces = CARD_FORMATS[options.format](card, language_table())
    write_pieces(options.output, pieces, format_name=options.format, force=options.force)
    if options.plots is not None:
        for name, drawing in card_plots(card):
            with write_atomically(options.plots / f"{safe_name(name)}.svg", force=options.force) as file:
                file.write(drawing)
    return 0


def _card(options: argparse.Namespace) -> TrustCard:
    if options.card is not None:
        return read_card(options.card)
    recorded = _recorded_cards(options)
    try:
        found = _found_card(options)
    except ConfigError:  # other tools ask judges, and by rubrics, that this project does not know
        if not recorded:
            raise
        found = None
    if found is not None and (found.card is not None or not recorded):
        return _valid(found, options)
    if len(recorded) > 1:
        listed = ", ".join(f"{one_line(card.judge.rubric, _LONGEST_NAME)} ({place})" for place, card in recorded)
        advice = "Name one with --rubric, or give its file"
        raise ConfigError(f"{one_line(options.judge, _LONGEST_NAME)} has cards by several rubrics: {listed}. {advice}.")
    return recorded[0][1]


def _found_card(options: argparse.Namespace) -> FoundCard:
    """Find the card of a judge that this project asks."""
    judges, rubric = judge_names(options), load_rubric(options.rubric)
    return find_card(identity_of_models(judges, rubric, checks=checks_of_judge(options, judges, rubric)))


def _valid(found: FoundCard, options: argparse.Namespace) -> TrustCard:
    if found.card is None:
        asked = options.judge if options.judge_model is None else f"{options.judge}/{options.judge_model}"
        why = f"There is no valid trust card of {one_line(asked, _LONGEST_NAME)}: {found.why}"
        raise DataError(f"{why}. Make one: {card_command(options)}")
    return found.card


def _recorded_cards(options: argparse.Namespace) -> list[tuple[Path, TrustCard]]:
    """Return the stored cards of a judge that another tool asked, of the rubric that the user names, if any."""
    wanted: str = options.judge
    if options.judge_model is not None:
        wanted = f"{wanted.partition('/')[0]}/{options.judge_model}"
    rubric = str(getattr(options, "given_rubric", None) or "")
    return [
        (place, card)
        for place, card in _stored_cards()
        if card.judge.rubric_fingerprint == RECORDED
        and is_called(f"{card.judge.provider}/{card.judge.model}", wanted)
        and rubric in ("", card.judge.rubric)
    ]


def _stored_cards() -> Iterator[tuple[Path, TrustCard]]:
    """Yield the cards of this folder with their files; warn of those that cannot be read."""
    for place in sorted(private_path(CARDS_FOLDER).glob("*.json")):
        try:
            yield place, read_card(place)
        except DataError as error:
            print_warning(str(error))


def _list() -> int:
    """List the cards of this folder."""
    folder = private_path(CARDS_FOLDER)
    if next(folder.glob("*.json"), None) is None:
        print(f"No trust cards in {folder}. To make one, run: polyjudge calibrate perturb --judge …")
        return 0
    rows: list[list[str]] = []
    for place, card in _stored_cards():
        verdicts = [trust.verdict for trust in card.languages.values()]
        counts = [str(verdicts.count(name)) for name in TRUST_VERDICTS]
        judge = f"{card.judge.provider}/{card.judge.model}"
        rows.append([judge, card.judge.rubric, *counts, card.updated_at, str(place)])
    header = ["Judge", "Rubric", *(word.capitalize() for word in TRUST_VERDICTS), "Measured", "Card"]
    print_table(header, rows, numbers=(2, 3, 4))
    return 0
