"""`polyjudge trust`: allow the settings and private state of a folder, or a description of a translator, to be used."""

import argparse
import sys
from pathlib import Path

from polyjudge.errors import ConfigError
from polyjudge.folder_trust import (
    PRIVATE_FOLDER,
    PROJECT_FILE,
    TRUST_VARIABLE,
    is_current,
    revoke,
    trust,
    trusted_paths,
)
from polyjudge.text.display import harmless

from .output import print_table

_REVOKED = {
    PRIVATE_FOLDER.name: "It is ignored from now on, with its cache and cards. To use it again, run: polyjudge trust",
    PROJECT_FILE.name: "It may no longer run commands, name addresses or write outside its folder.",
}
_REVOKED_FILE = "It is not used until it is trusted again."
"""What follows when a path is no longer trusted."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.epilog = (
        f"{PROJECT_FILE} may run commands, name addresses and write outside its folder only\n"
        f"after it was trusted, and must be trusted again when its content changes.\n"
        f"The same holds for a description of a translator over HTTP: polyjudge trust FILE.toml\n"
        f"{PRIVATE_FOLDER} is used only if polyjudge created it there, or after it was trusted.\n"
        f"In CI, set {TRUST_VARIABLE} to the folder instead."
    )
    add = parser.add_argument
    trusted = "folder, or description of a translator, to trust; default: the working folder"
    add("folder", type=Path, nargs="?", default=Path(), metavar="DIR|FILE", help=trusted)
    action = parser.add_mutually_exclusive_group()
    action.add_argument("--list", action="store_true", help="list what is trusted")
    action.add_argument("--revoke", action="store_true", help="stop trusting the folder or file")


def run(options: argparse.Namespace) -> int:
    """Trust a folder or a file, stop trusting it, or list what is trusted."""
    if options.list:
        return _list()
    if not options.folder.is_dir() and not options.folder.is_file() and not options.revoke:
        raise ConfigError(f"{str(options.folder)!r} is neither a folder nor a file.")
    paths = revoke(options.folder) if options.revoke else trust(options.folder)
    if not paths and not options.revoke:
        raise ConfigError(f"{str(options.folder)!r} has neither {PROJECT_FILE} nor {PRIVATE_FOLDER}.")
    if not paths:
        print("Nothing was trusted there.")
    for path in paths:
        print(f"{'No longer trusted' if options.revoke else 'Trusted'}: {harmless(str(path))}")
        if options.revoke:
            print(f"    {_REVOKED.get(path.name, _REVOKED_FILE)}")
    return 0


def _list() -> int:
    rows = [[harmless(each.path), "yes" if is_current(each) else "no: changed or removed"] for each in trusted_paths()]
    if rows:
        print_table(["Path", "Unchanged"], rows)
    else:
        print("Nothing is trusted.", file=sys.stderr)
    return 0
