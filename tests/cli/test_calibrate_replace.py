"""`polyjudge calibrate replace` says whether a judge could take the place of a person, and never guesses."""

import csv
import json
import os
from pathlib import Path

import pytest

from polyjudge.cli import main
from polyjudge.cli.examples import example_files

DATA = Path(os.environ.get("POLYJUDGE_DATA", "")) / "alttest_dev"
PEOPLE = ("anna", "badru", "chloe")


@pytest.fixture
def folder(in_folder):
    for file in example_files():
        Path(file.name).write_bytes(file.read_bytes())
    return in_folder


def write_rows(name, rows):
    with Path(name).open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(dict.fromkeys(key for row in rows for key in row)))
        writer.writeheader()
        writer.writerows(rows)


def found(capsys, *arguments, code=0):
    assert main(["calibrate", "replace", *map(str, arguments), "--format", "json"]) == code
    return json.loads(capsys.readouterr().out)


def refused(capsys, *arguments):
    assert main(["calibrate", "replace", *arguments]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    return shown.err


def labelled(items=40, people=PEOPLE, *, differs=(7, 9, 11), values=("good", "bad")):
    """Return labels of people, each of whom differs from the truth on every so manieth item."""
    rows = []
    for item in range(items):
        for name, step in zip(people, differs, strict=True):
            value = values[(item + (item % step == 0)) % 2]
            rows.append({"id": f"q{item}", "annotator": name, "label": value})
    return rows


def judged(items=40, *, differs=20, values=("good", "bad")):
    return [{"id": f"q{item}", "score": values[(item + (item % differs == 0)) % 2]} for item in range(items)]


# what comes out


def test_each_language_has_its_own_answer(folder, capsys):
    languages = found(capsys, "annotators.csv", "--judge", "gpt-5-mini", "--epsilon", "skilled")["languages"]

    assert {tag: each["verdict"] for tag, each in languages.items()} == {"all": "fails", "fr": "passes", "sw": "fails"}
    assert {name: each["people"] for name, each in languages.items()} == {"all": 3, "fr": 3, "sw": 3}


def test_the_gate_fails_where_a_language_does_not_pass(folder, capsys):
    command = ("annotators.csv", "--judge", "gpt-5-mini", "--epsilon", "experts")
    found(capsys, *command, "--filter", "language=fr", "--fail-unless", "passes")
    found(capsys, *command, "--fail-unless", "passes")
    found(capsys, *command, "--fail-unless", "languages", code=1)


def test_the_answer_is_on_the_trust_card_in_every_format(folder, capsys):
    found(capsys, "annotators.csv", "--judge", "openai/gpt-5-mini", "--epsilon", "skilled", "--card", "card.json")
    card = json.loads(Path("card.json").read_text(encoding="utf-8"))
    assert card["judge"]["provider"] == "openai"
    assert card["languages"]["fr"]["replacement"]["verdict"] == "passes"
    for format_name in ("text", "markdown", "html"):
        assert main(["calibrate", "card", "card.json", "--format", format_name]) == 0
        shown = capsys.readouterr().out
        assert "May not replace a person: winning rate 0.00 of 3 people, epsilon 0.15." in shown
        assert main(["calibrate", "replace", "annotators.csv", "--judge", "gpt-5-mini", "--format", format_name]) == 0
        assert "Benjamini" in capsys.readouterr().out


def test_a_smaller_later_test_does_not_replace_a_larger_one_on_the_card(folder, capsys):
    command = ("annotators.csv", "--judge", "gpt-5-mini", "--card", "card.json")
    found(capsys, *command)
    found(capsys, *command, "--filter", "language=fr")
    card = json.loads(Path("card.json").read_text(encoding="utf-8"))
    assert (card["replacement"]["items"], card["languages"]["fr"]["replacement"]["items"]) == (72, 36)


def test_labels_in_a_file_of_their_own_and_words_in_arabic_are_compared(in_folder, capsys):
    write_rows("judged.csv", judged(values=("جيد", "سيئ")))
    write_rows("labels.csv", labelled(values=("جيد", "سيئ")))
    every = found(capsys, "judged.csv", "--labels", "labels.csv")["languages"]["all"]
    assert (every["scoring"], every["people"], every["items"], every["verdict"]) == ("accuracy", 3, 40, "passes")


def test_numbers_are_compared_by_their_distance_unless_asked_otherwise(in_folder, capsys):
    write_rows("judged.csv", judged(values=(4, 2)))
    write_rows("labels.csv", labelled(values=(5, 1)))
    assert found(capsys, "judged.csv", "--labels", "labels.csv")["scoring"] == "negative RMSE"
    exact = found(capsys, "judged.csv", "--labels", "labels.csv", "--scoring", "accuracy")["languages"]["all"]
    assert exact["why"] == ["no verdict of the judge is one of the labels, such as 1"]


def test_scales_are_mapped_when_both_are_given(in_folder, capsys):
    write_rows("judged.csv", judged(values=(5, 1)))
    write_rows("labels.csv", labelled(values=(100, 0)))
    command = ("judged.csv", "--labels", "labels.csv")
    apart = found(capsys, *command)["languages"]["all"]
    assert apart["why"] == ["the judge's scores go from 1 to 5, the labels from 0 to 100"]
    mapped = found(capsys, *command, "--score-scale", "1..5", "--label-scale", "0..100")["languages"]["all"]
    assert mapped["verdict"] == "passes"


# assumptions that do not hold: not enough data, never a pass


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        (labelled(people=PEOPLE[:2], differs=(7, 9)), "2 people with at least 30 items"),
        (labelled(people=PEOPLE[:1], differs=(7,)), "0 people with at least 30 items"),
        (labelled(items=29), "0 people with at least 30 items"),
        (labelled(items=1), "0 people with at least 30 items"),
        (labelled(differs=(7, 7, 9)), "all labels of 'badru' equal those of 'anna'"),
        (labelled(differs=(20, 7, 9)), "all labels of 'anna' equal the judge's, but not those of other people"),
        (
            [{**row, "inclusionProbability": 0.5 if row["id"] == "q7" else 0.4} for row in labelled()],
            "different probabilities of being labelled",
        ),
    ],
)
def test_without_what_the_test_assumes_there_is_no_answer(rows, why, in_folder, capsys):
    write_rows("judged.csv", judged())
    write_rows("labels.csv", rows)
    every = found(capsys, "judged.csv", "--labels", "labels.csv", "--fail-unless", "passes", code=1)["languages"]["all"]
    assert every["verdict"] == "not enough data"
    assert why in " ".join(every["why"])


def test_a_judge_without_a_verdict_on_many_items_does_not_pass(in_folder, capsys):
    rows = judged(50)
    write_rows("judged.csv", [*rows[:35], *({**row, "score": ""} for row in rows[35:])])
    write_rows("labels.csv", labelled(50))
    every = found(capsys, "judged.csv", "--labels", "labels.csv")["languages"]["all"]
    assert (every["verdict"], every["unjudged"]) == ("not enough data", 15)


# wrong input


def test_a_judge_who_is_not_named_among_several_is_asked_for(folder, capsys):
    more = Path("annotators.csv").read_text(encoding="utf-8").replace("gpt-5-mini,", "other,").splitlines()[1:]
    rows = [line for line in more if ",other," in line]
    with Path("annotators.csv").open("a", encoding="utf-8") as file:
        file.write("\n".join(rows) + "\n")
    assert "by several judges: gpt-5-mini, other. Name one with --judge" in refused(capsys, "annotators.csv")
    assert "Did you mean 'gpt-5-mini'?" in refused(capsys, "annotators.csv", "--judge", "gpt-5-mni")


def test_people_are_never_guessed_to_be_those_who_are_called_like_models(in_folder, capsys):
    rows = labelled(people=("anna", "gpt-4o", "claude-3"))
    write_rows("labels.csv", rows)
    assert "'claude-3' may be a model, not a person. Name the people" in refused(
        capsys, "labels.csv", "--judge", "gpt-4o"
    )


def test_labels_of_another_set_and_words_that_are_no_numbers_are_refused(in_folder, capsys):
    write_rows("judged.csv", judged())
    write_rows("labels.csv", [{**row, "id": f"x{row['id']}"} for row in labelled()])
    assert "No common items: the first label is of 'xq0'" in refused(capsys, "judged.csv", "--labels", "labels.csv")
    write_rows("labels.csv", labelled(values=("helpful", "wrong")))
    assert "'wrong' is not a number" in refused(capsys, "judged.csv", "--labels", "labels.csv", "--scoring", "rmse")


def test_pass_and_fail_need_the_lowest_score_that_passes(in_folder, capsys):
    write_rows("judged.csv", judged(values=(4, 2)))
    write_rows("labels.csv", labelled(values=("pass", "fail")))
    assert "Give --pass-from" in refused(capsys, "judged.csv", "--labels", "labels.csv")
    every = found(capsys, "judged.csv", "--labels", "labels.csv", "--pass-from", "3")["languages"]["all"]
    assert (every["verdict"], every["scoring"]) == ("passes", "accuracy")


def test_a_judge_without_a_name_changes_no_card_and_the_project_does_not_name_it(in_folder, capsys):
    Path("polyjudge.toml").write_text('judge = "openai/gpt-5-mini"\n', encoding="utf-8")
    write_rows("judged.csv", judged())
    write_rows("labels.csv", labelled())
    assert main(["calibrate", "replace", "judged.csv", "--labels", "labels.csv"]) == 0
    assert "the results do not name their judge" in capsys.readouterr().err
    assert not Path(".polyjudge/cards").exists()


@pytest.mark.parametrize("epsilon", ["1", "-0.1", "nan", "novices"])
def test_epsilon_is_a_share_or_who_the_people_are(epsilon, folder, capsys):
    with pytest.raises(SystemExit):
        main(["calibrate", "replace", "annotators.csv", f"--epsilon={epsilon}"])
    assert "crowd, skilled, experts" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.skipif(not (DATA / "winning_rates.tsv").is_file(), reason="POLYJUDGE_DATA lacks alttest_dev")
def test_one_command_gives_each_published_figure_from_the_published_file(in_folder, capsys):
    with (DATA / "winning_rates.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    wrong = {}
    for row in rows:
        path, epsilon = DATA / f"{row['dataset']}.tsv", row["epsilon"]
        every = found(capsys, path, "--judge", row["llm"], "--epsilon", epsilon, "--resamples", "100")["languages"][
            "all"
        ]
        verdict = "PASSED" if every["verdict"] == "passes" else "FAILED"
        reached = round(every["winningRate"], 2), round(every["advantage"]["value"], 2), every["people"], verdict
        published = (
            float(row["winning_rate_published"]),
            float(row["advantage_published"]),
            int(row["annotators_compared"]),
            row["verdict_published"],
        )
        if reached != published:
            wrong[row["dataset"], row["llm"]] = reached, published
    assert len(rows) == 18
    assert wrong == {}


def test_labels_that_name_no_annotator_are_refused(in_folder, capsys):
    write_rows("noann.csv", [{**row, "label": row["score"], "score": 1} for row in judged()])
    assert "noann.csv: no column 'annotator'" in refused(capsys, "noann.csv")


def test_unknown_people_are_named_with_those_who_were_meant(in_folder, capsys):
    write_rows("labels.csv", labelled(people=("anna", "eva", "gpt-4o")))
    shown = refused(capsys, "labels.csv", "--people", "eva,ana", "--judge", "gpt-4o")
    assert "Unknown annotator in --people: ana. Available: anna, eva, gpt-4o. Did you mean 'anna'?" in shown


def test_a_person_who_is_not_matched_only_because_several_are_tested_is_named_with_the_reason(in_folder, capsys):
    corrected = 0
    write_rows("labels.csv", labelled())
    for differs in range(2, 12):  # the worse the judge, the larger the p of each person
        write_rows("judged.csv", judged(differs=differs))
        every = found(capsys, "judged.csv", "--labels", "labels.csv", "--resamples", "100")["languages"]["all"][
            "annotators"
        ]
        names = [each["name"] for each in every if each["p"] < 0.05 and not each["matched"]]
        command = ["calibrate", "replace", "judged.csv", "--labels", "labels.csv", "--resamples", "100"]
        assert main(command) == 0
        shown = " ".join(capsys.readouterr().out.split())
        assert ("Not matched although p is below 0.05" in shown) == bool(names)
        if names:
            assert f"is below 0.05: {', '.join(names)}. The correction for 3 people" in shown
        corrected += bool(names)
    assert corrected
