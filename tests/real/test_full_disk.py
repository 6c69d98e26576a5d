"""A full disk: a small file system that another file fills."""

import subprocess
import sys

import pytest

from polyjudge.cache.maintenance import verify

FILL = """
import sys
from pathlib import Path
from polyjudge import JudgeCache, JudgeResult
from polyjudge.errors import CacheError
folder = Path(sys.argv[1])
cache = JudgeCache(folder / "c.sqlite")
cache.put("first", JudgeResult(1.0, "stored"))
ballast = (folder / "ballast").open("wb", buffering=0)
try:
    while True:
        ballast.write(b"x" * 4096)
except OSError:
    pass
stored = 0
try:
    while True:
        cache.put(f"key-{stored}", JudgeResult(1.0, "x" * 2000))
        stored += 1
except CacheError as error:
    print(error)
ballast.close()
(folder / "ballast").unlink()
assert all(cache.get(key) for key in ["first", *(f"key-{number}" for number in range(stored))])
cache.put("afterwards", JudgeResult(1.0, "there is room again"))
cache.close()
"""


@pytest.fixture
def small_disk(tmp_path):
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(tmp_path)], capture_output=True, text=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"a small file system cannot be mounted here: {mounted.stderr.strip()}")
    yield tmp_path
    subprocess.run(["umount", "-l", str(tmp_path)], check=True)


def test_a_full_disk_is_an_error_and_the_cache_works_once_there_is_room(small_disk):
    done = subprocess.run([sys.executable, "-c", FILL, str(small_disk)], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    assert "disk is full" in done.stdout
    assert "Stored replies are safe" in done.stdout
    assert verify(small_disk / "c.sqlite").problems == ()
