"""A cache file that is damaged, locked, read-only, on a full disk, or whose writer was killed."""

import ctypes
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from polyjudge.cache.maintenance import import_entries, verify
from polyjudge.cache.sqlite import JudgeCache
from polyjudge.errors import CacheError
from polyjudge.records.outcomes import JudgeResult


def filled(path: Path, count: int = 200) -> Path:
    with JudgeCache(path) as cache:
        for number in range(count):
            cache.put(f"key-{number}", JudgeResult(float(number), "x" * 200))
    return path


def quarantined_files(path: Path) -> list[Path]:
    return [file for file in path.parent.glob(f"{path.name}.damaged-*") if not file.name.endswith(("-wal", "-shm"))]


@pytest.mark.parametrize(
    "content", [b"this is not a database", os.urandom(8192), b"SQLite format 3\x00" + b"\x00" * 4000]
)
def test_a_file_that_is_not_a_database_is_quarantined_with_a_warning(tmp_path, content):
    path = tmp_path / "c.sqlite"
    path.write_bytes(content)

    with pytest.warns(UserWarning, match="was damaged and is quarantined"):
        cache = JudgeCache(path)
    cache.put("key", JudgeResult(1.0, ""))

    assert cache.get("key") is not None
    [quarantined_file] = quarantined_files(path)
    assert quarantined_file.read_bytes() == content
    cache.close()


def test_a_file_found_damaged_later_is_quarantined_and_most_entries_can_be_imported(tmp_path):
    path = filled(tmp_path / "c.sqlite")
    damaged = bytearray(path.read_bytes())
    damaged[5 * 4096 : 7 * 4096] = os.urandom(2 * 4096)
    path.write_bytes(damaged)

    with pytest.warns(UserWarning, match="is quarantined"), JudgeCache(path) as cache:
        for number in range(200):
            cache.get(f"key-{number}")
        cache.put("new", JudgeResult(1.0, ""))
        assert cache.get("new") is not None

    [quarantined_file] = quarantined_files(path)
    imported = import_entries(path, quarantined_file)
    assert imported.new > 100
    assert imported.problems
    assert verify(path).problems == ()


def test_damage_found_during_a_write_does_not_lose_the_written_entries(tmp_path):
    path = filled(tmp_path / "c.sqlite")
    damaged = bytearray(path.read_bytes())
    damaged[4096:] = os.urandom(len(damaged) - 4096)
    path.write_bytes(damaged)

    with pytest.warns(UserWarning, match="is quarantined"), JudgeCache(path) as cache:
        for number in range(20):
            cache.put(f"new-{number}", JudgeResult(1.0, ""))
        assert all(cache.get(f"new-{number}") for number in range(20))


def test_the_replacement_of_a_damaged_file_is_not_quarantined(tmp_path):
    path = filled(tmp_path / "c.sqlite")
    damaged = bytearray(path.read_bytes())
    damaged[4096:] = os.urandom(len(damaged) - 4096)
    path.write_bytes(damaged)
    with pytest.warns(UserWarning, match="is quarantined"), JudgeCache(path) as first:
        second = JudgeCache(path)  # both have the damaged file open
        first.put("by the first", JudgeResult(1.0, ""))
        second.put("by the second", JudgeResult(2.0, ""))
        assert first.get("by the second") is not None
        assert second.get("by the first") is not None
        second.close()

    assert len(quarantined_files(path)) == 1


def test_a_replay_works_while_another_cache_writes(tmp_path):
    path = filled(tmp_path / "c.sqlite", 5)
    with JudgeCache(path, read_only=True) as replay:
        assert replay.get("key-0") is not None
        with JudgeCache(path) as writer:
            for number in range(300):
                writer.put(f"new-{number}", JudgeResult(1.0, "x" * 500))
        assert replay.get("new-299") is not None
        assert replay.get("key-4") is not None


def test_a_locked_file_is_an_error(tmp_path):
    path = filled(tmp_path / "c.sqlite", 1)
    other = sqlite3.connect(path, isolation_level=None)
    cache = JudgeCache(path, busy_timeout_s=0.05)
    other.execute("BEGIN IMMEDIATE")

    with pytest.raises(CacheError, match=r"c\.sqlite: the cache is locked by another program"):
        cache.put("key", JudgeResult(1.0, ""))
    assert cache.get("key-0") is not None

    other.execute("ROLLBACK")
    other.close()
    cache.put("key", JudgeResult(1.0, ""))
    cache.close()


def test_another_programs_database_is_not_changed(tmp_path):
    path = tmp_path / "theirs.sqlite"
    theirs = sqlite3.connect(path)
    theirs.execute("CREATE TABLE important (x)")
    theirs.commit()
    theirs.close()

    with pytest.raises(CacheError, match="database of another program"):
        JudgeCache(path)
    assert quarantined_files(path) == []


def test_a_cache_of_a_newer_polyjudge_is_not_changed(tmp_path):
    path = filled(tmp_path / "c.sqlite", 1)
    newer = sqlite3.connect(path)
    newer.execute("PRAGMA user_version = 99")
    newer.close()

    with pytest.raises(CacheError, match="newer polyjudge"):
        JudgeCache(path)


def test_a_folder_is_not_a_cache(tmp_path):
    with pytest.raises(CacheError, match="is a folder"):
        JudgeCache(tmp_path)
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(CacheError, match="cannot be created"):
        JudgeCache(tmp_path / "file" / "c.sqlite")


def without_root_permissions() -> None:
    """Make root obey file permissions."""
    libc = ctypes.CDLL(None)
    for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
        libc.prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP


READ_ONLY = """
import sys
from polyjudge import JudgeCache
from polyjudge.errors import CacheError
with JudgeCache(sys.argv[1], read_only=True) as replay:
    assert replay.get("key-0") is not None
try:
    JudgeCache(sys.argv[1])
except CacheError as error:
    print(error)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="drops root's capabilities in the Linux way")
def test_a_read_only_file_can_be_replayed_but_not_written(tmp_path):
    path = filled(tmp_path / "locked" / "c.sqlite", 1)
    path.chmod(0o444)
    path.parent.chmod(0o555)

    done = subprocess.run(
        [sys.executable, "-c", READ_ONLY, str(path)],
        preexec_fn=without_root_permissions if os.geteuid() == 0 else None,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    path.parent.chmod(0o755)

    assert done.returncode == 0, done.stderr
    assert "cannot be written" in done.stdout


FULL_DISK = """
import resource, sys
from polyjudge import JudgeCache, JudgeResult
from polyjudge.errors import CacheError
cache = JudgeCache(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, resource.RLIM_INFINITY))
stored = 0
try:
    while True:
        cache.put(f"key-{stored}", JudgeResult(1.0, "x" * 1000))
        stored += 1
except CacheError as error:
    print(error)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
assert stored > 20, stored
assert all(cache.get(f"key-{number}") for number in range(stored))
cache.put("afterwards", JudgeResult(1.0, "there is room again"))
assert cache.get("afterwards") is not None
cache.close()
print(stored)
"""


def test_a_full_disk_is_an_error_and_stored_entries_are_safe(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(tmp_path / "c.sqlite")], capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stderr
    assert "Stored replies are safe" in done.stdout
    assert verify(tmp_path / "c.sqlite").problems == ()


KEEP_PUTTING = """
import asyncio, sys
from polyjudge import JudgeCache, Reply
from polyjudge.providers.caching import once

async def main(path, name):
    cache = JudgeCache(path)
    async def one(number):
        async def ask():
            return Reply(text="x" * 500, model="m")
        await once(cache.replies, f"{name}-{number}", ask)
        sys.stdout.write(f"{name}-{number}\\n")
        sys.stdout.flush()
    start = 0
    while True:
        await asyncio.gather(*(one(number) for number in range(start, start + 8)))
        start += 8

asyncio.run(main(*sys.argv[1:]))
"""


@pytest.mark.slow
def test_fifty_kills_lose_no_acknowledged_entry(tmp_path):
    path = tmp_path / "c.sqlite"
    seeded = random.Random(7)
    acknowledged: list[str] = []
    for kill in range(50):
        log = tmp_path / f"log-{kill}"
        with log.open("w", encoding="utf-8") as file:
            process = subprocess.Popen([sys.executable, "-c", KEEP_PUTTING, str(path), str(kill)], stdout=file)
            while log.stat().st_size == 0:
                time.sleep(0.005)
            time.sleep(seeded.uniform(0, 0.05))
            process.send_signal(signal.SIGKILL)
            process.wait()
        # The last line may be half written: the pipe is not the cache.
        acknowledged += [
            line.strip() for line in log.read_text(encoding="utf-8").splitlines(keepends=True) if line.endswith("\n")
        ]

    with JudgeCache(path) as cache:
        lost = [key for key in acknowledged if cache.get_reply(key) is None]

    assert len(acknowledged) >= 400
    assert lost == []
    assert verify(path).problems == ()
    assert quarantined_files(path) == []
