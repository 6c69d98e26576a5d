"""Compare the error spans of judges with those of people, for `polyjudge calibrate agreement`."""

import argparse
import sys
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path

from polyjudge.calibration.cards import with_span_agreement
from polyjudge.calibration.span_agreement import SpanAgreement, SpanOptions, measure_span_agreement
from polyjudge.clock import utc_now
from polyjudge.errors import ConfigError
from polyjudge.files.json_lines import readable_json
from polyjudge.formats.columns import Row
from polyjudge.formats.row_files import named_rows_of, spooled
from polyjudge.formats.span_rows import SpanAnnotation, SpanAnnotations, read_spans
from polyjudge.languages.table import language_table
from polyjudge.records.calibration import JudgeIdentity
from polyjudge.reports.blocks import BLOCK_FORMATS
from polyjudge.reports.span_agreement import span_agreement_blocks, span_agreement_json

from .calibrating import add_to_card, check_card
from .output import warn_of_skipped, write_pieces
from .tables import table_options_of

PEOPLE = ("human*", "person*", "people*", "annotator*", "rater*")
"""Names that annotators have who are people."""
_LOOKED_AT = 100


def are_spans(options: argparse.Namespace, *, by_people: bool = True) -> bool:
    """Return whether spans are to be compared: on request, or if the first rows have spans and no score or label.

    Naming people is a request, with `by_people` also where no row has spans.
    """
    if options.spans or (options.people and by_people):
        return True
    options.results = [spooled(path) for path in options.results]
    some = _first_rows(options.results[0], options)
    has_spans = any(isinstance(row.get("spans"), list) for row in some)
    return has_spans and (bool(options.people) or not any(map(_is_rated, some)))


def _first_rows(path: Path, options: argparse.Namespace) -> list[Row]:
    if path.is_dir() or path.name.endswith(".score"):
        return []
    rows = (row for _, row in islice(named_rows_of(path, table_options_of(options)), _LOOKED_AT))
    return [row for row in rows if not isinstance(row, str)]


def _is_rated(row: Row) -> bool:
    return any(row.get(name) not in (None, "") for name in ("score", "label"))


def compare_spans(options: argparse.Namespace) -> int:
    """Read both sides, compare their spans, write the report, and add the result to the judge's card."""
    others = [*options.labels, *options.against]
    own, theirs = _read(options.results, options), _read(others, options)
    judges, people = _sides(own, theirs, options)
    settings = SpanOptions(options.resamples, options.seed)
    result = measure_span_agreement(judges, people, settings)
    if not result.texts:
        files = " and ".join(map(str, [options.results[0], *others[:1]]))
        raise ConfigError(
            f"No text in {files} has spans of both a judge and a person. Compare the ids of the two sides, or name "
            "the people with --people."
        )
    _write(options, result, [own, theirs])
    if not options.against:
        _add_to_card(options, list(own.judges.values()), result)
    return 0


def recorded_spans(options: argparse.Namespace) -> SpanAgreement | None:
    """Compare the error spans of results that also have scores with those of people; None without both."""
    if not any(isinstance(row.get("spans"), list) for row in _first_rows(options.results[0], options)):
        return None
    sides = SpanAnnotations(), SpanAnnotations()
    for paths, into in zip((options.results, options.labels), sides, strict=True):
        for path in paths:
            read_spans(path, table_options_of(options), into)
    own, theirs = sides
    patterns = people_patterns(options)
    people = _people_of(theirs, patterns) or [each for each in own.annotations if is_person(each.annotator, patterns)]
    judges = [each for each in own.annotations if theirs.annotations or not is_person(each.annotator, patterns)]
    if not judges or not people:
        return None
    result = measure_span_agreement(judges, people, SpanOptions(options.resamples, options.seed))
    return result if result.texts else None


def spans_of_judge(options: argparse.Namespace, wanted: str) -> tuple[SpanAnnotations, SpanAgreement]:
    """Read error spans and compare those of one judge with those of people; `wanted` names it if there are several."""
    own, theirs = _read(options.results, options), _read(options.labels, options)
    options.against = []
    judges, people = _sides(own, theirs, options)
    names = sorted({each.annotator for each in judges})
    chosen = [name for name in names if not wanted or is_called(name, wanted)]
    if len(chosen) != 1:
        raise ConfigError(f"The error spans are by the judges {', '.join(names[:20])}. Name one with --judge.")
    own.annotations = [each for each in judges if each.annotator == chosen[0]]
    own.judges = {name: each for name, each in own.judges.items() if name == chosen[0]}
    result = measure_span_agreement(own.annotations, people, SpanOptions(options.resamples, options.seed))
    if not result.texts:
        raise ConfigError(
            f"No text in {options.results[0]} has spans of both a judge and a person. Name the people with --people, "
            "or give --labels."
        )
    return own, result


def _read(paths: Iterable[Path], options: argparse.Namespace, *, members: bool = False) -> SpanAnnotations:
    found = SpanAnnotations()
    for path in paths:
        read_spans(spooled(path), table_options_of(options), found, members=members)
    warn_of_skipped(found.problems, found.skipped)
    return found


def read_span_sides(options: argparse.Namespace) -> tuple[list[SpanAnnotation], list[SpanAnnotation]]:
    """Return the annotations of judges, a jury's by its members, and of people, of whom there may be none."""
    own, theirs = _read(options.results, options, members=True), _read(options.labels, options)
    patterns = people_patterns(options)
    if theirs.annotations:
        return own.annotations, _people_of(theirs, patterns)
    people = [each for each in own.annotations if is_person(each.annotator, patterns)]
    judges = [each for each in own.annotations if not is_person(each.annotator, patterns)]
    if not judges:
        raise ConfigError(f"No error spans of judges in {options.results[0]}.")
    return judges, people


def _people_of(labels: SpanAnnotations, patterns: Sequence[str]) -> list[SpanAnnotation]:
    """Return the annotations of those who are people by their names; of all if no name says so."""
    people = [each for each in labels.annotations if is_person(each.annotator, patterns)]
    return people or labels.annotations


def people_patterns(options: argparse.Namespace) -> Sequence[str]:
    """Return the names of people, as patterns: those of the options, or usual ones."""
    return [each.strip() for each in options.people.split(",") if each.strip()] or PEOPLE


def _sides(
    own: SpanAnnotations, theirs: SpanAnnotations, options: argparse.Namespace
) -> tuple[list[SpanAnnotation], list[SpanAnnotation]]:
    """Return the annotations of judges and of people; in one file, people are known by their names."""
    patterns = people_patterns(options)
    if theirs.annotations:
        return own.annotations, theirs.annotations if options.against else _people_of(theirs, patterns)
    people = [each for each in own.annotations if is_person(each.annotator, patterns)]
    judges = [each for each in own.annotations if not is_person(each.annotator, patterns)]
    if not people or not judges:
        names = sorted({each.annotator or "(no name)" for each in own.annotations})
        which = "No annotator" if not people else "Every annotator"
        raise ConfigError(
            f"{which} is a person by name ({', '.join(patterns)}). Found: "
            f"{', '.join(names[:20]) or 'no annotator'}. Name the people with --people, or give --labels."
        )
    return judges, people


def is_called(name: str, wanted: str) -> bool:
    """Return whether a judge is the wanted one, which may be named with its provider."""
    name, wanted = name.casefold(), wanted.casefold()
    return (bool(wanted) and wanted in (name, name.rpartition("/")[2])) or wanted.partition("/")[2] == name != ""


def is_person(name: str, patterns: Sequence[str]) -> bool:
    """Return whether the name of an annotator is that of a person."""
    return any(fnmatchcase(name.casefold(), pattern.casefold()) for pattern in patterns)


def _write(options: argparse.Namespace, result: SpanAgreement, read: Sequence[SpanAnnotations]) -> None:
    if options.format == "json":
        pieces = iter([readable_json(span_agreement_json(result, read), indent=1) + "\n"])
    else:
        blocks = span_agreement_blocks(result, read, language_table(), people=not options.against)
        pieces = BLOCK_FORMATS[options.format](blocks)
    write_pieces(options.output, pieces, format_name=options.format, force=options.force)


def _add_to_card(options: argparse.Namespace, judges: list[JudgeIdentity], result: SpanAgreement) -> None:
    if len(judges) != 1 or len(result.judges) != 1:
        why = "the results do not name their judge" if not judges else "the results are of several judges"
        print(f"polyjudge: the result was not added to a trust card: {why}", file=sys.stderr)
        return
    check_card(options, judges[0])
    at, found = utc_now(), result.judges[0]
    about = {"kind": "spans", "at": at, "texts": result.texts}
    by_language = {"": (found.texts, found.figures), **found.languages}
    place = add_to_card(options, judges[0], lambda card: with_span_agreement(card, by_language, about), at=at)
    print(f"polyjudge: card: {place}", file=sys.stderr)
