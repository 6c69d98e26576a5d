"""`polyjudge transcript judge`."""

import argparse
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from polyjudge.errors import ConfigError
from polyjudge.providers.registry import PROVIDERS

from .actions import add_actions, run_action

_ACTIONS = {"judge": "have an agent's session reviewed: what it did, what the system around it did, where it broke"}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the action and its options."""
    add_actions(parser, "transcript", _ACTIONS)


def prepared(given: Sequence[str]) -> list[str]:
    """Return the command line with `--judge` alone made `--judge=claude`; a value is taken only after the sign."""
    for word, following in pairwise(given):
        if word == "--judge" and following.partition("/")[0] in PROVIDERS and not Path(following).exists():
            raise ConfigError(f"write --judge={following}: here a value is taken only after the sign")
    return [f"{word}=claude" if word == "--judge" else word for word in given]


def run(options: argparse.Namespace) -> int:
    """Run the action."""
    return run_action(options, "transcript")
