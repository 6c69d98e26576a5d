"""Filters by language take tags and names, whichever of them the rows have."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyjudge.cli import main
from polyjudge.languages.table import LanguageMatcher, language_table

LANGUAGES = list(language_table())
WRITTEN = {"tag": ["fr", "th", "fr-CA", "xx"], "name": ["French", "Thai", "french", "Dothraki"]}
"""Languages of the four rows of a table, as tags and as names: rows 0 and 2 are French."""


@given(st.sampled_from(LANGUAGES), st.sampled_from(LANGUAGES))
def test_a_language_is_selected_by_its_tag_and_by_its_name_and_no_other_is(row, wanted):
    matcher = LanguageMatcher()
    for written in (row.tag, row.name):
        for filtered in (wanted.tag, wanted.name, wanted.name.lower()):
            assert matcher.is_among(written, [filtered]) == (row == wanted)


@pytest.mark.parametrize("unknown", ["xx", "", "Dothraki"])
def test_an_unknown_language_is_selected_only_as_it_is_written(unknown):
    matcher = LanguageMatcher()

    assert matcher.is_among(unknown, [unknown])
    assert not matcher.is_among(unknown, ["fr", "nonsense"])
    assert not matcher.is_among("fr", [unknown])


@pytest.mark.parametrize(
    ("unknown", "meant"),
    [
        ("frnch", " Did you mean French (fr)?"),
        ("Chinse", " Did you mean Chinese (Mandarin, Simplified) (zh-Hans)?"),
        ("french", ""),
        ("zzzzzz", ""),
    ],
)
def test_the_language_that_was_probably_meant_is_suggested(unknown, meant):
    assert language_table().suggestion(unknown) == meant


@pytest.fixture(params=WRITTEN)
def table(request, in_folder):
    """A table of items, and of results, whose languages are tags or names."""
    rows = [
        {"id": str(place), "candidate": f"texte {place}", "language": language, "score": 4}
        for place, language in enumerate(WRITTEN[request.param])
    ]
    Path("items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return "items.jsonl"


@pytest.mark.parametrize("wanted", ["fr", "french", "French,nonsense"])
def test_score_selects_items_by_tag_or_name(table, wanted, capsys):
    arguments = ["--rubric", "translation", "--judge", "offline", "--output", "r.jsonl", "--cache", "none"]
    assert main(["score", table, *arguments, "--max-unjudged", "1", "--filter", f"language={wanted}"]) in (0, 1)

    scored = [json.loads(line)["id"] for line in Path("r.jsonl").read_text(encoding="utf-8").splitlines()]
    assert scored == ["0", "2"]


@pytest.mark.parametrize("wanted", ["fr", "french"])
def test_report_and_explain_select_rows_by_tag_or_name(table, wanted, capsys):
    assert main(["report", table, "--format", "json", "--filter", f"language={wanted}"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"] == 2
    assert main(["explain", table, "--filter", f"language={wanted}"]) == 0


@pytest.mark.parametrize("wanted", ["fr", "french"])
def test_calibrate_selects_texts_by_tag_or_name(table, wanted, capsys):
    given_texts = ["--judge", "offline", "--types", "loop", "--severities", "1", "--dry-run", "--format", "json"]
    assert main(["calibrate", "perturb", table, *given_texts, "--filter", f"language={wanted}"]) == 0
    of_table = capsys.readouterr()
    assert main(["calibrate", "perturb", *given_texts, "--filter", f"language={wanted}"]) == 0
    of_sample = capsys.readouterr()

    assert "4 questions" in of_table.err + of_table.out, of_table
    assert "questions" in of_sample.err + of_sample.out


@pytest.mark.parametrize(
    "arguments",
    [
        ["score", "items.jsonl", "--rubric", "translation", "--judge", "offline", "--filter", "language=frnch"],
        ["report", "items.jsonl", "--filter", "language=frnch"],
        ["explain", "items.jsonl", "--language", "frnch"],
        ["label", "items.jsonl", "--filter", "language=frnch"],
        ["calibrate", "perturb", "items.jsonl", "--judge", "offline", "--filter", "language=frnch"],
        ["calibrate", "perturb", "--judge", "offline", "--filter", "language=frnch"],
        ["check", "Bonjour.", "--language", "frnch"],
        ["translation", "generate", "--command", "cat", "--languages", "frnch", "--output", "o.json"],
        ["translation", "full", "items.jsonl", "--judge", "offline", "--filter", "language=frnch"],
        ["report", "--results", "items.jsonl", "--filter", "language=frnch"],
    ],
    ids=lambda arguments: " ".join(arguments[:3]),
)
def test_a_message_about_an_unknown_language_suggests_one(table, arguments, capsys):
    assert main(arguments) == 2

    assert "Did you mean French (fr)?" in capsys.readouterr().err
