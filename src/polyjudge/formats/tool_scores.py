"""Read recorded scores of single outputs: the draws of CJE as they are published."""

from math import isfinite
from pathlib import Path
from typing import Any

from polyjudge.files.json_lines import each_json_line
from polyjudge.records.outcomes import Failure, JudgeResult, outcome_row

from .columns import MISSING, cell
from .tools import ToolRows

_OWN = frozenset({"prompt_id", "prompt", "response", "judge_score", "oracle_label", "policy", "draw_idx"})


def cje(path: Path) -> ToolRows:
    """Yield CJE's draws: the score of a judge and, for some, the label of a better one, both from 0 to 1.

    The id is that of the prompt, so that the draws of two policies meet; a further draw has its number behind it.
    """
    for line, row in each_json_line(path):
        if isinstance(row, str):
            yield line, row
            continue
        prompt, draw = cell(row, "prompt_id"), row.get("draw_idx") or 0
        prompt = cell(row, "metadata.prompt_id") if prompt is MISSING else prompt
        if prompt in (MISSING, None, ""):
            yield line, "'prompt_id' is missing"
            continue
        score = row.get("judge_score")
        if isinstance(score, int | float) and not isinstance(score, bool) and isfinite(score):
            outcome = JudgeResult(score=score, reason="")
        else:
            outcome = Failure("No score is recorded.", "not_recorded")
        found: dict[str, Any] = outcome_row(f"{prompt}:{draw}" if draw else str(prompt), outcome)
        names = {"candidate": "response", "source": "prompt", "system": "policy", "label": "oracle_label"}
        found |= {name: row[column] for name, column in names.items() if row.get(column) is not None}
        rest = {name: value for name, value in row.items() if name not in _OWN}
        yield line, {**found, "cluster": str(prompt), "extra": rest} if draw else {**found, "extra": rest}
