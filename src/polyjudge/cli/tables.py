"""The options that say how a table is to be read, and the line that says what was taken for what."""

import argparse
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from polyjudge.errors import ConfigError, suggestion
from polyjudge.files.opening import inner_suffix
from polyjudge.formats.columns import ROLES, ColumnMap, TableOptions, table_options
from polyjudge.formats.row_files import KnownColumns, column_map, is_table, named_rows_of, spooled
from polyjudge.formats.translation_results import is_results_file
from polyjudge.rubrics.penalties import read_penalties
from polyjudge.text.display import harmless, one_line

from .options import Several, filters_of

_ROLE_START = re.compile(rf",\s*(?=(?:{'|'.join(ROLES)})\s*=)")
_TAG_START = re.compile(r",\s*(?=[A-Za-z][A-Za-z0-9_-]*\s*=)")
_MOST_TARGETS = 12
RESULTS_HELP = (
    "translations: a results file (JSON), or a table: CSV, TSV, Excel, JSON, JSONL, Parquet, a folder, - for stdin"
)


def add_table_options(add: Callable[..., object], *, wide: bool = True) -> None:
    """Add the options of every command that reads rows; `wide` if it reads texts in several languages."""
    columns = f"which column has which role, if the names are not recognised; roles: {', '.join(ROLES)}"
    add("--columns", action=Several, default=[], metavar="ROLE=COLUMN,…", help=columns)
    if wide:
        targets = "for a table with one column per language: the column of each, such as fr=french,de=german"
        add("--target-columns", action=Several, default=[], metavar="TAG=COLUMN,…", help=targets)
    encodings = "encoding of text that is not UTF-8 and has no byte order mark, such as windows-1252"
    add("--encoding", default="", metavar="NAME", help=encodings)
    add("--sheet", default="", metavar="NAME", help="sheet of an Excel workbook; default: the first one")
    nameless = "the first row of a CSV or Excel file is data; columns are then named 1, 2, 3, …"
    add("--no-header", action="store_true", help=nameless)


def add_penalties_option(add: Callable[..., object]) -> None:
    """Add the option of commands that read the scores of people's ratings."""
    penalties = "recompute scores of error spans with these penalties: a TOML file, or the rubric mqm; "
    add("--penalties", metavar="FILE|NAME", help=f"{penalties}default: the scores in the file, or else WMT's penalties")


def table_options_of(options: argparse.Namespace) -> TableOptions:
    """Return how tables are to be read."""
    columns = _pairs("columns", options.columns, _ROLE_START)
    targets = _pairs("target-columns", getattr(options, "target_columns", []), _TAG_START)
    empty = [tag for tag, column in targets.items() if not column]
    if empty:
        raise ConfigError(f"--target-columns: no column for {empty[0]!r}. Write TAG=COLUMN.")
    table = table_options(
        columns, targets, encoding=options.encoding, sheet=options.sheet, header=not options.no_header
    )
    penalties = getattr(options, "penalties", None)
    return replace(table, penalties=read_penalties(penalties)) if penalties else table


def filtered_table_options_of(options: argparse.Namespace) -> TableOptions:
    """Return how tables of scores and labels are to be read, with the rows that `--filter` selects."""
    return replace(table_options_of(options), filters=filters_of(options.filter))


def no_column(option: str, name: str, paths: Iterable[Path], table: TableOptions) -> ConfigError:
    """Return the error about an option that names a column which no row has."""
    known = sorted({column for path in paths if path.exists() for column in column_map(path, table).found})
    return ConfigError(harmless(f"--{option} {name}: no row has that column.{suggestion(name, known)}"))


def _pairs(option: str, given: Iterable[str], separator: re.Pattern[str]) -> Mapping[str, str]:
    """Return the columns by role or tag; a comma inside the name of a column does not end it."""
    pairs: dict[str, str] = {}
    for text in (part for each in given for part in separator.split(each)):
        name, equals, column = text.partition("=")
        if not equals or not name.strip():
            wanted = "ROLE=COLUMN" if option == "columns" else "TAG=COLUMN"
            raise ConfigError(f"Invalid --{option} {text!r}. Write {wanted}.")
        pairs[name.strip()] = column.strip()
    return pairs


def has_rows(path: Path, table: TableOptions) -> bool:
    """Say whether a table has a row beside the names of its columns."""
    return next(iter(named_rows_of(path, table)), None) is not None


def input_of(path: Path, table: TableOptions, *, uses_ids: bool = True, known: KnownColumns | None = None) -> Path:
    """Return the file of an input, which may be stdin, and print which columns were taken for what."""
    stored = spooled(path)
    is_of_rows = stored.is_dir() or (stored.is_file() and is_table(stored))
    if is_of_rows and not (inner_suffix(stored) == ".json" and is_results_file(stored, table)):
        print_columns(path, (known or KnownColumns()).of(stored, table), uses_ids=uses_ids)
    return stored


def print_columns(path: Path, columns: ColumnMap, *, uses_ids: bool) -> None:
    """Print which columns were taken for what, unless all have the name of their role."""
    taken = [f"{role}={column}" for role, column in columns.columns.items()] if columns.assumed else []
    targets = [f"{tag}={column}" for tag, column in columns.targets.items()]
    if len(targets) > _MOST_TARGETS:
        targets = [*targets[:_MOST_TARGETS], f"… ({len(targets)} languages)"]
    makes_ids = columns.makes_ids and uses_ids
    if columns.is_own or not (taken or targets or makes_ids):
        return
    parts = [", ".join(taken)] if taken else []
    parts += [f"languages {', '.join(targets)}"] if targets else []
    parts += ["ids made from the content"] if makes_ids else []
    name = "stdin" if str(path) == "-" else str(path)
    print(f"polyjudge: {harmless(name)}: {one_line('; '.join(parts), 600)}", file=sys.stderr)
