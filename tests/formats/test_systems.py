"""Comparisons are read from one run for each system, from one run of several, and from rows of pairs."""

import json
import math
from itertools import combinations
from pathlib import Path

import pytest

from polyjudge.errors import ConfigError, DataError
from polyjudge.formats.columns import TableOptions
from polyjudge.formats.systems import PAIRED_BY_SOURCE, SEVERAL_RATINGS, read_compared
from polyjudge.records.outcomes import JudgeResult, item_row


def write(path, rows):
    Path(path).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return Path(path)


def outcomes(found):
    """Return each comparison with the names of its systems, in order: of rows of pairs, then of scores by item."""
    names = found.systems
    rows = list(zip(found.first.tolist(), found.second.tolist(), found.share.tolist(), strict=True))
    for scores in [] if found.table is None else found.table.scores.tolist():
        for first, second in combinations(range(len(names)), 2):
            if not math.isnan(scores[first] + scores[second]):
                share = (scores[first] > scores[second]) + 0.5 * (scores[first] == scores[second])
                rows.append((first, second, share))
    return [(names[first], names[second], share) for first, second, share in rows]


def test_runs_are_named_by_their_files_and_paired_by_language_and_id(in_folder):
    a = write("a.scores.jsonl", [{"id": "1", "language": "fr", "score": 3}, {"id": "2", "language": "fr", "score": 4}])
    b = write(
        "b.jsonl",
        [
            {"id": "2", "language": "fr", "score": 4},
            {"id": "1", "language": "th", "score": 5},
            {"id": "1", "language": "fr", "score": 1},
        ],
    )

    assert outcomes(read_compared([a, b])) == [("a", "b", 1.0), ("a", "b", 0.5)]


def test_the_version_of_a_model_is_part_of_its_name(in_folder):
    paths = [write(name, [{"id": "1", "score": 1}]) for name in ("gpt-3.5.scores.jsonl", "gpt-4.1.jsonl")]

    assert read_compared(paths).systems == ("gpt-3.5", "gpt-4.1")


def test_files_of_the_same_name_are_named_by_their_paths(in_folder):
    paths = [Path("one/run.jsonl"), Path("two/run.jsonl")]
    for place, path in enumerate(paths):
        path.parent.mkdir()
        write(path, [{"id": "1", "score": place}])

    assert read_compared(paths).systems == ("one/run.jsonl", "two/run.jsonl")


def test_one_run_may_have_several_systems(in_folder):
    path = write(
        "all.jsonl", [{"id": "1", "system": name, "score": score} for name, score in zip("abc", (3, 2, 3), strict=True)]
    )

    assert outcomes(read_compared([path])) == [("a", "b", 1.0), ("a", "c", 0.5), ("b", "c", 0.0)]
    assert outcomes(read_compared([path], systems=["c", "b"])) == [("c", "b", 1.0)]
    with pytest.raises(ConfigError, match=r"no system 'd' in .*Systems: a, b, c"):
        read_compared([path], systems=["a", "d"])


def test_a_row_of_a_pair_is_a_comparison(in_folder):
    path = write(
        "pairs.jsonl",
        [
            {"id": "1", "system": "a", "otherSystem": "b", "verdict": "first", "score": 1},
            {"id": "2", "system": "b", "otherSystem": "c", "label": "second"},
            {"id": "3", "candidate": "x", "otherCandidate": "y", "label": "tie"},
            {"id": "4", "system": "a", "otherSystem": "b", "outcome": "failure", "reason": "refused"},
            {"id": "5", "system": "a", "otherSystem": "b", "score": 3},
            {"id": "6", "system": "a", "otherSystem": "a", "score": 1},
        ],
    )

    found = read_compared([path])

    assert outcomes(found) == [("a", "b", 1.0), ("b", "c", 0.0), ("first", "second", 0.5)]
    assert found.failures == {"a": 1, "b": 1}
    assert found.skipped == 2
    assert "a preference must be from 0 to 1, or first, second or tie, not 3" in found.problems[0]


def test_texts_without_ids_are_paired_by_source(in_folder):
    header = "source,system,candidate,score\n"
    Path("all.csv").write_text(header + "Hello,a,Hallo,4\nHello,b,Hi,3\nBye,a,Tschüss,2\nBye,b,Ade,5\n")

    found = read_compared([Path("all.csv")])

    assert sorted(outcomes(found)) == [("a", "b", 0.0), ("a", "b", 1.0)]
    assert found.notes == (PAIRED_BY_SOURCE,)


def test_rows_with_numbers_as_ids_are_paired_by_source_if_no_id_is_common(in_folder):
    rows = [("1", "a", "Hello", 4), ("2", "a", "Bye", 3), ("3", "b", "Hello", 3), ("4", "b", "Bye", 3)]
    path = write("all.jsonl", [dict(zip(("id", "system", "source", "score"), row, strict=True)) for row in rows])

    found = read_compared([path])

    assert outcomes(found) == [("a", "b", 1.0), ("a", "b", 0.5)]
    assert found.notes == (PAIRED_BY_SOURCE,)


def test_runs_of_a_table_without_ids_are_paired_by_source(in_folder):
    """What `score` writes has an id that is made from the judged text."""
    from polyjudge.formats.items import read_items

    paths = []
    for name, text in (("a", "Hallo"), ("b", "Servus")):
        Path(f"{name}.csv").write_text(f"source,candidate\nHello,{text}\n")
        [item] = read_items(f"{name}.csv")
        paths.append(write(f"{name}.jsonl", [item_row(item, JudgeResult(1.0 + (name == "a"), ""), with_texts=True)]))

    found = read_compared(paths)

    assert outcomes(found) == [("a", "b", 1.0)]
    assert found.notes == (PAIRED_BY_SOURCE,)


def test_a_run_without_languages_gets_those_of_the_others(in_folder):
    a = write("a.jsonl", [{"id": "1", "language": "fr", "score": 3}, {"id": "2", "language": "th", "score": 3}])
    b = write("b.jsonl", [{"id": "1", "score": 1}, {"id": "2", "score": 4}])

    found = read_compared([a, b])

    assert [found.languages[code] for code in found.table_language] == ["fr", "th"]


def test_the_mean_of_several_people_counts_for_an_item(in_folder):
    people = [("a", 1, "x"), ("a", 5, "y"), ("b", 2, "x"), ("b", 3, "y")]
    rows = [{"id": "1", "system": system, "label": label, "annotator": name} for system, label, name in people]

    found = read_compared([write("people.jsonl", rows)])

    assert outcomes(found) == [("a", "b", 1.0)]
    assert found.notes == (SEVERAL_RATINGS,)


def test_two_scores_of_one_judge_for_an_item_are_refused(in_folder):
    path = write("a.jsonl", [{"id": "1", "score": 3}, {"id": "1", "score": 4}])

    with pytest.raises(DataError, match="several scores of 'a' for an item"):
        read_compared([path, write("b.jsonl", [{"id": "1", "score": 1}])])


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"id": "1", "score": 3}, "two systems are needed, found only 'a'"),
        ({"id": "1", "outcome": "failure", "reason": ""}, "two systems are needed, found none"),
    ],
)
def test_one_system_alone_is_refused(in_folder, row, said):
    with pytest.raises(DataError, match=said):
        read_compared([write("a.jsonl", [row])])


def test_runs_without_common_items_are_refused(in_folder):
    with pytest.raises(DataError, match="no common items"):
        read_compared([write("a.jsonl", [{"id": "1", "score": 3}]), write("b.jsonl", [{"id": "2", "score": 3}])])


def test_clusters_are_documents_else_sources_else_items(in_folder):
    def clusters(**options):
        return read_compared(paths, **options).table.clusters.tolist()

    def runs(**more):
        rows = [{"id": str(place), **{name: value(place) for name, value in more.items()}} for place in range(4)]
        return [write(f"{name}.jsonl", [{**row, "score": 1} for row in rows]) for name in "ab"]

    paths = runs(document=lambda place: f"d{place // 2}", source=lambda place: f"s{place % 2}")
    assert clusters() == [0, 0, 1, 1]
    assert clusters(cluster="none") == [0, 1, 2, 3]
    assert clusters(cluster="source") == [0, 1, 0, 1]
    paths = runs(source=lambda place: f"s{place % 2}")
    assert clusters() == [0, 1, 0, 1]
    assert not read_compared(paths).names_clusters
    paths = runs()
    assert clusters() == [0, 1, 2, 3]


def test_the_segments_of_wmt_files_are_paired_by_place(in_folder):
    Path("en-de.seg.score").write_text("a\t1\na\t2\nb\t2\nb\t1\n")

    found = read_compared([Path("en-de.seg.score")], table=TableOptions())

    assert outcomes(found) == [("a", "b", 0.0), ("a", "b", 1.0)]
    assert not found.names_clusters


def test_comparisons_are_in_the_order_of_the_rows(in_folder):
    rows = [{"id": str(place), "system": system, "score": place % 3} for place in range(20, 0, -1) for system in "ab"]
    pairs = [{"id": "p", "system": "a", "otherSystem": "b", "score": 1}]

    found = read_compared([write("all.jsonl", [*rows[:4], *pairs, *rows[4:]])])

    assert found.clusters.tolist() == [2]
    assert found.table.clusters.tolist() == [0, 1, *range(3, 21)]
