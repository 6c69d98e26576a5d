"""`polyjudge calibrate correct` from the outside."""

import json
from pathlib import Path

import numpy as np
import pytest

from polyjudge.cli import main


def write(name, rows):
    Path(name).write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


def corrected(capsys, *arguments, code=0):
    assert main(["calibrate", "correct", *arguments, "--format", "json"]) == code
    return json.loads(capsys.readouterr().out)


@pytest.fixture
def judged(in_folder):
    random = np.random.default_rng(1)
    people = np.clip(np.round(random.normal(3.4, 1.1, 800)), 1, 5)
    judge = np.clip(np.round(people + 0.5 + random.normal(0, 0.6, 800)), 1, 5)
    write("judged.jsonl", [{"id": f"i{place}", "score": score} for place, score in enumerate(judge.tolist())])
    chances = np.where(judge < 3, 0.5, 0.05)
    chosen = np.flatnonzero(random.random(800) < chances)
    labels = [
        {"id": f"i{place}", "label": float(people[place]), "inclusionProbability": float(chances[place])}
        for place in chosen
    ]
    write("labels.jsonl", labels)
    return labels, float(people.mean())


def test_labels_are_weighted_by_the_inverse_of_their_probability(judged, capsys):
    labels, truth = judged
    found = corrected(capsys, "judged.jsonl", "--labels", "labels.jsonl")["all"]
    weights = np.array([1 / each["inclusionProbability"] for each in labels])
    mean = weights @ [each["label"] for each in labels] / weights.sum()
    assert found["labelsOnly"]["value"] == pytest.approx(mean)
    assert found["figure"]["low"] <= truth <= found["figure"]["high"]
    assert "predictionPowered" not in found
    main(["calibrate", "correct", "judged.jsonl", "--labels", "labels.jsonl"])
    assert "each weighted by the inverse of the probability" in capsys.readouterr().out


def test_labels_with_and_without_a_probability_are_not_mixed(judged, capsys):
    labels, _ = judged
    del labels[3]["inclusionProbability"]
    write("labels.jsonl", labels)
    assert main(["calibrate", "correct", "judged.jsonl", "--labels", "labels.jsonl"]) == 2
    assert f"the label of {labels[3]['id']!r} has no 'inclusionProbability'" in capsys.readouterr().err


@pytest.mark.parametrize("chance", [0, 1.2, -1, "often", True, [0.5]])
def test_a_label_with_a_wrong_probability_is_reported_and_left_out(judged, capsys, chance):
    labels, _ = judged
    labels[0]["inclusionProbability"] = chance
    write("labels.jsonl", labels)
    assert main(["calibrate", "correct", "judged.jsonl", "--labels", "labels.jsonl"]) == 0
    captured = capsys.readouterr()
    assert "labels.jsonl:1: 'inclusionProbability' is" in captured.err
    assert f" {len(labels) - 1} " in captured.out
