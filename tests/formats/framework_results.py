"""Compares what polyjudge reads in a framework's file with what the framework's own API says of the same run."""

import json
from collections.abc import Mapping
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from polyjudge.formats.row_files import rows_of
from polyjudge.records.outcomes import read_outcome_row


def rows(path: Path) -> list[Mapping[str, Any]]:
    found = [row for _, row in rows_of(path)]
    assert not [row for row in found if isinstance(row, str)]
    return [row for row in found if not isinstance(row, str)]


def check_rows(found: list[Mapping[str, Any]], expected: Mapping[str, Any]) -> None:
    """Compare ids, candidates, scores and failures of each scorer, and the mean of each score."""
    assert sorted(row["id"] for row in found) == sorted(row["id"] for row in expected["rows"])
    by_id = {row["id"]: row for row in found}
    for wanted in expected["rows"]:
        row = by_id[wanted["id"]]
        _, outcome = read_outcome_row(row)
        assert row.get("subscores", {}) == pytest.approx(wanted["scores"])
        assert sorted(row.get("subscoreFailures", {})) == wanted["failed"]
        assert row.get("candidate") == wanted.get("candidate")
        if "error" in wanted:
            assert (row["outcome"], outcome.reason) == ("failure", wanted["error"])
    for name, mean in expected.get("means", {}).items():
        scores = [row["subscores"][name] for row in found if name in row.get("subscores", {})]
        if scores:
            assert fmean(scores) == pytest.approx(mean), name


def check_promptfoo(path: Path) -> None:
    """Compare the counts and sums that promptfoo shows for each provider; failed graders are no verdicts here."""
    wanted = json.loads(path.read_text(encoding="utf-8"))["results"]
    for prompt in wanted["prompts"]:
        metrics = prompt["metrics"]
        own = [row for row in rows(path) if row["system"] == prompt["provider"]]
        graders = [row for row in own if row.get("subscoreFailures")]
        errors = [row for row in own if row["outcome"] == "failure" and row not in graders]
        scored = [row for row in own if row["outcome"] == "result"]
        assert sum(row["passed"] for row in scored) == metrics["testPassCount"]
        assert sum(not row["passed"] for row in scored) + len(graders) == metrics["testFailCount"]
        assert len(errors) == metrics["testErrorCount"]
        assert sum(row["score"] for row in scored) == pytest.approx(metrics["score"])  # a failed grader counts 0 there
        for name, total in metrics["namedScores"].items():
            assert sum(row["subscores"].get(name, 0) for row in scored) == pytest.approx(total)
    results = {result["id"]: result for result in wanted["results"]}
    for row in rows(path):
        result = results.pop(row["extra"]["id"])
        components = (result.get("gradingResult") or {}).get("componentResults", [])
        if row["outcome"] == "result":
            assert (row["score"], row["passed"]) == (result["score"], result["success"])
            assert list(row["subscores"].values()) == [each["score"] for each in components]
    assert not results
