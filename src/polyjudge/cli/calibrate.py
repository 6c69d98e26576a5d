"""`polyjudge calibrate perturb|agreement|bias|correct|card`."""

import argparse

from .actions import add_actions, run_action

_ACTIONS = {
    "perturb": "see whether a judge notices texts that were spoiled on purpose",
    "agreement": "compare a judge with people, or with another judge",
    "bias": "see what moves a judge that should not: order, length, format, language, a plea",
    "correct": "estimate what people would say, from many judged items and few labels",
    "card": "show what is known of a judge",
}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the actions and their options."""
    add_actions(parser, "calibrate", _ACTIONS)


def run(options: argparse.Namespace) -> int:
    """Run the action."""
    return run_action(options, "calibrate")
