"""`polyjudge providers`: who can answer here, and what is missing."""

import argparse
import json
from dataclasses import asdict

from polyjudge.providers import readiness

from .settings import load_environment
from .tables import print_table


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--format", choices=["text", "json"], default="text", help="default: %(default)s")


def run(options: argparse.Namespace) -> int:
    """Show each provider."""
    load_environment()
    entries = readiness()
    if options.format == "json":
        print(json.dumps([{**asdict(entry), "ready": not entry.missing} for entry in entries], indent=2))
        return 0
    rows = [
        (each.name, "missing" if each.missing else "ready", each.default_model, each.answers, "; ".join(each.missing))
        for each in entries
    ]
    print_table(("Provider", "State", "Default model", "What answers", "What to do"), rows)
    return 0
