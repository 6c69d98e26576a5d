"""`polyjudge calibrate correct` from the outside."""

import json
from pathlib import Path

import numpy as np
import pytest

from polyjudge.cli import main


def write(name, rows):
    Path(name).write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


def read(name):
    return [json.loads(line) for line in Path(name).read_text(encoding="utf-8").splitlines()]


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


@pytest.mark.parametrize("chance", [0, 1.2, -1, "often", True, [0.5], pytest.param(10**400, id="huge")])
def test_a_label_with_a_wrong_probability_is_reported_and_left_out(judged, capsys, chance):
    labels, _ = judged
    labels[0]["inclusionProbability"] = chance
    write("labels.jsonl", labels)
    assert main(["calibrate", "correct", "judged.jsonl", "--labels", "labels.jsonl"]) == 0
    captured = capsys.readouterr()
    assert "labels.jsonl:1: 'inclusionProbability' is" in captured.err
    assert f" {len(labels) - 1} " in captured.out


# several systems

LEVELS = {"ours": 4.2, "theirs": 3.1, "old": 3.0}


def scores_of(shift=0.0, seed=2):
    """Return scores of a judge and of people for 150 items of three systems; on `old`, people differ by a shift."""
    random = np.random.default_rng(seed)
    found = {}
    for name, level in LEVELS.items():
        judge = np.clip(random.normal(level, 0.7, 150), 1, 5)
        people = np.clip(judge - 0.4 + shift * (name == "old") + random.normal(0, 0.4, 150), 1, 5)
        found[name] = judge.round(2).tolist(), people.round(1).tolist()
    return found


@pytest.fixture
def three(in_folder):
    """Write one file of scores for each system, and a file of labels of every third item."""
    labels = []
    for name, (judge, people) in scores_of(shift=-1.5).items():
        tags = ["th" if place % 2 else "ar" for place in range(150)]
        write(f"{name}.jsonl", [{"id": f"น{at}", "score": judge[at], "language": tags[at]} for at in range(150)])
        labels += [{"id": f"น{at}", "system": name, "label": people[at]} for at in range(0, 150, 3)]
    write("labels.jsonl", labels)
    return [f"{name}.jsonl" for name in LEVELS]


def status(found, language=None):
    table = found["overall"] if language is None else {each["language"]: each for each in found["languages"]}[language]
    return {each["system"]: each["status"] for each in table["systems"]}


REFUSED = {"ours": "corrected", "theirs": "corrected", "old": "own labels only"}


def test_files_with_common_ids_are_several_systems(three, capsys):
    found = corrected(capsys, *three, "--labels", "labels.jsonl")
    assert status(found) == status(found, "th") == status(found, "ar") == REFUSED
    assert found["checks"]["old"]["verdict"] == "does not carry over"
    assert found["summary"][:2] == [
        "ours is best; theirs is next; old is worst.",
        "The correction does not hold for old: its own labels were used.",
    ]
    assert [each["group"] for each in found["overall"]["systems"]] == [1, 2, 3]
    means = scores_of(shift=-1.5)
    for each in found["overall"]["systems"]:
        people = means[each["system"]][1]
        assert each["figure"]["low"] <= np.mean(people) <= each["figure"]["high"]
        assert (each["judged"], each["labelled"]) == (150, 50)


def test_one_file_with_a_column_of_systems_gives_the_same(three, capsys):
    expected = corrected(capsys, *three, "--labels", "labels.jsonl")
    rows = [{**row, "system": name} for name in LEVELS for row in read(f"{name}.jsonl")]
    write("all.jsonl", [rows[at] for at in np.random.default_rng(0).permutation(len(rows))])
    found = corrected(capsys, "all.jsonl", "--labels", "labels.jsonl")
    assert json.dumps(_rounded(found)) == json.dumps(_rounded(expected))


def _rounded(found):
    if isinstance(found, dict):
        return {name: _rounded(value) for name, value in sorted(found.items())}
    if isinstance(found, list):
        return [_rounded(each) for each in found]
    return round(found, 9) if isinstance(found, float) else found


def test_labels_in_the_same_rows_are_those_of_their_system(in_folder, capsys):
    for name, (judge, people) in scores_of().items():
        rows = [{"id": at, "score": judge[at], "label": people[at] if at < 40 else None} for at in range(150)]
        write(f"{name}.jsonl", rows)
    found = corrected(capsys, *(f"{name}.jsonl" for name in LEVELS))
    assert status(found) == dict.fromkeys(LEVELS, "corrected")
    assert {each["labelled"] for each in found["overall"]["systems"]} == {40}


@pytest.mark.parametrize("form", ["text", "markdown", "html"])
def test_the_report_says_in_plain_sentences_what_was_found(three, capsys, form):
    Path("old.jsonl").rename("<b>old.jsonl")
    rows = read("labels.jsonl")
    write("labels.jsonl", [{**row, "system": row["system"].replace("old", "<b>old")} for row in rows])
    assert main(["calibrate", "correct", *three[:2], "<b>old.jsonl", "--labels", "labels.jsonl", "--format", form]) == 0
    shown = capsys.readouterr().out
    assert "does not carry over" in shown
    assert "Thai (th)" in shown or "Thai \\(th\\)" in shown
    if form == "html":
        assert "<b>old" not in shown
        assert "&lt;b&gt;old" in shown


def test_require_checked_fails_unless_every_system_is_corrected(three, capsys):
    command = ["calibrate", "correct", *three, "--labels", "labels.jsonl", "--require-checked"]
    assert main(command) == 1
    assert main([*command[:2], *three[:2], *command[5:]]) == 0
    assert main([*command, "--margin", "5"]) == 0


def test_pass_rates_of_systems_are_estimated_from_words_and_scores(three, capsys):
    rows = read("labels.jsonl")
    write("labels.jsonl", [{**row, "label": "pass" if row["label"] >= 3 else "fail"} for row in rows])
    command = ["calibrate", "correct", *three, "--labels", "labels.jsonl"]
    assert main(command) == 2
    assert "Give --pass-from" in capsys.readouterr().err
    found = corrected(capsys, *command[2:], "--pass-from", "3")
    assert found["estimate"] == "pass rate"
    for each in found["overall"]["systems"]:
        assert 0 <= each["figure"]["low"] <= each["figure"]["value"] <= each["figure"]["high"] <= 1


def test_the_mean_over_the_judged_items_only_has_a_narrower_interval(three, capsys):
    width = {}
    for options in ([], ["--only-these-items"]):
        found = corrected(capsys, *three, "--labels", "labels.jsonl", *options)["overall"]["systems"][0]["figure"]
        width[len(options)] = found["high"] - found["low"]
    assert width[1] < 0.95 * width[0]


def test_files_without_common_ids_are_one_estimate_unless_it_is_asked_for_each(three, capsys):
    for name in LEVELS:
        rows = read(f"{name}.jsonl")
        write(f"{name}.jsonl", [{**row, "id": f"{name}-{row['id']}"} for row in rows])
    labels = read("labels.jsonl")
    write("labels.jsonl", [{"id": f"{row['system']}-{row['id']}", "label": row["label"]} for row in labels])
    together = corrected(capsys, *three, "--labels", "labels.jsonl")
    assert together["all"]["judged"] == 450
    apart = corrected(capsys, *three, "--labels", "labels.jsonl", "--per", "system")
    assert status(apart) == REFUSED
    assert corrected(capsys, *three, "--labels", "labels.jsonl", "--per", "all") == together


def test_documents_are_clusters_unless_items_are_said_to_be_independent(three, capsys):
    for name in LEVELS:
        rows = read(f"{name}.jsonl")
        write(f"{name}.jsonl", [{**row, "document": f"d{at // 50}"} for at, row in enumerate(rows)])
    command = [*three, "--labels", "labels.jsonl"]
    found = corrected(capsys, *command)
    assert status(found) == dict.fromkeys(LEVELS, "not reliable here") | {"old": "not reliable here"}
    assert "50 labels in 3 clusters are too few" in found["overall"]["systems"][0]["reason"]
    assert status(corrected(capsys, *command, "--cluster", "none")) == REFUSED


WRONG = {
    "a label of an unknown system": (
        [{"id": "น0", "system": "new", "label": 3}],
        "no label, such as 'น0', belongs to an item of ours.jsonl. Systems: ours, theirs, old",
    ),
    "a label that names no system": (
        [{"id": "น0", "label": 3}],
        "the label of 'น0' does not name its system, and several systems have this item",
    ),
    "two labels by one person": (
        [{"id": "น0", "system": "ours", "label": 3}] * 2,
        "two labels for 'น0'",
    ),
    "some probabilities": (
        [
            {"id": "น0", "system": "ours", "label": 3, "inclusionProbability": 0.5},
            {"id": "น1", "system": "ours", "label": 3},
        ],
        "the label of 'น1' has no 'inclusionProbability'",
    ),
    "a label out of range": (
        [{"id": "น0", "system": "ours", "label": 1e15}],
        "out of range",
    ),
    "words and numbers": (
        [{"id": "น0", "system": "ours", "label": "pass"}, {"id": "น1", "system": "ours", "label": 4}],
        "labels are both words such as pass and numbers such as 4",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_labels_that_cannot_be_used_are_refused_with_a_reason(three, capsys, name):
    rows, message = WRONG[name]
    write("labels.jsonl", rows)
    assert main(["calibrate", "correct", *three, "--labels", "labels.jsonl"]) == 2
    assert message in capsys.readouterr().err


def test_two_scores_of_an_item_of_a_system_are_refused(three, capsys):
    rows = Path("ours.jsonl").read_text(encoding="utf-8")
    Path("ours.jsonl").write_text(rows + rows.splitlines()[4] + "\n", encoding="utf-8")
    assert main(["calibrate", "correct", *three, "--labels", "labels.jsonl"]) == 2
    assert "two scores of the id 'น4' of the system 'ours'" in capsys.readouterr().err


def test_labels_of_unknown_items_and_items_without_a_verdict_are_counted(three, capsys):
    with Path("labels.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"id": "other", "system": "ours", "label": 2}\n')
    with Path("ours.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"id": "failed", "score": null, "error": "no reply"}\n')
    assert main(["calibrate", "correct", *three, "--labels", "labels.jsonl"]) == 0
    captured = capsys.readouterr()
    assert "1 label of an item without a score is left out, such as 'other'" in captured.out
    assert "1 items have no verdict" in captured.err


def test_options_of_several_systems_are_refused_for_one_estimate(judged, capsys):
    for options in (["--reference", "a"], ["--margin", "1"], ["--require-checked"], ["--cluster", "document"]):
        assert main(["calibrate", "correct", "judged.jsonl", "--labels", "labels.jsonl", *options]) == 2
        assert f"{options[0]} is only for estimates by system" in capsys.readouterr().err


@pytest.mark.parametrize("content", ["", '{"id": '])
def test_a_file_without_scores_is_refused_by_name(three, capsys, content):
    Path("theirs.jsonl").write_text(content, encoding="utf-8")
    assert main(["calibrate", "correct", *three, "--labels", "labels.jsonl"]) == 2
    assert "theirs.jsonl: no scores found" in capsys.readouterr().err


def test_names_that_no_row_has_are_refused(three, capsys):
    for options, message in (
        (["--cluster", "page"], "--cluster page: no row has that column"),
        (["--reference", "mine"], "no system 'mine'; systems: ours, theirs, old"),
    ):
        assert main(["calibrate", "correct", *three, "--labels", "labels.jsonl", *options]) == 2
        assert message in capsys.readouterr().err


def test_one_system_can_be_asked_for_too(three, capsys):
    assert main(["calibrate", "correct", "ours.jsonl", "--labels", "labels.jsonl", "--per", "system"]) == 0
    shown = capsys.readouterr().out
    assert "corrected" in shown
    assert "Does the correction hold?" not in shown


def test_a_system_that_cannot_be_ranked_is_not_in_the_sentence_on_the_best(three, capsys):
    rows = [row for row in read("labels.jsonl") if row["system"] != "theirs" or row["id"] == "น0"]
    write("labels.jsonl", rows)
    found = corrected(capsys, *three, "--labels", "labels.jsonl")
    assert found["summary"][0].startswith("Of those that can be ranked, ours ")
    theirs = next(each for each in found["overall"]["systems"] if each["system"] == "theirs")
    assert (theirs["status"], theirs["reason"].partition(" of")[0]) == ("assumed", "only 1 label")


def test_a_judge_that_gives_all_items_the_same_score_is_said_to_add_nothing(in_folder, capsys):
    for seed, name in enumerate(LEVELS):
        people = scores_of(seed=seed)["ours"][1]
        rows = [{"id": at, "score": 3, "label": people[at] if at < 40 else None} for at in range(150)]
        write(f"{name}.jsonl", rows)
    for each in corrected(capsys, *(f"{name}.jsonl" for name in LEVELS))["overall"]["systems"]:
        assert "adds nothing to the labels" in each["reason"]


def test_a_system_of_labels_without_scores_is_named_with_a_suggestion(three, capsys):
    rows = [{**row, "system": row["system"].replace("theirs", "theris")} for row in read("labels.jsonl")]
    write("labels.jsonl", rows)
    summary = corrected(capsys, *three, "--labels", "labels.jsonl")["summary"]
    assert "50 labels of items without a score are left out, such as 'น0'." in summary
    assert "No scores are of the system 'theris'. Did you mean 'theirs'?" in summary


@pytest.mark.parametrize("per", ["system", "all"])
def test_a_file_without_labels_is_refused_with_the_reason(in_folder, capsys, per):
    card = '{"schemaVersion": 1, "judge": {"provider": "local", "model": "m"}}'
    wanted = {
        "unfilled.csv": ("id,score,label\na,1,\nb,2,\n", "the label column 'label' is empty"),
        "named.csv": ("id,score,gold_label\na,1,\nb,2,\n", "the label column 'gold_label' is empty"),
        "empty.csv": ("", "empty.csv: the file is empty"),
        "header.csv": ("id,score,label\n", "header.csv: no rows"),
        "card.json": (card, "card.json: contains a trust card, not results of score"),
        "none.csv": (
            "id,score\na,1\nb,2\n",
            "none.csv has no label column. Give --labels of people. Or name the column with --label",
        ),
    }
    for name, (content, message) in wanted.items():
        Path(name).write_text(content)
        assert main(["calibrate", "correct", name, "--per", per]) == 2, name
        assert message in capsys.readouterr().err
    assert main(["calibrate", "correct", "unfilled.csv", "--label", "label", "--per", per]) == 2
    assert "unfilled.csv: the label column is empty" in capsys.readouterr().err


def test_labels_of_few_documents_and_languages_without_a_label_are_reported(in_folder, capsys):
    rows = [
        {"id": f"i{n}", "document": f"d{n // 5}", "language": "de" if n < 50 else "th", "score": n % 5 + 1}
        for n in range(60)
    ]
    write("judged.jsonl", rows)
    write("labels.jsonl", [{"id": f"i{n}", "label": n % 4 + 1} for n in range(20)])
    assert main(["calibrate", "correct", "judged.jsonl", "--labels", "labels.jsonl"]) == 0
    warnings = capsys.readouterr().err
    assert "20 labels are of 4 clusters of related items" in warnings
    assert "no label is in th: the figure over all items assumes" in warnings
    write("labels.jsonl", [{"id": f"i{n}", "label": n % 4 + 1} for n in range(0, 60, 5)])
    assert main(["calibrate", "correct", "judged.jsonl", "--labels", "labels.jsonl"]) == 0
    assert "warning" not in capsys.readouterr().err
