"""`polyjudge view [DIR]`: serve the runs under a folder on a local page, to open and compare them."""

import argparse
import sys
from pathlib import Path

from polyjudge.concurrency.sync import run_sync
from polyjudge.errors import ConfigError
from polyjudge.languages.table import language_table
from polyjudge.pages.server import listen, serve
from polyjudge.pages.viewing import ViewSite
from polyjudge.text.display import harmless

from .label import add_server_options, announcing, refuse_other_hosts


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    folder = "folder with runs; default: the working folder"
    parser.add_argument("folder", type=Path, nargs="?", default=Path(), metavar="DIR", help=folder)
    add_server_options(parser)


def run(options: argparse.Namespace) -> int:
    """Serve the pages until Ctrl-C."""
    refuse_other_hosts(options.host)
    if not options.folder.is_dir():
        raise ConfigError(f"{str(options.folder)!r} is not a folder.")
    site = ViewSite(options.folder.resolve(), language_table()).site()
    with listen(options.port) as listener, announcing(options.open) as announce:
        print(f"polyjudge: runs under {harmless(str(options.folder))}; press Ctrl-C to end", file=sys.stderr)
        run_sync(serve(site, listener, announce))
    return 0
