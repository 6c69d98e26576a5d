"""`polyjudge rank RUN…`: formats, groups, what cannot be concluded, refusals."""

import json
import math
import os
import random
from pathlib import Path

import jsonschema
import pytest

import polyjudge
from polyjudge.cli import main
from polyjudge.records.codec import schema
from polyjudge.reports.notebook import rows_of

FORMATS = ["text", "markdown", "html", "json"]
RECORDED = Path(os.environ.get("POLYJUDGE_DATA", ""), "judges_recorded_dev")
ANNOTATIONS = RECORDED / "alpacaeval/claude-2.1.annotations.first200.json"
EVIL = "\u202ea\x9b31m<script>alert(1)</script># |%"


def write_rows(path, rows):
    Path(path).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def scores(*, items=40, seed=1, languages=("fr", "sw"), **effects):
    """Scores of systems that are better by so much."""
    drawn = random.Random(seed)
    for tag in languages:
        for place in range(items):
            level = drawn.gauss(0, 1)
            for system, effect in effects.items():
                score = round(3 + level + effect + drawn.gauss(0, 0.5), 1)
                yield {
                    "id": f"{tag}-{place}",
                    "document": f"d{place // 4}",
                    "language": tag,
                    "system": system,
                    "score": score,
                }


@pytest.fixture
def folder(in_folder):
    write_rows("all.jsonl", scores(best=1.0, good=0.5, same=0.5, worst=-0.5))
    return in_folder


def ranked(capsys, *arguments):
    assert main(["rank", *arguments, "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    jsonschema.Draft202012Validator(schema("ranking")).validate(found)
    return found


def test_groups_are_found_and_equal_systems_share_one(folder, capsys):
    found = ranked(capsys, "all.jsonl")["overall"]

    groups = {each["system"]: each["group"] for each in found["systems"]}
    assert groups["best"] == 1
    assert groups["good"] == groups["same"] == 2
    assert groups["worst"] == 3
    ranks = {each["system"]: (each["bestRank"], each["worstRank"]) for each in found["systems"]}
    assert ranks == {"best": (1, 1), "good": (2, 3), "same": (2, 3), "worst": (4, 4)}
    assert sum(each["winRate"]["value"] for each in found["systems"]) == pytest.approx(2)
    assert sum(each["strength"]["value"] for each in found["systems"]) == pytest.approx(0, abs=1e-9)


def test_the_order_of_runs_and_their_split_make_no_difference(folder, capsys):
    rows = list(scores(best=1.0, good=0.5, same=0.5, worst=-0.5))
    for name in ("worst", "best", "same", "good"):
        write_rows(f"{name}.jsonl", [{**row, "system": ""} for row in rows if row["system"] == name])
    one = ranked(capsys, "all.jsonl")
    many = ranked(capsys, "worst.jsonl", "best.jsonl", "same.jsonl", "good.jsonl")

    def numbers(found):
        return [
            (each["system"], each["group"], round(each["strength"]["value"], 6), round(each["strength"]["low"], 6))
            for table in (found["overall"], *found["languages"])
            for each in table["systems"]
        ]

    assert numbers(one) == numbers(many)


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_shows_the_groups_and_is_the_same_again(folder, capsys, form):
    assert main(["rank", "all.jsonl", "--format", form]) == 0
    first = capsys.readouterr().out
    assert main(["rank", "all.jsonl", "--format", form]) == 0

    assert capsys.readouterr().out == first
    for name in ("best", "good", "same", "worst"):
        assert name in first
    if form == "text":
        assert first.startswith("Ranking of 4 systems\n")
        assert "Best: best, better than all others." in first
        assert "Which of good and same is better" in first or "Which of same and good is better" in first


@pytest.mark.parametrize("form", FORMATS)
def test_names_of_systems_are_harmless(in_folder, capsys, form):
    write_rows("evil.jsonl", scores(**{EVIL: 0.0, "b": 1.0}))

    assert main(["rank", "evil.jsonl", "--format", form]) == 0

    shown = capsys.readouterr().out
    assert "\x9b" not in shown
    assert "<script>alert" not in shown or form in ("text", "json")
    assert "\u202e" not in shown or form == "json"


def test_a_report_is_written_to_a_file(folder, capsys):
    assert main(["rank", "all.jsonl", "--format", "html", "--output", "ranking.html"]) == 0

    assert Path("ranking.html").read_text().startswith("<!doctype html>")
    assert capsys.readouterr().out == ""
    assert main(["rank", "all.jsonl", "--output", "all.jsonl"]) == 2


def test_systems_and_languages_can_be_chosen(folder, capsys):
    found = ranked(capsys, "all.jsonl", "--systems", "worst,best", "--by", "none")

    assert [each["system"] for each in found["overall"]["systems"]] == ["best", "worst"]
    assert found["languages"] == []
    assert found["options"]["byLanguage"] is False
    assert main(["rank", "all.jsonl", "--systems", "none"]) == 2
    assert "no system 'none' in all.jsonl. Systems: best, good, same, worst" in capsys.readouterr().err


def test_a_system_that_won_everything_has_no_interval_but_a_rank(in_folder, capsys):
    write_rows("pairs.jsonl", [{"id": str(n), "system": "a", "otherSystem": "b", "score": 1} for n in range(10)])

    assert main(["rank", "pairs.jsonl", "--cluster", "none"]) == 0
    text = capsys.readouterr().out
    [a, b] = ranked(capsys, "pairs.jsonl", "--cluster", "none")["overall"]["systems"]

    assert (a["system"], a["group"], b["group"]) == ("a", 1, 2)
    assert a["strength"]["value"] - b["strength"]["value"] == pytest.approx(math.log(10.5 / 0.5))
    assert a["strength"].get("low") is None
    assert a["winRate"]["low"] < a["winRate"]["value"] == 1
    assert "Half a win was added to both sides of each pair" in text


def test_too_few_items_decide_nothing(in_folder, capsys):
    write_rows("pairs.jsonl", [{"id": str(n), "system": "a", "otherSystem": "b", "score": 1} for n in range(5)])

    assert main(["rank", "pairs.jsonl", "--cluster", "none"]) == 0

    text = capsys.readouterr().out
    assert "No single best: a and b cannot all be distinguished." in text
    assert "below 6 no two systems can be distinguished" in text


def test_systems_that_nothing_compares_have_no_common_ranks(in_folder, capsys):
    rows = [
        {"id": f"{first}{n}", "system": first, "otherSystem": second, "score": float(n % 10 > 0)}
        for first, second in ("ab", "cd")
        for n in range(30)
    ]
    write_rows("pairs.jsonl", rows)

    assert main(["rank", "pairs.jsonl", "--cluster", "none"]) == 0
    text = capsys.readouterr().out
    found = ranked(capsys, "pairs.jsonl", "--cluster", "none")["overall"]

    assert "No common ranking: some systems were never compared, directly or through others." in text
    assert "Order: a > b; c > d." in text
    assert "4 pairs have nothing in common, such as a and c" in text
    assert [each["part"] for each in found["systems"]] == [1, 1, 2, 2]
    assert [each["verdict"] for each in found["pairs"]].count("not connected") == 4


def test_rows_near_each_other_are_tested_together_unless_documents_are_named(in_folder, capsys):
    drawn = random.Random(16)
    rows = [
        {"id": str(n), "doc_of": n // 10, "system": "a", "otherSystem": "b", "score": share}
        for n in range(0, 400, 10)
        for share in [drawn.choice([0, 1])]
        for n in range(n, n + 10)
    ]
    write_rows("pairs.jsonl", rows)

    unnamed = ranked(capsys, "pairs.jsonl")["overall"]
    named = ranked(capsys, "pairs.jsonl", "--cluster", "doc_of")["overall"]
    independent = ranked(capsys, "pairs.jsonl", "--cluster", "none")["overall"]
    assert [each["mayBeRelated"] for each in (unnamed, named, independent)] == [True, False, False]
    assert [each["clusters"] for each in (unnamed, named, independent)] == [400, 40, 400]
    [p], [named_p], [independent_p] = ([pair["p"] for pair in each["pairs"]] for each in (unnamed, named, independent))
    assert independent_p < 0.05 < min(p, named_p)
    assert main(["rank", "pairs.jsonl"]) == 0
    assert "No column names the documents, so rows near each other may belong together" in capsys.readouterr().out


def test_fewer_than_48_items_without_documents_decide_nothing(in_folder, capsys):
    write_rows("pairs.jsonl", [{"id": str(n), "system": "a", "otherSystem": "b", "score": 1} for n in range(47)])

    [pair] = ranked(capsys, "pairs.jsonl")["overall"]["pairs"]

    assert (pair["p"], pair["verdict"], pair["clustersNeeded"]) == (None, "not distinguished", 48)
    assert main(["rank", "pairs.jsonl"]) == 0
    assert "below 48 no two systems can be distinguished" in capsys.readouterr().out


def test_failures_are_counted_and_never_a_loss(in_folder, capsys):
    rows = list(scores(a=0.0, b=0.0, languages=("fr",)))
    write_rows("all.jsonl", [*rows, {"id": "fr-99", "system": "a", "outcome": "failure", "reason": "refused"}])

    found = ranked(capsys, "all.jsonl")["overall"]

    assert {each["system"]: each["failures"] for each in found["systems"]} == {"a": 1, "b": 0}
    assert found["comparisons"] == 40


@pytest.mark.skipif(not ANNOTATIONS.is_file(), reason="POLYJUDGE_DATA is not set or lacks the annotations")
def test_alpacaeval_gives_the_win_rate_of_its_leaderboard(capsys):
    path = ANNOTATIONS

    systems = {each["system"]: each for each in ranked(capsys, str(path))["overall"]["systems"]}

    assert systems["claude-2.1"]["winRate"]["value"] == pytest.approx(0.13912629, abs=1e-8)
    assert systems["claude-2.1"]["standardError"] == pytest.approx(0.02122872, abs=1e-8)
    assert main(["rank", str(path)]) == 0
    assert "13.91%" in (text := capsys.readouterr().out)
    assert " 2.12 " in text


def test_python_ranks_files_and_shows_the_result_in_a_notebook(folder):
    found = polyjudge.rank("all.jsonl", systems=["best", "worst"])

    assert "best" in found._repr_html_()
    rows = rows_of(found)  # of which a frame is made
    assert [row["system"] for row in rows] == ["best", "worst"] * 3
    assert [row["language"] for row in rows] == [None, None, "fr", "fr", "sw", "sw"]
    assert rows[0]["win_rate"] > 0.9


def test_a_run_given_twice_is_refused(folder, capsys):
    assert main(["rank", "all.jsonl", "./all.jsonl"]) == 2
    assert "The same file is given twice" in capsys.readouterr().err


def test_a_file_without_scores_is_named(in_folder, capsys):
    Path("a.csv").write_text("id,score\nx,1\ny,2\n", encoding="utf-8")
    Path("e.csv").write_text("", encoding="utf-8")

    assert main(["rank", "a.csv", "e.csv"]) == 2
    assert capsys.readouterr().err.endswith("polyjudge: e.csv: no scores found\n")


def test_few_items_without_documents_say_what_they_show_if_they_are_independent(in_folder, capsys):
    unnamed = [{**row, "document": ""} for row in scores(items=20, languages=("fr",), best=2.0, worst=0.0)]
    write_rows("all.jsonl", [{name: value for name, value in row.items() if value} for row in unnamed])

    found = ranked(capsys, "all.jsonl")

    assert {each["group"] for each in found["overall"]["systems"]} == {1}
    assert [each["group"] for each in found["ifIndependent"]["systems"]] == [1, 2]
    assert main(["rank", "all.jsonl"]) == 0
    assert "the order would be best > worst. If that is so, set cluster to none" in capsys.readouterr().out
    assert "ifIndependent" not in ranked(capsys, "all.jsonl", "--cluster", "none")
