"""Rows become OpenTelemetry's events about evaluations."""

import json
from pathlib import Path

import pytest

from polyjudge.cli import main
from polyjudge.extras import is_installed
from polyjudge.records.outcomes import Failure, JudgeResult, Provenance, outcome_row
from polyjudge.reports.evaluation_events import evaluation_events
from polyjudge.reports.run_rows import RunRows

RECORDED = Path(__file__).parents[1] / "golden" / "frameworks"
ORIGIN = Provenance(
    provider="openai",
    model="judge",
    rubric="general",
    rubric_fingerprint="ff",
    prompt_sha256="aa",
    response_id="of-judge",
)


def events(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return [event for row in RunRows(path) for event in evaluation_events(row)]


def test_a_score_and_each_criterion_is_an_event_with_the_conventional_names(tmp_path):
    result = JudgeResult(4, "Natural.", {"fluency": 5}, passed=True, provenance=ORIGIN)
    row = {**outcome_row("a", result), "language": "fr", "system": "new", "gen_ai.response.id": "chatcmpl-1"}
    first, second = events(tmp_path / "run.jsonl", [row])
    shared = {
        "gen_ai.response.id": "chatcmpl-1",
        "polyjudge.item.id": "a",
        "polyjudge.language": "fr",
        "polyjudge.system": "new",
        "polyjudge.judge": "openai/judge",
    }
    assert first.attributes == {
        "gen_ai.evaluation.name": "general",
        "gen_ai.evaluation.score.value": 4.0,
        "gen_ai.evaluation.score.label": "pass",
        "gen_ai.evaluation.explanation": "Natural.",
        **shared,
    }
    criterion = {"gen_ai.evaluation.name": "general.fluency", "gen_ai.evaluation.score.value": 5.0}
    assert second.attributes == {**criterion, **shared}


def test_a_failure_has_its_kind_and_no_score_and_the_reply_of_the_judge_is_not_the_judged_response(tmp_path):
    [event] = events(tmp_path / "run.jsonl", [outcome_row("a", Failure("No JSON.", "unreadable", provenance=ORIGIN))])
    assert event.attributes == {
        "gen_ai.evaluation.name": "general",
        "gen_ai.evaluation.explanation": "No JSON.",
        "error.type": "unreadable",
        "polyjudge.item.id": "a",
        "polyjudge.judge": "openai/judge",
    }


def test_only_identifiers_of_spans_are_taken_for_such(tmp_path):
    row = outcome_row("a", JudgeResult(1, ""))
    span = {"traceId": "0af7651916cd43dd8448eb211c80319c", "spanId": "b7ad6b7169203331"}
    good, bad = events(tmp_path / "run.jsonl", [{**row, **span}, {**row, **span, "id": "b", "spanId": "seven"}])
    assert (good.trace_id, good.span_id) == tuple(span.values())
    assert (bad.trace_id, bad.span_id) == ("", "")


def test_each_scorer_of_another_tool_has_one_event_and_a_failed_one_its_error():
    rows = {row.id: row for row in RunRows(RECORDED / "inspect.json")}
    found = {event.attributes["gen_ai.evaluation.name"]: event.attributes for event in evaluation_events(rows["3"])}
    assert set(found) == {"includes", "model_graded_qa", "size.length", "size.words", "partial"}
    assert found["includes"]["gen_ai.evaluation.score.label"] == "correct"
    assert found["includes"]["gen_ai.response.id"] == "c"
    assert found["model_graded_qa"]["error.type"] == "_OTHER"
    assert "gen_ai.evaluation.score.value" not in found["model_graded_qa"]


def test_without_the_sdk_the_command_that_installs_it_is_named(capsys):
    if is_installed("opentelemetry.sdk"):
        pytest.skip("the SDK is installed")
    assert main(["report", str(RECORDED / "deepeval.json"), "--otel"]) == 2
    message = capsys.readouterr().err
    assert "sending OpenTelemetry events needs the package 'opentelemetry" in message
    assert "[otel]" in message
