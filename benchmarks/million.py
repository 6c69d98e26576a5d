"""The cost of a million items: judged, judged again from the cache, compared, reported. Half an hour, 3 GB of disk."""

import shutil
import sys
import tempfile
from pathlib import Path

from benchmarks.measuring import Server, cost_of, score_cost, show, write_items
from benchmarks.report import measured_report

COUNT = 1_000_000


def run() -> None:
    print(f"{COUNT:,} items, 64 in flight, a server without latency")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with Server() as url:
            items = write_items(folder, COUNT)
            show("score, nothing kept yet", score_cost(folder, "local/m", items, url, "kept.sqlite"), COUNT)
            shutil.copy(folder / "r.jsonl", folder / "before.jsonl")
            show("score, all from the cache", score_cost(folder, "local/m", items, url, "kept.sqlite"), COUNT)
        command = [sys.executable, "-m", "polyjudge", "compare", "before.jsonl", "r.jsonl"]
        show("compare the two", cost_of(command, {}, folder), COUNT)
        show("report", measured_report(folder, COUNT, "json"), COUNT)
