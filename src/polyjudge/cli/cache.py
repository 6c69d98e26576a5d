"""`polyjudge cache stats|prune|export|import|verify`: inspect and maintain the cache."""

import argparse
import json
import re
import sys
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path

from polyjudge.cache.address import shown
from polyjudge.cache.maintenance import export_entries, import_entries, prune, statistics_of, verify
from polyjudge.cache.protocol import is_url
from polyjudge.clock import timestamp
from polyjudge.errors import ConfigError
from polyjudge.files.atomic import write_atomically
from polyjudge.files.kinds import FileKind
from polyjudge.folder_trust import CACHE_FILE, DEFAULT_CACHE, private_path
from polyjudge.text.display import harmless

from .environment import load_environment
from .options import add_force_option
from .output import print_table, warn_of_skipped

_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the actions and their options."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True, title="actions")
    for name, run_action, add_options, summary in _ACTIONS:
        action = actions.add_parser(name, help=summary, description=summary[0].upper() + summary[1:] + ".")
        place = f"cache to use; default: {DEFAULT_CACHE}"
        action.add_argument("--cache", default=DEFAULT_CACHE, metavar="PATH|URL", help=place)
        action.set_defaults(run_action=run_action)
        add_options(action)


def run(arguments: argparse.Namespace) -> int:
    """Run the action."""
    load_environment()
    if arguments.cache == DEFAULT_CACHE:
        arguments.cache = str(private_path(CACHE_FILE))
    return arguments.run_action(arguments)


def _stats(arguments: argparse.Namespace) -> int:
    stats = statistics_of(arguments.cache)
    if arguments.format == "json":
        print(json.dumps(asdict(stats), indent=2))
        return 0
    print(f"{shown(arguments.cache)}: {stats.entries} entries, {stats.bytes_on_disk / 1e6:.1f} MB")
    if stats.entries:
        print(f"oldest {stats.oldest}, newest {stats.newest}")
        rows = [(kind, provider, model, str(count), str(size)) for kind, provider, model, count, size in stats.by_model]
        print_table(("Kind", "Provider", "Model", "Entries", "Bytes"), rows, numbers=(3, 4))
    return 0


def _prune(arguments: argparse.Namespace) -> int:
    dropped = prune(
        arguments.cache,
        before=timestamp(datetime.now(UTC) - arguments.older_than) if arguments.older_than else "",
        provider=arguments.provider,
        model=arguments.model,
        dry_run=arguments.dry_run,
    )
    print(f"{dropped} entries {'would be' if arguments.dry_run else 'were'} dropped")
    return 0


def _export(arguments: argparse.Namespace) -> int:
    problems: list[str] = []
    rows = (json.dumps(row) + "\n" for row in export_entries(arguments.cache, problems))
    if arguments.output is None:
        sys.stdout.writelines(rows)
    else:
        with write_atomically(arguments.output, kind=FileKind.REPLIES, force=arguments.force) as file:
            file.writelines(rows)
        print(f"written to {arguments.output}", file=sys.stderr)
    warn_of_skipped(problems)
    return 0


def _import(arguments: argparse.Namespace) -> int:
    if is_url(arguments.source):
        raise ConfigError(
            "Only files can be imported, not URLs. Export the other cache first: polyjudge cache export --cache "
            "URL --output FILE"
        )
    imported = import_entries(arguments.cache, Path(arguments.source))
    warn_of_skipped(imported.problems)
    print(f"{imported.new} new, {imported.known} already known, {len(imported.problems)} skipped")
    return 2 if imported.problems and not imported.new + imported.known else 0


def _verify(arguments: argparse.Namespace) -> int:
    verified = verify(arguments.cache)
    for problem in verified.problems:
        print(harmless(problem))
    state = "no problems" if not verified.problems else f"{len(verified.problems)} problems"
    print(f"{shown(arguments.cache)}: {verified.entries} entries checked, {state}")
    return 2 if verified.problems else 0


def _stats_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--format", choices=["text", "json"], default="text", help="output format; default: %(default)s"
    )


def _prune_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--older-than", type=_age, metavar="AGE", help="only entries older than AGE, such as 30m, 12h, 30d or 4w"
    )
    parser.add_argument("--provider", default="", help="only entries of this provider")
    parser.add_argument("--model", default="", help="only entries of this model")
    parser.add_argument("--dry-run", action="store_true", help="print how many entries would be dropped, and stop")


def _export_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--output", type=Path, metavar="FILE", help="JSON Lines file for the entries; default: stdout")
    add_force_option(parser.add_argument)


def _import_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", metavar="FILE", help="an export, or a cache file, which may be damaged")


def _no_options(parser: argparse.ArgumentParser) -> None:
    del parser


_ACTIONS = (
    ("stats", _stats, _stats_options, "count the entries of the cache"),
    ("prune", _prune, _prune_options, "drop entries by age, provider or model"),
    ("export", _export, _export_options, "write all entries as JSON Lines"),
    ("import", _import, _import_options, "add the entries of an export or another cache file"),
    ("verify", _verify, _no_options, "check the file and every entry for damage"),
)


def _age(text: str) -> timedelta:
    match = re.fullmatch(r"(\d{1,4})([mhdw])", text)
    if match is None:
        raise argparse.ArgumentTypeError(f"must be an age such as 30m, 12h, 30d or 4w, not {text!r}")
    return timedelta(**{_UNITS[match[2]]: int(match[1])})
