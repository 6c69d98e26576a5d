"""Memory of other frameworks, polyjudge and bare aiohttp for 20,000 and 200,000 items.

`python -m benchmarks peers` tells the same of 2,000. This takes hours; what would take too long at the larger number is
not asked to.
"""

import tempfile
from pathlib import Path

from benchmarks.measuring import FailedRun, Server, show
from benchmarks.peers import SERVER, Bench, Way, all_ways

COUNTS = (20_000, 200_000)
LIMIT_S = 3600
LEFT_OUT = ("openai", "anthropic", "google", "(local-model)")
"""One client and one provider represent all, and the slowest way to use a framework is left out."""


def run() -> None:
    print("peers_memory: 64 in flight, a server without latency, start-up included")
    with tempfile.TemporaryDirectory() as name, Server(0.0, SERVER) as url:
        bench = Bench(Path(name))
        ways = [way for way in all_ways() if not way.name.endswith(LEFT_OUT) and not way.trouble]
        for count in COUNTS:
            print(f"{count:,} items")
            ways = [way for way in ways if _shown(bench, way, count, url)]


def _shown(bench: Bench, way: Way, count: int, url: str) -> bool:
    """Measure one way to judge, and return whether ten times as many items are feasible."""
    try:
        cost = way.cost(bench.work(way, count, url, limit_s=LIMIT_S))
    except FailedRun as error:
        print(f"  {way.name}: did not run: {error}", flush=True)
        return False
    show(way.name, cost, count)
    return 10 * cost.wall_s < LIMIT_S
