"""Scores and labels are read from every format, and invalid rows are counted and reported."""

import json

import pytest

from polyjudge.errors import DataError
from polyjudge.formats.ratings import RatingColumns, Ratings, read_ratings
from polyjudge.records.calibration import JudgeIdentity
from polyjudge.records.outcomes import Failure, JudgeResult, Provenance, outcome_row

PROVENANCE = Provenance(
    provider="claude-code",
    model="opus",
    model_answered="opus-2026-01",
    rubric="translation",
    rubric_fingerprint="0123456789abcdef",
    prompt_sha256="aa",
)
JUDGE = JudgeIdentity(
    provider="claude-code",
    model="opus",
    rubric="translation",
    rubric_fingerprint="0123456789abcdef",
    model_answered="opus-2026-01",
)


def lines(path, rows):
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def read(path, **columns):
    return read_ratings(path, RatingColumns(**columns))


def values(found):
    return {rating.id: rating.value for rating in found.ratings}


def test_scores_of_a_run_come_with_their_judge_and_failures_without_a_value(tmp_path):
    rows = [
        outcome_row("a", JudgeResult(4.5, "good", {"grammar": 3.0}, provenance=PROVENANCE)),
        outcome_row("b", Failure("no", "refused", provenance=PROVENANCE)),
        outcome_row("c", JudgeResult(0.0, "bad", {"grammar": 1.0}, provenance=PROVENANCE)),
    ]
    path = lines(tmp_path / "scores.jsonl", rows)

    assert values(read(path)) == {"a": 4.5, "b": None, "c": 0.0}
    assert read(path).judges == [JUDGE]
    assert values(read(path, value="subscores.grammar")) == {"a": 3.0, "b": None, "c": 1.0}


def test_a_repeat_with_a_score_that_is_too_large_is_left_out(tmp_path):
    members = [{"score": score, "provenance": {"provider": "p", "model": "m"}} for score in (3, 10**400, 4)]
    path = lines(tmp_path / "scores.jsonl", [{"id": "a", "score": 3, "members": members}])
    assert [rating.repeats for rating in read(path).ratings] == [(3.0, 4.0)]


def test_scores_of_two_judges_name_both(tmp_path):
    from msgspec.structs import replace

    rows = [
        outcome_row("a", JudgeResult(4.5, "", provenance=PROVENANCE)),
        outcome_row("b", JudgeResult(4.5, "", provenance=replace(PROVENANCE, model="sonnet"))),
    ]

    assert [judge.model for judge in read(lines(tmp_path / "s.jsonl", rows)).judges] == ["opus", "sonnet"]


@pytest.mark.parametrize(
    "word", ["pass", "PASS", " Passed ", "yes", "Yes", "true", "TRUE", "correct", "good", "ok", "1", "1.0"]
)
def test_words_that_pass_are_one(tmp_path, word):
    (tmp_path / "l.csv").write_text(f"id,label\na,{word}\n")

    assert values(read(tmp_path / "l.csv")) == {"a": 1.0}


@pytest.mark.parametrize("word", ["fail", "Failed", "no", "NO", "false", "incorrect", "bad", "0", "-0.0", "0e5"])
def test_words_that_fail_are_zero(tmp_path, word):
    (tmp_path / "l.csv").write_text(f"id,label\na,{word}\n")

    assert values(read(tmp_path / "l.csv")) == {"a": 0.0}


@pytest.mark.parametrize(
    "word", ["", "none", "null", "NaN", "n/a", "skip", "unsure", "inf", "-Infinity", "Cannot read this language"]
)
def test_words_without_a_rating_are_none(tmp_path, word):
    (tmp_path / "l.csv").write_text(f"id,label\na,{word}\n")

    assert values(read(tmp_path / "l.csv")) == {"a": None}


@pytest.mark.parametrize("word", ["maybe", "4/5", "five", "1;2", "p@ss", "👍"])
def test_invalid_labels_are_counted_and_reported(tmp_path, word):
    (tmp_path / "l.csv").write_text(f"id,label\na,{word}\nb,pass\n", encoding="utf-8")
    found = read(tmp_path / "l.csv")

    assert (values(found), found.skipped) == ({"b": 1.0}, 1)
    assert found.problems[0].endswith(f"l.csv:2: invalid rating {word!r}; expected a number, pass or fail")


def test_a_label_may_be_true_or_false_or_null_in_json(tmp_path):
    rows = [{"id": 1, "label": True}, {"id": 2, "label": False}, {"id": 3, "label": None}, {"id": 4, "label": 3}]

    assert values(read(lines(tmp_path / "l.jsonl", rows))) == {"1": 1.0, "2": 0.0, "3": None, "4": 3.0}


@pytest.mark.parametrize("value", [[], {}, [1], {"points": 1}])
def test_a_label_that_is_a_list_or_object_is_counted_and_reported(tmp_path, value):
    found = read(lines(tmp_path / "l.jsonl", [{"id": "a", "label": value}]))

    assert (found.ratings, found.skipped) == ([], 1)


@pytest.mark.parametrize("given", [None, "", {}, [], True, False])
def test_a_row_without_an_id_is_counted_and_reported(tmp_path, given):
    found = read(lines(tmp_path / "l.jsonl", [{"id": given, "label": 1}, {"label": 1}]))

    assert (found.ratings, found.skipped) == ([], 2)
    assert "'id' is missing" in found.problems[0]


def test_zero_is_a_valid_id(tmp_path):
    assert values(read(lines(tmp_path / "l.jsonl", [{"id": 0, "label": 1}]))) == {"0": 1.0}


def test_a_row_without_a_rating_is_counted_and_reported_with_the_column(tmp_path):
    path = lines(tmp_path / "l.jsonl", [{"id": "a", "mark": 1}, {"id": "b", "score": 2}])

    assert "'score' or 'label'" in read(path).problems[0]
    assert "mark" in read(path, value="mark").problems[0]
    assert values(read(path, value="mark")) == {"a": 1.0}


def test_a_file_without_any_rating_is_an_error_with_its_columns(tmp_path):
    path = lines(tmp_path / "l.jsonl", [{"id": "a", "mark": 1}])

    with pytest.raises(DataError, match="no column 'grade'. Found: id, mark. Name the column."):
        read(path, value="grade")


def test_all_problems_are_counted_and_the_first_are_reported(tmp_path):
    found = read(lines(tmp_path / "l.jsonl", [{"id": str(number), "label": "odd"} for number in range(9)]))

    assert (found.skipped, len(found.problems)) == (9, 5)


def test_ratings_have_annotator_group_cluster_and_system(tmp_path):
    rows = [
        {"id": "a", "label": 1, "annotator": name, "language": "th", "document": "d", "system": "s", "kind": "g"}
        for name in ("ann", "bob")
    ]
    found = read(lines(tmp_path / "l.jsonl", rows), group="kind")

    assert [(each.annotator, each.language, each.cluster, each.system, each.group) for each in found.ratings] == [
        ("ann", "th", "d", "s", "g"),
        ("bob", "th", "d", "s", "g"),
    ]


def test_a_system_can_be_excluded_everywhere_or_in_one_language(tmp_path):
    rows = [
        {"id": f"{tag}{name}", "label": 1, "language": tag, "system": name} for tag in ("de", "fr") for name in "xy"
    ]
    path = lines(tmp_path / "l.jsonl", rows)

    assert set(values(read(path, leave_out=frozenset({"x"})))) == {"dey", "fry"}
    assert set(values(read(path, leave_out=frozenset({"de/x"})))) == {"dey", "frx", "fry"}


def test_several_files_can_be_read_into_one_object(tmp_path):
    both = Ratings()
    for name in "ab":
        read_ratings(lines(tmp_path / f"{name}.jsonl", [{"id": name, "label": 1}]), RatingColumns(), both)

    assert values(both) == {"a": 1.0, "b": 1.0}


def test_translation_scores_have_ids_of_language_and_index(tmp_path):
    scores = {
        "scores": [
            {
                "languageName": "Thai",
                "languageCode": "th",
                "scriptScore": 5,
                "prompts": [
                    {"index": 0, "scriptScore": 5, "grammarScore": 4, "coherenceScore": 3},
                    {"index": 1, "error": "refused"},
                    {"index": 2, "scriptScore": 2},
                    {"index": 3},
                ],
            },
            {"languageName": "Klingon", "prompts": [{"index": 0, "grammarScore": 1}]},
        ]
    }
    path = tmp_path / "scores.json"
    path.write_text(json.dumps(scores))

    assert values(read(path)) == {"th:0": 4.0, "th:1": None, "th:2": 2.0, "th:3": None, "Klingon:0": 1.0}
    assert values(read(path, value="grammar")) == {
        "th:0": 4.0,
        "th:1": None,
        "th:2": None,
        "th:3": None,
        "Klingon:0": 1.0,
    }
    assert values(read(path, value="grammarScore"))["th:0"] == 4.0


def test_wmt_segment_scores_have_ids_of_system_and_index(tmp_path):
    path = tmp_path / "en-de.mqm.seg.score"
    path.write_text("refA\t-1.5\nrefA\tNone\nonline\t0\nonline\t-25\n")
    found = read(path, group="item")

    assert values(found) == {"en-de/refA/1": -1.5, "en-de/refA/2": None, "en-de/online/1": 0.0, "en-de/online/2": -25.0}
    assert [rating.group for rating in found.ratings] == ["en-de/1", "en-de/2", "en-de/1", "en-de/2"]
    assert {rating.language for rating in found.ratings} == {"en-de"}


def test_wmt_indices_do_not_change_if_a_system_is_excluded(tmp_path):
    path = tmp_path / "metric" / "zh-en.mqm.sys.score"
    path.parent.mkdir()
    path.write_text("refA\t-1.5\nonline\t0\r\n")

    assert values(read(path)) == {"zh-en/refA": -1.5, "zh-en/online": 0.0}
    assert values(read(path, leave_out=frozenset({"zh-en/refA"}))) == {"zh-en/online": 0.0}


@pytest.mark.parametrize("content", ["refA -1.5\n", "refA\t1\n\n"])
def test_a_wmt_line_without_a_tab_is_an_error_with_its_line(tmp_path, content):
    (tmp_path / "en-de.mqm.seg.score").write_text(content)

    with pytest.raises(DataError, match=r"en-de\.mqm\.seg\.score:\d"):
        read(tmp_path / "en-de.mqm.seg.score")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("l.json", b"{"),
        ("l.json", b""),
        ("l.json", b"[" * 50_000),
        ("l.jsonl", b"\xff\xff"),
        ("l.csv", b"id,label\n\xff,1\n"),
        ("l.txt", b"a"),
        ("en-de.seg.score", b"\xff\t1\n"),
    ],
)
def test_a_damaged_or_foreign_file_is_an_error_with_its_path(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)

    with pytest.raises(DataError, match=name.replace(".", r"\.")):
        read(tmp_path / name)


def test_a_missing_file_is_an_error_with_its_path(tmp_path):
    for name in ("none.jsonl", "none.json", "none.csv", "en-de.seg.score"):
        with pytest.raises(DataError, match=name.replace(".", r"\.")):
            read(tmp_path / name)


def test_a_number_that_is_too_large_is_counted_and_reported(tmp_path):
    path = tmp_path / "l.jsonl"
    path.write_text('{"id": "a", "label": 1' + "0" * 400 + "}\n")

    assert [rating.value for rating in read(path).ratings] in ([], [None])


def test_a_system_or_group_of_null_is_empty(tmp_path):
    found = read(lines(tmp_path / "l.jsonl", [{"id": "a", "label": 1, "system": None, "kind": None}]), group="kind")

    assert (found.ratings[0].system, found.ratings[0].group) == ("", "")


def test_an_empty_score_does_not_hide_a_label(tmp_path):
    (tmp_path / "l.csv").write_text("id,score,label\na,,pass\n")

    assert values(read(tmp_path / "l.csv")) == {"a": 1.0}


def test_an_unknown_column_of_scores_is_an_error(tmp_path):
    path = tmp_path / "scores.json"
    scores = {"languageName": "Thai", "languageCode": "th", "prompts": [{"index": 0, "grammarScore": 4}]}
    path.write_text(json.dumps({"scores": [scores]}))
    try:
        found = read(path, value="grammer")
    except DataError:
        return
    assert found.problems
