"""Items in folders of files, and cut into shards: the same items, each from its own place."""

import csv
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyjudge.cli import main
from polyjudge.errors import DataError
from polyjudge.formats.items import ItemSource, rows_of
from polyjudge.records.outcomes import Item
from polyjudge.runs.shards import shard_digest, survey_shards

VALUES = st.text(st.sampled_from('aข้👩🏽‍🚀 "\n\r\t,;\u2028\ufeff'), max_size=6)
ROWS = st.lists(st.one_of(VALUES, st.none()), min_size=1, max_size=12)
"""Candidates; None is a row without one."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("items")


def save_json_lines(path, rows, first=0):
    lines = [json.dumps({"id": f"i{first + number}", "candidate": each, "language": "th"}) for number, each in rows]
    path.write_text("\n\n".join(lines) + "\n", encoding="utf-8-sig")


def save_separated(path, rows):
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter="," if path.suffix == ".csv" else "\t")
        writer.writerow(["id", "candidate", "language"])
        writer.writerows(["", "", ""] if each is None else [f"i{number}", each, "th"] for number, each in rows)


def items_of(shard, source):
    place = (shard.items, shard.start, shard.rows, shard.earlier)
    return ItemSource(shard.path, source.context, source.filters, *place)


@pytest.mark.parametrize("suffix", [".jsonl", ".csv", ".tsv"])
@given(rows=ROWS, size=st.integers(1, 5), limit=st.one_of(st.none(), st.integers(1, 8)))
def test_the_shards_of_a_file_hold_its_items_in_order(folder, suffix, rows, size, limit):
    path = folder / f"items{suffix}"
    (save_json_lines if suffix == ".jsonl" else save_separated)(path, list(enumerate(rows)))
    source = ItemSource(path, limit=limit)
    if not list(source):
        with pytest.raises(DataError, match="no items to judge"):
            survey_shards(source, size)
        return

    found = survey_shards(source, size)

    whole = source.survey()
    assert found.survey.count == whole.count
    assert limit is not None or found.survey.skipped == whole.skipped
    assert [item for shard in found.shards for item in items_of(shard, source)] == list(source)
    assert all(shard.rows <= size and 0 < shard.items <= shard.rows for shard in found.shards)
    assert [shard_digest(iter(items_of(shard, source))) for shard in found.shards] == [
        shard.fingerprint for shard in found.shards
    ]
    assert sorted(shard.name for shard in found.shards) == [shard.name for shard in found.shards]


@given(
    files=st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=8), min_size=1, max_size=3),
    size=st.integers(1, 4),
)
def test_ids_made_from_content_are_the_same_in_shards(tmp_path_factory, files, size):
    folder = tmp_path_factory.mktemp("made")
    for number, texts in enumerate(files):
        lines = "".join(f"{text},fr\n" for text in texts)
        (folder / f"{number}.csv").write_text(f"text,language\n{lines}", encoding="utf-8")
    source = ItemSource(folder)

    found = survey_shards(source, size)

    assert [item for shard in found.shards for item in items_of(shard, source)] == list(source)
    assert found.survey.count == source.survey().count


def test_a_shard_knows_only_the_counts_of_its_own_rows(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("text,language\n" + "a,fr\nb,fr\na,fr\nc,fr\na,fr\nb,fr\n", encoding="utf-8")

    shards = survey_shards(ItemSource(path), 2).shards

    assert [sorted(shard.earlier.values()) for shard in shards] == [[], [1], [1, 2]]


@pytest.fixture
def shards(tmp_path):
    """A folder of three files with two items each."""
    folder = tmp_path / "shards"
    folder.mkdir()
    for number in range(3):
        save_json_lines(folder / f"{number}.jsonl", [(0, "a"), (1, "b")], first=2 * number)
    return folder


def test_a_folder_is_read_in_the_order_of_its_names_and_hidden_files_are_passed_over(shards):
    for name in (".0.jsonl", "_SUCCESS", "manifest.json"):
        (shards / name).write_text("{}", encoding="utf-8")

    assert [item.id for item in ItemSource(shards)] == [f"i{number}" for number in range(6)]
    assert ItemSource(shards).survey().count == 6
    assert [str(place) for place, _ in rows_of(shards)][:3] == [
        f"{shards}/0.jsonl:1",
        f"{shards}/0.jsonl:3",
        f"{shards}/1.jsonl:1",
    ]


def test_each_file_is_a_shard_and_large_ones_are_cut(shards):
    save_json_lines(shards / "1.jsonl", list(enumerate("abcde")), first=10)

    found = survey_shards(ItemSource(shards), 3)

    names = ["part-00000", "part-00001-00000", "part-00001-00001", "part-00002"]
    assert [(shard.name, shard.items) for shard in found.shards] == list(zip(names, [2, 3, 2, 2], strict=True))
    assert found.survey.languages == ("th",)


def test_problems_and_doubles_name_file_and_line(shards):
    (shards / "1.jsonl").write_text('{"id": "x"}\n{"id": "i5", "candidate": "a"}\n', encoding="utf-8")

    for survey in (lambda: ItemSource(shards).survey(), lambda: survey_shards(ItemSource(shards), 10)):
        with pytest.raises(DataError, match=r"2\.jsonl:3: duplicate id 'i5', first at .*1\.jsonl:2"):
            survey()
    (shards / "2.jsonl").unlink()
    assert ItemSource(shards).survey().problems == (f"{shards}/1.jsonl:1: 'candidate' is missing",)


def test_a_file_that_cannot_be_read_is_named_and_the_others_are_cut(shards):
    before = survey_shards(ItemSource(shards), 10).shards
    good = (shards / "1.jsonl").read_bytes()
    (shards / "1.jsonl").write_bytes(good + b"\xff\n")

    found = survey_shards(ItemSource(shards), 10)

    assert [message.partition(": ")[0] for message in found.broken] == [f"{shards}/1.jsonl"]
    assert found.shards == (before[0], before[2])
    assert found.survey.count == 4
    with pytest.raises(DataError, match=r"1\.jsonl: not UTF-8"):
        ItemSource(shards).survey()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("a.csv", "several formats"),
        ("a.txt.gz", "unsupported file 'a.txt.gz'"),
        ("more/", "unsupported file 'more'"),
    ],
)
def test_a_folder_of_this_and_that_is_refused(shards, name, message):
    (shards / name).mkdir() if name.endswith("/") else (shards / name).write_text("id,candidate\n", encoding="utf-8")

    with pytest.raises(DataError, match=message):
        ItemSource(shards).survey()


def test_an_empty_folder_is_one_clear_error(tmp_path):
    with pytest.raises(DataError, match="no tables found"):
        ItemSource(tmp_path).survey()


def test_other_items_have_another_fingerprint():
    item = Item("a", "b", {"source": "c"}, "th", "d")
    others = [
        Item("a", "b", {"source": "c"}, "th"),
        Item("a", "b", {"source": "c"}, "", "d"),
        Item("a", "b", {"reference": "c"}, "th", "d"),
        Item("a", "bc", {"source": ""}, "th", "d"),
    ]

    assert len({shard_digest(iter([each])) for each in (item, *others)}) == 5


def test_a_folder_is_scored_and_compared_as_a_file_is(shards, in_folder, capsys):
    (in_folder / "said.jsonl").write_text(json.dumps({"text": '{"score": 7, "reason": "x"}'}), encoding="utf-8")
    options = ["--rubric", "general", "--judge", "scripted/said.jsonl"]

    assert main(["score", str(shards), *options, "--output", "results/0.jsonl"]) == 0
    assert "6 of 6 judged" in capsys.readouterr().out
    assert main(["compare", "results", "results/0.jsonl"]) == 0
    assert "6 in both, 0 worse" in capsys.readouterr().out
