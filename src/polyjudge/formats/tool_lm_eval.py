"""Read the samples of lm-evaluation-harness."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from polyjudge.errors import DataError
from polyjudge.files.json_lines import each_json_line
from polyjudge.files.spill import open_scratch

from .columns import Row
from .tool_samples import (
    Verdict,
    elements,
    mapping,
    metadata_columns,
    number,
    plain_text,
    read_whole,
    sample_row,
    without,
)
from .tools import ToolRows

_FILTERS = "CREATE TABLE verdicts (doc TEXT, name TEXT, score REAL, filtered TEXT)"
_OWN = ("doc", "resps", "filtered_resps", "filter", "metrics", "target", "arguments")


def lm_eval(path: Path) -> ToolRows:
    """Yield the documents of `samples_TASK_TIME.jsonl`, which has a line for each document and filter."""
    first, seen = "", _Filters()
    for _, row in _objects(path):
        first = first or str(row.get("filter"))
        if str(row.get("filter")) != first:
            seen.add(row)
    system = _model_of(path)
    for line, row in each_json_line(path):
        if isinstance(row, str):
            yield line, row
        elif str(row.get("filter")) == first:
            yield line, _row(row, seen.of(row), system)


class _Filters:
    """The scores of each document under the filters after the first one, kept on disk."""

    def __init__(self) -> None:
        self._scratch = open_scratch(self, _FILTERS)
        self._is_indexed = False

    def add(self, row: Row) -> None:
        """Add the scores of a document under one filter."""
        answer = json.dumps(row.get("filtered_resps"))
        for each in _metrics(row):
            values = (str(row.get("doc_id")), each.name, each.score, answer)
            self._scratch.execute("INSERT INTO verdicts VALUES (?, ?, ?, ?)", values)

    def of(self, row: Row) -> list[Verdict]:
        """Return the verdicts of a document."""
        if not self._is_indexed:
            self._scratch.execute("CREATE INDEX by_doc ON verdicts (doc)")
            self._is_indexed = True
        query = "SELECT name, score, filtered FROM verdicts WHERE doc = ? ORDER BY rowid"
        found = self._scratch.execute(query, (str(row.get("doc_id")),))
        return [Verdict(name=name, score=score, reason=filtered) for name, score, filtered in found]


def _objects(path: Path) -> Iterator[tuple[int, Row]]:
    return ((line, row) for line, row in each_json_line(path) if not isinstance(row, str))


def _metrics(row: Row) -> list[Verdict]:
    """Return the metrics of a document, named as in the results; those of the whole task have no number here."""
    names = [f"{name}" for name in elements(row.get("metrics"))]
    return [Verdict(name=f"{name},{row.get('filter')}", score=number(row.get(name))) for name in names]


def _row(row: Row, others: list[Verdict], system: str) -> Row:
    own = _metrics(row)
    verdicts = [*own, *others]
    names = ", ".join(each.name for each in own) or "no metric"
    reason = f"No metric has a number for each document: {names}."
    missing = Verdict(name="score", failure="not_recorded", reason=reason)
    main = next((each for each in own if each.score is not None), missing)
    target = plain_text(row.get("target"))
    choices = [plain_text(each[1]) for each in _arguments(row)]
    columns = {
        "candidate": _answer(row, choices),
        "source": plain_text(next((each[0] for each in _arguments(row)), None)),
        "reference": choices[int(target)].strip() if target.isdecimal() and int(target) < len(choices) > 1 else target,
        "system": system,
        **metadata_columns(row.get("doc")),
    }
    metrics = {name: row.get(name) for name in map(str, elements(row.get("metrics"))) if number(row.get(name)) is None}
    filtered = {each.name: json.loads(each.reason) for each in others}
    left = without(row, (*_OWN, *map(str, elements(row.get("metrics")))))
    extra = {**left, "doc": row.get("doc"), "metrics": metrics, "filters": filtered, "responses": row.get("resps")}
    return sample_row(plain_text(row.get("doc_id")), main, verdicts, columns, extra=extra)


def _arguments(row: Row) -> list[tuple[Any, Any]]:
    """Return the context and the continuation, or the parameters, of each request."""
    given = mapping(row.get("arguments")).values()
    return [(_prompt(mapping(each).get("arg_0")), mapping(each).get("arg_1")) for each in given]


def _prompt(given: object) -> object:
    """Return the prompt, which chat models get as a list with a text of JSON."""
    first = elements(given)[0] if len(elements(given)) == 1 else given
    try:
        messages = elements(json.loads(first)) if isinstance(first, str) and first.startswith("[{") else []
    except ValueError:
        return first
    contents = [plain_text(mapping(each).get("content")) for each in messages]
    return "\n\n".join(contents) if contents else first


def _answer(row: Row, choices: list[str]) -> str:
    """Return the filtered response, or the choice with the highest likelihood."""
    given = elements(row.get("filtered_resps"))
    likelihoods = [_likelihood(each) for each in given]
    if given and None not in likelihoods and len(choices) == len(given):
        return max(zip(likelihoods, choices, strict=True), key=lambda pair: pair[0] or 0.0)[1].strip()
    return plain_text(given[0] if len(given) == 1 else given)


def _likelihood(response: object) -> float | None:
    first = next(iter(elements(response)), None)
    try:
        return float(first) if isinstance(first, str | float | int) else None
    except ValueError:
        return None


def _model_of(path: Path) -> str:
    """Return the model that the results file beside the samples names; empty without one."""
    time = re.search(r"_(\d{4}-\d\d-\d\dT[\d.:-]+)\.jsonl", path.name)
    results = path.with_name(f"results_{time[1]}.json") if time else path
    try:
        return plain_text(read_whole(results).get("model_name")) if time and results.is_file() else ""
    except DataError:
        return ""
