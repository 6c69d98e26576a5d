"""Maintenance of a cache, from the library and from the command line."""

import json
import sqlite3
import warnings
from pathlib import Path

import pytest

from polyjudge.cache.entries import Entry
from polyjudge.cache.maintenance import export_entries, import_entries, prune, statistics_of, verify
from polyjudge.cache.sqlite import JudgeCache
from polyjudge.cli import main
from polyjudge.errors import CacheError, CacheWarning, DataError, UnsharedRepliesError
from polyjudge.records.outcomes import JudgeResult
from polyjudge.records.requests import Reply


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "c.sqlite"
    with JudgeCache(path) as cache:
        cache.put_reply("one", Reply(text="أهلا", model="a"), provider="anthropic")
        cache.put_reply("two", Reply(text="สวัสดี", model="b"), provider="local")
        cache.put("three", JudgeResult(5.0, "fine", model="b"))
        cache.replies.write(Entry("reply", "old", "local", "b", "2020-01-01T00:00:00.000Z", '{"text":"x","model":"b"}'))
    return path


def test_the_entries_are_counted_by_kind_provider_and_model(path):
    stats = statistics_of(path)

    assert (stats.entries, stats.oldest) == (4, "2020-01-01T00:00:00.000Z")
    assert {row[:4] for row in stats.by_model} == {
        ("reply", "anthropic", "a", 1), ("reply", "local", "b", 2), ("result", "", "b", 1),
    }  # fmt: skip


PRUNED = [
    ({"before": "2021"}, {"one", "two", "three"}),
    ({"provider": "local"}, {"one", "three"}),
    ({"model": "b"}, {"one"}),
    ({"model": "b", "before": "2021"}, {"one", "two", "three"}),
    ({"model": "another's"}, {"one", "two", "three", "old"}),
]
"""Options of prune, and the keys that remain; for every kind of store."""


@pytest.mark.parametrize(("options", "remaining"), PRUNED)
def test_pruning_deletes_the_entries_that_match_all_filters(path, options, remaining):
    matching = prune(path, **options, dry_run=True)
    assert statistics_of(path).entries == 4

    assert prune(path, **options) == matching
    assert {row["key"] for row in export_entries(path)} == remaining


def test_pruning_without_a_filter_is_an_error(path):
    with pytest.raises(CacheError, match="nothing selected"):
        prune(path)


def test_an_imported_export_is_the_same_cache(path, tmp_path):
    exported = tmp_path / "export.jsonl"
    rows = list(export_entries(path))
    exported.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

    first = import_entries(tmp_path / "other.sqlite", exported)
    again = import_entries(tmp_path / "other.sqlite", exported)

    assert (first.new, first.known) == (4, 0)
    assert (again.new, again.known) == (0, 4)
    assert list(export_entries(tmp_path / "other.sqlite")) == rows
    assert verify(tmp_path / "other.sqlite").problems == ()


def test_a_cache_file_can_be_imported(path, tmp_path):
    assert import_entries(tmp_path / "other.sqlite", path).new == 4


def test_invalid_rows_of_an_export_are_reported_by_line_and_the_others_imported(path, tmp_path):
    good = next(iter(export_entries(path)))
    rows = [good | {"schemaVersion": 7}, good | {"kind": "song"}, good | {"value": {"text": 5}}, good, {"x": 1}]
    exported = tmp_path / "export.jsonl"
    exported.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

    imported = import_entries(tmp_path / "other.sqlite", exported)

    assert imported.new == 1
    assert [problem.split(": ")[0].rpartition(":")[2] for problem in imported.problems] == ["1", "2", "3", "5"]


def test_verify_finds_a_changed_value(path):
    connection = sqlite3.connect(path)
    connection.execute("UPDATE entries SET value = replace(value, 'fine', 'fire') WHERE key = 'three'")
    connection.commit()
    connection.close()

    assert verify(path).problems == ("entry three: checksum mismatch",)


def test_importing_a_missing_or_unreadable_file_is_an_error(tmp_path):
    with pytest.raises(DataError, match="does not exist"):
        import_entries(tmp_path / "c.sqlite", tmp_path / "absent")
    with pytest.raises(DataError, match="not UTF-8"):
        (tmp_path / "latin.jsonl").write_bytes(b'{"a": "\xe9"}\n')
        import_entries(tmp_path / "c.sqlite", tmp_path / "latin.jsonl")


def test_a_truncated_line_is_skipped_alone(path, tmp_path):
    exported = tmp_path / "export.jsonl"
    rows = [json.dumps(row) for row in export_entries(path)]
    exported.write_text("\n".join([*rows[:2], rows[2][:30], rows[3]]), encoding="utf-8")

    imported = import_entries(tmp_path / "other.sqlite", exported)

    assert imported.new == 3
    assert len(imported.problems) == 1
    assert "export.jsonl:3: is not JSON" in imported.problems[0]


@pytest.mark.parametrize("value", ["not json", b"\x00\x01", b'{"text":"\xff","model":"m"}', '{"text":"y","model":"b"}'])
def test_an_invalid_row_is_skipped_alone(path, tmp_path, value, capsys):
    connection = sqlite3.connect(path)
    connection.execute("UPDATE entries SET value = ? WHERE key = 'two'", (value,))
    connection.commit()
    connection.close()

    problems = []
    assert {row["key"] for row in export_entries(path, problems)} == {"one", "three", "old"}
    assert len(problems) == len(verify(path).problems) == 1
    assert main(["cache", "verify", "--cache", str(path)]) == 2
    assert main(["cache", "export", "--cache", str(path)]) == 0
    assert "skipped entry two" in capsys.readouterr().err
    assert import_entries(tmp_path / "other.sqlite", path).new == 3
    with JudgeCache(path) as cache, pytest.warns(UserWarning, match="entry two cannot be read"):
        assert cache.get_reply("two") is None
    with JudgeCache(path) as cache:
        assert cache.get_reply("one") is not None


def test_the_commands_call_the_functions(path, tmp_path, capsys):
    cache = ["--cache", str(path)]
    assert main(["cache", "stats", *cache]) == 0
    assert "4 entries" in capsys.readouterr().out
    assert main(["cache", "stats", *cache, "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["entries"] == 4
    assert main(["cache", "export", *cache]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 4
    assert main(["cache", "export", *cache, "--output", str(tmp_path / "e.jsonl")]) == 0
    assert main(["cache", "import", str(tmp_path / "e.jsonl"), "--cache", str(tmp_path / "new.sqlite")]) == 0
    assert "4 new, 0 already known, 0 skipped" in capsys.readouterr().out
    assert main(["cache", "prune", *cache, "--older-than", "52w", "--dry-run"]) == 0
    assert "1 entries would be dropped" in capsys.readouterr().out
    assert main(["cache", "prune", *cache, "--older-than", "52w"]) == 0
    assert main(["cache", "verify", *cache]) == 0
    assert "3 entries checked, no problems" in capsys.readouterr().out


def test_the_commands_report_errors_and_exit_with_two(tmp_path, in_folder, capsys):
    assert main(["cache", "stats"]) == 2
    assert (
        capsys.readouterr().err
        == "polyjudge: .polyjudge/cache.sqlite: no such cache; run a command that judges first, or give another path\n"
    )
    assert main(["cache", "stats", "--cache", str(tmp_path)]) == 2
    assert "is a folder" in capsys.readouterr().err
    damaged = tmp_path / "damaged.sqlite"
    damaged.write_bytes(b"no database")
    for action in ("stats", "verify", "export"):
        assert main(["cache", action, "--cache", str(damaged)]) == 2
        captured = capsys.readouterr()
        assert "file is not a database" in captured.out + captured.err
    assert damaged.read_bytes() == b"no database"
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"schemaVersion": 3}\n', encoding="utf-8")
    assert main(["cache", "import", str(bad)]) == 2
    assert "skipped" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        ["cache"],
        ["cache", "stat"],
        ["cache", "prune", "--older-than", "soon"],
        ["cache", "prune", "--older-than", "999999w"],
    ],
)
def test_wrong_usage_exits_with_two(arguments, capsys):
    with pytest.raises(SystemExit) as exited:
        main(["cache", *arguments])
    assert exited.value.code == 2
    assert "polyjudge cache" in capsys.readouterr().err


def test_the_command_line_shows_how_to_import_replies_that_are_not_shared(capsys):
    error = UnsharedRepliesError("db: gave up", fallback=Path("my cache.sqlite"), cache="postgresql://db:5432/polls")
    with warnings.catch_warnings():
        main(["--version"])  # installs the command line's own way to show warnings
        warnings.simplefilter("always")
        warnings.warn(CacheWarning(error), stacklevel=1)

    hint = "Run: polyjudge cache import 'my cache.sqlite' --cache postgresql://db:5432/polls"
    assert capsys.readouterr().err == f"polyjudge: warning: db: gave up {hint}\n"
