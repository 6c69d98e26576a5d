"""`polyjudge score --rubric mqm` with several judges, and what `calibrate consensus` learns from their results."""

import json
from pathlib import Path

import pytest

from polyjudge.cli import main
from polyjudge.formats.span_rows import read_spans
from polyjudge.records.codec import to_json
from polyjudge.records.spans import LogisticModel, SpanConsensus
from polyjudge.verdicts.span_pieces import feature_names


def error(text):
    return {"text": text, "category": "accuracy/mistranslation", "severity": "major"}


def recordings(**answers):
    for name, errors in answers.items():
        rows = [
            {"contains": [f"text {number} "], "text": json.dumps({"errors": [error(each) for each in own]})}
            for number, own in enumerate(errors)
        ]
        Path(f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    count = max(map(len, answers.values()))
    items = [
        {"id": str(n), "candidate": f"text {n} one two three", "source": "s", "language": "de", "document": str(n // 2)}
        for n in range(count)
    ]
    Path("items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in items), encoding="utf-8")
    return items


def score(*options):
    judges = "scripted/a.jsonl,scripted/b.jsonl"
    return main(["score", "items.jsonl", "--rubric", "mqm", "--judge", judges, *options])


def test_results_of_a_jury_are_learnt_from_by_member_and_combined_by_what_was_learnt(in_folder, capsys):
    items = recordings(a=[["one"], ["two"]] * 6, b=[["two"], ["three"]] * 6)
    assert score("--output", "run.jsonl") == 0
    people = [
        {**item, "annotator": "human/1", "spans": [{"start": 7, "end": 10, "severity": "major"}]} for item in items[::2]
    ] + [{**item, "annotator": "human/1", "spans": []} for item in items[1::2]]
    Path("people.jsonl").write_text("".join(json.dumps(row) + "\n" for row in people), encoding="utf-8")

    read = read_spans(Path("run.jsonl"), members=True)
    assert {each.annotator for each in read.annotations} == {"scripted/a.jsonl", "scripted/b.jsonl"}
    assert read_spans(Path("run.jsonl")).annotations[0].annotator.startswith("jury/")
    options = ["--labels", "people.jsonl", "--save", "c.json", "--spans", "joint.jsonl", "--resamples", "100"]
    assert main(["calibrate", "consensus", "run.jsonl", *options]) == 0
    assert score("--consensus", "c.json", "--output", "joint-run.jsonl") == 0
    capsys.readouterr()

    def spans(path):
        rows = map(json.loads, Path(path).read_text(encoding="utf-8").splitlines())
        counted = {row["id"]: [each for each in row.get("spans", []) if each["state"] == "located"] for row in rows}
        return {
            key: [(each["start"], each["end"], each["probability"]) for each in given] for key, given in counted.items()
        }

    assert spans("joint-run.jsonl") == spans("joint.jsonl")
    assert any(spans("joint.jsonl").values())
    assert main(["report", "joint-run.jsonl", "--items", "items.jsonl", "--format", "text"]) == 0
    assert "Probability that people mark it" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--consensus", "c.json", "--judge", "scripted/a.jsonl"], "needs several judges or repeats"),
        (["--consensus", "c.json", "--repeats", "2"], "learnt from the spans of scripted/a.jsonl, scripted/b.jsonl"),
        (["--consensus", "items.jsonl"], "not JSON, so not a consensus"),
        (["--consensus", "missing.json"], "missing.json: cannot be read: No such file"),
        (["--consensus", "c.json", "--rubric", "general"], "has none"),
    ],
)
def test_a_consensus_that_does_not_fit_the_judges_is_refused(options, message, in_folder, capsys):
    recordings(a=[["one"], ["two"]], b=[["two"], ["three"]])
    annotators = ("scripted/a.jsonl", "scripted/b.jsonl")
    names = feature_names(annotators)
    model = LogisticModel((0.0,) * len(names), (0.0,) * len(names), (1.0,) * len(names))
    learnt = SpanConsensus(annotators=annotators, features=names, model=model, threshold=0.5)
    Path("c.json").write_text(json.dumps(to_json(learnt)), encoding="utf-8")

    assert score(*options) == 2
    assert message in capsys.readouterr().err


def test_failures_are_retried_where_a_second_judge_verified_the_results(in_folder):
    recordings(a=[["one"], ["two"]])
    said = json.dumps({"verdicts": [{"number": 1, "is_error": True, "reason": ""}]})
    Path("second.jsonl").write_text(json.dumps({"text": said}) + "\n", encoding="utf-8")
    options = ["--judge", "scripted/a.jsonl", "--verifier", "scripted/second.jsonl", "--output", "run.jsonl"]

    assert score(*options) == 0
    before = Path("run.jsonl").read_bytes()
    assert score(*options, "--retry-failures") == 0
    assert Path("run.jsonl").read_bytes() == before
