"""`--penalties`: scores that follow from error spans are counted by other penalties, all other scores stay."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyjudge.cli import main
from polyjudge.formats.error_spans import mqm_score, with_penalties
from polyjudge.rubrics.penalties import wmt_penalties

MQM = """system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity
a\td1\t1\t1\tr1\tA cat.\tEin <v>Hund</v>.\tAccuracy/Mistranslation\tMajor
a\td1\t1\t1\tr1\tA cat.\tEin Hund<v>.</v>\tFluency/Punctuation\tMinor
a\td1\t2\t2\tr1\tA dog.\tEin Hund.\tNo-error\tNo-error
b\td1\t1\t1\tr1\tA cat.\tEin <v>Katze</v>.\tFluency/Grammar\tMinor
"""
OWN = "minor = 2\nmajor = 10\n'fluency/grammar' = 3\n"


@pytest.fixture
def files(in_folder):
    Path("mqm_ende.tsv").write_text(MQM, encoding="utf-8")
    Path("own.toml").write_text(OWN, encoding="utf-8")


def converted(*options, to="out.jsonl"):
    assert main(["convert", "mqm_ende.tsv", to, "--force", *options]) == 0
    return [json.loads(line) for line in Path(to).read_text(encoding="utf-8").splitlines()]


def test_mqm_tables_are_scored_by_own_penalties(files):
    assert [row["label"] for row in converted()] == [-5.1, 0.0, -1.0]
    rows = converted("--penalties", "own.toml")
    assert [row["label"] for row in rows] == [-12.0, 0.0, -3.0]
    assert [span["score"] for span in rows[0]["spans"]] == [10, 2]
    assert [row["label"] for row in converted("--penalties", "mqm")] == [-5.1, 0.0, -1.0]


def test_the_penalties_of_a_rubric_are_taken_and_all_exports_have_the_same_score(files, capsys):
    Path("rubric.toml").write_text('instruction = "x"\n[spans.penalties]\nminor = 2\nmajor = 10\n', encoding="utf-8")
    assert [row["label"] for row in converted("--penalties", "rubric.toml")] == [-12.0, 0.0, -2.0]
    assert main(["convert", "mqm_ende.tsv", "folder", "--to", "mt-metrics-eval", "--penalties", "own.toml"]) == 0
    scores = {path.name: path.read_text(encoding="utf-8") for path in Path("folder").rglob("*.seg.score")}
    assert any("-12" in text for text in scores.values()), scores
    ratings = "".join(path.read_text(encoding="utf-8") for path in Path("folder").rglob("*.seg.rating"))
    assert '"score": 10' in ratings
    capsys.readouterr()


def test_agreement_and_reports_use_them(files, capsys):
    rows = [
        {"id": f"en-de/{n}", "system": s, "score": v} for n, s, v in (("1", "a", -9), ("2", "a", 0), ("1", "b", -1))
    ]
    Path("judge.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

    def means(*options):
        capsys.readouterr()
        main(["calibrate", "agreement", "judge.jsonl", "--labels", "mqm_ende.tsv", "--format", "json", *options])
        return capsys.readouterr().out

    plain, own = means(), means("--penalties", "own.toml")
    assert plain != own
    assert main(["report", "mqm_ende.tsv", "--format", "json", "--penalties", "own.toml"]) == 0
    assert "-12" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("minor = -1\nmajor = 5", "at least 0"),
        ("minor = 'x'", "at least 0"),
        ("minor = true", "at least 0"),
        ("punctuation = 1", "no penalty for any severity"),
        ("", "no table of penalties"),
        ("instruction = 'x'", "no table of penalties"),
        ("minor = nan", "at least 0"),
        ("minor =", "TOML"),
    ],
)
def test_a_broken_file_of_penalties_is_refused(content, message, files, capsys):
    Path("broken.toml").write_text(content, encoding="utf-8")
    assert main(["convert", "mqm_ende.tsv", "x.jsonl", "--penalties", "broken.toml"]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("name", ["missing.toml", "typo", "general", "esa"])
def test_penalties_that_are_not_there_are_refused(name, files, capsys):
    assert main(["convert", "mqm_ende.tsv", "x.jsonl", "--penalties", name]) == 2
    assert name in capsys.readouterr().err


spans = st.lists(
    st.fixed_dictionaries(
        {
            "severity": st.sampled_from(["minor", "major", "critical", "neutral"]),
            "category": st.sampled_from(["", "fluency/punctuation", "source error", "non-translation", "other"]),
        }
    ),
    max_size=6,
)


@given(spans, st.floats(0, 100))
def test_wmts_own_penalties_change_no_label_and_points_that_people_gave_stay(given_spans, points):
    row = {"label": mqm_score(given_spans), "spans": given_spans}
    assert with_penalties(row, wmt_penalties())["label"] == row["label"]
    assert with_penalties({"label": points + 1, "spans": given_spans}, {"minor": 7.0})["label"] == points + 1
    labelled = {"label": max(-25.0, row["label"]), "spans": given_spans, "labelledAt": "x"}
    assert with_penalties(labelled, {"minor": 7.0})["label"] == max(
        -25.0, -7.0 * sum(span["severity"] == "minor" for span in given_spans)
    )
