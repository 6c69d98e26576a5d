"""Items, the outcomes of judging them, and both as rows of a run file."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from polyjudge.errors import DataError

from .codec import from_json, to_json


@dataclass(frozen=True, slots=True)
class Item:
    """One candidate, with what the judge may know about it."""

    id: str
    candidate: str
    context: Mapping[str, str] = field(default_factory=dict[str, str])
    language: str = ""
    """BCP 47 tag, where the item has one; it goes into the results, not to the judge."""
    cluster: str = ""
    """What it belongs together with, such as its document; for the results too."""


FailureKind = Literal["refused", "transient", "not_recorded", "provider_error", "unreadable", "no_quorum", "bad_item"]
"""Why there is no verdict."""

Preference = Literal["first", "second", "tie"]
"""Which of two candidates a judge prefers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Where a score came from: enough to ask the same question again."""

    provider: str
    base_url: str = ""
    model: str
    """The model asked for."""
    model_answered: str = ""
    rubric: str
    rubric_fingerprint: str
    prompt_sha256: str
    parameters: Mapping[str, Any] = field(default_factory=dict[str, Any])
    dropped: tuple[str, ...] = ()
    repeat: int = 0
    attempts: int = 1
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    answered_at: str = ""
    client: str = ""
    """The program that asked, where it is an agent's CLI."""
    batch: str = ""
    """The provider's id of the batch in which this was asked, if it was."""
    cached: bool = False
    polyjudge_version: str = ""


@dataclass(frozen=True, slots=True)
class JudgeResult:
    """One verdict."""

    score: float
    """On the rubric's scale; 1.0 or 0.0 for a binary verdict."""
    reason: str
    subscores: Mapping[str, float] = field(default_factory=dict[str, float])
    model: str = ""
    duration_ms: int = 0
    cached: bool = False
    verdict: str = ""
    """The label chosen, for judges that choose one."""
    flags: Mapping[str, bool] = field(default_factory=dict[str, bool])
    """Yes-or-no answers that the rubric asks for beside its scores."""
    weighted_score: float | None = None
    """Weighted mean of the subscores, when every criterion has one."""
    rung: str = ""
    """Which way of reading the reply gave this verdict."""
    repaired: bool = False
    """The reply was broken JSON with only one possible meaning."""
    raw: str = ""
    """The reply as it came."""
    provenance: Provenance | None = None
    members: "tuple[Outcome, ...]" = ()
    """What each member of a jury said."""


@dataclass(frozen=True, slots=True)
class Failure:
    """No verdict: the judge failed, which says nothing about the candidate."""

    reason: str
    kind: FailureKind = "provider_error"
    raw: str = ""
    """The reply as it came, if one did."""
    model: str = ""
    provenance: Provenance | None = None
    members: "tuple[Outcome, ...]" = ()


Outcome: TypeAlias = JudgeResult | Failure


@dataclass(frozen=True, slots=True)
class PairwiseResult:
    """Which of two candidates is better, asked in both orders."""

    preference: Preference
    """In terms of the candidates as given, whatever order they were shown in."""
    consistent: bool
    """Both orders gave the same answer; when they do not, the preference is a tie."""
    forward: JudgeResult
    """The verdict with the first candidate shown first."""
    backward: JudgeResult
    """The verdict with the second candidate shown first."""


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
