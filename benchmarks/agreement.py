"""All measures of agreement with 1,000 resamples over 100,000 pairs of scores, compared with a loop over scipy."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec

import numpy as np

ITEMS, RESAMPLES, LOOPED = 100_000, 1_000, 3
SCALES = ("labels from 1 to 5", "continuous scores", "continuous, 2,000 clusters")


def run() -> None:
    print(f"agreement: {ITEMS:,} pairs of scores, {RESAMPLES:,} resamples, all measures")
    for scale in SCALES:
        wall, cpu, memory = _measured(scale)
        print(f"  {scale:28} {wall:7.1f} s, {cpu:5.1f} s CPU, {memory:4.0f} MB")
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
