"""A run folder keeps its complete parts, and another run cannot use it."""

import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

from polyjudge.errors import DataError
from polyjudge.files.json_lines import Mark
from polyjudge.formats.items import rows_of
from polyjudge.records.codec import schema
from polyjudge.store.run_folder import ResultsPart, RunFolder, RunIdentity, Shard, sha256_of

SHARDS = [Shard(f"part-0000{n}", Path("items.jsonl"), Mark(10 * n), 10, 10, f"{n:016x}") for n in range(3)]
RUN = RunIdentity(fingerprint="0123456789ab", rubric="general", rubric_fingerprint="a" * 16, judges=("local/m",))


@pytest.fixture
def path(tmp_path):
    folder = tmp_path / "results"
    folder.mkdir()
    return folder


def put(folder, shard, *, unjudged=0, text="rows"):
    path = folder.path / f"{shard.name}.parquet"
    path.write_text(f"{text} of {shard.name}", encoding="utf-8")
    part = ResultsPart(
        file=path.name,
        rows=10,
        judged=10 - unjudged,
        unjudged=unjudged,
        sha256=sha256_of(path),
        items_file="items.jsonl",
        items_line=shard.start.line,
        items_fingerprint=shard.fingerprint,
    )
    folder.put(part)


def finished(path, run=RUN, shards=SHARDS, unjudged=(0, 0, 0)):
    folder = RunFolder(path, run, shards)
    folder.start()
    for shard, count in zip(shards, unjudged, strict=True):
        put(folder, shard, unjudged=count)
    folder.finish()
    return folder


def again(path, run=RUN, shards=SHARDS):
    folder = RunFolder(path, run, shards)
    return folder, [shard.name[-1] for shard in folder.start()]


def test_a_resumed_run_judges_only_the_missing_parts(path):
    folder = RunFolder(path, RUN, SHARDS)
    assert folder.start() == SHARDS
    put(folder, SHARDS[1])

    resumed, waiting = again(path)

    assert (waiting, resumed.started_at, resumed.damaged) == (["0", "2"], folder.started_at, [])
    assert resumed.files == [path / "part-00001.parquet"]


@pytest.mark.parametrize("damage", [Path.unlink, lambda file: file.write_text("rows of part-0000x", encoding="utf-8")])
@pytest.mark.parametrize("is_finished", [True, False])
def test_a_damaged_part_is_reported_and_judged_again(path, damage, is_finished):
    folder = finished(path)
    if not is_finished:
        put(folder, SHARDS[2])
    damage(path / "part-00001.parquet")

    resumed, waiting = again(path)

    assert (waiting, resumed.damaged) == (["1"], ["part-00001.parquet"])


def test_a_finished_run_is_judged_again_and_its_parts_remain_until_replaced(path):
    folder = finished(path)

    resumed, waiting = again(path)

    assert waiting == ["0", "1", "2"]
    assert resumed.files == []
    assert [file.read_text(encoding="utf-8")[:4] for file in path.glob("part-*")] == ["rows"] * 3
    with pytest.raises(DataError, match="the run in this folder is not finished"):
        list(rows_of(path))
    put(resumed, SHARDS[0])
    assert again(path)[1] == ["1", "2"]
    assert folder.started_at <= resumed.started_at


def test_a_run_with_all_parts_that_was_not_marked_finished_judges_nothing(path):
    folder = RunFolder(path, RUN, SHARDS)
    folder.start()
    for shard in SHARDS:
        put(folder, shard)

    assert again(path)[1] == []


def test_changed_and_additional_shards_are_judged(path):
    finished(path)
    changed = [SHARDS[0], replace(SHARDS[1], fingerprint="f" * 16), SHARDS[2], replace(SHARDS[0], name="part-00003")]

    resumed, waiting = again(path, shards=changed)

    assert (waiting, resumed.damaged) == (["1", "3"], [])


def test_unneeded_parts_and_temporary_files_are_removed(path):
    finished(path)
    temporary = path / ".part-00001.parquet.0123.part"
    temporary.write_text("half", encoding="utf-8")

    folder, waiting = again(path, shards=SHARDS[:2])
    for shard in SHARDS[:2]:
        put(folder, shard)
    folder.finish()

    assert waiting == ["0", "1"]
    assert sorted(file.name for file in path.iterdir()) == ["manifest.json", "part-00000.parquet", "part-00001.parquet"]


@pytest.mark.parametrize(
    ("run", "shards", "message"),
    [
        (replace(RUN, fingerprint="b" * 12), SHARDS, "other judges or options; use another folder"),
        (RUN, [replace(shard, fingerprint="f" * 16) for shard in SHARDS], "other items; use another folder"),
    ],
)
def test_the_folder_of_another_run_is_an_error_with_a_remedy(path, run, shards, message):
    finished(path)

    with pytest.raises(DataError, match=message):
        RunFolder(path, run, shards).start()


def test_an_unfinished_run_started_with_another_option_is_an_error_that_names_it(path):
    RunFolder(path, replace(RUN, cache_mode="refresh"), SHARDS).start()

    with pytest.raises(DataError, match="started with the option 'refresh'. Finish it") as raised:
        RunFolder(path, RUN, SHARDS).start()
    assert raised.value.option == "refresh"


def test_a_folder_with_other_files_is_an_error(path):
    (path / "thesis.txt").write_text("mine", encoding="utf-8")

    with pytest.raises(DataError, match="contains no results of polyjudge; use another folder"):
        RunFolder(path, RUN, SHARDS).start()


def test_only_parts_with_failures_are_retried(path):
    with pytest.raises(DataError, match="no failures to retry"):
        RunFolder(path, replace(RUN, cache_mode="retry-failures"), SHARDS).start()
    finished(path, unjudged=(0, 2, 1))

    folder, waiting = again(path, replace(RUN, cache_mode="retry-failures"))
    assert waiting == ["1", "2"]
    put(folder, SHARDS[1], unjudged=1)
    assert again(path, replace(RUN, cache_mode="retry-failures"))[1] == ["2"]

    with pytest.raises(DataError, match="started with the option .retry-failures.. Finish it"):
        RunFolder(path, RUN, SHARDS).start()


def test_a_refresh_of_a_finished_run_judges_all_parts(path):
    finished(path)
    (path / "part-00001.parquet").unlink()

    assert again(path, replace(RUN, cache_mode="refresh"))[1] == ["0", "1", "2"]


def test_the_manifest_fits_its_schema(path):
    finished(path, unjudged=(0, 2, 1))
    manifest = json.loads((path / "manifest.json").read_text(encoding="utf-8"))

    jsonschema.validate(manifest, schema("results-manifest"))
    assert (manifest["rows"], manifest["judged"], manifest["unjudged"]) == (30, 27, 3)


def test_a_damaged_manifest_is_an_error(path):
    finished(path)
    (path / "manifest.json").write_text('{"kind": "polyjudge results", ', encoding="utf-8")

    with pytest.raises(DataError, match=r"manifest\.json: cannot be read"):
        RunFolder(path, RUN, SHARDS).start()


def test_a_changed_part_is_an_error(path):
    finished(path)
    (path / "part-00000.parquet").write_text("rows of part-0000x", encoding="utf-8")

    with pytest.raises(DataError, match=r"part-00000\.parquet: the file was changed or damaged"):
        list(rows_of(path))
