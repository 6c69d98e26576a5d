"""Run Inspect on three questions in two epochs; write its logs, and what its own API reads in them."""

import json
import sys
from pathlib import Path

from inspect_ai import Epochs, Task
from inspect_ai import eval as run_eval
from inspect_ai.dataset import Sample
from inspect_ai.log import read_eval_log, write_eval_log
from inspect_ai.model import get_model
from inspect_ai.scorer import Score, accuracy, includes, mean, model_graded_qa, scorer, stderr, value_to_float
from inspect_ai.solver import generate


@scorer(metrics={"length": [mean()], "words": [mean()]})
def size():
    async def score(state, target):
        text = state.output.completion
        return Score(value={"length": len(text), "words": len(text.split())}, explanation="counted")

    return score


@scorer(metrics=[accuracy(), stderr()])
def partial():
    async def score(state, target):
        if "Spain" in state.input_text:
            raise ValueError("no map of Spain")
        return Score(value="P" if "France" in state.input_text else "N", explanation="by the map")

    return score


def task():
    questions = [
        Sample(id="fr", input="Capital of France?", target="Paris", metadata={"language": "fr", "human": 1}),
        Sample(id="es", input="Capital of Spain?", target=["Madrid", "Villa de Madrid"]),
        Sample(input="Capital of Peru?", target="Lima"),
    ]
    scorers = [includes(), model_graded_qa(), size(), partial()]
    return Task(dataset=questions, solver=[generate()], scorer=scorers, epochs=Epochs(2, ["mean"]), name="capitals")


def expected(log):
    """Return what the API says of each sample."""
    number = value_to_float()
    rows = []
    for sample in log.samples:
        scores, failed = {}, []
        for name, score in (sample.scores or {}).items():
            parts = score.value.items() if isinstance(score.value, dict) else [("", score.value)]
            for part, value in parts:
                found = number(value)
                if found == found:
                    scores[f"{name}.{part}" if part else name] = found
                else:
                    failed.append(name)
        if sample.error:
            failed += [each.name for each in log.eval.scorers if each.name not in (sample.scores or {})]
        item = str(sample.id) if sample.epoch == 1 else f"{sample.id}-{sample.epoch}"
        rows.append({"id": item, "scores": scores, "failed": sorted(failed), "candidate": sample.output.completion})
    return rows


def main():
    folder = Path(sys.argv[1])
    model = get_model("openai/gpt-small", responses_api=False)
    roles = {"grader": get_model("openai/gpt-judge", responses_api=False)}
    options = {"log_dir": str(folder / "logs"), "log_format": "eval", "fail_on_error": False, "display": "none"}
    [log] = run_eval(task(), model=model, model_roles=roles, **options)
    Path(log.location).rename(folder / "log.eval")
    log = read_eval_log(str(folder / "log.eval"))
    write_eval_log(log, str(folder / "log.json"))
    means = {}
    for each in log.results.scores:
        value = next(iter(each.metrics.values())).value
        means |= (
            {each.name if each.name == each.scorer else f"{each.scorer}.{each.name}": value} if value == value else {}
        )
    written = {"rows": expected(log), "means": means}
    (folder / "expected.json").write_text(json.dumps(written, indent=1) + "\n", encoding="utf-8")


main()
