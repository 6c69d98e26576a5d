"""`polyjudge translation generate|check|quick|full`."""

import argparse

from .actions import add_actions, run_action

_ACTIONS = {
    "generate": "have a model or a program translate a set of prompts into many languages",
    "check": "run the checks that need no model",
    "quick": "judge the must-have languages and one of each script family",
    "full": "judge all languages, several in a call",
}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the actions and their options."""
    add_actions(parser, "translation", _ACTIONS)


def run(options: argparse.Namespace) -> int:
    """Run the action."""
    return run_action(options, "translation")
