"""The shared part of the measurements: a server on loopback, items, and a program's CPU, time and memory."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, NamedTuple

ROOT = Path(__file__).parent.parent
AT_ONCE = 64


class Cost(NamedTuple):
    """The cost of a program with its child processes; the memory is that of the largest process."""

    cpu_s: float
    wall_s: float
    memory_mb: float


class FailedRun(Exception):  # noqa: N818 - it ends a row of a table, not the run
    """A measured program failed."""


class Server:
    """Runs a server module, which prints its port, in a process of its own, and yields its address."""

    def __init__(self, latency_s: float = 0.0, module: str = "tests.loopback.vendor_server") -> None:
        self._command = [sys.executable, "-m", module, str(latency_s)]

    def __enter__(self) -> str:
        self._process = subprocess.Popen(self._command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        return f"http://127.0.0.1:{self._process.stdout.readline().strip()}"

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()


def write_items(folder: Path, count: int) -> Path:
    path = folder / f"items-{count}.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for number in range(count):
            row = {"id": str(number), "candidate": f"item-{number} " + "text " * 40, "source": "text"}
            file.write(json.dumps(row) + "\n")
    return path


def bare_cost(client: str, items: Path, url: str) -> Cost:
    return cost_of([sys.executable, "-m", "benchmarks.bare_clients", client, str(items), url], {}, ROOT)


def score_cost(folder: Path, judge: str, items: Path, url: str, cache: str = "") -> Cost:
    """Measure `polyjudge score` with everything on, with a new cache by default."""
    kept = folder / (cache or f"cache-{time.monotonic_ns()}.sqlite")
    environment = {
        "LOCAL_OPENAI_BASE_URL": f"{url}/v1",
        "POLYJUDGE_OPENAI_BASE_URL": f"{url}/v1",
        "ANTHROPIC_BASE_URL": url,
        "GOOGLE_GEMINI_BASE_URL": url,
        "OPENAI_API_KEY": "k",
        "ANTHROPIC_API_KEY": "k",
        "GOOGLE_GENAI_API_KEY": "k",
    }
    options = ["--rubric", "general", "--judge", judge, "--concurrency", str(AT_ONCE)]
    command = [sys.executable, "-m", "polyjudge", "score", str(items), *options]
    return cost_of([*command, "--output", str(folder / "r.jsonl"), "--cache", str(kept)], environment, folder)


def cost_of(
    command: Sequence[str],
    environment: Mapping[str, str],
    folder: Path,
    *,
    log: IO[str] | None = None,
    limit_s: float = 3600,
) -> Cost:
    """Run a program and return its cost; its stderr goes to the log, or is shown."""
    # Installed programs have bytecode files; without them a large package takes seconds to import.
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    started = time.perf_counter()
    process = subprocess.Popen(
        command,
        env={**inherited, **environment},
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=log,
        start_new_session=True,  # so that its children can be ended with it
    )
    guard = threading.Timer(limit_s, os.killpg, (process.pid, signal.SIGKILL))
    guard.start()
    try:
        _, status, usage = os.wait4(process.pid, 0)
    except KeyboardInterrupt:
        os.killpg(process.pid, signal.SIGKILL)
        raise
    finally:
        guard.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise FailedRun(f"{' '.join(command[:4])} … ended with {process.returncode}")
    return Cost(usage.ru_utime + usage.ru_stime, time.perf_counter() - started, usage.ru_maxrss / 1024)


def show(name: str, cost: Cost, count: int, beside: Cost | None = None) -> None:
    ratio = f" {cost.cpu_s / beside.cpu_s:5.2f} x" if beside else ""
    each = f"{cost.cpu_s / count * 1000:6.3f} s CPU per 1,000"
    print(f"  {name:34} {each}, {cost.wall_s:5.1f} s, {cost.memory_mb:4.0f} MB{ratio}", flush=True)
