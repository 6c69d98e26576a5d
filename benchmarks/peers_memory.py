"""What other frameworks take for 20,000 items, beside polyjudge and bare aiohttp: does memory grow with the items?

`python -m benchmarks peers` tells the same of 2,000. This takes some 20 minutes.
"""

import tempfile
from pathlib import Path

from benchmarks.measuring import FailedRun, Server, show
from benchmarks.peers import SERVER, Bench, all_ways

COUNT = 20_000
LEFT_OUT = ("openai", "anthropic", "google", "(local-model)")
"""One client and one provider stand for all, and the slowest way to use a framework is left out."""


def run() -> None:
    print(f"peers_memory: {COUNT:,} items, 64 in flight, a server without latency, start-up included")
    with tempfile.TemporaryDirectory() as name, Server(0.0, SERVER) as url:
        bench = Bench(Path(name))
        for way in all_ways():
            if way.name.endswith(LEFT_OUT) or way.trouble:
                continue
            try:
                show(way.name, way.cost(bench.work(way, COUNT, url)), COUNT)
            except FailedRun as error:
                print(f"  {way.name}: did not run: {error}", flush=True)
