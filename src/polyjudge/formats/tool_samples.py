"""Build the outcome row of a sample that an evaluation framework has scored with one or several scorers."""

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from polyjudge.files.json_stream import JsonStream
from polyjudge.records.outcomes import Failure, FailureKind, JudgeResult, outcome_row

from .columns import Row

_OF_METADATA = ("language", "cluster", "document")
"""What rows of polyjudge have as columns, and users of the frameworks write into the metadata of a sample."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What one scorer, metric or assertion says of one sample."""

    name: str
    score: float | None = None
    """None without a number: the scorer failed, or gives a word."""
    passed: bool | None = None
    word: str = ""
    """The verdict as a word, if it is one."""
    reason: str = ""
    model: str = ""
    """The model that judged, if known."""
    raw: str = ""
    failure: FailureKind | None = None
    """Why there is no verdict, in which case `reason` has the message."""


def sample_row(
    item_id: str,
    main: Verdict,
    verdicts: Iterable[Verdict],
    columns: Mapping[str, Any],
    *,
    extra: Mapping[str, Any],
) -> Row:
    """Return the row: the main verdict is its outcome, and every number of a scorer a subscore.

    Scorers that failed are in `subscoreFailures` with their reasons, so that they are missing verdicts and no missing
    columns.
    """
    subscores: dict[str, float] = {}
    failures: dict[str, str] = {}
    for each in verdicts:
        if each.failure is not None:
            failures[each.name] = each.reason
        elif each.score is not None:
            subscores[each.name] = each.score
    if main.score is None:
        said = f"{main.name} gives the word {main.word[:40]!r}, and no number." if main.word else main.reason
        reason = said or f"The score of {main.name} is not a number."
        outcome = Failure(reason, main.failure or "unreadable", main.raw, main.model)
        row = outcome_row(item_id, outcome) | ({"subscores": subscores} if subscores else {})
        row |= {"verdict": main.word} if main.word else {}
    else:
        outcome = JudgeResult(
            main.score, main.reason, subscores, main.model, verdict=main.word, raw=main.raw, passed=main.passed
        )
        row = outcome_row(item_id, outcome)
    row |= {name: value for name, value in columns.items() if value not in (None, "")}
    return (
        row
        | ({"subscoreFailures": failures} if failures else {})
        | {"extra": without_empty({"scorer": main.name, **extra})}
    )


def main_verdict(name: str, verdicts: Iterable[Verdict], failure: Verdict) -> Verdict:
    """Return the verdict of this name; without one, or if it is a failure without a reason, `failure`."""
    found = next((each for each in verdicts if each.name == name), failure)
    return failure if found.failure is not None and not found.reason else found


def not_recorded(name: str) -> Verdict:
    """Return a missing verdict."""
    return Verdict(name=name, failure="not_recorded", reason=f"No verdict of {name} is recorded.")


def metadata_columns(metadata: object) -> dict[str, str]:
    """Return the columns of a row that the metadata of a sample has."""
    known = mapping(metadata)
    return {name: text for name in _OF_METADATA if (text := plain_text(known.get(name)))}


def number(value: object) -> float | None:
    """Return a finite number as a float, true as 1 and false as 0; None for anything else."""
    if not isinstance(value, bool | int | float):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:
        return None


def plain_text(value: object) -> str:
    """Return a text unchanged, nothing as an empty text, and any other value as JSON."""
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False)


def mapping(value: object) -> Row:
    """Return an object; an empty one for any other value."""
    return cast(Row, value) if isinstance(value, Mapping) else {}


def elements(value: object) -> list[Any]:
    """Return a list; an empty one for any other value."""
    return cast(list[Any], value) if isinstance(value, list) else []


def first_of(value: object) -> Row:
    """Return the first object of a list; an empty one if there is none."""
    return mapping(next(iter(elements(value)), None))


def without(row: Row, names: Iterable[str]) -> dict[str, Any]:
    """Return an object without some of its fields."""
    left_out = frozenset(names)
    return {name: value for name, value in row.items() if name not in left_out}


def without_empty(row: Row) -> dict[str, Any]:
    """Return an object without fields that have no value."""
    return {name: value for name, value in row.items() if value not in (None, "", [], {})}


def numbered(item_id: str, count: int) -> str:
    """Return the id of the repetition of a sample: the first has the sample's own id, the second ends with `-2`."""
    return item_id if count == 1 else f"{item_id}-{count}"


def read_whole(path: Path, *lists: str) -> dict[str, Any]:
    """Return the members of a JSON object, without the lists of these names."""
    stream = JsonStream(path, lists)
    for _ in stream:
        pass
    return stream.rest
