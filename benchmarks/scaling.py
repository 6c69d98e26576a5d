"""The cost of `polyjudge score` for few and many items, with a slow server, when repeated, and for the first item."""

import sys
import tempfile
from pathlib import Path

from benchmarks.measuring import AT_ONCE, Cost, Server, bare_cost, cost_of, score_cost, show, write_items

COUNTS = (2_000, 20_000, 200_000)
LATENCY_S = 0.05
SLOW_COUNTS = (2_000, 20_000)
CACHED_COUNT = 100_000
STARTS = 7
JUDGE = "local/m"


def run() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with Server() as url:
            _cold(folder, url)
            _sizes(folder, url)
            _again(folder, url)
        with Server(LATENCY_S) as url:
            _slow(folder, url)


def _cold(folder: Path, url: str) -> None:
    print(f"cold start: CPU and time, least of {STARTS}")
    one = write_items(folder, 1)
    for name, arguments in {
        "python -c pass": ["-c", "pass"],
        "import polyjudge": ["-c", "import polyjudge"],
        "polyjudge --help": ["-m", "polyjudge", "--help"],
    }.items():
        _show_start(name, [cost_of([sys.executable, *arguments], {}, folder) for _ in range(STARTS)])
    _show_start("bare aiohttp, first item", [bare_cost("aiohttp", one, url) for _ in range(STARTS)])
    _show_start("polyjudge local, first item", [score_cost(folder, JUDGE, one, url) for _ in range(STARTS)])


def _show_start(name: str, costs: list[Cost]) -> None:
    cpu, wall = min(cost.cpu_s for cost in costs), min(cost.wall_s for cost in costs)
    print(f"  {name:34} {cpu * 1000:5.0f} ms CPU, {wall * 1000:5.0f} ms", flush=True)


def _sizes(folder: Path, url: str) -> None:
    print(f"size: {AT_ONCE} in flight, a server without latency, start-up included")
    for count in COUNTS:
        items = write_items(folder, count)
        alone = bare_cost("aiohttp", items, url)
        show(f"bare aiohttp, {count:,} items", alone, count)
        ours = score_cost(folder, JUDGE, items, url, cache="largest.sqlite" if count == COUNTS[-1] else "")
        show(f"polyjudge local, {count:,} items", ours, count, beside=alone)


def _again(folder: Path, url: str) -> None:
    print("again: every answer from the cache that the largest run has filled")
    items = write_items(folder, CACHED_COUNT)
    show(
        f"polyjudge local, {CACHED_COUNT:,} items",
        score_cost(folder, JUDGE, items, url, "largest.sqlite"),
        CACHED_COUNT,
    )


def _slow(folder: Path, url: str) -> None:
    print(f"wall: {AT_ONCE} in flight, every answer after {LATENCY_S * 1000:.0f} ms, start-up included")
    for count in SLOW_COUNTS:
        items, ideal = write_items(folder, count), count * LATENCY_S / AT_ONCE
        costs = {
            "bare aiohttp": bare_cost("aiohttp", items, url),
            "polyjudge local": score_cost(folder, JUDGE, items, url),
        }
        for name, cost in costs.items():
            beside = f"{cost.wall_s / ideal:5.2f} x the ideal {ideal:.2f} s"
            print(f"  {name + f', {count:,} items':34} {cost.wall_s:6.2f} s, {beside}", flush=True)
