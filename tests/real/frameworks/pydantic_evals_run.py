"""Run pydantic-evals on four questions, twice each; write its report, and what its own API says of it."""

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from urllib.request import Request, urlopen

from pydantic_evals import Case, Dataset
from pydantic_evals.evaluators import EqualsExpected, EvaluationReason, Evaluator
from pydantic_evals.reporting import EvaluationReportAdapter


def ask(prompt, model):
    body = json.dumps({"model": model, "messages": [{"role": "user", "content": prompt}]}).encode()
    url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
    with urlopen(Request(url, body, {"Content-Type": "application/json"})) as reply:
        return json.load(reply)["choices"][0]["message"]["content"]


@dataclass
class Judge(Evaluator):
    def evaluate(self, ctx):
        reply = json.loads(ask(f"[JUDGE] {ctx.inputs} {ctx.output}", "gpt-judge"))
        kind = EvaluationReason("short", "by its length")
        return {"rating": EvaluationReason(reply["score"], reply["reason"]), "kind": kind, "fine": reply["score"] > 4}


def answer(question):
    if "Atlantis" in question:
        raise RuntimeError("no such country")
    return ask(question, "gpt-small")


def row(case):
    place = case.name.removeprefix(case.source_case_name or case.name).strip(" []").partition("/")[0]
    name = case.source_case_name or case.name
    return {"id": name if place in ("", "1") else f"{name}-{place}"}


def main():
    folder = Path(sys.argv[1])
    cases = [
        Case(name="fr", inputs="Capital of France?", expected_output="Paris", metadata={"language": "fr"}),
        Case(name="es", inputs="Capital of Spain?", expected_output="Madrid"),
        Case(name="pe", inputs="Capital of Peru?", expected_output="Lima"),
        Case(name="at", inputs="Capital of Atlantis?"),
    ]
    report = Dataset(name="capitals", cases=cases, evaluators=[EqualsExpected(), Judge()]).evaluate_sync(
        answer, name="small model", progress=False, repeat=2, max_concurrency=1
    )
    (folder / "report.json").write_bytes(EvaluationReportAdapter.dump_json(report, indent=1))
    rows = []
    for case in report.cases:
        scores = {name: float(each.value) for name, each in case.scores.items()}
        scores |= {name: float(each.value) for name, each in case.assertions.items()}
        failed = sorted(each.name for each in case.evaluator_failures)
        rows.append({**row(case), "scores": scores, "failed": failed, "candidate": case.output})
    rows += [{**row(case), "scores": {}, "failed": [], "error": case.error_message} for case in report.failures]
    averages = report.averages()
    means = {**averages.scores, "assertions": averages.assertions}
    (folder / "expected.json").write_text(json.dumps({"rows": rows, "means": means}, indent=1) + "\n", encoding="utf-8")


main()
