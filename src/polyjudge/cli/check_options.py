"""The options of the commands that run checks: which of them, and which findings are accepted.

Most runs of `score` run none, so this module imports none; `checking` reads the options.
"""

import argparse
from collections.abc import Callable
from pathlib import Path

from polyjudge.errors import ConfigError
from polyjudge.files.text_files import read_toml
from polyjudge.folder_trust import ACCEPTED_FILE, PROJECT_FILE


def add_check_options(add: Callable[..., object], *, with_names: bool = True, of_messages: bool = False) -> None:
    """Add the options that choose checks and accept findings; the names of all checks are read from a file.

    `of_messages` names the checks of messages in localisation files too.
    """
    names = "polyjudge check --help has their names"
    if with_names:
        from polyjudge.checks.catalogue import check_names, message_check_names

        known = message_check_names() if of_messages else check_names()
        names = f"checks: {', '.join(known)}, and those of plugins"
    only = f"run only these checks or findings, separated by commas; {names}"
    add("--checks", default="", metavar="NAME,…", help=only)
    add("--skip-checks", default="", metavar="NAME,…", help="do not run these checks or findings")
    accepted = f"file of accepted findings, which are counted but not shown; default: {ACCEPTED_FILE}, if there is one"
    add("--accepted", type=Path, metavar="FILE", help=accepted)


def refuse_check_options(options: argparse.Namespace, why: str) -> None:
    """Refuse the options that choose checks where none are run; the project file may set them for other commands."""
    given = {"checks": options.checks, "skip-checks": options.skip_checks, "accepted": options.accepted}
    if not any(given.values()):
        return
    general = read_toml(PROJECT_FILE) if PROJECT_FILE.is_file() else {}
    for name, value in given.items():
        if value and str(general.get(name, "")) != str(value):
            raise ConfigError(f"--{name} {why}")
