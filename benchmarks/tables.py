"""Tables of a million rows, surveyed and read: with the names of roles, with own columns and without ids.

With POLYJUDGE_BEFORE, the `src` folder of another version, both versions run in turns.
"""

import csv
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path

from benchmarks.measuring import ROOT, Cost, cost_of

COUNT = int(os.environ.get("POLYJUDGE_ROWS", "1000000"))
ROUNDS = int(os.environ.get("POLYJUDGE_ROUNDS", "3"))
_CHUNK = 50_000
_ROLES = ("id", "language", "source", "candidate")
_OWN = ("Locale", "Question", "Reply")
_WORK = {
    "survey": "ItemSource(path).survey()",
    "read": "deque(ItemSource(path), maxlen=0)",
}
_WRITE = "import sys; from pathlib import Path; from benchmarks.tables import write; write(Path(sys.argv[1]))"
_ROWS_OF_SCORE = """
import sys
from pathlib import Path
from polyjudge.records.outcomes import Item, JudgeResult
from polyjudge.store.run_file import RunFile
given = {"with_texts": True} if sys.argv[2] == "texts" else {}
result = JudgeResult(70.0, "a reason of a few words")
with RunFile(Path(sys.argv[1]), "f", **given) as file:
    for place in range(int(sys.argv[3])):
        texts = {"language": "fr", "source": f"question {place} " + "word " * 20}
        file.append(Item(str(place), f"reply {place} " + "text " * 20, texts, "fr"), result)
"""
_PROGRAM = """
import sys
from collections import deque
from pathlib import Path
from polyjudge.formats.items import ItemSource
path = Path(sys.argv[1])
{work}
"""


def run() -> None:
    versions = {"now": ROOT / "src"}
    if before := os.environ.get("POLYJUDGE_BEFORE"):
        versions = {"before": Path(before), **versions}
    print(f"tables of {COUNT:,} rows, the least of {ROUNDS} rounds")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # In a process of its own: the memory of this one would be counted for its children.
        cost_of([sys.executable, "-c", _WRITE, name], {}, ROOT)
        for file in sorted(folder.iterdir(), reverse=True):
            able = {each: path for each, path in versions.items() if each == "now" or file.stem == "roles"}
            for work, code in _WORK.items():
                _show(f"{file.name}, {work}", _measured(code, file, able))
        for texts in ("no texts", "texts"):
            command = [sys.executable, "-c", _ROWS_OF_SCORE, f"{name}/{texts}.jsonl", texts, str(COUNT)]
            _show(f"rows of score, {texts}", {"now": min(cost_of(command, {}, ROOT) for _ in range(ROUNDS))})


def _measured(code: str, file: Path, versions: Mapping[str, Path]) -> dict[str, Cost]:
    """Return the cost of the cheapest round of each version; the versions take turns."""
    found: dict[str, list[Cost]] = {each: [] for each in versions}
    for _ in range(ROUNDS):
        for each, path in versions.items():
            command = [sys.executable, "-c", _PROGRAM.format(work=code), str(file)]
            found[each].append(cost_of(command, {"PYTHONPATH": str(path)}, ROOT))
    return {each: min(costs) for each, costs in found.items()}


def _show(name: str, costs: Mapping[str, Cost]) -> None:
    each = ", ".join(
        f"{version} {cost.cpu_s / COUNT * 1e6:5.1f} µs CPU a row, {cost.memory_mb:4.0f} MB"
        for version, cost in costs.items()
    )
    ratio = f", {costs['now'].cpu_s / costs['before'].cpu_s:4.2f} x" if "before" in costs else ""
    print(f"  {name:28} {each}{ratio}", flush=True)


def write(folder: Path) -> None:
    """Write the tables, as CSV and Parquet: with the names of roles, and with columns of their own and no id."""
    import pyarrow as arrow
    from pyarrow import parquet

    for kind, names in (("roles", _ROLES), ("own", _OWN)):
        with (folder / f"{kind}.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(names)
            writer.writerows(_row(place, names) for place in range(COUNT))
        schema = arrow.schema([(name, arrow.string()) for name in names])
        with parquet.ParquetWriter(folder / f"{kind}.parquet", schema) as written:
            rows = (_row(place, names) for place in range(COUNT))
            while chunk := list(islice(rows, _CHUNK)):
                columns = [list(column) for column in zip(*chunk, strict=True)]
                written.write_table(arrow.table(columns, schema=schema))


def _row(place: int, names: Sequence[str]) -> list[str]:
    texts = [("fr", "th", "de")[place % 3], f"question {place} " + "word " * 20, f"reply {place} " + "text " * 20]
    return [f"row-{place}", *texts] if len(names) > len(texts) else texts
