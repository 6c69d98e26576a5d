"""Items, the outcomes of judging them, and both as rows of a run file."""

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias, TypeVar, cast

from msgspec import Struct
from msgspec import json as msgspec_json

from polyjudge.errors import DataError, other_version

from .codec import Number, always, from_json, to_json
from .spans import ErrorSpan


class Item(Struct, frozen=True):
    """One candidate, with what the judge may know about it."""

    id: str
    candidate: str
    context: Mapping[str, str] = {}
    language: str = ""
    """BCP 47 tag, if known; for the results, not for the judge."""
    cluster: str = ""
    """The group of dependent items that it belongs to, such as its document; for the results too."""


FailureKind = Literal[
    "refused", "transient", "not_recorded", "provider_error", "unreadable", "no_quorum", "bad_item", "abstained"
]
"""Why there is no verdict, or no text. `abstained` is no fault: no judge of a cascade was sure enough, and people are
to say."""

Preference = Literal["first", "second", "tie"]
"""Which of two candidates a judge prefers."""

Order = Literal["", "given", "swapped"]
"""The order in which two candidates were shown; empty if there are no two."""


class Provenance(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The origin of a score or text: enough to ask the same question again."""

    provider: str
    base_url: str = ""
    model: str
    """The requested model."""
    model_answered: str = ""
    rubric: str
    """For a generated text, the name of the prompt set."""
    rubric_fingerprint: str
    prompt_sha256: str
    parameters: Mapping[str, Any] = {}
    dropped: tuple[str, ...] = ()
    repeat: int = always(0)
    attempts: int = always(1)
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: Number | None = None
    answered_at: str = ""
    client: str = ""
    """The agent CLI that was used, if any."""
    batch: str = ""
    """The provider's id of the batch, if it was asked in one."""
    response_id: str = ""
    """The provider's id of the response, if it gives one."""
    cached: bool = always(False)
    polyjudge_version: str = ""


class JudgeResult(Struct, frozen=True, rename="camel", omit_defaults=True, tag_field="outcome", tag="result"):
    """One verdict."""

    score: Number
    """On the rubric's scale; 1.0 or 0.0 for a binary verdict."""
    reason: str
    subscores: Mapping[str, Number] = {}
    model: str = ""
    duration_ms: int = always(0)
    cached: bool = always(False)
    verdict: str = ""
    """The label chosen, for judges that choose one."""
    flags: Mapping[str, bool] = {}
    """The answers to the yes-or-no questions of the rubric."""
    weighted_score: Number | None = None
    """Weighted mean of the subscores, if every criterion has one."""
    parse_method: str = ""
    """The parse strategy that gave this verdict."""
    repaired: bool = always(False)
    """Whether the reply was invalid JSON that could be repaired unambiguously."""
    raw: str = ""
    """The unchanged reply."""
    provenance: Provenance | None = None
    members: "tuple[Outcome, ...]" = ()
    """The outcomes of the members of a jury."""
    passed: bool | None = None
    """Whether it passes by the rubric's rule, or has the first of two verdicts; None without a rule."""
    order: Order = ""
    """The order in which a pair was shown, for a verdict in one order; the verdict is about the given order."""
    spans: tuple[ErrorSpan, ...] = ()
    """The errors that a judge of spans proposed, each with its place or the reason why it has none."""
    probabilities: Mapping[str, Number] = {}
    """The probability of each verdict, or score, at its token in the reply, among those that are allowed; empty if the
    provider gave no token probabilities, or the token is not certain."""
    other_probability: Number | None = None
    """The probability of all other tokens at that place, before the others were divided by their sum."""
    expected_score: Number | None = None
    """The mean of the scores, weighted by their token probabilities."""
    answered_by: str = ""
    """The judge of a cascade whose answer this is."""
    confidence: Number | None = None
    """How sure that judge was, from 0 to 1."""


class Failure(Struct, frozen=True, rename="camel", tag_field="outcome", tag="failure"):
    """The judge gave no verdict, which says nothing about the candidate, or the model generated no text."""

    reason: str
    kind: FailureKind = "provider_error"
    raw: str = ""
    """The unchanged reply, if there was one."""
    model: str = ""
    provenance: Provenance | None = None
    members: "tuple[Outcome, ...]" = ()
    order: Literal["", "given", "swapped"] = ""
    """The order in which a pair was shown, of which the verdict is missing."""


class Generated(Struct, frozen=True, rename="camel", tag_field="outcome", tag="text"):
    """A text generated by a model or program, to be judged later."""

    text: str
    model: str = ""
    """The model that answered."""
    duration_ms: int = 0
    cached: bool = False
    reasoning: str = ""
    """The reasoning before the answer, which is not part of it."""
    finish: Literal["", "stop", "length", "refusal"] = ""
    """Why the model stopped, if known."""
    provenance: Provenance | None = None


Outcome: TypeAlias = JudgeResult | Failure
"""What a judge returns."""

RunOutcome: TypeAlias = JudgeResult | Failure | Generated
"""What a run stores for an item."""


class PairwiseResult(Struct, frozen=True):
    """Which of two candidates is better, asked in both orders."""

    preference: Preference
    """In the given order of the candidates, whatever order they were shown in."""
    consistent: bool
    """Whether both orders gave the same answer; if not, the preference is a tie."""
    forward: JudgeResult
    """The verdict with the first candidate shown first."""
    backward: JudgeResult
    """The verdict with the second candidate shown first."""


SCHEMA_VERSION = 1
ITEM_TEXTS = ("source", "reference", "context")
"""What a row has of an item's context: texts by which people understand the outcome."""
OTHER_CANDIDATE = "otherCandidate"
PAIR_FIELDS = (OTHER_CANDIDATE, "system", "otherSystem")
"""What the context of a pair has in addition: the second text, and the systems that wrote both."""
_FORMER_NAME = "rung"
"""The name of `parseMethod` in files of earlier versions."""
_LEAST_PLAIN, _MOST_PLAIN = 1e-4, 1e16
"""Where `json` writes numbers with an exponent, beyond which msgspec writes it otherwise."""
_WRITTEN_ALIKE = (int, str, bool, type(None))
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


def item_row(item: Item, outcome: RunOutcome, *, with_texts: bool = False) -> dict[str, Any]:
    """Return the row of an item's outcome, with the item's language and cluster.

    It has the item's texts if they are wanted, and those of a pair always, because its row names its systems.
    """
    return {**outcome_row(item.id, outcome), **_item_fields(item, with_texts=with_texts)}


def item_json(item: Item, outcome: RunOutcome, *, with_texts: bool = False) -> bytes | None:
    """Return the JSON of `item_row` in a quarter of the time; None if msgspec cannot write it as `json` does.

    It writes small and large numbers otherwise, and the type of each member of a jury.
    """
    if not isinstance(outcome, JudgeResult) or outcome.members or outcome.spans or not _has_plain_numbers(outcome):
        return None
    try:
        fields = _encode(_item_fields(item, with_texts=with_texts))
        start = b'{"schemaVersion":%d,"id":%b,%b' % (SCHEMA_VERSION, _encode(item.id), _encode(outcome)[1:-1])
    except (TypeError, UnicodeEncodeError):  # a mapping of its own type, or a lone surrogate
        return None
    return msgspec_json.format(start + (b"," + fields[1:] if len(fields) > 2 else b"}"), indent=0)


_encode = msgspec_json.Encoder().encode


def _item_fields(item: Item, *, with_texts: bool) -> dict[str, str]:
    """Return what a row has of the item itself."""
    found: dict[str, str] = {}
    is_pair = OTHER_CANDIDATE in item.context
    if with_texts or is_pair:
        found["candidate"] = item.candidate
        names = (*ITEM_TEXTS, *PAIR_FIELDS) if is_pair else ITEM_TEXTS
        found.update({name: item.context[name] for name in names if name in item.context})
    if item.language:
        found["language"] = item.language
    if item.cluster:
        found["cluster"] = item.cluster
    return found


def _has_plain_numbers(result: JudgeResult) -> bool:
    """Return whether `json` and msgspec write the numbers of a result in the same way."""
    numbers: list[object] = [result.score, result.weighted_score, *result.subscores.values()]
    if result.provenance is not None:
        numbers += [result.provenance.cost_usd, *result.provenance.parameters.values()]
    for each in numbers:
        if type(each) is float:
            if not (_LEAST_PLAIN <= abs(each) < _MOST_PLAIN or each == 0):
                return False
        elif type(each) not in _WRITTEN_ALIKE:
            return False
    return True


def read_outcome_row(row: Mapping[str, Any]) -> tuple[str, RunOutcome]:
    """Return the item id and the outcome of a row."""
    if row.get("schemaVersion") != SCHEMA_VERSION:
        raise DataError(other_version(row.get("schemaVersion"), SCHEMA_VERSION))
    if row.get("outcome") not in _TYPES:
        raise DataError(f"outcome is {row.get('outcome')!r}, expected 'result', 'failure' or 'text'")
    if not isinstance(row.get("id"), str):
        raise DataError("the id is missing")
    return row["id"], read_outcome(_TYPES[row["outcome"]], row)


def read_outcome(kind: type[Kind], row: Mapping[str, Any]) -> Kind:
    """Return the outcome of a row, of this type."""
    if _FORMER_NAME in row:
        row = {"parseMethod": row[_FORMER_NAME], **row}
    return from_json(kind, {**row, "members": _tagged(row["members"])} if row.get("members") else row)


def _tagged(members: object) -> object:
    """Add the tags of a jury's members, which files leave out: a member with a score is a result."""
    if not isinstance(members, list):
        return members
    return [_tagged_member(each) for each in cast(list[object], members)]


def _tagged_member(member: object) -> object:
    if not isinstance(member, dict):
        return member
    row = cast(dict[str, object], member)
    if _FORMER_NAME in row:
        row = {"parseMethod": row[_FORMER_NAME], **row}
    kind = "result" if "score" in row else "failure"
    return {**row, "outcome": kind, "members": _tagged(row.get("members", []))}
