"""Read results whose judge is one of several annotators in the same file, and find whose verdicts results are."""

import argparse
from collections.abc import Collection, Mapping, Sequence
from itertools import islice
from pathlib import Path

from msgspec.structs import replace

from polyjudge.calibration.cards import family_of
from polyjudge.calibration.matching import name_systems
from polyjudge.errors import ConfigError, UnknownNameError
from polyjudge.formats.ratings import Ratings
from polyjudge.formats.row_files import named_rows_of, spooled
from polyjudge.records.calibration import RECORDED, JudgeIdentity, recorded_judge
from polyjudge.text.display import one_line

from .rating_sides import Sides, read_side
from .span_sides import is_called, is_person, people_patterns
from .tables import table_options_of

_PEOPLE = {"human", "person", "people", "expert", "crowd", "annotator"}
"""Kinds of annotators who are people."""
_LOOKED_AT = 100
_LONGEST_LIST = 400
_LONGEST_ID = 60
_OF_RUNS = ("provenance.model", "provenance.rubric")


def are_annotators(options: argparse.Namespace) -> bool:
    """Return whether the first rows of the results are labels by annotators, one of whom is then the judge."""
    options.results = [spooled(path) for path in options.results]
    path: Path = options.results[0]
    if path.is_dir() or path.name.endswith(".score"):
        return False
    rows = [row for _, row in islice(named_rows_of(path, table_options_of(options)), _LOOKED_AT)]
    some = [row for row in rows if not isinstance(row, str)]
    is_judged = any(row.get("score") not in (None, "") or "outcome" in row for row in some)
    return not is_judged and any(row.get("annotator") not in (None, "") for row in some)


def read_annotators(options: argparse.Namespace) -> tuple[Sides, str]:
    """Read labels by judges and people; return both sides, and the name of the judge."""
    found = read_side(options.results, "label", options)
    _refuse_two_labels(found)
    names = {each.annotator: each.kind for each in found.ratings}
    people = _people(options, names)
    judge = _judge(options, sorted(names.keys() - people))
    judged, others = Ratings(), Ratings()
    judged.ratings = [replace(each, annotator="") for each in found.ratings if each.annotator == judge]
    others.ratings = [each for each in found.ratings if each.annotator in people and each.annotator != judge]
    name_systems(judged, others)
    return Sides(judged, others, options.results), judge


def _refuse_two_labels(found: Ratings) -> None:
    """Raise ConfigError if an annotator labelled an item twice."""
    seen = set[tuple[str, str, str]]()
    for each in found.ratings:
        labelled = (each.annotator, each.id, each.system)
        if labelled in seen:
            which = "If they are of several aspects, choose one with --filter COLUMN=VALUE; else leave one out"
            raise ConfigError(f"Two labels of {each.id[:_LONGEST_ID]!r} by {each.annotator!r}. {which}.")
        seen.add(labelled)


def _people(options: argparse.Namespace, names: Mapping[str, str]) -> Collection[str]:
    """Return the annotators who are people: by the option, else by their kind, else by their names.

    If nothing says who they are, all are but the judge; an error if one of them has the name of a model.
    """
    if not options.people and any(names.values()):
        return {name for name, kind in names.items() if kind in _PEOPLE}
    patterns = people_patterns(options)
    unknown = [each for each in patterns if not any(is_person(name, [each]) for name in names)]
    if options.people and unknown:
        raise UnknownNameError("annotator in --people", unknown[0], names)
    found = {name for name in names if is_person(name, patterns)}
    if found or options.people:
        return found
    others = {name for name in names if not is_called(name, options.judge_of_results)}
    model = next((name for name in sorted(others) if family_of(name)), "")
    if model:
        raise ConfigError(
            f"The annotator {model!r} may be a model, not a person. Name the people with --people NAME,…."
        )
    return others


def _judge(options: argparse.Namespace, judges: Sequence[str]) -> str:
    wanted: str = options.judge_of_results
    found = [name for name in judges if not wanted or is_called(name, wanted)]
    if len(found) == 1:
        return found[0]
    listed = one_line(", ".join(judges), _LONGEST_LIST)
    if not judges:
        raise ConfigError(
            "All annotators seem to be people, so there are no verdicts of a judge. Name the judge with --judge, "
            "or the people with --people."
        )
    if wanted and not found:
        raise UnknownNameError("judge in --judge", wanted, judges)
    raise ConfigError(f"The labels are by several judges: {listed}. Name one with --judge.")


def judge_of(options: argparse.Namespace, judges: Sequence[JudgeIdentity], annotator: str = "") -> JudgeIdentity | None:
    """Return the judge that the rows name, or that the user names; None without a name, an error for several."""
    wanted: str = options.judge_of_results
    if len(judges) > 1:
        names = one_line(", ".join(f"{_title(each)} by {each.rubric}" for each in judges), _LONGEST_LIST)
        columns = ("model", "extra.scorer") if judges[0].rubric_fingerprint == RECORDED else _OF_RUNS
        advice = f"Choose one with {' or '.join(f'--filter {column}=NAME' for column in columns)}"
        raise ConfigError(f"The results are of several judges: {names}. {advice}.")
    if not judges:
        return recorded_judge(wanted or annotator, options.rubric_of_results) if wanted or annotator else None
    [judge] = judges
    if wanted and not is_called(judge.model, wanted) and wanted.casefold() != _title(judge).casefold():
        raise ConfigError(
            f"--judge {wanted!r} is not the judge of these results, which is {_title(judge)}. Leave out --judge."
        )
    rubric: str = options.rubric_of_results or judge.rubric
    if rubric != judge.rubric != RECORDED:
        raise ConfigError(
            f"--rubric {rubric!r} is not the rubric of these results, which is {judge.rubric}. Leave out --rubric."
        )
    return replace(judge, rubric=rubric)


def _title(judge: JudgeIdentity) -> str:
    return f"{judge.provider}/{judge.model}"
