"""Items from JSON Lines, CSV, TSV or Parquet, one at a time; what cannot be used is named by its place."""

import csv
import json
import sys
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any

from polyjudge.errors import DataError
from polyjudge.extras import require
from polyjudge.records import Item

from .json_lines import each_json_line

Row = Mapping[str, Any]
Rows = Iterator[tuple[int, Row | str]]
"""Line number, and the row or what is wrong with it."""

CLUSTER_COLUMNS = ("cluster", "document")
"""Where a row says what it belongs together with."""
DEFAULT_CONTEXT = ("source", "reference", "context")
_PROBLEMS_NAMED = 5
_LONGEST_FIELD = 100_000_000
_SIXTY_FOUR_BITS = 2**64 - 1


@dataclass(frozen=True, slots=True)
class ItemSource:
    """Which items of which file."""

    path: Path
    context: Sequence[str] | None = None
    """Columns that reach the judge; None takes those of the usual ones that are there."""
    filters: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    limit: int | None = None

    def __iter__(self) -> Iterator[Item]:
        """Yield the items in the order of the file; rows that cannot be used are passed over."""
        usable = (item for _, item in self._all() if isinstance(item, Item))
        return islice(usable, self.limit)

    def survey(self) -> "Survey":
        """Read the whole file once: how many items, what is wrong with which rows, and no id twice."""
        digest, count, skipped, problems = sha256(), 0, 0, list[str]()
        seen = array("Q")
        for line, item in self._all():
            if isinstance(item, str):
                skipped += 1
                if skipped <= _PROBLEMS_NAMED:
                    problems.append(f"{self.path}:{line}: {item}")
            elif self.limit is None or count < self.limit:
                count += 1
                seen.append(hash(item.id) & _SIXTY_FOUR_BITS)
                for part in (item.id, item.candidate, *item.context, *item.context.values()):
                    text = part.encode(errors="surrogatepass")
                    digest.update(b"%d:" % len(text))
                    digest.update(text)
        if not count:
            why = f": {problems[0]}" if problems else ""
            raise DataError(f"holds no item to judge{why}", path=self.path)
        self._refuse_doubles(seen)
        return Survey(count, skipped, tuple(problems), digest.hexdigest()[:16])

    def _all(self) -> Iterator[tuple[int, Item | str]]:
        for line, row in rows_of(self.path):
            item = row if isinstance(row, str) else self._item(row)
            if item is not None:
                yield line, item

    def _item(self, row: Row) -> Item | str | None:
        """Return the item of a row, what is wrong with it, or None where the filters leave it out."""
        if any(_words(row.get(name, "")) not in wanted for name, wanted in self.filters.items()):
            return None
        for name in ("id", "candidate"):
            if row.get(name) is None or (name == "id" and row[name] == ""):
                return f"no {name!r}"
        if not isinstance(row["candidate"], str) or isinstance(row["id"], dict | list | bool):
            return "the candidate must be text, and the id text or a number"
        missing = [name for name in self.context or () if name not in row]
        if missing:
            return f"no {missing[0]!r}, which --context names"
        names = DEFAULT_CONTEXT if self.context is None else self.context
        context = {name: _words(row[name]) for name in names if row.get(name) not in (None, "")}
        cluster = next((str(row[name]) for name in CLUSTER_COLUMNS if row.get(name) not in (None, "")), "")
        return Item(str(row["id"]), row["candidate"], context, str(row.get("language") or ""), cluster)

    def _refuse_doubles(self, seen: "array[int]") -> None:
        ordered = sorted(seen)
        if all(first != second for first, second in zip(ordered, islice(ordered, 1, None), strict=False)):
            return
        places: dict[str, int] = {}
        for line, item in self._all():
            if isinstance(item, Item):
                if item.id in places:
                    raise DataError(
                        f"the id {item.id!r} stands already at line {places[item.id]}", path=self.path, line=line
                    )
                places[item.id] = line


@dataclass(frozen=True, slots=True)
class Survey:
    """What a file of items holds."""

    count: int
    """Items to judge."""
    skipped: int
    """Rows that cannot be used."""
    problems: tuple[str, ...]
    """What is wrong with the first few of them."""
    fingerprint: str


def rows_of(path: Path) -> Rows:
    """Yield line number and row of a JSON Lines, CSV, TSV or Parquet file, or what is wrong with the row."""
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        raise DataError(f"is of an unknown kind; items come as {', '.join(_READERS)}", path=path)
    try:
        yield from reader(path)
    except UnicodeDecodeError as error:
        raise DataError(f"is not UTF-8 text ({error.reason} at byte {error.start})", path=path) from None
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or error}", path=path) from None


def _separated(delimiter: str) -> Callable[[Path], Rows]:
    def read(path: Path) -> Rows:
        csv.field_size_limit(min(_LONGEST_FIELD, sys.maxsize))
        with path.open(encoding="utf-8-sig", newline="") as lines:
            rows = csv.DictReader(lines, delimiter=delimiter, strict=True)
            try:
                for row in rows:
                    spilled = None in row or None in row.values()
                    yield rows.line_num, "has not as many fields as the header" if spilled else row
            except csv.Error as error:
                raise DataError(f"cannot be read on: {error}", path=path, line=rows.line_num) from None

    return read


def _parquet(path: Path) -> Rows:
    parquet: Any = require("pyarrow.parquet", feature="reading Parquet", extra="parquet")
    arrow: Any = require("pyarrow", feature="reading Parquet", extra="parquet")
    try:
        number = 0
        for batch in parquet.ParquetFile(path).iter_batches(batch_size=1000):
            for row in batch.to_pylist():
                number += 1
                yield number, row
    except (arrow.ArrowException, ValueError, OverflowError) as error:
        raise DataError(f"is no Parquet file that can be read: {error}", path=path) from None


_READERS = {".jsonl": each_json_line, ".csv": _separated(","), ".tsv": _separated("\t"), ".parquet": _parquet}


def _words(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
