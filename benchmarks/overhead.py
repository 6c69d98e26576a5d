"""The overhead of `polyjudge score` per call, with everything on, relative to the bare client in the same run."""

import tempfile
from pathlib import Path

from benchmarks.measuring import Server, bare_cost, score_cost, show, write_items

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
    with tempfile.TemporaryDirectory() as name, Server() as url:
        folder = Path(name)
        items = write_items(folder, ITEMS)
        for bare, judge in PAIRS:
            # In turns, so that noise of the machine affects both.
            pairs = [(bare_cost(bare, items, url), score_cost(folder, judge, items, url)) for _ in range(ROUNDS)]
            alone, ours = map(min, zip(*pairs, strict=True))
            show(f"bare {bare}", alone, ITEMS)
            show(f"polyjudge {judge.split('/')[0]}", ours, ITEMS, beside=alone)
        for count in (2_000, 20_000):
            many = write_items(folder, count)
            show(f"polyjudge local, {count:,} items", score_cost(folder, "local/m", many, url), count)
        again = score_cost(folder, "local/m", many, url, cache="kept.sqlite")
        show("  the same, cache being filled", again, count)
        show("  all answers from the cache", score_cost(folder, "local/m", many, url, cache="kept.sqlite"), count)
