"""`polyjudge label RESULTS`: a local page on which people label a sample of what was judged."""

import argparse
import os
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory

from polyjudge.concurrency.sync import run_sync
from polyjudge.errors import ConfigError
from polyjudge.languages.table import language_table
from polyjudge.pages.labelling import SCALES, Labelling, LabelSite, Task
from polyjudge.pages.sampling import Source, read_sample
from polyjudge.pages.server import HOST, serve
from polyjudge.store.labels import LabelLog
from polyjudge.text.display import harmless, one_line

from .calibrating import counted
from .options import at_least, check_output


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add = parser.add_argument
    add("results", type=Path, metavar="RESULTS", help="of score, or a translator's")
    add("--items", type=Path, metavar="FILE", help="the texts that score judged")
    add(
        "--scores",
        type=Path,
        metavar="FILE",
        help="a judge's scores of a translator's results; nobody is shown them",
    )
    add("--labels", type=Path, metavar="FILE", help="where labels go; default: NAME-labels.jsonl beside RESULTS")
    add("--scale", choices=SCALES, default="1-5", help="default: %(default)s")
    add("--sample", type=at_least(1), default=100, metavar="N", help="items to ask about; default: %(default)s")
    add("--seed", type=int, default=0, metavar="N", help="of the sample; default: 0")
    add_server_options(parser)


def add_server_options(parser: argparse.ArgumentParser) -> None:
    """Add where the page is served."""
    add = parser.add_argument_group("page").add_argument
    add("--host", default=HOST, metavar="HOST", help=f"{HOST}, which no other machine reaches; there is no other")
    add("--port", type=at_least(0), default=0, metavar="N", help="default: a free one")
    add("--open", action="store_true", help="open the page in a browser")


def run(options: argparse.Namespace) -> int:
    """Draw the sample, and serve the page until it is enough."""
    refuse_other_hosts(options.host)
    labels = options.labels or options.results.with_name(f"{options.results.stem}-labels.jsonl")
    check_output(labels, [options.results, options.items, options.scores], force=True)  # a log refuses others itself
    table = language_table()
    source = Source(options.results, options.items, options.scores, table=table)
    sample = read_sample(source, options.sample, options.seed)
    for problem in sample.problems:
        print(f"polyjudge: warning: skipped {harmless(problem)}", file=sys.stderr)
    labelling = Labelling(Task(sample, options.scale, options.seed, table), LabelLog(labels))
    site = LabelSite(labelling, one_line(options.results.name, 80)).site()
    told = f"{len(sample.items):,} of {counted(sample.total, 'item')} to label; labels go to {labels}"
    print(f"polyjudge: {harmless(told)}; Ctrl-C ends", file=sys.stderr)
    try:
        with announcing(options.open) as announce:
            run_sync(serve(site, options.port, announce))
    finally:
        labelling.log.close()
    print(f"\npolyjudge: {counted(labelling.count, 'label')} in {harmless(str(labels))}", file=sys.stderr)
    return 0


def refuse_other_hosts(host: str) -> None:
    """Refuse to serve where other machines could reach the page."""
    if host not in (HOST, "localhost"):
        raise ConfigError(f"--host {host!r}: the page is served on {HOST} alone; elsewhere, tunnel the port by SSH")


@contextmanager
def announcing(open_it: bool) -> Generator[Callable[[str], None]]:
    """Yield what prints where the page is, and opens it where that is wanted."""
    if not open_it:
        yield lambda address: print(address, flush=True)
        return
    with TemporaryDirectory(prefix="polyjudge-") as folder:
        yield lambda address: _open(address, Path(folder) / "open.html")


def _open(address: str, file: Path) -> None:
    """Print the address and open it by way of a private file: everybody may read a browser's command line."""
    import webbrowser  # here, because it is seldom wanted

    print(address, flush=True)
    sent_on = f'<!doctype html><meta http-equiv="refresh" content="0; url={escape(address)}"><title>polyjudge</title>\n'
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as writing:
        writing.write(sent_on)
    webbrowser.open(file.as_uri())
