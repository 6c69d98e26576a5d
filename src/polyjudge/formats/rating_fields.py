"""Read what a row says of a rating beside its value: systems, orders, repeats, lengths, failures, who judged."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, cast

from polyjudge.errors import DataError
from polyjudge.languages.table import LanguageTags
from polyjudge.records.calibration import JudgeIdentity, recorded_judge
from polyjudge.records.codec import from_json
from polyjudge.text.display import one_line

from .columns import made_id
from .items import CLUSTER_COLUMNS
from .rating_values import PREFERENCES, finite_number

JUDGE_FIELDS = ("provider", "model", "rubric", "rubricFingerprint", "modelAnswered")
_MADE_ID_LENGTH = 16


def text_of(value: object) -> str:
    """Return a value as text; nothing is an empty text."""
    return "" if value is None else str(value)


def systems_of(row: Mapping[str, Any]) -> tuple[str, str]:
    """Return the system that wrote the text, and for a pair the other one."""
    if "system" not in row and "otherSystem" not in row and "otherCandidate" not in row:
        return "", ""
    system, other = text_of(row.get("system")), text_of(row.get("otherSystem"))
    if other or "otherCandidate" in row:
        return system or "first", other or "second"
    return system, ""


def has_made_id(row: Mapping[str, Any], tags: LanguageTags) -> bool:
    """Return whether the id is one that `made_id` gives, also with a count after it."""
    own = row["id"]
    if not isinstance(own, str) or len(own.partition("-")[0]) != _MADE_ID_LENGTH:
        return False
    return "candidate" in row and own.partition("-")[0] == made_id(row, tags)


def orders_of(row: Mapping[str, Any]) -> tuple[float | None, float | None] | None:
    """Return the preferences in both orders of a row that has a member for each."""
    by_order = {each.get("order"): PREFERENCES.get(text_of(each.get("verdict"))) for each in _members(row)}
    return (by_order["given"], by_order["swapped"]) if {"given", "swapped"} <= by_order.keys() else None


def repeats_of(row: Mapping[str, Any]) -> tuple[float, ...]:
    """Return the scores that one judge gave the same text, if it was asked several times."""
    members = [each for each in _members(row) if not each.get("order")]
    given = [each.get("provenance") for each in members]
    origins = [cast(Mapping[str, Any], each) for each in given if isinstance(each, Mapping)]
    asked = [(origin.get("provider"), origin.get("model")) for origin in origins]
    if len(asked) != len(members) or len(set(map(repr, asked))) != 1:
        return ()
    scores = (finite_number(each.get("score")) for each in members)
    return tuple(score for score in scores if score is not None)


def _members(row: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    given = row.get("members")
    listed = cast(list[object], given) if isinstance(given, list) else []
    return [cast(Mapping[str, Any], each) for each in listed if isinstance(each, Mapping)]


def lengths_of(row: Mapping[str, Any]) -> tuple[int, int] | None:
    """Return the numbers of characters of the text and of the second text, 0 without one; None without a text."""
    first, second = row.get("candidate"), row.get("otherCandidate")
    if not isinstance(first, str):
        return None
    return len(first), len(second) if isinstance(second, str) else 0


def failure_of(row: Mapping[str, Any]) -> str:
    """Return the kind of a missing verdict; empty if the row does not say that it is missing."""
    if row.get("outcome") == "failure":
        return text_of(row.get("kind")) or "provider_error"
    return "provider_error" if row.get("error") else ""


def cluster_of(row: Mapping[str, Any], column: str) -> str:
    """Return the name of the items that a row belongs to, by a column or one of the usual ones."""
    for name in (column,) if column else CLUSTER_COLUMNS:
        if name in row and row[name] not in (None, ""):
            return str(row[name])
    return ""


def judge_of_row(row: Mapping[str, Any]) -> JudgeIdentity | None:
    """Return the judge that a row names: by its provenance, or by the model and scorer that another tool recorded."""
    given, model = row.get("provenance"), row.get("model")
    if isinstance(given, Mapping):
        origin = cast(Mapping[str, object], given)
        fields = {name: value for name in JUDGE_FIELDS if (value := origin.get(name))}
        with suppress(DataError):
            return from_json(JudgeIdentity, fields)
        return None
    if row.get("outcome") not in ("result", "failure") or not isinstance(model, str) or not model:
        return None
    extra = row.get("extra")
    scorer = cast(Mapping[str, object], extra).get("scorer") if isinstance(extra, Mapping) else None
    return recorded_judge(model, scorer if isinstance(scorer, str) else "")


def probability_of(row: Mapping[str, Any]) -> float | str | None:
    """Return the probability of being labelled, None without one, or an error message."""
    given: object = row.get("inclusionProbability")
    if given in (None, ""):
        return None
    with suppress(ValueError, OverflowError):
        if isinstance(given, float | int | str) and not isinstance(given, bool) and 0 < float(given) <= 1:
            return float(given)
    return f"'inclusionProbability' is {one_line(repr(given), 40)}, not a number above 0 and at most 1"
