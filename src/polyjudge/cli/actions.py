"""Commands of several actions: each action is a module of its own, `COMMAND_ACTION`."""

import argparse
from collections.abc import Mapping
from importlib import import_module


def add_actions(parser: argparse.ArgumentParser, command: str, actions: Mapping[str, str]) -> None:
    """Add the actions of a command, each with what it does, and their options."""
    added = parser.add_subparsers(dest="action", metavar="ACTION", required=True, title="actions")
    for name, summary in actions.items():
        action = added.add_parser(name, help=summary, description=summary[0].upper() + summary[1:] + ".")
        import_module(f"polyjudge.cli.{command}_{name}").configure(action)


def run_action(options: argparse.Namespace, command: str) -> int:
    """Run the action that was given."""
    return import_module(f"polyjudge.cli.{command}_{options.action}").run(options)
