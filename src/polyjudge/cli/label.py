"""`polyjudge label RESULTS`: a local page on which people label a sample of what was judged."""

import argparse
import sys
from pathlib import Path

from polyjudge.engine import run_sync
from polyjudge.errors import ConfigError
from polyjudge.files.label_log import LabelLog
from polyjudge.languages import language_table
from polyjudge.pages import HOST, SCALES, Labelling, LabelSite, Source, Task, read_sample, serve
from polyjudge.text import harmless, one_line

from .calibrating import counted
from .options import at_least, refuse_overwriting


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
    refuse_overwriting(labels, [options.results, options.items, options.scores])
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
        run_sync(serve(site, options.port, lambda address: announce(address, options.open)))
    finally:
        labelling.log.close()
    print(f"\npolyjudge: {counted(labelling.count, 'label')} in {harmless(str(labels))}", file=sys.stderr)
    return 0


def refuse_other_hosts(host: str) -> None:
    """Refuse to serve where other machines could reach the page."""
    if host not in (HOST, "localhost"):
        raise ConfigError(f"--host {host!r}: the page is served on {HOST} alone; elsewhere, tunnel the port by SSH")


def announce(address: str, open_it: bool) -> None:
    """Print where the page is, and open it where that is wanted."""
    print(address, flush=True)
    if open_it:
        import webbrowser  # here, because it is seldom wanted

        webbrowser.open(address)
