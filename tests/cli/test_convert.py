"""`polyjudge convert` writes rows in another format without loss, and commands read people's ratings unchanged."""

import json
import resource
from pathlib import Path
from typing import Any

import pytest

from polyjudge.cli import main
from polyjudge.formats.columns import AS_IT_IS
from polyjudge.formats.converting import RowsToConvert
from polyjudge.records.outcomes import Failure, Item, JudgeResult, item_row

HEADER = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity"


@pytest.fixture
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    lines = [HEADER]
    for segment in range(1, 9):
        for system, rater, severity in (("a", "r1", "Major"), ("a", "r2", "Minor"), ("b", "r1", "Minor")):
            lines.append(
                "\t".join(
                    (
                        system,
                        f"d{segment}",
                        "1",
                        str(segment),
                        rater,
                        f"Hello {segment}.",
                        "<v>Hallo</v>.",
                        "Style",
                        severity,
                    )
                )
            )
    Path("mqm_ende.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    rows: list[dict[str, Any]] = [
        {
            **item_row(Item("1", "5", {"source": "x"}, "de"), JudgeResult(score=4, reason="", raw="7")),
            "mine": [1, {"a": None}],
        },
        {**item_row(Item("2", "true", {}, "de"), Failure("no", "unreadable", "…")), "mine": "3", "count": 1.5},
    ]
    Path("run.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return tmp_path


def convert(*given: str) -> int:
    return main(["convert", *given])


def rows_in(path: str) -> list[Any]:
    rows = RowsToConvert(Path(path), AS_IT_IS)
    found = list(rows)
    assert not rows.problems
    return found


@pytest.mark.parametrize("source", ["mqm_ende.tsv", "run.jsonl"])
@pytest.mark.parametrize("suffix", [".jsonl", ".csv", ".parquet"])
def test_rows_that_were_converted_twice_are_the_same(in_folder: Path, source: str, suffix: str) -> None:
    if suffix == ".parquet":
        pytest.importorskip("pyarrow")
    assert convert(source, f"one{suffix}") == 0
    assert convert(f"one{suffix}", f"two{suffix}") == 0
    assert rows_in(f"two{suffix}") == rows_in(f"one{suffix}")
    if suffix != ".parquet":
        assert Path(f"one{suffix}").read_bytes() == Path(f"two{suffix}").read_bytes()


@pytest.mark.parametrize("between", [".csv", ".parquet"])
def test_fields_and_their_types_survive_a_table(in_folder: Path, between: str) -> None:
    if between == ".parquet":
        pytest.importorskip("pyarrow")
    assert convert("mqm_ende.tsv", "first.jsonl") == 0
    assert convert("first.jsonl", f"table{between}") == 0
    assert convert(f"table{between}", "second.jsonl") == 0
    assert rows_in("second.jsonl") == rows_in("first.jsonl")


def test_unknown_fields_are_kept(in_folder: Path) -> None:
    Path("plain.csv").write_text("id,candidate,mood\n1,Hallo,calm\n", encoding="utf-8")
    assert convert("plain.csv", "plain.jsonl") == 0
    assert rows_in("plain.jsonl") == [{"id": "1", "candidate": "Hallo", "mood": "calm"}]


def test_columns_are_named_as_in_other_commands(in_folder: Path) -> None:
    Path("odd.csv").write_text("nr;satz\n1;Hallo\n", encoding="utf-8")
    assert convert("odd.csv", "odd.jsonl", "--columns", "id=nr,candidate=satz") == 0
    [row] = rows_in("odd.jsonl")
    assert (row["id"], row["candidate"]) == ("1", "Hallo")


def test_a_folder_of_mt_metrics_eval_has_texts_means_and_spans_and_is_read_again(in_folder: Path) -> None:
    assert convert("mqm_ende.tsv", "folder", "--to", "mt-metrics-eval") == 0
    assert Path("folder/sources/en-de.txt").read_text().splitlines()[0] == "Hello 1."
    assert Path("folder/system-outputs/en-de/a.txt").read_text().splitlines() == ["Hallo."] * 8
    scores = Path("folder/human-scores/en-de.people.seg.score").read_text().splitlines()
    assert scores == ["a\t-3.0"] * 8 + ["b\t-1.0"] * 8
    system, _, errors = (
        Path("folder/human-scores/en-de.people.r1.seg.rating").read_text().partition("\n")[0].partition("\t")
    )
    [error] = json.loads(errors)["errors"]
    assert (system, error["start"], error["end"], error["score"]) == ("a", 0, 5, 5.0)
    again = rows_in("folder")
    assert [(row["id"], row["system"], row["label"], row["candidate"]) for row in again[:1]] == [
        ("en-de/1", "a", -3.0, "Hallo.")
    ]
    assert convert("folder", "folder2", "--to", "mt-metrics-eval") == 0
    for file in ("sources/en-de.txt", "human-scores/en-de.people.seg.score", "documents/en-de.docs"):
        assert Path("folder", file).read_bytes() == Path("folder2", file).read_bytes()


def test_segments_without_a_rating_keep_their_line(in_folder: Path) -> None:
    Path("rows.jsonl").write_text(
        json.dumps({"id": "en-de/3", "languagePair": "en-de", "system": "a", "label": 1}) + "\n", encoding="utf-8"
    )
    assert convert("rows.jsonl", "folder", "--to", "mt-metrics-eval") == 0
    assert Path("folder/human-scores/en-de.people.seg.score").read_text() == "a\tNone\na\tNone\na\t1.0\n"


def test_an_existing_file_of_another_program_is_replaced_only_by_force(in_folder: Path, capsys) -> None:
    Path("out.csv").write_text("mine\n", encoding="utf-8")
    assert convert("run.jsonl", "out.csv") == 2
    assert Path("out.csv").read_text() == "mine\n"
    assert convert("run.jsonl", "out.csv", "--force") == 0
    assert "outcome" in Path("out.csv").read_text()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["run.jsonl", "out.txt"], "ends in one of .jsonl, .csv, .parquet"),
        (["run.jsonl", "run.jsonl"], "is an input file"),
        (["empty.csv", "out.jsonl"], "no rows"),
        (["run.jsonl", "filled", "--to", "mt-metrics-eval"], "not empty"),
    ],
)
def test_what_cannot_be_written_is_refused(in_folder: Path, capsys, given: list[str], message: str) -> None:
    Path("empty.csv").write_text("id,candidate\n", encoding="utf-8")
    Path("filled").mkdir()
    Path("filled/notes.txt").write_text("mine", encoding="utf-8")
    assert convert(*given) == 2
    assert message in capsys.readouterr().err
    assert not Path("out.jsonl").exists()


def test_many_rows_are_converted_in_bounded_memory(in_folder: Path) -> None:
    line = json.dumps({"id": "%d", "candidate": "x" * 2_000, "language": "de", "score": 1})
    with Path("many.jsonl").open("w", encoding="utf-8") as file:
        file.writelines(line.replace("%d", str(number)) + "\n" for number in range(20_000))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert convert("many.jsonl", "many.csv") == 0
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000  # of 41 MB, in KiB


# Other commands


def test_systems_that_several_people_rated_are_compared_by_the_mean_with_a_note(in_folder: Path, capsys) -> None:
    assert main(["compare", "mqm_ende.tsv", "--systems", "a,b", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["overall"]["score"]["before"] == -3.0
    assert found["overall"]["score"]["after"] == -1.0
    assert any("mean of their ratings" in note for note in found["notes"])


def test_systems_in_one_file_of_segment_scores_are_compared_by_segment(in_folder: Path, capsys) -> None:
    lines = [f"{system}\t{place + bonus}\n" for system, bonus in (("a", 0), ("b", 1)) for place in range(20)]
    Path("en-de.mqm.seg.score").write_text("".join(lines), encoding="utf-8")
    assert main(["compare", "en-de.mqm.seg.score", "--systems", "a,b"]) == 0
    assert "48 items are needed (6 if their documents are named" in capsys.readouterr().out
    assert main(["compare", "en-de.mqm.seg.score", "--systems", "a,b", "--cluster", "none"]) == 0
    assert "B is better, by 1.00" in capsys.readouterr().out.replace("+", "")


def test_two_files_in_which_systems_share_ids_are_compared_by_system_and_item(in_folder: Path, capsys) -> None:
    assert convert("mqm_ende.tsv", "again.jsonl") == 0
    assert main(["compare", "mqm_ende.tsv", "again.jsonl", "--format", "json"]) == 0
    printed = capsys.readouterr().out
    found = json.loads(printed[printed.index("{") :])
    assert found["overall"]["score"]["difference"]["value"] == 0
    assert found["overall"]["counts"]["paired"] == 16


def test_labels_of_several_systems_and_people_meet_a_judge_by_item_and_system(in_folder: Path, capsys) -> None:
    rows = [
        {"id": f"en-de/{place}", "system": system, "score": place} for place in range(1, 9) for system in ("a", "b")
    ]
    Path("judge.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert main(["calibrate", "agreement", "judge.jsonl", "--labels", "mqm_ende.tsv"]) == 0
    assert "on 16 items" in capsys.readouterr().out


def test_labels_meet_a_judge_whose_ids_have_the_system_at_their_end(in_folder: Path, capsys) -> None:
    rows = [{"id": f"en-de/{place}/{system}", "score": place} for place in range(1, 9) for system in ("a", "b")]
    Path("judge.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert main(["calibrate", "agreement", "judge.jsonl", "--labels", "mqm_ende.tsv"]) == 0
    assert "on 16 items" in capsys.readouterr().out


def test_a_report_is_made_of_peoples_ratings(in_folder: Path, capsys) -> None:
    assert main(["report", "mqm_ende.tsv", "--by", "annotator"]) == 0
    shown = capsys.readouterr().out
    assert "24 items" in shown
    assert "r2" in shown


def test_what_is_no_error_span_is_left_out_of_a_folder(in_folder: Path) -> None:
    span = {"start": 0, "end": 1, "category": "accuracy", "severity": "major"}
    row = {"id": "x", "candidate": "ab", "system": "a", "languagePair": "en-de", "label": -5, "spans": ["?", 1, span]}
    Path("spans.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")

    assert convert("spans.jsonl", "folder", "--to", "mt-metrics-eval") == 0
    [written] = [path for path in Path("folder").rglob("*") if path.is_file() and '"errors"' in path.read_text()]
    [error] = json.loads(written.read_text().split("\t", 1)[1])["errors"]
    assert {name: error[name] for name in span} == span
