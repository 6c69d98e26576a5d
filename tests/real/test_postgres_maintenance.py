"""Maintenance of a PostgreSQL cache, and the commands that use one."""

import asyncio
import json
import os
import subprocess
import sys
import threading
import time

import pytest
from tests.cache.test_maintenance import PRUNED

from polyjudge.cache.maintenance import export_entries, import_entries, prune, statistics_of, verify
from polyjudge.cache.protocol import cache_at, open_cache
from polyjudge.cache.sqlite import JudgeCache
from polyjudge.cli import main
from polyjudge.errors import CacheError, DataError
from polyjudge.folder_trust import trust
from polyjudge.records.outcomes import JudgeResult
from polyjudge.records.requests import Reply

UNREACHABLE_URL = "postgresql://me:geheim@127.0.0.1:1/polls"


@pytest.fixture(autouse=True)
def _no_other_servers(monkeypatch):
    for name in list(os.environ):
        if name.startswith("PG"):
            monkeypatch.delenv(name)


@pytest.fixture
def url(postgres, tmp_path):
    url = postgres.new_database()

    async def put_all():
        cache = await open_cache(url)
        await cache.put("one", Reply(text="أهلا", model="a"), provider="anthropic")
        await cache.put("two", Reply(text="สวัสดี", model="b"), provider="local")
        await cache.put("old", Reply(text="x", model="b"), provider="local")
        await cache.aclose()

    asyncio.run(put_all())
    with JudgeCache(tmp_path / "results.sqlite") as results:
        results.put("three", JudgeResult(5.0, "fine", model="b"))
    import_entries(url, tmp_path / "results.sqlite")
    postgres.run("update polyjudge_entries set created_at = '2020-01-01T00:00:00.000Z' where key = 'old'", url)
    return url


def test_the_entries_are_counted_by_kind_provider_and_model(url):
    stats = statistics_of(url)

    assert (stats.entries, stats.oldest) == (4, "2020-01-01T00:00:00.000Z")
    assert stats.bytes_on_disk > 0
    assert {row[:4] for row in stats.by_model} == {
        ("reply", "anthropic", "a", 1), ("reply", "local", "b", 2), ("result", "", "b", 1),
    }  # fmt: skip


@pytest.mark.parametrize(("options", "remaining"), PRUNED)
def test_pruning_deletes_the_entries_that_match_all_filters(url, options, remaining):
    matching = prune(url, **options, dry_run=True)
    assert statistics_of(url).entries == 4

    assert prune(url, **options) == matching
    assert {row["key"] for row in export_entries(url)} == remaining


def test_pruning_without_a_filter_is_an_error(url):
    with pytest.raises(CacheError, match="nothing selected"):
        prune(url)


def test_an_imported_export_is_the_same_cache(postgres, url, tmp_path):
    exported, other = tmp_path / "export.jsonl", postgres.new_database()
    rows = list(export_entries(url))
    exported.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

    first, again = import_entries(other, exported), import_entries(other, exported)
    import_entries(tmp_path / "file.sqlite", exported)

    assert rows[0]["key"] == "old"
    assert (first.new, first.known) == (4, 0)
    assert (again.new, again.known) == (0, 4)
    assert list(export_entries(other)) == rows
    assert list(export_entries(tmp_path / "file.sqlite")) == rows
    assert verify(other).problems == ()


def test_importing_a_cache_file_does_not_change_existing_entries(url, tmp_path):
    with JudgeCache(tmp_path / "local.sqlite") as local:
        local.put_reply("one", Reply(text="another answer", model="a"))
        local.put_reply("new \0", Reply(text="paid for", model="a"))

    imported = import_entries(url, tmp_path / "local.sqlite")

    assert (imported.new, imported.known, imported.problems) == (1, 1, ())

    async def get_both():
        cache = cache_at(url)
        return await asyncio.gather(cache.get("one"), cache.get("new \0"))

    assert [reply.text for reply in asyncio.run(get_both())] == ["أهلا", "paid for"]


def test_many_entries_are_imported_in_parts_and_of_duplicates_the_first_is_used(postgres, tmp_path):
    url, source = postgres.new_database(), tmp_path / "export.jsonl"
    row = {"schemaVersion": 1, "kind": "reply", "provider": "p", "model": "m", "createdAt": "2026"}
    values = [{"key": f"key-{number % 1200}", "value": {"text": str(number), "model": "m"}} for number in range(1300)]
    source.write_text("".join(json.dumps(row | each) + "\n" for each in [values[0], *values]), encoding="utf-8")

    imported = import_entries(url, source)

    assert (imported.new, imported.known) == (1200, 101)
    assert {each["key"]: each["value"]["text"] for each in export_entries(url)} == {
        f"key-{number}": str(number) for number in range(1200)
    }
    assert verify(url).entries == 1200


def test_a_changed_value_and_an_invalid_name_are_found_and_skipped_alone(postgres, url):
    postgres.run("update polyjudge_entries set value = replace(value, 'fine', 'fire') where key = 'three'", url)
    postgres.run(r"update polyjudge_entries set model = '\x' where key = 'two'", url)

    problems: list[str] = []

    assert {row["key"] for row in export_entries(url, problems)} == {"one", "old"}
    assert len(problems) == 2
    assert "entry three: checksum mismatch" in verify(url).problems
    assert statistics_of(url).entries == 4


def test_maintenance_of_a_missing_cache_is_an_error_and_creates_nothing(postgres):
    empty = postgres.new_database()

    for look in (statistics_of, verify, lambda url: list(export_entries(url)), lambda url: prune(url, model="m")):
        with pytest.raises(CacheError, match="the database has no cache yet; run a command that judges with"):
            look(empty)
    assert postgres.run("select count(*) from pg_tables where tablename like 'polyjudge%'", empty) == "0"


def test_a_missing_import_and_an_unreachable_server_are_errors(url, tmp_path):
    with pytest.raises(DataError, match="does not exist"):
        import_entries(url, tmp_path / "absent")
    with pytest.raises(CacheError, match=r"^postgresql://me@127\.0\.0\.1:1/polls: connection refused"):
        statistics_of(UNREACHABLE_URL)


def test_the_commands_call_the_functions(url, tmp_path, in_folder, capsys):
    login = url.replace("postgres@", "postgres:geheim@")
    cache = ["--cache", login]
    assert main(["cache", "stats", *cache]) == 0
    assert f"{url}: 4 entries" in capsys.readouterr().out
    assert main(["cache", "stats", *cache, "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["entries"] == 4
    assert main(["cache", "export", *cache, "--output", str(tmp_path / "e.jsonl")]) == 0
    assert main(["cache", "prune", *cache, "--older-than", "52w"]) == 0
    assert main(["cache", "import", str(tmp_path / "e.jsonl"), *cache]) == 0
    assert "1 new, 3 already known, 0 skipped" in capsys.readouterr().out
    assert main(["cache", "verify", *cache]) == 0
    printed = capsys.readouterr()
    assert f"{url}: 4 entries checked, no problems" in printed.out
    assert "geheim" not in printed.out + printed.err


def test_the_commands_report_errors_without_the_password(in_folder, capsys):
    source = in_folder / "e.jsonl"
    source.write_text("", encoding="utf-8")
    for arguments in (["stats"], ["verify"], ["export"], ["prune", "--model", "m"], ["import", str(source)]):
        assert main(["cache", *arguments, "--cache", UNREACHABLE_URL]) == 2
        assert capsys.readouterr().err.startswith("polyjudge: postgresql://me@127.0.0.1:1/polls: connection refused")
    assert main(["cache", "import", UNREACHABLE_URL]) == 2
    assert (
        capsys.readouterr().err
        == "polyjudge: Only files can be imported, not URLs. Export the other cache first: polyjudge cache export "
        "--cache URL --output FILE\n"
    )


# Judging with a shared cache


@pytest.fixture
def score(in_folder, server, monkeypatch, postgres):
    monkeypatch.setenv("LOCAL_OPENAI_BASE_URL", f"{server.url}/v1")
    rows = ({"id": f"i{number}", "candidate": f"item-{number}"} for number in range(40))
    (in_folder / "items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

    def run(cache: str, *options: str) -> int:
        judging = ["--rubric", "general", "--judge", "local/m", "--cache", cache, "--output", "r.jsonl"]
        return main(["score", "items.jsonl", *judging, *options])

    return run


def test_a_second_run_asks_nothing(postgres, score, server, capsys):
    url = postgres.new_database()

    assert score(url, "--dry-run") == 0
    assert "calls:    40, and 0 replies from the cache" in capsys.readouterr().out
    assert score(url) == 0
    assert len(server.delivered) == 40
    assert score(url, "--dry-run") == 0
    assert "calls:    0, and 40 replies from the cache" in capsys.readouterr().out
    assert score(url) == 0
    assert score(url, "--reread") == 0
    assert set(server.delivered.values()) == {1}
    assert score(url, "--refresh") == 0
    assert set(server.delivered.values()) == {2}
    assert statistics_of(url).entries == 40


def test_concurrent_processes_pay_for_each_item_once(postgres, score, server, in_folder):
    url = postgres.new_database()
    judging = ["--rubric", "general", "--judge", "local/m", "--cache", url]
    command = [sys.executable, "-m", "polyjudge", "score", "items.jsonl", *judging, "--output"]

    machines = [subprocess.Popen([*command, f"r{number}.jsonl"], stderr=subprocess.DEVNULL) for number in range(3)]

    assert [machine.wait(timeout=120) for machine in machines] == [0, 0, 0]
    assert len(server.delivered) == 40
    assert set(server.delivered.values()) == {1}


def test_without_the_server_nothing_is_asked(score, server, capsys):
    assert score(UNREACHABLE_URL) == 2

    assert capsys.readouterr().err == (
        "polyjudge: postgresql://me@127.0.0.1:1/polls: connection refused; start PostgreSQL, or check host and port\n"
    )
    assert server.delivered == {}


def test_a_run_with_a_local_cache_reports_the_command_that_imports_it(score, server, capsys, in_folder):
    assert score(UNREACHABLE_URL, "--local-cache", "here.sqlite") == 0

    message = capsys.readouterr().err
    assert "warning: postgresql://me@127.0.0.1:1/polls: connection refused" in message
    assert "polyjudge cache import here.sqlite --cache postgresql://me@127.0.0.1:1/polls\n" in message
    assert "geheim" not in message
    assert statistics_of(in_folder / "here.sqlite").entries == 40


def test_the_local_cache_does_not_replace_a_wrong_url(postgres, score, server, capsys):
    assert score(postgres.url("no_such_database"), "--local-cache", "here.sqlite") == 2
    assert score("postgresql://me:geh@eim@127.0.0.1/db", "--local-cache", "here.sqlite") == 2

    message = capsys.readouterr().err
    assert "database does not exist" in message
    assert "%40 for @" in message
    assert "eim" not in message
    assert server.delivered == {}


def test_the_password_of_a_cache_in_the_project_file_is_never_shown(score, in_folder, capsys):
    settings = in_folder / "polyjudge.toml"
    command = ["score", "items.jsonl", "--rubric", "general", "--judge", "local/m"]
    for line in (
        f'cache = "{UNREACHABLE_URL}"',
        f'cache = [["{UNREACHABLE_URL}"]]',
        f'cache = ["{UNREACHABLE_URL}", "{UNREACHABLE_URL}"]',
        f'cache = "{UNREACHABLE_URL}',
    ):
        settings.write_text(f"{line}\n", encoding="utf-8")
        trust(in_folder)
        assert main(command) == 2
        assert "geheim" not in capsys.readouterr().err
    settings.write_text(f'cache = "{UNREACHABLE_URL}"\n', encoding="utf-8")
    for shown in (["score", "--help"], ["cache", "stats", "--help"]):
        with pytest.raises(SystemExit):
            main(shown)
        assert "geheim" not in capsys.readouterr().out


def test_a_restart_of_the_server_during_a_run_changes_nothing(postgres, score, server, in_folder):
    url = postgres.new_database()
    server.faults.latency_s = 0.05

    def restart():
        while len(server.delivered) < 10:
            time.sleep(0.005)
        postgres.restart()

    thread = threading.Thread(target=restart)
    thread.start()
    assert score(url, "--concurrency", "4") == 0
    thread.join()

    assert len(server.delivered) == 40
    assert set(server.delivered.values()) == {1}
    assert statistics_of(url).entries == 40
