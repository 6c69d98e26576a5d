"""The cost of a ranking: two systems with scores of a million items, and a million preferences between five systems."""

import json
import random
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchmarks.measuring import cost_of, show

COUNT = 1_000_000
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
        show("rank five systems by pairs", cost_of([*command, "pairs.jsonl"], {}, folder), COUNT)


def _write(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    with path.open("w", encoding="utf-8") as file:
        for place, row in enumerate(rows):
            file.write(json.dumps({"id": f"i{place}", "language": _LANGUAGES[place % 3], **row}) + "\n")
