"""`polyjudge vocabulary run|generate|judge|summary`."""

import argparse

from .actions import add_actions, run_action

_ACTIONS = {
    "run": "ask local models about words, have the answers judged, and sum up",
    "generate": "ask local models about words",
    "judge": "have the answers judged, and sum up",
    "summary": "sum up what was judged",
}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the actions and their options."""
    add_actions(parser, "vocabulary", _ACTIONS)


def run(options: argparse.Namespace) -> int:
    """Run the action."""
    return run_action(options, "vocabulary")
