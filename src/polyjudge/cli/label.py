"""`polyjudge label RESULTS`: serve a local page on which people label a sample of judged items."""

import argparse
import os
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory

from polyjudge.concurrency.sync import run_sync
from polyjudge.errors import ConfigError, PolyjudgeError
from polyjudge.formats.doubts import read_doubts
from polyjudge.languages.table import language_table
from polyjudge.pages.informative import USUAL_SIZE, draw_informative, is_plain, planning
from polyjudge.pages.labelling import SCALES, SPAN_SCALES, Labelling, LabelSite, Task
from polyjudge.pages.next_hour import NextHour, Width
from polyjudge.pages.sampling import Candidate, Drawn, Sample, Source, is_translation, read_sample
from polyjudge.pages.server import HOST, listen, serve
from polyjudge.pages.span_labels import proposed_spans
from polyjudge.store.labels import LabelLog
from polyjudge.store.sample_plans import plan_path
from polyjudge.text.display import harmless, one_line

from .options import Several, at_least, check_output, filters_of, whole
from .output import print_warning, warn_of_skipped
from .progress import counted
from .tables import add_table_options, input_of, table_options_of

_SCALE = (
    "scale of the labels; with mqm, people mark errors and the score follows from their penalties; with esa, they mark "
    "errors and give 0 to 100; default: %(default)s"
)
_PROPOSED = "with mqm and esa: show the spans of RESULTS from the start, not only after the person has marked errors"


_INFORMATIVE = "informative"
_MOST_LANGUAGES = 5
_SAMPLE = (
    'size of a random sample; or "informative", to draw items with a higher probability if their labels are '
    "expected to be informative; default: %(default)s"
)

_PLAIN = "this is a random sample: neither scores nor repeats nor probabilities say which labels would say most"


def _sample(text: str) -> int | str:
    """Read the kind or the size of a sample."""
    if text == _INFORMATIVE:
        return text
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be {_INFORMATIVE}, or a whole number of at least 1, not {text!r}")
    return int(text)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add = parser.add_argument
    add("results", type=Path, metavar="RESULTS", help="results of score, translations, or any table of texts")
    add("--items", type=Path, metavar="FILE", help="file of the texts that score judged")
    add(
        "--scores",
        type=Path,
        metavar="FILE",
        help="a judge's scores of the translations; the page does not show them",
    )
    add("--labels", type=Path, metavar="FILE", help="file for the labels; default: NAME-labels.jsonl beside RESULTS")
    add_table_options(parser.add_argument_group("table").add_argument)
    add("--scale", choices=SCALES, default="1-5", help=_SCALE)
    add("--show-proposed", action="store_true", help=_PROPOSED)
    chosen = "label only items with one of these values; language=… takes tags and names"
    add("--filter", action=Several, default=[], metavar="COLUMN=VALUE,…", help=chosen)
    add("--sample", type=_sample, default=USUAL_SIZE, metavar="N|informative", help=_SAMPLE)
    add(
        "--size",
        type=at_least(1),
        metavar="N",
        help=f"with --sample informative: number of items; default: {USUAL_SIZE}",
    )
    add("--seed", type=whole, metavar="N", help="seed of the sample; default: 0")
    add_server_options(parser)


def add_server_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the local server."""
    add = parser.add_argument_group("page").add_argument
    only_here = (
        f"address to serve on; only {HOST} is allowed: to use the page from another machine, tunnel the port by SSH"
    )
    add("--host", default=HOST, metavar="HOST", help=only_here)
    add("--port", type=at_least(0), default=0, metavar="N", help="port to serve on; default: a free one")
    add("--open", action="store_true", help="open the page in a browser")


def run(options: argparse.Namespace) -> int:
    """Draw the sample, and serve the page until Ctrl-C."""
    refuse_other_hosts(options.host)
    if options.size is not None and options.sample != _INFORMATIVE:
        raise ConfigError(
            f"--size needs --sample {_INFORMATIVE}. For a random sample of this size, write --sample {options.size}."
        )
    labels = options.labels or options.results.with_name(f"{options.results.stem}-labels.jsonl")
    check_output(labels, [options.results, options.items, options.scores], force=True)  # LabelLog refuses other files
    with listen(options.port) as listener:
        labelling = _labelling(options, labels)
        sample = labelling.task.sample
        task = f"{len(sample.items):,} of {counted(sample.total, 'item')} to label; labels are stored in {labels}"
        print(f"polyjudge: {harmless(task)}; press Ctrl-C to end", file=sys.stderr)
        if options.sample == _INFORMATIVE and len(sample.items) < sample.total and is_plain(sample):
            print_warning(_PLAIN)
        _print_next_hour(labelling.next_hour, options.scale)
        site = LabelSite(labelling, one_line(options.results.name, 80)).site()
        try:
            with announcing(options.open) as announce:
                run_sync(serve(site, listener, announce))
        finally:
            labelling.log.close()
    print(f"\npolyjudge: {counted(labelling.count, 'label')} in {harmless(str(labels))}", file=sys.stderr)
    _print_next_hour(labelling.newest_next_hour(), options.scale)
    return 0


def _print_next_hour(hour: NextHour, scale: str) -> None:
    """Print what one more hour of labelling would buy, and where most."""
    if not hour.left:
        print("polyjudge: all items of the sample have a label", file=sys.stderr)
        return
    pace = f"at {hour.seconds:.0f} s a label ({'measured' if hour.is_measured else 'assumed'})"
    if hour.labels < hour.left:
        gain = f"in one more hour you can give {counted(hour.labels, 'label')} {pace}"
    else:
        minutes = counted(max(1, round(hour.left * hour.seconds / 60)), "minute")
        left = "remaining label takes" if hour.left == 1 else f"{hour.left:,} remaining labels take"
        gain = f"the {left} about {minutes} {pace}"
    print(f"polyjudge: {gain}; expected width of 95% intervals:", file=sys.stderr)
    table, best = language_table(), [each for each in hour.languages if each.after is not None and each.more > 0]
    for each in (hour.overall, *(best[:_MOST_LANGUAGES] if len(hour.languages) > 1 else ())):
        found = table.find(each.language)
        title = "all items" if each is hour.overall else found.name if found else each.language or "no language"
        print(f"polyjudge:   {harmless(one_line(title, 60))}: {_widths(each, scale)}", file=sys.stderr)


def _widths(width: Width, scale: str) -> str:
    """Return the widths now and then in words; an interval needs two labels."""
    if width.after is None:
        return "no interval, which needs two labels"
    if width.now is None:
        return f"about {_points(width.after, scale)} then; no interval yet, which needs two labels"
    return f"{_points(width.now, scale)} now, about {_points(width.after, scale)} then"


def _points(value: float, scale: str) -> str:
    return f"{100 * value:.0f} points" if scale == "pass-fail" else f"{value:.2f}"


def _labelling(options: argparse.Namespace, labels: Path) -> Labelling:
    """Draw the sample and open the file of labels."""
    table = language_table()
    given = table_options_of(options)
    results = input_of(options.results, given)
    source = Source(
        results, options.items, options.scores, table=table, reading=given, filters=filters_of(options.filter)
    )
    marks = options.scale in SPAN_SCALES
    if options.show_proposed and not marks:
        raise ConfigError("--show-proposed needs --scale mqm or --scale esa.")
    log = LabelLog(labels)
    try:
        sample = _read_sample(options, source, log)
        warn_of_skipped(sample.problems)
        proposed = proposed_spans(results, sample.items, given) if marks else {}
    except PolyjudgeError:
        log.close()
        raise
    task = Task(sample, options.scale, options.seed or 0, table, proposed, not options.show_proposed)
    return Labelling(task, log)


def _read_sample(options: argparse.Namespace, source: Source, log: LabelLog) -> Sample:
    """Draw the sample, or take the one whose plan is stored beside the labels."""
    is_informative = options.sample == _INFORMATIVE
    if any((label.inclusion_probability is not None) is not is_informative for label in log.labels()):
        given = f"{'without' if is_informative else 'with'} --sample {_INFORMATIVE}"
        raise ConfigError(
            f"{log.path} contains labels of a sample that was drawn {given}. Draw the sample in the same way, or "
            "give another file (--labels)."
        )
    seed = options.seed or 0
    if not is_informative:
        return read_sample(source, options.sample, seed)
    doubts = {} if is_translation(source) else read_doubts(source.results, source.reading)
    passes = options.scale == "pass-fail"

    def drawn(candidates: Sequence[Candidate], size: int) -> Sequence[Drawn]:
        return draw_informative(candidates, doubts, size, seed, passes=passes)

    has_labels = any(log.labels())
    drawing = planning(plan_path(log.path), options.size, options.seed, drawn, has_labels=has_labels)
    return read_sample(source, USUAL_SIZE, seed, drawing=drawing)


def refuse_other_hosts(host: str) -> None:
    """Refuse to serve where other machines could reach the page."""
    if host not in (HOST, "localhost"):
        raise ConfigError(
            f"--host {host!r}: the page is served only on {HOST}. From other machines, tunnel the port by SSH."
        )


@contextmanager
def announcing(open_it: bool) -> Generator[Callable[[str], None]]:
    """Yield a function that prints the page's address and, if asked, opens it."""
    if not open_it:
        yield lambda address: print(address, flush=True)
        return
    with TemporaryDirectory(prefix="polyjudge-") as folder:
        yield lambda address: _open(address, Path(folder) / "open.html")


def _open(address: str, file: Path) -> None:
    """Print the address and open it through a private file: other users can read a browser's command line."""
    import webbrowser  # here, because it is seldom needed

    print(address, flush=True)
    redirect = (
        f'<!doctype html><meta http-equiv="refresh" content="0; url={escape(address)}"><title>polyjudge</title>\n'
    )
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as writing:
        writing.write(redirect)
    webbrowser.open(file.as_uri())
