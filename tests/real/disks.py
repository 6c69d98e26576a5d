"""Small file systems of their own, which can be full, or turn read-only under the hands of a run."""

import shutil
import subprocess
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest


@dataclass(frozen=True)
class Disk:
    """A file system on a folder."""

    path: Path

    def fill(self) -> None:
        """Leave no room."""
        with suppress(OSError), (self.path / "ballast").open("wb", buffering=0) as ballast:
            while True:
                ballast.write(b"x" * 4096)

    def make_room(self) -> None:
        """Take away what fills it, and make it larger."""
        (self.path / "ballast").unlink(missing_ok=True)
        _mount("-o", "remount,size=64m", str(self.path))

    def turn_read_only(self) -> None:
        """Do what the kernel does on finding an error: files that are open for writing do not hinder it."""
        _mount("-o", "remount,abort", str(self.path))


@contextmanager
def in_memory(path: Path, *options: str) -> Generator[Disk]:
    """Mount a file system in memory, such as one of `size=1m`."""
    with _mounted("-t", "tmpfs", "-o", ",".join(options), "tmpfs", str(path)):
        yield Disk(path)


@contextmanager
def on_a_device(path: Path, image: Path) -> Generator[Disk]:
    """Mount a file system of the kind that real disks have; one that was mounted before is mounted again."""
    if not image.exists():
        _make_file_system(image)
    with _mounted("-o", "loop", str(image), str(path)):
        shutil.rmtree(path / "lost+found", ignore_errors=True)
        yield Disk(path)


def _make_file_system(image: Path) -> None:
    with image.open("wb") as file:
        file.truncate(16 * 2**20)
    try:
        subprocess.run(["mkfs.ext4", "-q", str(image)], capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("mkfs.ext4 is needed to make a file system that can turn read-only")


@contextmanager
def _mounted(*arguments: str) -> Generator[None]:
    mounted = _mount(*arguments)
    if mounted.returncode:
        pytest.skip(f"a small file system cannot be mounted here: {mounted.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", arguments[-1]], check=True)


def _mount(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(["mount", *arguments], capture_output=True, text=True, check=False)
