"""Recorded judges, as other tools publish them, give the figures that were computed from them elsewhere.

The figures are in the data's `figures.tsv`, computed with scipy and scikit-learn. Every one of them comes from one
command over the published file.
"""

import csv
import json
import os
from functools import cache
from pathlib import Path

import pytest

from polyjudge.cli import main

DATA = Path(os.environ.get("POLYJUDGE_DATA", "")) / "judges_recorded_dev"
pytestmark = pytest.mark.skipif(not (DATA / "figures.tsv").is_file(), reason="POLYJUDGE_DATA lacks judges_recorded_dev")


def of_panda(run, name):
    """Return the figures of a judge on PandaLM's test set, by the names they have in the table."""
    [verdicts] = (DATA / "pandalm").glob(f"{name}-testset*.json")
    [labels] = (DATA / "pandalm").glob("testset*.json")
    found = run("calibrate", "agreement", verdicts, "--labels", labels)
    every, readable = found["languages"]["all"], "readable verdicts"
    figures = {
        "items without a majority": found["withoutMajority"],
        f"replies of {name} that are no verdict": found["unjudged"],
        f"accuracy {name} against the majority, {readable}": every["accuracy"]["value"],
        f"accuracy {name} against the majority, no verdict counted as wrong": every["accuracy_every_item"]["value"],
        f"accuracy {name} against the majority, no verdict counted as a tie": every["accuracy_missing_as_tie"]["value"],
        f"Cohen kappa {name} against the majority, {readable}": every["kappa"]["value"],
        f"macro F1 {name}, {readable}": every["macro_f1"]["value"],
    }
    for pair in found["betweenAnnotators"]:
        figures[f"Cohen kappa {pair['first']} {pair['second']}"] = pair["kappa"]["value"]
    for pair in found["withEachAnnotator"]:
        figures[f"Cohen kappa {name} {pair['second']}, {readable}"] = pair["kappa"]["value"]
    return figures


def of_llm_bar(run):
    [results] = (DATA / "llmbar").glob("*.result.json")
    orders = run("calibrate", "agreement", results)["orders"]
    names = {
        "accuracy, first order": "accuracy_given",
        "accuracy, swapped order": "accuracy_swapped",
        "average accuracy": "accuracy_average",
        "right in both orders": "right_in_both",
        "same verdict in both orders (positional agreement)": "same_in_both",
        "Cohen kappa between the orders": "kappa",
        "share of first-shown among verdicts that change": "first_shown_of_changed",
    }
    return {name: orders[key]["value"] for name, key in names.items()}


def of_alpaca_eval(run):
    [annotations] = (DATA / "alpacaeval").glob("*.json")
    found = run("report", annotations)["preferences"]
    return {
        "win rate (mean of preference - 1, percent)": 100 * found["winRate"],
        "standard error of the win rate, percent": 100 * found["standardError"],
        "discrete win rate, percent (ties half)": 100 * found["discreteWinRate"],
        "unjudged": found["unjudged"],
    }


def of_judge_bench(run):
    [output] = (DATA / "judgebench").glob("*.jsonl")
    found = run("calibrate", "agreement", output)
    return {
        "accuracy over both orders, percent": 100 * found["languages"]["all"]["accuracy_every_item"]["value"],
        "verdicts that differ between the orders": found["orders"]["changed"],
        "pairs with a missing verdict": found["orders"]["missing"],
        "accuracy, sources mmlu*, percent": 100 * found["parts"]["mmlu-pro"]["accuracy_every_item"]["value"],
    }


def of_cje(run, path):
    name = path.stem.removesuffix("_responses").removesuffix("_probe")
    found, corrected = run("calibrate", "agreement", path), run("calibrate", "correct", path)
    every, means = found["languages"]["all"], found["means"]
    powered = corrected["all"]["predictionPowered"]
    return {
        f"{name}: mean judge score, labelled rows": means["judge"]["mean"],
        f"{name}: mean oracle label": means["labels"]["mean"],
        f"{name}: standard error of the oracle mean": means["labels"]["standardError"],
        f"{name}: Spearman judge, oracle": every["spearman"]["value"],
        f"{name}: Pearson judge, oracle": every["pearson"]["value"],
        f"{name}: Kendall tau-b": every["kendall_tau_b"]["value"],
        f"{name}: mean judge score, all rows": means["judgeOfAllItems"]["mean"],
        f"{name}: mean oracle, prediction-powered (lambda 1)": powered["mean"],
        f"{name}: its standard error": powered["standardError"],
    }


@pytest.fixture
def reached(capsys, in_folder):
    """Return all figures that the commands print, by set and name."""

    @cache
    def run(*command):
        assert main([*map(str, command), "--format", "json"]) == 0
        return json.loads(capsys.readouterr().out)

    draws = [*(DATA / "cje").rglob("*.jsonl")]
    return {
        "pandalm": of_panda(run, "gpt-3.5-turbo") | of_panda(run, "pandalm-7b"),
        "llmbar": of_llm_bar(run),
        "alpacaeval": of_alpaca_eval(run),
        "judgebench": of_judge_bench(run),
        "cje": {name: value for path in draws for name, value in of_cje(run, path).items()},
    }


def test_every_published_file_gives_the_figures_beside_it(reached):
    with (DATA / "figures.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    assert len(rows) > 60

    wrong = {
        (row["set"], row["figure"]): (row["value"], reached[row["set"]].get(row["figure"]))
        for row in rows
        if reached[row["set"]].get(row["figure"]) != pytest.approx(float(row["value"]), abs=1e-6)
    }
    assert wrong == {}


def test_totals_without_items_are_refused_by_name(capsys, in_folder):
    [statistics] = (DATA / "llmbar").glob("*.statistics.json")
    assert main(["calibrate", "agreement", str(statistics)]) == 2
    assert "LLMBar's totals" in capsys.readouterr().err


def test_the_correction_is_refused_for_the_probe_on_which_the_judge_errs_otherwise(capsys, in_folder):
    draws = sorted((DATA / "cje").rglob("*.jsonl"))
    for options in ([], ["--reference", "base_responses"]):
        assert main(["calibrate", "correct", *map(str, draws), *options, "--format", "json"]) == 0
        found = json.loads(capsys.readouterr().out)
        refused = [name for name, check in found["checks"].items() if check["verdict"] == "does not carry over"]
        assert refused == ["unhelpful_probe"]
        estimates = {each["system"]: each for each in found["overall"]["systems"]}
        assert {name: each["status"] for name, each in estimates.items()} == {
            "base_responses": "corrected",
            "clone_probe": "corrected",
            "parallel_universe_prompt_probe": "corrected",
            "unhelpful_probe": "own labels only",
        }
        assert (estimates["unhelpful_probe"]["worstRank"], estimates["unhelpful_probe"]["bestRank"]) == (4, 4)
        # The mean oracle label of figures.tsv.
        assert estimates["unhelpful_probe"]["figure"]["value"] == pytest.approx(0.1586)
