"""`polyjudge transcript judge`."""

import argparse

from .actions import add_actions, run_action

_ACTIONS = {"judge": "have an agent's session reviewed: what it did, what the system around it did, where it broke"}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the action and its options."""
    add_actions(parser, "transcript", _ACTIONS)


def run(options: argparse.Namespace) -> int:
    """Run the action."""
    return run_action(options, "transcript")
