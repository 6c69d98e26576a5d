"""Run lm-evaluation-harness on a task with two filters; write its samples and results, and what its API returns."""

import json
import os
import sys
from pathlib import Path

import lm_eval
from lm_eval.loggers import EvaluationTracker
from lm_eval.tasks import TaskManager

_TASK = """
task: capitals
dataset_path: json
dataset_kwargs: {data_files: {test: DATA}}
test_split: test
output_type: generate_until
doc_to_text: "{{question}}"
doc_to_target: "{{answer}}"
generation_kwargs: {until: ["\\n\\n"], max_gen_toks: 20}
metric_list:
  - {metric: exact_match, aggregation: mean, higher_is_better: true}
  - {metric: bleu}
filter_list:
  - {name: whole, filter: [{function: take_first}]}
  - {name: initial, filter: [{function: regex, regex_pattern: "(P|R)"}, {function: take_first}]}
"""
_DATA = (
    {"question": "Capital of France?", "answer": "Paris", "language": "fr"},
    {"question": "Capital of Spain?", "answer": "R"},
    {"question": "Capital of Peru?", "answer": "Lima"},
)


def main():
    folder = Path(sys.argv[1])
    (folder / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in _DATA), encoding="utf-8")
    (folder / "capitals.yaml").write_text(_TASK.replace("DATA", str(folder / "data.jsonl")), encoding="utf-8")
    url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
    tracker = EvaluationTracker(output_path=str(folder / "out"))
    found = lm_eval.simple_evaluate(
        model="local-chat-completions",
        model_args=f"model=gpt-small,base_url={url},num_concurrent=1,max_retries=1",
        tasks=["capitals"],
        task_manager=TaskManager(include_path=str(folder), include_defaults=False),
        apply_chat_template=True,
        log_samples=True,
        bootstrap_iters=0,
        evaluation_tracker=tracker,
    )
    samples = found.pop("samples")
    tracker.save_results_aggregated(results=found, samples=samples)
    tracker.save_results_samples(task_name="capitals", samples=samples["capitals"])
    rows: dict[int, dict] = {}
    for sample in samples["capitals"]:
        row = rows.setdefault(sample["doc_id"], {"id": str(sample["doc_id"]), "scores": {}, "failed": []})
        row["scores"][f"exact_match,{sample['filter']}"] = float(sample["exact_match"])
        row.setdefault("candidate", sample["filtered_resps"][0])
    results = found["results"]["capitals"]
    means = {name: value for name, value in results.items() if name.startswith("exact_match,")}
    written = {"rows": list(rows.values()), "means": means}
    (folder / "expected.json").write_text(json.dumps(written, indent=1) + "\n", encoding="utf-8")


main()
