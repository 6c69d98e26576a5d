"""The cost of a ranking: two systems of a million items, fifty of 20,000, and a million preferences between five."""

import json
import random
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchmarks.measuring import cost_of, show

COUNT = 1_000_000
_SYSTEMS, _ITEMS = 50, 20_000
_LANGUAGES = ("de", "fr", "th")


def run() -> None:
    drawn = random.Random(0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for system in "ab":
            scores = ({"document": f"d{place // 10}", "score": drawn.randint(1, 5)} for place in range(COUNT))
            _write(folder / f"{system}.jsonl", scores)
        pairs = (drawn.sample("abcde", 2) for _ in range(COUNT))
        shares = ({"system": one, "otherSystem": other, "score": drawn.choice([0.0, 0.5, 1.0])} for one, other in pairs)
        _write(folder / "pairs.jsonl", shares)
        command = [sys.executable, "-m", "polyjudge", "rank"]
        show("rank two runs with documents", cost_of([*command, "a.jsonl", "b.jsonl"], {}, folder), COUNT)
        names = [f"s{number:02}.jsonl" for number in range(_SYSTEMS)]
        for number, system in enumerate(names):
            _write(folder / system, _system_rows(drawn, number))
        show("rank fifty systems", cost_of([*command, *names], {}, folder), _SYSTEMS * _ITEMS)
        show("rank five systems by pairs", cost_of([*command, "pairs.jsonl"], {}, folder), COUNT)


def _system_rows(drawn: random.Random, number: int) -> Iterable[dict[str, Any]]:
    """Yield the scores of one of many systems, in documents of five items; the later systems are slightly better."""
    for place in range(_ITEMS):
        yield {"document": f"d{place // 5}", "score": drawn.randint(1, 5) + number // 10 / 10}


def _write(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    with path.open("w", encoding="utf-8") as file:
        for place, row in enumerate(rows):
            file.write(json.dumps({"id": f"i{place}", "language": _LANGUAGES[place % 3], **row}) + "\n")
