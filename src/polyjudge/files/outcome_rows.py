"""Outcomes as rows of a results file, and back."""

from collections.abc import Mapping
from typing import Any

from polyjudge.errors import DataError
from polyjudge.records import Failure, Item, JudgeResult, Outcome

from .json_records import from_json, to_json

SCHEMA_VERSION = 1
_TYPES: dict[str, type[JudgeResult] | type[Failure]] = {"result": JudgeResult, "failure": Failure}


def outcome_row(item_id: str, outcome: Outcome) -> dict[str, Any]:
    """Return an outcome as one row of a results file."""
    kind = "failure" if isinstance(outcome, Failure) else "result"
    return {"schemaVersion": SCHEMA_VERSION, "id": item_id, "outcome": kind, **to_json(outcome)}


def item_row(item: Item, outcome: Outcome) -> dict[str, Any]:
    """Return the row of an item's outcome, with what the item belongs to."""
    row = outcome_row(item.id, outcome)
    if item.language:
        row["language"] = item.language
    if item.cluster:
        row["cluster"] = item.cluster
    return row


def read_outcome_row(row: Mapping[str, Any]) -> tuple[str, Outcome]:
    """Return the item's id and the outcome that a row holds."""
    if row.get("schemaVersion") != SCHEMA_VERSION:
        raise DataError(f"schemaVersion is {row.get('schemaVersion')!r}, expected {SCHEMA_VERSION}")
    if row.get("outcome") not in _TYPES:
        raise DataError(f"outcome is {row.get('outcome')!r}, expected 'result' or 'failure'")
    if not isinstance(row.get("id"), str):
        raise DataError("the id is missing")
    return row["id"], from_json(_TYPES[row["outcome"]], row)
