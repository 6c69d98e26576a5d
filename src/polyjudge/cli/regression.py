"""`polyjudge regression run|capture|audit`."""

import argparse
from importlib import import_module

_ACTIONS = {
    # name: what it does; its module is regression_NAME
    "run": "see whether a translator still says what it said",
    "capture": "fill the expected outputs of cases from a working translator",
    "audit": "see whether cases are safe to commit, worth running, and right",
}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the actions and their options."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True, title="actions")
    for name, summary in _ACTIONS.items():
        action = actions.add_parser(name, help=summary, description=summary[0].upper() + summary[1:] + ".")
        import_module(f"polyjudge.cli.regression_{name}").configure(action)


def run(options: argparse.Namespace) -> int:
    """Run the action."""
    return import_module(f"polyjudge.cli.regression_{options.action}").run(options)
