"""Turn the rows of a run into OpenTelemetry's events about evaluations."""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple, cast

from .run_rows import RunRow

EVENT_NAME = "gen_ai.evaluation.result"
_RESPONSE_ID = ("gen_ai.response.id", "responseId", "response_id")
_TRACE_ID = ("traceId", "trace_id")
_SPAN_ID = ("spanId", "span_id")
_LABELS = {"PASS": "pass", "CHECKED": "pass", "FAIL": "fail", "CONFLICT": "fail"}
_OTHER = "_OTHER"
"""The type of an error that has no name, by OpenTelemetry's conventions."""
Attributes = dict[str, str | float]


class EvaluationEvent(NamedTuple):
    """One event: the result of one evaluation of one output."""

    attributes: Attributes
    trace_id: str
    """In hexadecimal digits, as `span_id`, if the row names the span of the call that wrote the output."""
    span_id: str


def evaluation_events(row: RunRow) -> Iterator[EvaluationEvent]:
    """Yield an event for the score of a row, or for its failure, and one for each subscore.

    The names of attributes are those of OpenTelemetry's conventions for generative AI; what these have no name for
    starts with `polyjudge.`. The id of the response is that of the judged output, if the row has one, and not that of
    the judge's reply.
    """
    ids = re.fullmatch("([0-9a-f]{32}) ([0-9a-f]{16})", f"{_first(row, _TRACE_ID)} {_first(row, _SPAN_ID)}")
    trace, span = ids.groups() if ids else ("", "")
    name = row.column("extra.scorer") or (row.provenance.rubric if row.provenance else "") or "score"
    for attributes in (_main(row, name), *_others(row, name)):
        yield EvaluationEvent({**attributes, **_shared(row)}, trace, span)


def _main(row: RunRow, name: str) -> Attributes:
    found: Attributes = {"gen_ai.evaluation.name": name}
    if row.score is not None:
        found["gen_ai.evaluation.score.value"] = row.score
    if label := row.column("verdict") or _LABELS.get(row.status or "", ""):
        found["gen_ai.evaluation.score.label"] = label
    if row.reason:
        found["gen_ai.evaluation.explanation"] = row.reason
    if row.failure:
        found["error.type"] = row.failure
    return found


def _others(row: RunRow, name: str) -> Iterator[Attributes]:
    """Yield the attributes of subscores: scorers of another tool by their names, criteria after the rubric's name."""
    is_tool = bool(row.column("extra.scorer"))
    # A row without a main verdict may have subscores too, then only in its columns.
    scores = row.subscores or cast(Mapping[str, float], row.columns.get("subscores") or {})
    for criterion, score in scores.items():
        if not (is_tool and criterion == name):
            own = criterion if is_tool else f"{name}.{criterion}"
            yield {"gen_ai.evaluation.name": own, "gen_ai.evaluation.score.value": score}
    failures = cast(Mapping[str, str], row.columns.get("subscoreFailures") or {})
    for scorer, reason in failures.items():
        if scorer != name:
            error = {"gen_ai.evaluation.explanation": reason, "error.type": _OTHER}
            yield {"gen_ai.evaluation.name": scorer, **error}


def _shared(row: RunRow) -> Attributes:
    judge = row.provenance
    known = {
        "gen_ai.response.id": _first(row, _RESPONSE_ID),
        "polyjudge.item.id": row.id,
        "polyjudge.language": row.language,
        "polyjudge.system": row.column("system"),
        "polyjudge.judge": f"{judge.provider}/{judge.model}" if judge else row.column("model"),
    }
    return {name: value for name, value in known.items() if value}


def _first(row: RunRow, names: tuple[str, ...]) -> str:
    return next((found for name in names if (found := row.column(name))), "")
