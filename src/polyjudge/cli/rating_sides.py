"""Read the two sides of a comparison: the scores of a judge, and labels of people or the scores of another judge."""

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from polyjudge.calibration.matching import Matched, name_systems
from polyjudge.errors import ConfigError, DataError, UnknownNameError, suggestion
from polyjudge.files.kinds import FileKind, kind_of, refuse_other_kind
from polyjudge.formats.labelled_systems import Source
from polyjudge.formats.ratings import LARGEST, RatingColumns, Ratings, label_column, need_column, read_ratings
from polyjudge.formats.row_files import column_map, spooled
from polyjudge.formats.tools import tool_format_of
from polyjudge.text.display import harmless

from .options import add_filter_option, finite
from .output import print_warning, warn_of_skipped
from .progress import counted
from .tables import (
    add_penalties_option,
    add_table_options,
    filtered_table_options_of,
    has_rows,
    input_of,
    table_options_of,
)

MOST_PASS = 0.5 + 1e-9
"""More than half of several people's verdicts on an item must be pass; a tie does not pass."""
Side = Literal["score", "label"]
_WITHOUT_ROWS = (FileKind.CARD, FileKind.CASCADE, FileKind.BASELINE, FileKind.REPLIES)
"""Files of polyjudge that have neither scores nor labels."""
_NO_LABELS = "Give --labels of people."
_NOTHING_ELSE = "Give either --labels of people, or --against another judge."


@dataclass(frozen=True, slots=True)
class Sides:
    """Both sides as they were read."""

    judged: Ratings
    others: Ratings
    paths: Sequence[Path]
    """The files of the other side."""
    column: str = ""
    """The column of the labels in the judge's own files, if they are there."""


def add_rating_options(add: Callable[..., object]) -> None:
    """Add the options of the columns of scores and labels, and of the lowest values that pass."""
    add(
        "--score", default="", metavar="COLUMN", help="column of the results, such as subscores.grammar; default: score"
    )
    add("--label", default="", metavar="COLUMN", help="column of the labels; default: label, else score")
    add("--pass-from", type=finite, metavar="X", help="lowest score of the judge that passes")
    add_filter_option(add)
    add_table_options(add, wide=False)
    add_penalties_option(add)
    add("--label-pass-from", type=finite, metavar="X", help="lowest label that passes; not needed for pass and fail")


def read_sides(options: argparse.Namespace, against: Sequence[Path] = ()) -> Sides:
    """Read the judge's scores, and the labels or the scores of another judge that they are compared with.

    Without files for the other side, the labels are a column of the judge's own files.
    """
    sides = _read_sides(options, against)
    _check_left_out(options, sides.judged, sides.others)
    for path, side in ((options.results[0], sides.judged), (sides.paths[0], sides.others)):
        large = next((each for each in side.ratings if each.value is not None and abs(each.value) > LARGEST), None)
        if large is not None:
            raise DataError(
                f"the score {large.value:g} of item {large.id[:40]!r} is out of range. Correct it.", path=path
            )
    name_systems(sides.judged, sides.others)
    return sides


def _read_sides(options: argparse.Namespace, against: Sequence[Path]) -> Sides:
    if against:
        judged = read_side(options.results, "score", options)
        column = options.label or options.score
        _refuse_itself(options.results, against, options.score, column)
        return Sides(judged, read_side(against, "score", options, column=column), against)
    columns, in_results = _label_columns(options), not options.labels
    judged, others = read_side(options.results, "score", options), Ratings()
    for path, column in columns.items():
        read_side([path], "label", options, column=column, into=others, in_results=in_results)
    if in_results:
        first = next(iter(columns))
        return Sides(judged, others, options.results, show_column(options, first, columns[first]))
    warn_of_skipped(others.problems, others.skipped)
    check_labels(others, options.labels)
    return Sides(judged, others, options.labels)


def _label_columns(options: argparse.Namespace) -> dict[Path, str]:
    """Return the column of the labels of each file of labels or, without any, of those results that have labels."""
    if options.labels:
        options.labels = [spooled(path) for path in options.labels]
        columns = {path: options.label or _column_of(path, options) for path in options.labels}
        _refuse_itself(options.results, options.labels, options.score, *columns.values())
        return columns
    options.results = [spooled(path) for path in options.results]
    _need_label(options)
    found = {path: options.label or _column_of(path, options, in_results=True) for path in options.results}
    columns = {path: column for path, column in found.items() if column}
    if not columns:
        raise _no_labels(options.results[0], options, _NOTHING_ELSE if hasattr(options, "against") else _NO_LABELS)
    _refuse_itself(options.results, options.results, options.score, *columns.values())
    return columns


def _need_label(options: argparse.Namespace) -> None:
    """Raise DataError if the results have no column of the name that the user gives for the labels."""
    for path in options.results if options.label else ():
        if not path.is_dir():
            need_column(path, options.label, table_options_of(options), "label")


def show_column(options: argparse.Namespace, first: Path, column: str) -> str:
    """Print which column of the results has the labels, and return its name."""
    table = table_options_of(options)
    shown = column_map(first, table).columns.get(column, column)
    tool = None if options.label or table.columns else tool_format_of(first)
    what = f"those of {tool.name}" if tool is not None else f"column {harmless(shown)!r}"
    print(f"polyjudge: labels: {what} in {first}", file=sys.stderr)
    return shown


def _column_of(path: Path, options: argparse.Namespace, *, in_results: bool = False) -> str:
    """Return the column of labels of a file; empty if it is to be found by row."""
    return label_column(path, table_options_of(options), in_results=in_results)


def _no_labels(path: Path, options: argparse.Namespace, advice: str) -> ConfigError | DataError:
    """Return why a file of results has no labels; raise DataError if it has no results either."""
    if path.is_file() and kind_of(path) in _WITHOUT_ROWS:
        refuse_other_kind(path, FileKind.SCORES)
    table = table_options_of(options)
    if not has_rows(path, table):
        return DataError("no rows" if path.stat().st_size else "the file is empty", path=path)
    if _column_of(path, options):
        shown = column_map(path, table).columns.get("label", "label")
        return DataError(f"the label column {shown!r} is empty. {advice}", path=path)
    return ConfigError(f"{path} has no label column. {advice} Or name the column with --label.")


def _refuse_itself(results: Sequence[Path], others: Sequence[Path], score: str, *columns: str) -> None:
    """Raise ConfigError if a column of a file would be compared with itself."""
    same = next((path for path in others for own in results if path == own or _is_same(path, own)), None)
    if same is not None and (score or "score") in (column or "score" for column in columns):
        named = score or "score"
        message = (
            f"{same}: the column {named!r} would be compared with itself. Name the label column with --label COLUMN."
        )
        raise ConfigError(message)


def _is_same(one: Path, other: Path) -> bool:
    return one.exists() and other.exists() and one.samefile(other)


def read_side(
    paths: Sequence[Path],
    option: Side,
    options: argparse.Namespace,
    *,
    column: str | None = None,
    into: Ratings | None = None,
    in_results: bool = False,
) -> Ratings:
    """Read the ratings of one side, whose column `option` names unless given, and warn of rows that cannot be used.

    Without warnings if they are read `into` ratings, whose caller warns.
    """
    columns = rating_columns(paths, option, options, column=column, in_results=in_results)
    found = Ratings() if into is None else into
    for path in paths:
        read_ratings(path if in_results else input_of(path, columns.table), columns, found)
    if into is None:
        warn_of_skipped(found.problems, found.skipped)
    return found


def rating_columns(
    paths: Sequence[Path],
    option: Side,
    options: argparse.Namespace,
    *,
    column: str | None = None,
    in_results: bool = False,
) -> RatingColumns:
    """Return the columns of the ratings of one side, whose column `option` names unless given."""
    table = filtered_table_options_of(options)
    if option == "label" and table.filters:  # labels often have an id only
        maps = [column_map(path, table) for path in paths]
        known = {name for each in maps for name in (*each.found, *each.columns)}
        table = replace(table, filters={name: values for name, values in table.filters.items() if name in known})
    return RatingColumns(
        value=getattr(options, option) if column is None else column,
        option=option,
        group=getattr(options, "group", ""),
        cluster=getattr(options, "cluster", ""),
        leave_out=frozenset(left_out_of(options)),
        table=table,
        in_results=in_results,
        categories=getattr(options, "categories", False),
        part=getattr(options, "by", "") or "category",
    )


def left_out_of(options: argparse.Namespace) -> list[str]:
    """Return the systems to leave out."""
    return [name.strip() for name in getattr(options, "leave_out", "").split(",") if name.strip()]


def _check_left_out(options: argparse.Namespace, *sides: Ratings) -> None:
    """Raise UnknownNameError if no row has any of the systems to leave out; warn if only some are unknown."""
    known = {harmless(name) for side in sides for name in side.systems}
    given = left_out_of(options)
    unknown = [name for name in map(harmless, given) if not known & {name, name.rpartition("/")[2]}]
    if unknown and len(unknown) == len(given):
        raise UnknownNameError("system in --leave-out", unknown[0], known)
    for name in unknown:
        print_warning(f"--leave-out {name}: no row has that system.{suggestion(name, known)}")


def check_labels(labels: Ratings, paths: Sequence[Path]) -> None:
    """Refuse labels that a judge has given, or that mix words and numbers."""
    if labels.judges or labels.of_judges:
        judge = f"{labels.judges[0].provider}/{labels.judges[0].model}" if labels.judges else "a judge"
        raise DataError(
            f"contains scores of {judge}, not labels of people. To compare two judges, use --against.", path=paths[0]
        )
    points = [rating.value for rating in labels.ratings if not rating.in_words and rating.value not in (None, 0.0, 1.0)]
    if points and any(rating.in_words for rating in labels.ratings):
        raise DataError(
            f"labels are both words such as pass and numbers such as {points[0]:g}. Use only one kind.", path=paths[0]
        )


def pass_rule(options: argparse.Namespace, labels: Ratings) -> tuple[float, float] | None:
    """Return the lowest passing values of judge and people, or None without options; of words, most must be pass."""
    people = options.label_pass_from
    if people is None and are_words(labels):
        people = MOST_PASS if options.pass_from is not None else None
    if options.pass_from is None and people is None:
        return None
    if options.pass_from is None or people is None:
        missing = "--pass-from" if options.pass_from is None else "--label-pass-from"
        raise ConfigError(f"--pass-from and --label-pass-from must be given together. Add {missing}.")
    return options.pass_from, people


def are_words(labels: Ratings) -> bool:
    """Say whether labels are pass and fail, not points of a scale: words, or zeros and ones."""
    values = {rating.value for rating in labels.ratings if rating.value is not None}
    if are_preferences(labels):
        return False
    return values <= {0.0, 1.0} and (0.0 in values or any(rating.in_words for rating in labels.ratings))


def are_preferences(labels: Ratings) -> bool:
    """Say whether labels name the better one of two candidates."""
    return any(rating.is_preference for rating in labels.ratings)


def report_unmatched(matched: Matched, results: Sequence[Path], labels: Sequence[Path]) -> None:
    """Warn of items that could not be compared; an error if none could."""
    if not matched.pairs:
        if not matched.labels and labels[0] in results:
            raise DataError("the label column is empty", path=labels[0])
        some = f": the first label has the id {matched.unknown[0]!r}" if matched.unknown else ""
        if matched.unknown and matched.first_judged:
            some += f", the first score {matched.first_judged!r}"
        raise ConfigError(f"{results[0]} and {labels[0]} have no items in common{some}. Use the same ids in both.")
    if matched.unknown:
        ignored = f"{counted(len(matched.unknown), 'label')} of items that were not judged, such as"
        print_warning(f"ignored {ignored} {matched.unknown[0]!r}")
    if matched.unjudged:
        unjudged = counted(matched.unjudged, "labelled item")
        print_warning(f"{unjudged} without a verdict of the judge")


def rating_sources(options: argparse.Namespace) -> tuple[list[Source], list[Source]]:
    """Return the files of the judge's scores and of the labels with their columns, which may be the same files."""
    columns, in_results = _label_columns(options), not options.labels
    options.results = [spooled(path) for path in options.results]
    judged = [(path, rating_columns([path], "score", options)) for path in options.results]
    labels = [
        (path, rating_columns([path], "label", options, column=column, in_results=in_results))
        for path, column in columns.items()
    ]
    return judged, labels
