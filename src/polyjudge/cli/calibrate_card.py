"""`polyjudge calibrate card`: show a judge's trust card, list all cards, or make one from recorded results."""

import argparse
from pathlib import Path

from polyjudge.errors import DataError
from polyjudge.files.atomic import write_atomically
from polyjudge.files.names import safe_name
from polyjudge.folder_trust import private_path
from polyjudge.judges.rubric import identity_of_models
from polyjudge.languages.table import language_table
from polyjudge.records.calibration import TrustCard
from polyjudge.reports.severity_plots import card_plots
from polyjudge.reports.translation_formats import CARD_FORMATS
from polyjudge.rubrics.loading import load_rubric
from polyjudge.store.trust_cards import CARDS_FOLDER, find_card, read_card
from polyjudge.verdicts.trust import TRUST_VERDICTS

from .check_options import add_offline_options, checks_of_judge
from .options import add_report_options, judge_names
from .output import print_table, print_warning, write_pieces
from .recorded_card import Given, add_recorded_options, card_from_results, refuse_recorded_options
from .summaries import card_command


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add = parser.add_argument
    card = "file of a card; default: the judge's, or a list of all; with --from, the card to add to"
    add("card", type=Path, nargs="?", metavar="CARD", help=card)
    judge = "judge whose card to show; with --from, its name if the results name none"
    add("--judge", action=Given, metavar="NAME[/MODEL][,…]", help=judge)
    add("--judge-model", metavar="MODEL", help="use this model of the judge's provider")
    rubric = "rubric of the judge; default: %(default)s; with --from, its name if the results name none"
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
    judges, rubric = judge_names(options), load_rubric(options.rubric)
    judge = identity_of_models(judges, rubric, checks=checks_of_judge(options, judges, rubric))
    found = find_card(judge)
    if found.card is None:
        why = f"No valid trust card of {judge.provider}/{judge.model}: {found.why}"
        raise DataError(f"{why}. Make one: {card_command(options)}")
    return found.card


def _list() -> int:
    """List the cards of this folder."""
    folder = private_path(CARDS_FOLDER)
    places = sorted(folder.glob("*.json"))
    if not places:
        print(f"No trust cards in {folder}. To make one, run: polyjudge calibrate perturb --judge …")
        return 0
    rows: list[list[str]] = []
    for place in places:
        try:
            card = read_card(place)
        except DataError as error:
            print_warning(str(error))
            continue
        verdicts = [trust.verdict for trust in card.languages.values()]
        counts = [str(verdicts.count(name)) for name in TRUST_VERDICTS]
        judge = f"{card.judge.provider}/{card.judge.model}"
        rows.append([judge, card.judge.rubric, *counts, card.updated_at, str(place)])
    header = ["Judge", "Rubric", *(word.capitalize() for word in TRUST_VERDICTS), "Measured", "Card"]
    print_table(header, rows, numbers=(2, 3, 4))
    return 0
