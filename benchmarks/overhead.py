"""What `polyjudge score` adds to a call, with everything on, beside the bare client in the same run."""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent
ITEMS = 2_000
ROUNDS = 5
PAIRS = [
    ("aiohttp", "local/m"),
    ("openai", "openai/gpt-5"),
    ("anthropic", "anthropic/claude-sonnet-4-6"),
    ("google", "google/gemini-2.5-pro"),
]


def run() -> None:
    print(f"overhead: {ITEMS:,} items, 64 in flight, a server without latency; CPU with start-up, least of {ROUNDS}")
    with tempfile.TemporaryDirectory() as name, _Server() as url:
        folder = Path(name)
        items = _write(folder, ITEMS)
        for bare, judge in PAIRS:
            # In turns, so that a noisy moment of the machine meets both.
            pairs = [(_bare(bare, items, url), _score(folder, judge, items, url)) for _ in range(ROUNDS)]
            alone, ours = map(min, zip(*pairs, strict=True))
            _show(f"bare {bare}", alone, ITEMS)
            _show(f"polyjudge {judge.split('/')[0]}", ours, ITEMS, beside=alone)
        for count in (2_000, 20_000):
            many = _write(folder, count)
            _show(f"polyjudge local, {count:,} items", _score(folder, "local/m", many, url), count)
        again = _score(folder, "local/m", many, url, cache="kept.sqlite")
        _show("  the same, cache being filled", again, count)
        _show("  all answers from the cache", _score(folder, "local/m", many, url, cache="kept.sqlite"), count)


class _Server:
    def __enter__(self) -> str:
        command = [sys.executable, "-m", "tests.loopback.vendor_server"]
        self._process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        return f"http://127.0.0.1:{self._process.stdout.readline().strip()}"

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()


Cost = tuple[float, float, float]
"""CPU seconds, seconds, megabytes."""


def _write(folder: Path, count: int) -> Path:
    path = folder / f"items-{count}.jsonl"
    rows = (
        {"id": str(number), "candidate": f"item-{number} " + "text " * 40, "source": "text"} for number in range(count)
    )
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def _bare(client: str, items: Path, url: str) -> Cost:
    return _cost([sys.executable, "-m", "benchmarks.bare_clients", client, str(items), url], {}, ROOT)


def _score(folder: Path, judge: str, items: Path, url: str, cache: str = "") -> Cost:
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
    options = ["--rubric", "general", "--judge", judge, "--concurrency", "64"]
    command = [sys.executable, "-m", "polyjudge", "score", str(items), *options]
    return _cost([*command, "--output", str(folder / "r.jsonl"), "--cache", str(kept)], environment, folder)


def _cost(command: list[str], environment: dict[str, str], folder: Path) -> Cost:
    begun = time.perf_counter()
    process = subprocess.Popen(command, env={**os.environ, **environment}, cwd=folder, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0, command
    process.returncode = 0
    return usage.ru_utime + usage.ru_stime, time.perf_counter() - begun, usage.ru_maxrss / 1024


def _show(name: str, cost: Cost, count: int, beside: Cost | None = None) -> None:
    cpu, wall, memory = cost
    ratio = f" {cpu / beside[0]:5.2f} x" if beside else ""
    print(f"  {name:34} {cpu / count * 1000:6.3f} s CPU per 1,000, {wall:5.1f} s, {memory:4.0f} MB{ratio}")
