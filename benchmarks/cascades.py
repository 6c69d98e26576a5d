"""Cascades with a guarantee: 1,000 random halves of the pairs of recorded judges in POLYJUDGE_DATA."""

import json
import os
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from statistics import fmean
from typing import Any

from polyjudge.calibration.cascade import CascadeItem, Thresholds, guaranteed, policies, trial
from polyjudge.statistics.confidence_thresholds import binomial_tail

PATH = Path(os.environ.get("POLYJUDGE_DATA", "")) / "cascade_dev.jsonl"
SPLITS = int(os.environ.get("POLYJUDGE_SPLITS", "1000"))
TARGETS, DELTA = (0.80, 0.85, 0.90), 0.1
Learn = Callable[[Sequence[CascadeItem], float], Thresholds | None]


def run() -> None:
    if not PATH.is_file():
        print("POLYJUDGE_DATA is not set or lacks cascade_dev.jsonl")
        return
    rows = [json.loads(line) for line in PATH.read_text(encoding="utf-8").splitlines()]
    judges = list(rows[0]["probs"])  # the cheapest first
    started = time.perf_counter()
    print(f"{len(rows)} pairs, {SPLITS:,} halves: one half is labelled, the other one judged; delta {DELTA}")
    print("share of the other half answered | splits with more errors than allowed, of its answers; of all answers")
    for chosen in (each for count in range(len(judges), 0, -1) for each in combinations(judges, count)):
        name = " → ".join(chosen) + (" alone" if len(chosen) == 1 else "")
        _line(f"{name}, these items", rows, chosen, _these)
        _line(f"{name}, the long run", rows, chosen, _long_run)
    large = judges[-1]
    _line(f"{large}, one threshold at 3/4 of the items", rows, (large,), _one_threshold)
    _line(f"{large}, the best of all thresholds, uncorrected", rows, (large,), _uncorrected)
    print(f"{time.perf_counter() - started:.0f} s")


def _line(name: str, rows: Sequence[dict[str, Any]], judges: Sequence[str], found: Learn) -> None:
    items = [_item(row, judges) for row in rows]
    cells: list[str] = []
    for target in TARGETS:
        chance, shares, failed, failed_in_all = random.Random(1), list[float](), 0, 0
        for _ in range(SPLITS):
            order = chance.sample(items, len(items))
            labelled, others = order[: len(order) // 2], order[len(order) // 2 :]
            given = [*labelled, *(replace(each, agrees=None) for each in others)]
            thresholds = found(given, target)
            if thresholds is None:
                shares.append(0.0)
                continue
            shares.append(trial(thresholds, others).answered / len(others))
            failed += _fails(thresholds, others, target)
            failed_in_all += _fails(thresholds, items, target)
        cells.append(f"{target:.0%}: {fmean(shares):.1%} | {failed / SPLITS:.1%}; {failed_in_all / SPLITS:.1%}")
    print(f"  {name:74} {'   '.join(cells)}", flush=True)


def _item(row: dict[str, Any], judges: Sequence[str]) -> CascadeItem:
    shares = [row["probs"][judge] for judge in judges]
    agrees = tuple((1 if first > second else 2) == row["human"] for first, second in shares)
    return CascadeItem(row["id"], "", tuple(max(each) / sum(each) for each in shares), agrees)


def _fails(thresholds: Thresholds, items: Sequence[CascadeItem], target: float) -> bool:
    found = trial(thresholds, items)
    return found.errors > (1 - target) * found.answered + 1e-9


def _these(items: Sequence[CascadeItem], target: float) -> Thresholds | None:
    """Guarantee the target for the items without a label, as `score --cascade SHARE` does."""
    return guaranteed(items, target, DELTA, sum(each.agrees is None for each in items))


def _long_run(items: Sequence[CascadeItem], target: float) -> Thresholds | None:
    """Guarantee the target for the rate in the long run, as `calibrate cascade` does."""
    return guaranteed(items, target, DELTA)


def _passing(items: Sequence[CascadeItem], target: float) -> list[Thresholds | None]:
    """Return the policies of one judge, None in place of those that do not pass a test of their own."""
    labelled = [each for each in items if each.agrees is not None]
    tested = [(each, trial(each, labelled)) for each in policies([each for each in items if each.agrees is None], 1)]
    return [each if binomial_tail(made.errors, made.answered, 1 - target) <= DELTA else None for each, made in tested]


def _one_threshold(items: Sequence[CascadeItem], target: float) -> Thresholds | None:
    return _passing(items, target)[14]


def _uncorrected(items: Sequence[CascadeItem], target: float) -> Thresholds | None:
    return next((each for each in reversed(_passing(items, target)) if each is not None), None)
