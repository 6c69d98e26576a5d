"""All measures of agreement with 1,000 resamples over 100,000 pairs of scores, compared with a loop over scipy.

And the command over a million rows in 70 languages and 20,000 documents.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from benchmarks.measuring import Cost, cost_of

ITEMS, RESAMPLES, LOOPED = 100_000, 1_000, 3
ROWS = int(os.environ.get("POLYJUDGE_ROWS", "1000000"))
SCALES = ("labels from 1 to 5", "continuous scores", "continuous, 2,000 clusters")


def run() -> None:
    print(f"agreement: {ITEMS:,} pairs of scores, {RESAMPLES:,} resamples, all measures")
    for scale in SCALES:
        wall, cpu, memory = _measured(scale)
        print(f"  {scale:28} {wall:7.1f} s, {cpu:5.1f} s CPU, {memory:4.0f} MB")
    cost = _command()
    print(f"  the command, {ROWS:,} rows    {cost.wall_s:7.1f} s, {cost.cpu_s:5.1f} s CPU, {cost.memory_mb:4.0f} MB")
    if find_spec("scipy") is None:
        print("  scipy is not installed: no loop to stand beside")
        return
    for scale in SCALES[:2]:
        seconds = _loop(*_scores(scale))
        print(f"  {scale:28} {seconds:7.0f} s for Pearson, Spearman and Kendall alone in a loop over scipy")
    print(f"  (the loop is measured over {LOOPED} resamples and extrapolated)")


def _measured(scale: str) -> tuple[float, float, float]:
    """Return seconds, processor seconds and peak memory of a process of its own, start-up included."""
    started = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-m", "benchmarks.agreement", scale])
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return time.perf_counter() - started, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def _command() -> Cost:
    """Return the cost of `calibrate agreement` over rows with a score and a label from 0 to 100."""
    from polyjudge.languages.table import language_table

    tags = [language.tag for language in language_table()][:70]
    random = np.random.default_rng(1)
    judge = random.normal(size=ROWS)
    people = 0.7 * judge + 0.7 * random.normal(size=ROWS)
    scores, labels = (np.clip(np.round(70 + 15 * each), 0, 100).astype(int).tolist() for each in (judge, people))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.csv"
        with path.open("w", encoding="utf-8") as file:
            file.write("id,language,document,score,label\n")
            for place, (score, label) in enumerate(zip(scores, labels, strict=True)):
                file.write(f"{place},{tags[place % len(tags)]},d{place // 50},{score},{label}\n")
        command = [sys.executable, "-m", "polyjudge", "calibrate", "agreement", str(path)]
        return cost_of([*command, "--format", "json", "--output", "agreement.json"], {}, Path(folder))


def _scores(scale: str) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(1)
    judge = random.normal(size=ITEMS)
    people = 0.7 * judge + 0.7 * random.normal(size=ITEMS)
    if scale != SCALES[0]:
        return judge, people
    return np.clip(np.round(judge + 3), 1, 5), np.clip(np.round(people + 3), 1, 5)


def _loop(judge: np.ndarray, people: np.ndarray) -> float:
    from scipy import stats

    measures: list[Callable[..., object]] = [stats.pearsonr, stats.spearmanr, stats.kendalltau]
    random = np.random.default_rng(0)
    started = time.perf_counter()
    for _ in range(LOOPED):
        drawn = random.integers(0, ITEMS, ITEMS)
        for measure in measures:
            measure(judge[drawn], people[drawn])
    return (time.perf_counter() - started) / LOOPED * RESAMPLES


def _once(scale: str) -> None:
    from polyjudge.statistics.agreement_intervals import agreement_figures

    clusters = (np.arange(ITEMS) % 2_000).tolist() if scale == SCALES[2] else None
    agreement_figures(*_scores(scale), clusters=clusters, pass_from=(3.0, 3.0), resamples=RESAMPLES)


if __name__ == "__main__":
    _once(sys.argv[1])
