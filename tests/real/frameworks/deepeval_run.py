"""Run DeepEval on three answers with a judge and two other metrics; write its test run, and what its results say."""

import json
import os
import sys
from pathlib import Path

from deepeval import evaluate
from deepeval.evaluate import AsyncConfig, DisplayConfig, ErrorConfig
from deepeval.metrics import BaseMetric, ExactMatchMetric, GEval
from deepeval.models import OpenAIModel
from deepeval.test_case import LLMTestCase, SingleTurnParams


class Length(BaseMetric):
    def __init__(self):
        self.threshold, self.async_mode = 5, False

    def measure(self, test_case, *arguments, **options):
        if "Peru" in test_case.input:
            raise ValueError("cannot be measured")
        self.score, self.reason = float(len(test_case.actual_output)), "characters"
        self.success = self.score >= self.threshold
        return self.score

    async def a_measure(self, test_case, *arguments, **options):
        return self.measure(test_case)

    def is_successful(self):
        return bool(self.success)

    @property
    def __name__(self):
        return "Length"


def main():
    folder = Path(sys.argv[1])
    os.chdir(folder)
    model = OpenAIModel(model="gpt-4.1", base_url=os.environ["OPENAI_BASE_URL"], api_key="none")
    cases = [
        LLMTestCase(input="Capital of France?", actual_output="Paris", expected_output="Paris"),
        LLMTestCase(
            input="Capital of Spain?",
            actual_output="Rome",
            expected_output="Madrid",
            name="es",
            metadata={"language": "es"},
        ),
        LLMTestCase(input="Capital of Peru?", actual_output="Lima", expected_output="Lima"),
    ]
    fields = [SingleTurnParams.INPUT, SingleTurnParams.ACTUAL_OUTPUT]
    judge = GEval(name="Correct", evaluation_params=fields, model=model, evaluation_steps=["Is the answer right?"])
    found = evaluate(
        cases,
        [judge, ExactMatchMetric(), Length()],
        error_config=ErrorConfig(ignore_errors=True),
        display_config=DisplayConfig(show_indicator=False, print_results=False, results_folder="out"),
        async_config=AsyncConfig(run_async=False),
        hyperparameters={"model": "gpt-small"},
    )
    [written] = Path("out").glob("test_run_*.json")
    written.rename("run.json")
    rows = []
    for case in found.test_results:
        scores = {each.name: each.score for each in case.metrics_data if each.error is None}
        failed = sorted(each.name for each in case.metrics_data if each.error is not None)
        row = {"id": case.name, "scores": scores, "failed": failed, "candidate": case.actual_output}
        rows.append({**row, "passed": case.success})
    Path("expected.json").write_text(json.dumps({"rows": rows}, indent=1) + "\n", encoding="utf-8")


main()
