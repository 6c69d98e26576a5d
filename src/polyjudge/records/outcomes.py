"""Items, the outcomes of judging them, and both as rows of a run file."""

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias, TypeVar, cast

from msgspec import Struct

from polyjudge.errors import DataError

from .codec import Number, from_json, to_json


class Item(Struct, frozen=True):
    """One candidate, with what the judge may know about it."""

    id: str
    candidate: str
    context: Mapping[str, str] = {}
    language: str = ""
    """BCP 47 tag, where the item has one; it goes into the results, not to the judge."""
    cluster: str = ""
    """What it belongs together with, such as its document; for the results too."""


FailureKind = Literal["refused", "transient", "not_recorded", "provider_error", "unreadable", "no_quorum", "bad_item"]
"""Why there is no verdict, or no text."""

Preference = Literal["first", "second", "tie"]
"""Which of two candidates a judge prefers."""


class Provenance(Struct, frozen=True, kw_only=True, rename="camel"):
    """Where a score or a text came from: enough to ask the same question again."""

    provider: str
    base_url: str = ""
    model: str
    """The model asked for."""
    model_answered: str = ""
    rubric: str
    """For a generated text, the set of prompts."""
    rubric_fingerprint: str
    prompt_sha256: str
    parameters: Mapping[str, Any] = {}
    dropped: tuple[str, ...] = ()
    repeat: int = 0
    attempts: int = 1
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: Number | None = None
    answered_at: str = ""
    client: str = ""
    """The program that asked, where it is an agent's CLI."""
    batch: str = ""
    """The provider's id of the batch in which this was asked, if it was."""
    response_id: str = ""
    """What the provider calls its response, where it says so."""
    cached: bool = False
    polyjudge_version: str = ""


class JudgeResult(Struct, frozen=True, rename="camel", tag_field="outcome", tag="result"):
    """One verdict."""

    score: Number
    """On the rubric's scale; 1.0 or 0.0 for a binary verdict."""
    reason: str
    subscores: Mapping[str, Number] = {}
    model: str = ""
    duration_ms: int = 0
    cached: bool = False
    verdict: str = ""
    """The label chosen, for judges that choose one."""
    flags: Mapping[str, bool] = {}
    """Yes-or-no answers that the rubric asks for beside its scores."""
    weighted_score: Number | None = None
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
    passed: bool | None = None
    """Whether it passes by the rubric's rule, or is the first of two verdicts; None where there is no rule to apply."""


class Failure(Struct, frozen=True, rename="camel", tag_field="outcome", tag="failure"):
    """No verdict: the judge failed, which says nothing about the candidate. Or no text: the model failed."""

    reason: str
    kind: FailureKind = "provider_error"
    raw: str = ""
    """The reply as it came, if one did."""
    model: str = ""
    provenance: Provenance | None = None
    members: "tuple[Outcome, ...]" = ()


class Generated(Struct, frozen=True, rename="camel", tag_field="outcome", tag="text"):
    """A text that a model or a program wrote, which may be judged later."""

    text: str
    model: str = ""
    """The model that answered."""
    duration_ms: int = 0
    cached: bool = False
    reasoning: str = ""
    """What the model wrote before its answer, which is no part of it."""
    finish: Literal["", "stop", "length", "refusal"] = ""
    """Why the model stopped, if it is known."""
    provenance: Provenance | None = None


Outcome: TypeAlias = JudgeResult | Failure
"""What a judge returns."""

RunOutcome: TypeAlias = JudgeResult | Failure | Generated
"""What a run stores for an item."""


class PairwiseResult(Struct, frozen=True):
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
Kind = TypeVar("Kind", bound=RunOutcome)
_TYPES: dict[str, type[JudgeResult] | type[Failure] | type[Generated]] = {
    "result": JudgeResult,
    "failure": Failure,
    "text": Generated,
}
_KINDS = {outcome_type: kind for kind, outcome_type in _TYPES.items()}


def outcome_row(item_id: str, outcome: RunOutcome) -> dict[str, Any]:
    """Return an outcome as one row of a results file."""
    return {"schemaVersion": SCHEMA_VERSION, "id": item_id, "outcome": _KINDS[type(outcome)], **to_json(outcome)}


def item_row(item: Item, outcome: RunOutcome) -> dict[str, Any]:
    """Return the row of an item's outcome, with what the item belongs to."""
    row = outcome_row(item.id, outcome)
    if item.language:
        row["language"] = item.language
    if item.cluster:
        row["cluster"] = item.cluster
    return row


def read_outcome_row(row: Mapping[str, Any]) -> tuple[str, RunOutcome]:
    """Return the item's id and the outcome that a row holds."""
    if row.get("schemaVersion") != SCHEMA_VERSION:
        raise DataError(f"schemaVersion is {row.get('schemaVersion')!r}, expected {SCHEMA_VERSION}")
    if row.get("outcome") not in _TYPES:
        raise DataError(f"outcome is {row.get('outcome')!r}, expected 'result', 'failure' or 'text'")
    if not isinstance(row.get("id"), str):
        raise DataError("the id is missing")
    return row["id"], read_outcome(_TYPES[row["outcome"]], row)


def read_outcome(kind: type[Kind], row: Mapping[str, Any]) -> Kind:
    """Return the outcome of this kind that a row holds."""
    return from_json(kind, {**row, "members": _tagged(row["members"])} if row.get("members") else row)


def _tagged(members: object) -> object:
    """Tell which of a jury's members have a verdict: files leave that out, and it shows by the score."""
    if not isinstance(members, list):
        return members
    return [_tagged_member(each) for each in cast(list[object], members)]


def _tagged_member(member: object) -> object:
    if not isinstance(member, dict):
        return member
    row = cast(dict[str, object], member)
    kind = "result" if "score" in row else "failure"
    return {**row, "outcome": kind, "members": _tagged(row.get("members", []))}
