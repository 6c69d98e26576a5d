"""What the options, the project file and the file of accepted findings say about the checks, and what they did."""

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import cast

from polyjudge.checks.accepted import AcceptedFindings, read_accepted
from polyjudge.checks.policy import CheckPolicy, check_policy
from polyjudge.errors import ConfigError, DataError
from polyjudge.files.text_files import line_of, read_text, read_toml
from polyjudge.folder_trust import ACCEPTED_FILE, PROJECT_FILE
from polyjudge.plugins import PLUGINS
from polyjudge.text.display import harmless

from .output import print_warning
from .settings import CHECKS_TABLE

_NAMED = 5


def policy_of(options: argparse.Namespace) -> CheckPolicy:
    """Return what the options, the project file and the file of accepted findings say about the checks."""
    plugins, settings = PLUGINS.names("checks"), _settings()
    for name, setting in settings.items():
        try:
            check_policy(settings={name: setting}, plugins=plugins)
        except ConfigError as error:
            line = line_of(read_text(PROJECT_FILE), CHECKS_TABLE, name)
            raise DataError(f"[{CHECKS_TABLE}]: {error}", path=PROJECT_FILE, line=line) from None
    if settings:
        shown = ", ".join(f"{CHECKS_TABLE}.{name}={setting}" for name, setting in settings.items())
        print(f"polyjudge: from {PROJECT_FILE}: {harmless(shown)}", file=sys.stderr)
    return check_policy(
        only=_names(options.checks),
        skipped=_names(options.skip_checks),
        settings=settings,
        accepted=_accepted(options.accepted),
        plugins=plugins,
    )


def print_accepted(policy: CheckPolicy, hidden: int, *, warn_of_unused: bool = True) -> None:
    """Print how many findings are hidden because they were accepted, and which entries matched nothing."""
    path = policy.accepted.path
    if hidden:
        print(f"polyjudge: {hidden} accepted {_findings(hidden)} not shown ({path})", file=sys.stderr)
    unused = policy.accepted.unused()
    if unused and warn_of_unused and not policy.only and not policy.skipped:
        named = ", ".join(each.finding for each in unused[:_NAMED]) + (", …" if len(unused) > _NAMED else "")
        print_warning(f"{path}: {len(unused)} accepted {_findings(len(unused))} did not occur: {harmless(named)}")


def _findings(count: int) -> str:
    return "finding" if count == 1 else "findings"


def _names(given: str) -> list[str]:
    return [name for name in map(str.strip, given.split(",")) if name]


def _settings() -> Mapping[str, str]:
    """Return the table of checks of the project file; it can only make findings more or less severe."""
    if not PROJECT_FILE.is_file():
        return {}
    table: object = read_toml(PROJECT_FILE).get(CHECKS_TABLE, {})
    if not isinstance(table, dict):
        return {}  # the option of the same name
    return {name: str(setting) for name, setting in cast(dict[str, object], table).items()}


def _accepted(path: Path | None) -> AcceptedFindings:
    if path is None:
        return read_accepted(ACCEPTED_FILE) if ACCEPTED_FILE.is_file() else AcceptedFindings()
    return read_accepted(path)
