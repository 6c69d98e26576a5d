"""A real Ray cluster of the tests' own: two nodes on loopback, in a process that ends with its standard input."""

import json
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent


class RayNodes:
    """The cluster, as a command finds it that is given its address."""

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="pj-", dir="/tmp"))  # short, because sockets go there
        self.environment = {
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN": secrets.token_hex(16),
            "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # loopback alone
            "RAY_USAGE_STATS_ENABLED": "0",
        }
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.real.ray_nodes"],
            cwd=ROOT,
            env={**os.environ, **self.environment, "RAY_TMPDIR": str(self._folder)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert self._process.stdout is not None
        message = next(line for line in self._process.stdout if line.startswith("{"))
        self.address, self.second_node = json.loads(message).values()
        self.environment["RAY_ADDRESS"] = self.address

    def close(self) -> None:
        self._process.communicate(timeout=60)
        while self._folder.exists():  # the last processes may still be writing
            shutil.rmtree(self._folder, ignore_errors=True)
            time.sleep(0.1)


def working_on(prefix: str = "part-") -> list[int]:
    """Return the workers that are judging a shard right now."""
    found: list[int] = []
    for process in Path("/proc").iterdir():
        if process.name.isdecimal():
            try:
                title = (process / "cmdline").read_bytes()
            except OSError:  # it has ended meanwhile
                continue
            if title.startswith(f"ray::polyjudge {prefix}".encode()):
                found.append(int(process.name))
    return found


def parent_of(process: int) -> int:
    """Return who started a process."""
    return int(Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[1])


def _serve() -> None:
    from ray.cluster_utils import Cluster

    of_node = {"num_cpus": 2, "object_store_memory": 100 * 2**20, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args=of_node)
    try:
        second = cluster.add_node(**of_node)
        pid = second.all_processes["raylet"][0].process.pid
        sys.stdout.write(json.dumps({"address": cluster.address, "second": pid}) + "\n")
        sys.stdout.flush()
        sys.stdin.read()
    finally:
        cluster.shutdown()


if __name__ == "__main__":
    _serve()
