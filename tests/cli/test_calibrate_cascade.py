"""`polyjudge calibrate cascade`: a plan from recorded results and labels, without a call."""

import json
import random
import re
from pathlib import Path

import pytest

from polyjudge.cli import main
from polyjudge.files.kinds import FileKind, kind_of
from polyjudge.records.outcomes import JudgeResult, Provenance, outcome_row
from polyjudge.store.cascade_plans import read_plan


def write(name, rows):
    Path(name).write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


def verdict(model, place, right, sure, language="ar"):
    first = right == (place % 2 == 0)
    chosen, other = ("first", "second") if first else ("second", "first")
    origin = Provenance(
        provider="local",
        model=model,
        rubric="pairwise",
        rubric_fingerprint="f" * 16,
        prompt_sha256="0" * 64,
        cost_usd={"cheap": 0.001, "dear": 0.01}[model],
    )
    shares = {chosen: sure, other: 1 - sure}
    result = JudgeResult(
        float(first), "لأن", verdict=chosen, provenance=origin, probabilities=shares, other_probability=0.0
    )
    return {**outcome_row(f"i{place}", result), "language": language}


@pytest.fixture
def recorded(in_folder):
    """Two judges that are right as often as they say, on 600 pairs of which 300 are labelled."""
    chance = random.Random(1)
    for model, least in (("cheap", 0.5), ("dear", 0.75)):
        rows = []
        for place in range(600):
            sure = least + chance.random() * (1 - least)
            rows.append(verdict(model, place, chance.random() < sure, sure))
        write(f"{model}.jsonl", rows)
    write(
        "labels.jsonl", ({"id": f"i{place}", "label": "first" if place % 2 == 0 else "second"} for place in range(300))
    )
    return in_folder


def learn(*options):
    return main(["calibrate", "cascade", "cheap.jsonl", "dear.jsonl", "--labels", "labels.jsonl", *options])


def test_a_plan_names_the_judges_and_the_guarantee(recorded, capsys):
    assert learn("--target", "0.85", "--output", "plan.json") == 0

    shown = capsys.readouterr()
    assert "Cascade of local/cheap → local/dear: agreement of 85%" in shown.out
    assert "at least 85% agree with people: with a probability of 90% over the choice of the 300 labels" in shown.out
    assert re.search("95% +not guaranteed", shown.out)
    thresholds, others = shown.out.split("What other targets would give")
    assert "Answered of the labelled items" in thresholds
    assert "Answered of all items" in others
    plan = read_plan(Path("plan.json"))
    assert [judge.model for judge in plan.judges] == ["cheap", "dear"]
    assert (plan.target, plan.delta, plan.languages, plan.token_probabilities) == (0.85, 0.1, ("ar",), True)
    assert kind_of(Path("plan.json")) is FileKind.CASCADE
    assert 0 < next(point.cost for point in plan.curve if point.target == 0.85) < 1


def test_a_damaged_row_is_named_with_its_line(recorded, capsys):
    lines = Path("cheap.jsonl").read_text(encoding="utf-8").splitlines()
    lines[2] = json.dumps({**json.loads(lines[2]), "probabilities": 3})
    Path("cheap.jsonl").write_text("\n".join(lines), encoding="utf-8")
    assert learn("--target", "0.85") == 2
    assert "cheap.jsonl:3: " in capsys.readouterr().err


def test_labels_of_an_informative_sample_guarantee_nothing(recorded, capsys):
    labels = [json.loads(line) for line in Path("labels.jsonl").read_text().splitlines()]
    write("labels.jsonl", ({**row, "inclusionProbability": 0.25} for row in labels))
    assert learn("--target", "0.85") == 0
    write("labels.jsonl", ({**row, "inclusionProbability": 0.5 - place % 2 / 4} for place, row in enumerate(labels)))
    assert learn("--target", "0.85") == 2
    assert "have different values of 'inclusionProbability'" in capsys.readouterr().err


def test_a_target_that_cannot_be_guaranteed_is_exit_1_and_no_plan(recorded, capsys):
    assert learn("--target", "0.99", "--output", "plan.json") == 1

    shown = capsys.readouterr()
    assert "99% cannot be guaranteed with 300 labels in the test. They guarantee" in shown.out
    assert "no plan was written" in shown.err
    assert not Path("plan.json").exists()


def test_the_figures_are_json_too(recorded, capsys):
    assert learn("--target", "0.8", "--format", "json") == 0
    assert json.loads(capsys.readouterr().out)["groups"][""]["labels"] == 300


def test_labels_in_another_order_or_of_some_other_items_change_nothing(recorded, capsys):
    assert learn("--target", "0.8", "--format", "json") == 0
    before = json.loads(capsys.readouterr().out)
    lines = Path("labels.jsonl").read_text().splitlines()
    random.Random(3).shuffle(lines)
    Path("labels.jsonl").write_text("\n".join([*lines, json.dumps({"id": "other", "label": "first"})]))
    assert learn("--target", "0.8", "--format", "json") == 0
    after = json.loads(capsys.readouterr().out)
    assert {**before, "createdAt": ""} == {**after, "createdAt": ""}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "No target given. Give the minimum share of answers that agree with people, such as --target 0.85."),
        (["--target", "85"], "must be a share between 0 and 1, such as 0.85, not '85'"),
        (["--target", "1"], "must be a share between 0 and 1"),
        (["--target", "0.8", "--delta", "0"], "must be above 0"),
        (
            ["--target", "0.8", "--confidence", "nothing"],
            "cheap.jsonl: no column 'nothing', which should have the confidence. Found: ",
        ),
        (["--target", "0.8", "--labels", "cheap.jsonl"], "not labels of people"),
        (["--target", "0.8", "--output", "cheap.jsonl"], "is an input file"),
        (["--target", "0.8", "--labels", "empty.jsonl"], "empty.jsonl"),
        (["--target", "0.8", "--labels", "numbers.jsonl"], "Give --tolerance, or --pass-from and --label-pass-from."),
    ],
)
def test_wrong_input_is_exit_2_with_one_message(recorded, capsys, options, message):
    Path("empty.jsonl").write_text("")
    write("numbers.jsonl", ({"id": f"i{place}", "label": place % 7} for place in range(50)))
    given = ["cheap.jsonl", "dear.jsonl", *([] if "--labels" in options else ["--labels", "labels.jsonl"])]
    try:
        code = main(["calibrate", "cascade", *given, *options])
    except SystemExit as ended:
        code = ended.code
    assert code == 2
    error = capsys.readouterr().err
    assert message in error
    assert "usage:" not in error or "must be" in error


def test_confidence_from_a_column_and_from_repeats(recorded, capsys):
    chance = random.Random(4)
    plain, repeated = [], []
    for place in range(400):
        sure = 0.5 + chance.random() / 2
        right = chance.random() < sure
        word = ("first", "second")[right != (place % 2 == 0)]
        plain.append({"id": f"i{place}", "score": word, "confidence": sure})
        answers = [JudgeResult(float((chance.random() < sure) == (place % 2 == 0)), "") for _ in range(5)]
        mean = sum(each.score for each in answers) / 5
        repeated.append(outcome_row(f"i{place}", JudgeResult(float(mean > 0.5), "", members=tuple(answers))))
    write("cheap.jsonl", plain)
    assert (
        main(
            [
                "calibrate",
                "cascade",
                "cheap.jsonl",
                "--labels",
                "labels.jsonl",
                "--target",
                "0.7",
                "--confidence",
                "confidence",
            ]
        )
        == 0
    )
    write("dear.jsonl", repeated)
    write("labels.jsonl", ({"id": f"i{place}", "label": "pass" if place % 2 == 0 else "fail"} for place in range(300)))
    arguments = [
        "calibrate",
        "cascade",
        "dear.jsonl",
        "--labels",
        "labels.jsonl",
        "--target",
        "0.7",
        "--format",
        "json",
    ]
    capsys.readouterr()
    assert main([*arguments, "--pass-from", "1"]) == 0
    assert json.loads(capsys.readouterr().out)["repeats"] == 5


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "{}",
        "nothing",
        '{"schemaVersion": 2, "kind": "polyjudge cascade"}',
        '{"schemaVersion": 1, "kind": "polyjudge cascade", "judges": [], "target": 0.5, "delta": 0.1, "groups": {}}',
    ],
)
def test_a_file_that_is_no_plan_is_refused(in_folder, content):
    from polyjudge.errors import DataError

    Path("plan.json").write_text(content)
    with pytest.raises(DataError, match=r"plan\.json"):
        read_plan(Path("plan.json"))


def test_files_without_rows_or_common_items_are_named(recorded, capsys):
    Path("labels.csv").write_text(
        "id,label\n" + "".join(f"i{place},{'pass' if place % 2 else 'fail'}\n" for place in range(50))
    )
    Path("empty.csv").write_text("")
    Path("header.csv").write_text("id,score\n")
    Path("others.csv").write_text(
        "id,score,confidence\n" + "".join(f"x{place},{1 + place % 5},0.7\n" for place in range(50))
    )
    Path("unlabelled.csv").write_text("id,score,confidence\ni590,4,0.7\ni591,2,0.7\n")
    wanted = {
        ("empty.csv", "dear.jsonl"): "empty.csv: no rows",
        ("dear.jsonl", "header.csv"): "header.csv: no rows",
        (
            "others.csv",
        ): "others.csv and labels.csv have no items in common: the first label has the id 'i0', the first score 'x0'.",
        (
            "dear.jsonl",
            "others.csv",
        ): "dear.jsonl and others.csv have no items in common: the ids of the first rows are 'i0' and 'x0'.",
        ("unlabelled.csv", "dear.jsonl"): "unlabelled.csv and labels.csv have no items in common",
    }
    for files, message in wanted.items():
        capsys.readouterr()
        assert main(["calibrate", "cascade", *files, "--labels", "labels.csv", "--target", "0.8"]) == 2, files
        error = capsys.readouterr().err
        assert message in error
        assert "--pass-from" not in error


def test_a_column_of_confidence_that_is_missing_or_empty_is_named(recorded, capsys):
    rows = [f"i{place},{'first' if place % 2 else 'second'},0.7,\n" for place in range(100)]
    Path("small.csv").write_text("id,score,confidence,other\n" + "".join(rows))
    command = ["calibrate", "cascade", "small.csv", "dear.jsonl", "--labels", "labels.jsonl", "--target", "0.8"]
    wanted = {
        (
            "--confidence",
            "conf",
        ): "no column 'conf', which should have the confidence. Found: id, score, confidence, other (--confidence).",
        (
            "--confidence",
            "confidenc",
        ): "no column 'confidenc', which should have the confidence. Did you mean 'confidence'?",
        (): "small.csv: not results of polyjudge score or pairwise. Name the column with the judge's confidence "
        "(--confidence COLUMN)",
    }
    for options, message in wanted.items():
        assert main([*command, *options]) == 2
        error = capsys.readouterr().err
        assert message in error
        assert "--token-probabilities" not in error
    Path("large.csv").write_text(Path("small.csv").read_text())
    command[2:4] = ["small.csv", "large.csv"]
    assert main([*command, "--confidence", "other"]) == 2
    assert "The column 'other' has no number above 0 in its results" in capsys.readouterr().err


def test_labels_and_items_that_a_file_lacks_are_counted_in_a_warning(recorded, capsys):
    lines = Path("dear.jsonl").read_text().splitlines(keepends=True)
    Path("few.jsonl").write_text("".join(lines[100:]))
    arguments = ["calibrate", "cascade", "cheap.jsonl", "few.jsonl", "--labels", "labels.jsonl", "--target", "0.8"]
    main(arguments)
    error = capsys.readouterr().err
    assert "100 labels have no row in few.jsonl, such as 'i0', and cannot be used" in error
    assert "100 items of the other results have no row in few.jsonl, such as 'i0', and cannot be used" in error
    assert "cheap.jsonl" not in error
    Path("few.jsonl").write_text("".join(lines[1:]))
    main(arguments)
    assert "1 label has no row in few.jsonl" in capsys.readouterr().err


def test_labels_that_are_exchanged_are_asked_about(recorded, capsys):
    question = "Are pass and fail, or first and second, exchanged in the labels?"
    assert learn("--target", "0.99") == 1
    assert question not in capsys.readouterr().out
    labels = ({"id": f"i{place}", "label": "second" if place % 2 == 0 else "first"} for place in range(300))
    write("labels.jsonl", labels)
    assert learn("--target", "0.85") == 1
    assert question in capsys.readouterr().out


def test_the_same_file_is_no_second_judge(recorded, capsys):
    arguments = ["cheap.jsonl", "./cheap.jsonl", "--labels", "labels.jsonl", "--target", "0.8"]
    assert main(["calibrate", "cascade", *arguments]) == 2
    assert "The same results are given twice." in capsys.readouterr().err
