"""`polyjudge calibrate agreement|correct` on what other tools wrote, often with scores and labels in one file.

The files are the made-up ones of the examples. Their figures are those of scikit-learn 1.9.1 (cohen_kappa_score,
f1_score) and counts by hand.
"""

import json
from pathlib import Path

import jsonschema
import pytest

from polyjudge.cli import main
from polyjudge.cli.examples import example_files
from polyjudge.records.codec import schema


@pytest.fixture
def folder(in_folder):
    for file in example_files():
        Path(file.name).write_bytes(file.read_bytes())
    return in_folder


def write(name, *lines):
    Path(name).write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_rows(name, rows):
    write(name, *(json.dumps(row) for row in rows))


def run(capsys, *arguments, action="agreement"):
    more = ("--resamples", "100") if action == "agreement" else ()
    assert main(["calibrate", action, *arguments, *more, "--format", "json"]) == 0
    return json.loads(capsys.readouterr().out)


def refused(capsys, *arguments, action="agreement"):
    assert main(["calibrate", action, *arguments]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    return shown.err


def text(capsys, *arguments):
    assert main(["calibrate", "agreement", *arguments, "--resamples", "100"]) == 0
    return capsys.readouterr()


# several annotators, and replies that are no verdict


def test_verdicts_are_compared_with_the_majority_of_three_annotators(folder, capsys):
    found = run(capsys, "pair-verdicts.json", "--labels", "pair-labels.json")
    every = found["languages"]["all"]

    assert (found["items"], found["unjudged"], found["withoutMajority"], found["combined"]) == (13, 2, 1, "majority")
    assert every["accuracy"]["value"] == pytest.approx(10 / 13)
    assert every["accuracy_every_item"]["value"] == pytest.approx(10 / 15)
    assert every["accuracy_missing_as_tie"]["value"] == pytest.approx(10 / 15)
    assert every["kappa"]["value"] == pytest.approx(0.3389830508474576)
    assert every["macro_f1"]["value"] == pytest.approx(0.5079365079365079)


def test_annotators_and_the_judge_are_compared_in_pairs(folder, capsys):
    found = run(capsys, "pair-verdicts.json", "--labels", "pair-labels.json")
    people = {(pair["first"], pair["second"]): pair["kappa"]["value"] for pair in found["betweenAnnotators"]}
    judge = {pair["second"]: (pair["items"], pair["kappa"]["value"]) for pair in found["withEachAnnotator"]}

    assert people == {
        ("annotator1", "annotator2"): pytest.approx(0.4893617021276596),
        ("annotator1", "annotator3"): pytest.approx(0.24528301886792447),
        ("annotator2", "annotator3"): pytest.approx(0.01754385964912286),
    }
    assert judge == {
        "annotator1": (14, pytest.approx(0.49397590361445787)),
        "annotator2": (14, pytest.approx(0.06666666666666665)),
        "annotator3": (14, pytest.approx(0.5922330097087378)),
    }


def test_the_report_says_how_labels_were_combined_and_what_was_left_out(folder, capsys):
    shown = text(capsys, "pair-verdicts.json", "--labels", "pair-labels.json").out

    assert "3 annotators; compared with the label that most of them gave (majority)." in shown
    assert "Items without a majority, which are left out: 1." in shown
    assert "No verdict: 2 of 15 labelled items." in shown
    assert "accuracy every item" in shown


@pytest.mark.parametrize(("how", "items"), [("majority", 13), ("mean", 14), ("each", 42)])
def test_labels_are_combined_as_asked(folder, capsys, how, items):
    found = run(capsys, "pair-verdicts.json", "--labels", "pair-labels.json", "--annotators", how)
    assert (found["combined"], found["items"]) == (how, items)


# both orders


def test_recorded_orders_show_the_position_bias(folder, capsys):
    found = run(capsys, "both-orders.jsonl")
    orders = {name: each["value"] for name, each in found["orders"].items() if isinstance(each, dict)}

    assert (found["orders"]["changed"], found["orders"]["missing"]) == (6, 1)
    assert orders["accuracy_given"] == pytest.approx(13 / 15)
    assert orders["accuracy_given_every_item"] == pytest.approx(13 / 16)
    assert orders["accuracy_swapped"] == pytest.approx(12 / 16)
    assert orders["right_in_both"] == pytest.approx(9 / 15)
    assert orders["same_in_both"] == pytest.approx(9 / 15)
    assert orders["kappa"] == pytest.approx(0.11764705882352933)
    assert orders["first_shown_of_changed"] == pytest.approx(5 / 6)
    assert found["languages"]["all"]["accuracy"]["value"] == pytest.approx(12 / 16)


def test_each_part_of_the_data_has_its_figures(folder, capsys):
    found = run(capsys, "both-orders.jsonl")
    assert {name: part["items"] for name, part in found["parts"].items()} == {
        "general": 6,
        "language": 3,
        "math": 1,
        "science": 4,
        "writing": 2,
    }
    assert run(capsys, "both-orders.jsonl", "--by", "extra.judge_name")["parts"]["arena_hard"]["items"] == 16
    assert "--by nothing: no row has that column" in refused(capsys, "both-orders.jsonl", "--by", "nothing")


@pytest.mark.parametrize("form", ["text", "markdown"])
def test_both_orders_are_a_section_of_the_report(folder, capsys, form):
    shown = text(capsys, "both-orders.jsonl", "--format", form)
    assert "6 of 15 verdicts differ between the orders." in shown.out
    assert "Every item, no verdict as wrong" in shown.out
    assert "labels: those of JudgeBench output in both-orders.jsonl" in shown.err


def test_a_report_gives_the_win_rate_and_its_standard_error(folder, capsys):
    assert main(["report", "annotations.json", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)

    assert (found["preferences"]["items"], found["preferences"]["unjudged"]) == (15, 1)
    assert found["preferences"]["winRate"] == pytest.approx(0.6759333333333334)
    assert found["preferences"]["standardError"] == pytest.approx(0.08739382492442263)
    assert found["preferences"]["discreteWinRate"] == pytest.approx(0.7)
    assert found["headline"].startswith("wren-1b wins against robin-2b in 67.6%")
    assert found["preferences"]["orders"] is None


@pytest.mark.parametrize("file", ["annotations.json", "both-orders.jsonl"])
def test_preferences_in_json_are_as_the_schema_says(folder, capsys, file):
    assert main(["report", file, "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)["preferences"]
    jsonschema.validate(found, schema("run-report")["properties"]["preferences"])


@pytest.mark.parametrize("form", ["text", "markdown", "html"])
def test_a_report_shows_preferences_and_the_effect_of_the_order(folder, capsys, form):
    assert main(["report", "both-orders.jsonl", "--format", form]) == 0
    shown = capsys.readouterr().out
    assert "9 of 15" in shown
    assert "5 of 6" in shown


def test_a_report_without_preferences_has_no_win_rate(in_folder, capsys):
    write_rows("r.jsonl", ({"id": n, "score": n} for n in range(4)))
    assert main(["report", "r.jsonl", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["preferences"] is None


# scores and labels in one file


def test_labels_are_found_beside_the_scores_by_their_usual_names(in_folder, capsys):
    rows = ({"id": n, "judge_score": n / 10, "oracle_label": n / 10 if n < 6 else ""} for n in range(10))
    write("r.csv", "id,judge_score,oracle_label", *(",".join(map(str, row.values())) for row in rows))

    assert run(capsys, "r.csv")["items"] == 6
    assert "labels: column 'oracle_label' in r.csv" in text(capsys, "r.csv").err
    assert run(capsys, "r.csv", action="correct")["all"]["labelled"] == 6


def test_means_have_standard_errors_and_the_corrected_one_adds_the_parts(in_folder, capsys):
    scores, labels = [0.5, 0.9, 0.4, 0.3, 0.8, 0.6, 0.7], {0: 0.4, 1: 1.0, 2: 0.1}
    write_rows("r.jsonl", ({"id": n, "score": score, "label": labels.get(n)} for n, score in enumerate(scores)))
    means, corrected = run(capsys, "r.jsonl")["means"], run(capsys, "r.jsonl", action="correct")["all"]

    assert (means["judge"]["items"], means["judgeOfAllItems"]["items"]) == (3, 7)
    assert means["labels"]["mean"] == pytest.approx(0.5)
    assert corrected["predictionPowered"]["mean"] == pytest.approx(0.5)
    assert corrected["predictionPowered"]["standardError"] == pytest.approx(0.158113883008419)


def test_a_label_of_an_item_without_a_verdict_counts_as_unjudged(in_folder, capsys):
    write_rows(
        "r.jsonl", [{"schemaVersion": 1, "id": str(n), "outcome": "result", "score": n, "label": n} for n in (1, 2)]
    )
    failure = {"schemaVersion": 1, "id": "x", "outcome": "failure", "reason": "no", "kind": "unreadable", "label": 1}
    with Path("r.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(failure))
    found = run(capsys, "r.jsonl")
    assert (found["items"], found["unjudged"]) == (2, 1)
    assert found["languages"]["all"]["accuracy_every_item"]["value"] == pytest.approx(2 / 3)


def test_a_judged_row_for_each_annotator_is_one_verdict(in_folder, capsys):
    rows = [{"id": n, "score": n % 2, "annotator": who, "label": n % 2} for n in range(4) for who in "ab"]
    write_rows("r.jsonl", rows)
    found = run(capsys, "r.jsonl", "--pass-from", "1")
    assert (found["items"], found["annotators"]) == (4, 2)


@pytest.mark.parametrize("action", ["agreement", "correct"])
def test_a_verdict_beside_a_score_is_not_taken_for_a_label(in_folder, capsys, action):
    write("r.csv", "id,score,verdict", "1,5,pass", "2,1,fail")
    assert "r.csv has no label column" in refused(capsys, "r.csv", action=action)


def test_a_column_of_labels_can_be_named(in_folder, capsys):
    write("r.csv", "id,score,mine", "1,5,5", "2,1,2", "3,3,3")
    assert run(capsys, "r.csv", "--label", "mine")["items"] == 3


# a column compared with itself


@pytest.mark.parametrize(
    "arguments",
    [
        ("--labels", "r.jsonl"),
        ("--labels", "./r.jsonl"),
        ("--labels", "r.jsonl", "--label", "score"),
        ("--label", "score"),
        ("--against", "r.jsonl"),
    ],
)
def test_a_column_is_not_compared_with_itself(in_folder, capsys, arguments):
    write_rows("r.jsonl", ({"id": n, "score": n} for n in range(5)))
    message = refused(capsys, "r.jsonl", *arguments)
    assert "the column 'score' would be compared with itself" in message
    assert "--label" in message


def test_two_scores_of_one_file_are_compared(in_folder, capsys):
    write_rows("r.jsonl", ({"id": n, "score": n, "other": 5 - n} for n in range(5)))
    found = run(capsys, "r.jsonl", "--against", "r.jsonl", "--label", "other")
    assert found["languages"]["all"]["spearman"]["value"] == pytest.approx(-1)


def test_a_file_of_labels_with_scores_gives_its_labels(in_folder, capsys):
    write_rows("r.jsonl", ({"id": n, "score": n} for n in range(5)))
    write_rows("l.jsonl", ({"id": n, "score": n, "label": 5 - n} for n in range(5)))
    found = run(capsys, "r.jsonl", "--labels", "l.jsonl")
    assert found["languages"]["all"]["spearman"]["value"] == pytest.approx(-1)


def test_scores_of_a_judge_are_no_labels_even_if_they_do_not_name_it(in_folder, capsys):
    write_rows("r.jsonl", ({"id": str(n), "score": n} for n in range(5)))
    write_rows("l.jsonl", ({"schemaVersion": 1, "id": str(n), "outcome": "result", "score": n} for n in range(5)))
    assert "contains scores of a judge, not labels of people" in refused(capsys, "r.jsonl", "--labels", "l.jsonl")


def test_labels_that_all_equal_the_scores_are_suspected(in_folder, capsys):
    for name in ("r.jsonl", "copy.jsonl"):
        write_rows(name, ({"id": n, "score": n % 5} for n in range(20)))
    assert "every label in copy.jsonl equals the judge's score" in text(capsys, "r.jsonl", "--labels", "copy.jsonl").err


# scales


def write_scales():
    write_rows("r.jsonl", ({"id": n, "score": 1 + n % 5} for n in range(20)))
    write_rows("l.jsonl", ({"id": n, "label": 25 * (n % 5)} for n in range(20)))


def test_scales_that_differ_are_said_and_only_measures_of_order_are_given(in_folder, capsys):
    write_scales()
    found = run(capsys, "r.jsonl", "--labels", "l.jsonl")
    shown = text(capsys, "r.jsonl", "--labels", "l.jsonl")

    assert found["scales"] == {"judge": [1, 5], "labels": [0, 100], "differ": True, "mapped": False}
    assert found["languages"]["all"]["alpha_interval"] == {}
    assert found["languages"]["all"]["spearman"]["value"] == pytest.approx(1)
    assert "The scales differ: scores from 1 to 5, labels from 0 to 100." in shown.out
    assert "--score-scale and --label-scale" in shown.err


def test_a_map_between_scales_is_said(in_folder, capsys):
    write_scales()
    scales = ("--score-scale", "1..5", "--label-scale", "0..100")
    found = run(capsys, "r.jsonl", "--labels", "l.jsonl", *scales)

    assert found["languages"]["all"]["alpha_interval"]["value"] == 1
    assert found["means"]["labels"]["mean"] == found["means"]["judge"]["mean"]
    shown = text(capsys, "r.jsonl", "--labels", "l.jsonl", *scales).out
    assert "The labels were mapped linearly from 0 to 100 onto 1 to 5." in shown


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--score-scale", "1..5"), "Give both --score-scale and --label-scale"),
        (("--score-scale", "1..5", "--label-scale", "0..50"), "The label 75 is not on the scale 0 to 50"),
    ],
)
def test_a_scale_that_does_not_fit_is_refused(in_folder, capsys, options, words):
    write_scales()
    assert words in refused(capsys, "r.jsonl", "--labels", "l.jsonl", *options)


def test_what_is_no_scale_is_refused(in_folder, capsys):
    with pytest.raises(SystemExit):
        main(["calibrate", "agreement", "r.jsonl", "--score-scale", "5..1"])
    assert "must be the ends of a scale, such as 1..5, not '5..1'" in capsys.readouterr().err


# rows that do not fit their header


def test_a_table_none_of_whose_rows_fits_its_header_is_refused_and_never_shifted(in_folder, capsys):
    write("l.csv", "id,annotator,label", "1,4", "2,5", "3,1")
    write_rows("r.jsonl", ({"id": n, "score": n} for n in range(5)))
    message = refused(capsys, "r.jsonl", "--labels", "l.csv")
    assert message.count("\n") == 1
    assert "l.csv: no row fits the header: expected 3 fields: id, annotator, label" in message
