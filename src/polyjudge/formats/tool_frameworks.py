"""Read the results of promptfoo, DeepEval and pydantic-evals."""

import json
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from polyjudge.files.json_stream import JsonStream

from .columns import Row, made_id
from .tool_samples import (
    Verdict,
    elements,
    main_verdict,
    mapping,
    metadata_columns,
    not_recorded,
    number,
    numbered,
    plain_text,
    read_whole,
    sample_row,
    without,
)
from .tools import ToolRows

_NOT_AN_OBJECT = "must be a JSON object"


# promptfoo

_ERROR = 2
"""The reason for the failure of a result that is an error, and no failed assertion."""
_EXPECTING = frozenset({"equals", "similar", "factuality", "rouge-n", "bleu", "gleu", "meteor", "levenshtein"})
"""Assertions whose value is the expected output."""
_PROMPTFOO_OWN = ("vars", "prompt", "response", "testCase", "success", "score")


def promptfoo(path: Path) -> ToolRows:
    """Yield the results of `promptfoo eval --output FILE.json`."""
    run = mapping(read_whole(path).get("results"))
    results = [mapping(each) for each in elements(run.get("results"))]
    labels: dict[str, set[str]] = {}
    for prompt in map(mapping, elements(run.get("prompts"))):
        labels.setdefault(plain_text(prompt.get("provider")), set()).add(plain_text(prompt.get("label")))
    several = any(len(each) > 1 for each in labels.values())
    keys = [(_promptfoo_id(each), _promptfoo_system(each, several=several)) for each in results]
    counts: dict[tuple[str, str], int] = {}
    for place, (result, key) in enumerate(zip(results, keys, strict=True), start=1):
        counts[key] = counts.get(key, 0) + 1
        cluster = {"cluster": key[0]} if len(set(keys)) < len(keys) else {}
        columns = {"system": key[1], **cluster, **_promptfoo_columns(result)}
        yield place, _promptfoo_row(result, numbered(key[0], counts[key]), columns) if result else _NOT_AN_OBJECT


def _promptfoo_id(result: Row) -> str:
    """Return the id of a test, the same in each run and repetition, to which promptfoo gives other numbers."""
    variables = mapping(result.get("vars"))
    description = mapping(result.get("testCase")).get("description")
    content = {"source": json.dumps(variables, sort_keys=True), "candidate": description}
    return plain_text(variables.get("id")) or made_id(content)


def _promptfoo_system(result: Row, *, several: bool) -> str:
    """Return the provider, with its prompt if it has several."""
    provider = mapping(result.get("provider"))
    system = plain_text(provider.get("label") or provider.get("id") or result.get("provider"))
    return f"{system} {plain_text(mapping(result.get('prompt')).get('label'))}" if several else system


def _promptfoo_columns(result: Row) -> dict[str, str]:
    test = mapping(result.get("testCase"))
    return {
        "candidate": plain_text(mapping(result.get("response")).get("output")),
        "source": plain_text(mapping(result.get("prompt")).get("raw")),
        "reference": next(map(plain_text, _expected(test)), ""),
        **metadata_columns(result.get("vars")),
        **metadata_columns(test.get("metadata")),
    }


def _promptfoo_row(result: Row, item_id: str, columns: Row) -> Row:
    test, grading = mapping(result.get("testCase")), mapping(result.get("gradingResult"))
    verdicts = list(_assertions(grading))
    judge = mapping(test.get("options")).get("provider")
    main = _promptfoo_main(result, grading, verdicts, model=judge if isinstance(judge, str) else "")
    left_out = _PROMPTFOO_OWN if main.score is not None else set(_PROMPTFOO_OWN) - {"score"}
    extra = {
        **without(result, left_out),
        "vars": result.get("vars"),
        "test": without(test, ["vars"]),
        "response": without(mapping(result.get("response")), ["output"]),
    }
    return sample_row(item_id, main, verdicts, columns, extra=extra)


def _promptfoo_main(result: Row, grading: Row, verdicts: list[Verdict], *, model: str) -> Verdict:
    """Return promptfoo's verdict of a test; of an error, or if a grader failed, it is no verdict of the output."""
    make = partial(Verdict, name="score", model=model)
    if result.get("failureReason") == _ERROR or not grading:
        error = plain_text(result.get("error"))
        return make(failure="provider_error", reason=error) if error else not_recorded("the assertions")
    if failed := next((each for each in verdicts if each.failure is not None), None):
        return make(failure=failed.failure, reason=f"{failed.name}: {failed.reason}")
    passed = result.get("success")
    reason = plain_text(grading.get("reason"))
    return make(score=number(result.get("score")), passed=passed if isinstance(passed, bool) else None, reason=reason)


def _assertions(grading: Row) -> Iterator[Verdict]:
    """Yield the verdicts of the assertions, named by metric or type; the second of a name ends with `-2`."""
    counts: dict[str, int] = {}
    for each in map(mapping, elements(grading.get("componentResults"))):
        assertion = mapping(each.get("assertion"))
        name = plain_text(assertion.get("metric") or assertion.get("type")) or "assert-set"
        counts[name] = counts.get(name, 0) + 1
        reason, name = plain_text(each.get("reason")), numbered(name, counts[name])
        if mapping(each.get("metadata")).get("graderError") is True:
            yield Verdict(name=name, failure="provider_error", reason=reason)
        else:
            yield Verdict(name=name, score=number(each.get("score")), reason=reason)


def _expected(test: Row) -> Iterator[Any]:
    for assertion in map(mapping, elements(test.get("assert"))):
        if plain_text(assertion.get("type")) in _EXPECTING:
            yield assertion.get("value")


# DeepEval

_DEEPEVAL_OWN = ("name", "input", "actualOutput", "expectedOutput", "turns", "success")


def deepeval(path: Path) -> ToolRows:
    """Yield the test cases of a test run that DeepEval wrote into its results folder."""
    run = read_whole(path, "testCases", "conversationalTestCases")
    parameters = mapping(run.get("hyperparameters"))
    system = plain_text(parameters.get("model") or run.get("identifier"))
    main, counts = "", dict[str, int]()
    for line, given in JsonStream(path, ("testCases", "conversationalTestCases")):
        case = mapping(given)
        if not case:
            yield line, _NOT_AN_OBJECT
            continue
        metrics = [_metric(mapping(each)) for each in elements(case.get("metricsData"))]
        main = main or next((each.name for each in metrics), "")
        name = plain_text(case.get("name"))
        counts[name] = counts.get(name, 0) + 1
        yield line, _deepeval_row(case, numbered(name, counts[name]), metrics, main, system)


def _deepeval_row(case: Row, item_id: str, metrics: list[Verdict], main: str, system: str) -> Row:
    turns = "\n\n".join(
        f"{turn.get('role')}: {turn.get('content')}" for turn in map(mapping, elements(case.get("turns")))
    )
    columns = {
        "candidate": plain_text(case.get("actualOutput")) or turns,
        "source": plain_text(case.get("input") or case.get("scenario")),
        "reference": plain_text(case.get("expectedOutput") or case.get("expectedOutcome")),
        "system": system,
        **metadata_columns(case.get("metadata")),
    }
    found = main_verdict(main or "the metrics", metrics, not_recorded(main or "the metrics"))
    return sample_row(item_id, _with_passed(found, metrics), metrics, columns, extra=without(case, _DEEPEVAL_OWN))


def _metric(data: Row) -> Verdict:
    name, score = plain_text(data.get("name")), number(data.get("score"))
    model, error = plain_text(data.get("evaluationModel")), plain_text(data.get("error"))
    if error or score is None:
        reason = error or "The metric gave no score."
        return Verdict(name=name, failure="provider_error" if error else "unreadable", reason=reason, model=model)
    passed, reason = data.get("success"), plain_text(data.get("reason"))
    passed = passed if isinstance(passed, bool) else None
    return Verdict(name=name, score=score, passed=passed, reason=reason, model=model)


def _with_passed(main: Verdict, verdicts: list[Verdict]) -> Verdict:
    """Return the main verdict with whether the whole sample passes; unknown if a scorer failed and no other objects."""
    if main.failure is not None:
        return main
    known = [each.passed for each in verdicts if each.passed is not None]
    failed = any(each.failure is not None for each in verdicts)
    passed = False if False in known else None if failed or not known else True
    return Verdict(
        name=main.name, score=main.score, passed=passed, word=main.word, reason=main.reason, model=main.model
    )


# pydantic-evals

_PYDANTIC_OWN = ("name", "source_case_name", "inputs", "output", "expected_output", "trace_id", "span_id")
_PYDANTIC_LISTS = ("cases", "failures")


def pydantic_evals(path: Path) -> ToolRows:
    """Yield the cases of a report that `EvaluationReportAdapter.dump_json` wrote, then those whose task failed."""
    main = _first_score(path)
    stream = JsonStream(path, _PYDANTIC_LISTS)
    for line, given in stream:
        case = mapping(given)
        yield line, _pydantic_row(case, main, plain_text(stream.rest.get("name"))) if case else _NOT_AN_OBJECT


def _first_score(path: Path) -> str:
    """Return the name of the first score in a report, or else of its first assertion, or label."""
    assertion = label = ""
    for _, case in JsonStream(path, _PYDANTIC_LISTS):
        for name in mapping(mapping(case).get("scores")):
            return name
        assertion = assertion or next(iter(mapping(mapping(case).get("assertions"))), "")
        label = label or next(iter(mapping(mapping(case).get("labels"))), "")
    return assertion or label


def _pydantic_row(case: Row, main: str, system: str) -> Row:
    name, item_id = plain_text(case.get("name")), plain_text(case.get("source_case_name") or case.get("name"))
    repeat = re.fullmatch(r" \[(\d+)/\d+\]", name.removeprefix(item_id))
    verdicts = list(_evaluations(case))
    columns = {
        "candidate": plain_text(case.get("output")),
        "source": plain_text(case.get("inputs")),
        "reference": plain_text(case.get("expected_output")),
        "system": system,
        "traceId": plain_text(case.get("trace_id")),
        "spanId": plain_text(case.get("span_id")),
        "cluster": item_id if repeat else "",
        **metadata_columns(case.get("metadata")),
    }
    missing = _pydantic_failure(case, main or "the evaluators", verdicts)
    found = _with_passed(main_verdict(main, verdicts, missing), verdicts)
    item_id = numbered(item_id, int(repeat[1]) if repeat else 1)
    return sample_row(item_id, found, verdicts, columns, extra=without(case, _PYDANTIC_OWN))


def _pydantic_failure(case: Row, main: str, verdicts: list[Verdict]) -> Verdict:
    """Return why there is no main verdict: the task failed, or evaluators did."""
    failed = [f"{each.name}: {each.reason}" for each in verdicts if each.failure is not None]
    reason = plain_text(case.get("error_message")) or "; ".join(failed)
    return Verdict(name=main, failure="provider_error", reason=reason) if reason else not_recorded(main)


def _evaluations(case: Row) -> Iterator[Verdict]:
    """Yield the scores, assertions and labels of a case, and the evaluators that failed."""
    for kind in ("scores", "assertions", "labels"):
        for name, given in mapping(case.get(kind)).items():
            each = mapping(given)
            value, reason = each.get("value"), plain_text(each.get("reason"))
            passed, word = value if isinstance(value, bool) else None, value if isinstance(value, str) else ""
            yield Verdict(name=name, score=number(value), passed=passed, word=word, reason=reason)
    for each in map(mapping, elements(case.get("evaluator_failures"))):
        reason = plain_text(each.get("error_message"))
        yield Verdict(name=plain_text(each.get("name")), failure="provider_error", reason=reason)
