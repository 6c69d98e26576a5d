"""The options of the commands that run checks: which of them, and which findings are accepted.

Most runs of a judge run none, so this module imports none; `checking` reads the options.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from polyjudge.concurrency.workers import usable_cores
from polyjudge.errors import ConfigError
from polyjudge.files.text_files import read_toml
from polyjudge.folder_trust import ACCEPTED_FILE, PROJECT_FILE
from polyjudge.records.requests import ModelName
from polyjudge.records.rubrics import Rubric
from polyjudge.text.display import harmless

from .options import at_least

if TYPE_CHECKING:
    from polyjudge.checks.policy import CheckPolicy
    from polyjudge.judges.offline import OfflineJudge

_OTHER_JUDGE = "needs --judge offline: other judges run no checks."


def add_check_options(add: Callable[..., object], *, with_names: bool = True, of_messages: bool = False) -> None:
    """Add the options that choose checks and accept findings; the names of all checks are read from a file.

    `of_messages` names the checks of messages in localisation files too.
    """
    names = "polyjudge check --help lists their names"
    if with_names:
        from polyjudge.checks.catalogue import check_names, message_check_names

        known = message_check_names() if of_messages else check_names()
        names = f"checks: {', '.join(known)}, and those of plugins"
    only = f"run only these checks or findings, separated by commas; {names}"
    add("--checks", default="", metavar="NAME,…", help=only)
    add("--skip-checks", default="", metavar="NAME,…", help="do not run these checks or findings")
    accepted = f"file of accepted findings, which are counted but not shown; default: {ACCEPTED_FILE}, if it exists"
    add("--accepted", type=Path, metavar="FILE", help=accepted)


def add_jobs_option(add: Callable[..., object]) -> None:
    """Add the option of the commands that check many texts."""
    processes = "number of processes that check texts, if there are thousands; default: one per usable core"
    add("--jobs", type=at_least(1), metavar="N", help=processes)


def jobs_of(options: argparse.Namespace) -> int:
    """Return how many processes the options allow."""
    return options.jobs or usable_cores()


def add_offline_options(parser: argparse.ArgumentParser, *, of_many: bool = False) -> None:
    """Add the same options to a command with a judge, which may be `offline`, and then judges in several processes."""
    add = parser.add_argument_group("checks of the judge 'offline'").add_argument
    add_check_options(add, with_names=False)
    if of_many:
        add_jobs_option(add)


def checks_of_judge(
    options: argparse.Namespace, judges: Sequence[ModelName], rubric: Rubric, why: str = _OTHER_JUDGE
) -> "CheckPolicy | None":
    """Return what the project wants of the checks for the judge `offline`, and print its name; None for other judges.

    Refuse the options with other judges, saying why, and a rubric that the checks cannot judge by.
    """
    if judges:
        _refuse_check_options(options, why)
        return None
    from polyjudge.judges.offline import OfflineJudge  # here, because most runs have a model

    from .checking import policy_of

    policy = policy_of(options)
    _print_judge(OfflineJudge(rubric, policy=policy))
    return policy


def _print_judge(judge: "OfflineJudge") -> None:
    """Print the name of a judge whose checks are not all at their own severity: its scores are of another judge."""
    if judge.policy.changes_nothing:
        return
    count, path = len(judge.policy.accepted), judge.policy.accepted.path
    accepted = f", {count} accepted {'finding' if count == 1 else 'findings'} in {path}" if count else ""
    message = f"the judge is offline/{judge.model}: not all checks, or with other severities{accepted}"
    print(f"polyjudge: {harmless(message)}", file=sys.stderr)


def _refuse_check_options(options: argparse.Namespace, why: str) -> None:
    """Refuse the options that choose checks where none are run; the project file may set them for other commands."""
    given = {"checks": options.checks, "skip-checks": options.skip_checks, "accepted": options.accepted}
    if not any(given.values()):
        return
    general = read_toml(PROJECT_FILE) if PROJECT_FILE.is_file() else {}
    for name, value in given.items():
        if value and str(general.get(name, "")) != str(value):
            raise ConfigError(f"--{name} {why}")
