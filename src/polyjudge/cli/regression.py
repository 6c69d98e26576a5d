"""`polyjudge regression run|capture|audit`."""

import argparse

from .actions import add_actions, run_action

_ACTIONS = {
    "run": "see whether a translator still says what it said",
    "capture": "fill the expected outputs of cases from a working translator",
    "audit": "see whether cases are safe to commit, worth running, and right",
}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the actions and their options."""
    add_actions(parser, "regression", _ACTIONS)


def run(options: argparse.Namespace) -> int:
    """Run the action."""
    return run_action(options, "regression")
