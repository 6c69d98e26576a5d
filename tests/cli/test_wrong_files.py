"""A file of the wrong kind, or without the needed column, is named as such before anything is done."""

import json
from pathlib import Path

import pytest

from polyjudge.cli import main

ANSWERS = "id,candidate,language,source\na1,Bonjour,fr,Hello\na2,Merci,fr,Thanks\n"
OFFLINE = ("--rubric", "translation", "--judge", "offline")


@pytest.fixture(autouse=True)
def _files(in_folder, capsys):
    Path("answers.csv").write_text(ANSWERS, encoding="utf-8")
    prompt = {"category": "travel", "sourceText": "Where?", "generatedOutput": "ที่ไหน"}
    language = {"languageName": "Thai", "languageCode": "th", "prompts": [prompt]}
    Path("results.json").write_text(json.dumps([language]), encoding="utf-8")
    assert main(["score", "answers.csv", *OFFLINE, "--output", "scores.jsonl"]) == 0
    assert main(["translation", "check", "results.json", "--output", "checked.json"]) == 0
    capsys.readouterr()


def error_of(capsys, *command):
    assert main(list(command)) == 2
    return capsys.readouterr().err


def test_a_file_without_ratings_is_one_message_with_its_columns(capsys):
    agreement = ("calibrate", "agreement", "scores.jsonl", "--labels", "answers.csv")
    found = "Found: id, candidate, language, source. Name the column"

    assert error_of(capsys, *agreement) == f"polyjudge: answers.csv: no column 'score' or 'label'. {found} (--label).\n"
    assert error_of(capsys, *agreement, "--label", "points") == (
        f"polyjudge: answers.csv: no column 'points'. {found} (--label).\n"
    )


def test_a_table_of_texts_that_no_one_has_judged_is_to_be_judged_first(capsys):
    error = error_of(capsys, "compare", "scores.jsonl", "answers.csv")

    assert error == (
        "polyjudge: answers.csv: no column 'score' or 'label'. Found: id, candidate, language, source. "
        "Judge the texts first, or name the column (--score).\n"
    )
    assert "Name the column (--score)" in error_of(
        capsys, "compare", "scores.jsonl", "answers.csv", "--score", "points"
    )


def test_a_single_row_without_a_rating_is_still_only_skipped(capsys):
    rows = [{"id": "a1", "score": 4}, {"id": "a2"}]
    Path("some.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

    assert main(["compare", "some.jsonl", "some.jsonl"]) == 0

    assert "skipped some.jsonl:2: no column 'score' or 'label'" in capsys.readouterr().err


def test_a_file_of_another_kind_is_named_with_the_commands_that_read_it(capsys):
    judged = ("report", "--results", "results.json", "--quick-judge")

    assert error_of(capsys, *judged, "scores.jsonl") == (
        "polyjudge: scores.jsonl: contains results of score, not scores of translations. "
        "To read this file, use: polyjudge compare, label and calibrate agreement.\n"
    )
    assert error_of(capsys, "compare", "scores.jsonl", "checked.json") == (
        "polyjudge: checked.json: contains translations, not scores of translations. "
        "To read this file, use: polyjudge translation check, quick and full, and report.\n"
    )


def test_the_checks_refuse_items_without_a_language_before_the_first_item(capsys):
    Path("nameless.csv").write_text("id,candidate,source\na1,Bonjour,Hello\n", encoding="utf-8")

    printed = error_of(capsys, "score", "nameless.csv", *OFFLINE, "--output", "o.jsonl")

    assert "nameless.csv: no language column. Found: id, candidate, source. Map one with --columns language=" in printed
    assert not Path("o.jsonl").exists()
