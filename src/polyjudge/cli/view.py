"""`polyjudge view [DIR]`: the runs under a folder on a local page; open one, compare two."""

import argparse
import sys
from pathlib import Path

from polyjudge.concurrency.sync import run_sync
from polyjudge.errors import ConfigError
from polyjudge.languages.table import language_table
from polyjudge.pages.server import serve
from polyjudge.pages.viewing import ViewSite
from polyjudge.text.display import harmless

from .label import add_server_options, announcing, refuse_other_hosts


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    told = "folder with runs; default: this one"
    parser.add_argument("folder", type=Path, nargs="?", default=Path(), metavar="DIR", help=told)
    add_server_options(parser)


def run(options: argparse.Namespace) -> int:
    """Serve the pages until it is enough."""
    refuse_other_hosts(options.host)
    if not options.folder.is_dir():
        raise ConfigError(f"{str(options.folder)!r} is no folder")
    site = ViewSite(options.folder.resolve(), language_table()).site()
    print(f"polyjudge: the runs under {harmless(str(options.folder))}; Ctrl-C ends", file=sys.stderr)
    with announcing(options.open) as announce:
        run_sync(serve(site, options.port, announce))
    return 0
