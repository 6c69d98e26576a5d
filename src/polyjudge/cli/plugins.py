"""`polyjudge plugins`: list installed plugins, and those that cannot be used."""

import argparse
import json
from collections.abc import Collection, Mapping
from dataclasses import asdict

from polyjudge.calibration.perturbations import CONTROL_TYPES, PERTURBATION_TYPES
from polyjudge.plugins import GROUPS, PLUGINS, Group
from polyjudge.providers.registry import PROVIDERS
from polyjudge.verdicts.items import OFFLINE

from .output import print_table


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "--format", choices=["text", "json"], default="text", help="output format; default: %(default)s"
    )


def run(options: argparse.Namespace) -> int:
    """Load every plugin, and list it with its package."""
    built_in: Mapping[Group, Collection[str]] = {
        "providers": PROVIDERS,
        "judges": {*PROVIDERS, OFFLINE},
        "perturbations": {*PERTURBATION_TYPES, *CONTROL_TYPES},
    }
    found = PLUGINS.installed(built_in)
    if options.format == "json":
        print(json.dumps([asdict(plugin) for plugin in found], indent=1, ensure_ascii=False))
        return 0
    if not found:
        groups = ", ".join(f"polyjudge.{group}" for group in GROUPS)
        print(f"No plugins installed. A package adds plugins by entry points in these groups: {groups}.")
        return 0
    rows = [(each.group, each.name, each.package, each.version, each.problem or "ready") for each in found]
    print_table(("Group", "Name", "Package", "Version", "State"), rows)
    return 0
