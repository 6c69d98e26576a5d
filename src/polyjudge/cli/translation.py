"""`polyjudge translation generate|check|quick|full`."""

import argparse
from importlib import import_module

_ACTIONS = {
    # name: what it does; its module is translation_NAME
    "generate": "have a model or a program translate a set of prompts into many languages",
    "check": "run the checks that need no model",
    "quick": "judge the must-have languages and one of each script family",
    "full": "judge all languages, several in a call",
}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the actions and their options."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True, title="actions")
    for name, summary in _ACTIONS.items():
        action = actions.add_parser(name, help=summary, description=summary[0].upper() + summary[1:] + ".")
        import_module(f"polyjudge.cli.translation_{name}").configure(action)


def run(options: argparse.Namespace) -> int:
    """Run the action."""
    return import_module(f"polyjudge.cli.translation_{options.action}").run(options)
