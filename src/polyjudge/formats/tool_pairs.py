"""Read recorded preferences between two outputs."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from polyjudge.files.json_stream import JsonStream
from polyjudge.records.outcomes import Failure, JudgeResult, Preference, outcome_row

from .columns import made_id
from .tools import ToolRows

_OWN = frozenset({"instruction", "output_1", "output_2", "generator_1", "generator_2", "preference"})


def alpaca_eval(path: Path) -> ToolRows:
    """Yield AlpacaEval's annotations: a preference from 1, for the baseline, to 2, for the model."""
    for line, given in JsonStream(path, None):
        if not isinstance(given, Mapping):
            yield line, "must be a JSON object"
            continue
        row = cast(Mapping[str, Any], given)
        texts = {
            "candidate": row.get("output_2"),
            "system": row.get("generator_2"),
            "otherCandidate": row.get("output_1"),
            "otherSystem": row.get("generator_1"),
            "source": row.get("instruction"),
        }
        model = str(row.get("annotator") or "")
        preference = row.get("preference")
        if isinstance(preference, int | float) and 1 <= preference <= 2:
            score = preference - 1
            outcome = JudgeResult(score=score, reason="", model=model, verdict=_verdict(score))
        else:
            outcome = Failure("No preference is recorded.", "unreadable", model=model)
        extra = {name: value for name, value in row.items() if name not in _OWN}
        yield line, {**outcome_row(made_id(texts), outcome), **texts, "extra": extra}


def _verdict(score: float) -> Preference:
    return "first" if score > 0.5 else "second" if score < 0.5 else "tie"
