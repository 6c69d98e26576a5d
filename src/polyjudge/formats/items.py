"""Read items from tables and from run files."""

import json
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from polyjudge.errors import DataError
from polyjudge.files.json_lines import START, Mark
from polyjudge.records.outcomes import Item, RunOutcome, read_outcome_row
from polyjudge.store.run_file import read_outcomes
from polyjudge.store.run_folder import MANIFEST_FILE, finished_parts

from .tables import ROW_KINDS, Row, is_table, rows_from

CLUSTER_COLUMNS = ("cluster", "document")
"""Where a row says what it belongs together with."""
DEFAULT_CONTEXT = ("source", "reference", "context")
PROBLEMS_NAMED = 5
_SIXTY_FOUR_BITS = 2**64 - 1
_NO_IDS = (dict, list, bool)  # put together once, not for every row
_MANY = 200_000
"""Numbers that would take much memory as a list."""


class Place(NamedTuple):
    """Where a row stands."""

    path: Path
    line: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line}"

    def other(self, place: "Place") -> str:
        """Return another place as a message about this one names it."""
        return f"at line {place.line}" if place.path == self.path else f"at {place}"


Rows = Iterator[tuple[Place, Row | str]]
"""Where a row stands, and the row or what is wrong with it."""


@dataclass(frozen=True, slots=True)
class ItemSource:
    """Which items of which file, or folder of files."""

    path: Path
    context: Sequence[str] | None = None
    """Columns that reach the judge; None takes those of the usual ones that are there."""
    filters: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    limit: int | None = None
    start: Mark = START
    """Where to begin in a file."""
    rows: int | None = None
    """How many rows to read from there; None reads to the end."""

    def __iter__(self) -> Iterator[Item]:
        """Yield the items in the order of the file; rows that cannot be used are passed over."""
        usable = (item for _, item in self.all_in([self.path]) if isinstance(item, Item))
        return islice(usable, self.limit)

    def survey(self) -> "Survey":
        """Read the whole file once: how many items, what is wrong with which rows, and no id twice."""
        digest, count, problems, seen = ItemsDigest(), 0, Problems(), SeenIds()
        languages: set[str] = set()
        for place, item in self.all_in([self.path]):
            if isinstance(item, str):
                problems.note(place, item)
            elif self.limit is None or count < self.limit:
                count += 1
                seen.add(item)
                digest.add(item)
                languages.add(item.language)
        if not count:
            chosen = " that the filters let through" if self.filters and not problems.count else ""
            raise DataError(f"holds no item to judge{chosen}{problems.why}", path=self.path)
        seen.refuse_doubles(self, [self.path])
        return Survey(count, problems.count, tuple(problems.named), digest.hexdigest(), tuple(sorted(languages)))

    def all_in(self, paths: Iterable[Path]) -> Iterator[tuple[Place, Item | str]]:
        """Yield the items of some files with their places, or what is wrong with a row."""
        for path in paths:
            for place, row in islice(rows_of(path, self.start), self.rows):
                item = self.item_of(row)
                if item is not None:
                    yield place, item

    def item_of(self, row: Row | str) -> Item | str | None:
        """Return the item of a row, what is wrong with it, or None where the filters leave it out."""
        if isinstance(row, str):
            return row
        if self.filters and any(_words(row.get(name, "")) not in wanted for name, wanted in self.filters.items()):
            return None
        own_id, candidate = row.get("id"), row.get("candidate")
        if own_id is None or own_id == "":
            return "no 'id'"
        if candidate is None:
            return "no 'candidate'"
        if not isinstance(candidate, str) or isinstance(own_id, _NO_IDS):
            return "the candidate must be text, and the id text or a number"
        if self.context and (missing := [name for name in self.context if name not in row]):
            return f"no {missing[0]!r}, a column that the judge should see"
        return Item(str(own_id), candidate, self._context_of(row), str(row.get("language") or ""), _cluster_of(row))

    def _context_of(self, row: Row) -> dict[str, str]:
        context: dict[str, str] = {}
        for name in DEFAULT_CONTEXT if self.context is None else self.context:
            value = row.get(name)
            if value is not None and value != "":
                context[name] = _words(value)
        return context


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
    languages: tuple[str, ...]
    """Those that the items name, and an empty one where some name none."""


class ItemList:
    """Items that are in memory."""

    def __init__(self, items: Iterable[Item]) -> None:
        self._items = list(items)

    def __iter__(self) -> Iterator[Item]:
        return iter(self._items)

    def survey(self) -> Survey:
        """Count the items; an id that occurs twice is an error."""
        digest, seen = ItemsDigest(), set[str]()
        for item in self._items:
            digest.add(item)
            if item.id in seen:
                raise DataError(f"two items have the id {item.id!r}")
            seen.add(item.id)
        if not self._items:
            raise DataError("there is no item to judge")
        languages = tuple(sorted({item.language for item in self._items}))
        return Survey(len(self._items), 0, (), digest.hexdigest(), languages)


class ItemsDigest:
    """Tells whether items are the same that they were."""

    def __init__(self) -> None:
        self._digest = sha256()

    def add(self, item: Item, *more: str) -> None:
        """Take in an item, and what else of it matters."""
        parts = (item.id, item.candidate, *item.context, *item.context.values(), *more)
        texts = [part.encode(errors="surrogatepass") for part in parts]
        self._digest.update(b"".join([b"%d:%b" % (len(text), text) for text in texts]))

    def hexdigest(self) -> str:
        """Return what is the same only for the same items."""
        return self._digest.hexdigest()[:16]


class Problems:
    """Counts rows that cannot be used, and keeps what is wrong with the first few."""

    def __init__(self) -> None:
        self.count = 0
        self.named: list[str] = []

    def note(self, place: Place, problem: str) -> None:
        """Take note of one."""
        self.count += 1
        if len(self.named) < PROBLEMS_NAMED:
            self.named.append(f"{place}: {problem}")

    @property
    def why(self) -> str:
        """The first one, as the end of a message."""
        return f": {self.named[0]}" if self.named else ""


class SeenIds:
    """The ids of many items, eight bytes each."""

    def __init__(self) -> None:
        self.hashes = array("Q")

    def add(self, item: Item) -> None:
        """Take note of an item."""
        self.hashes.append(hash(item.id) & _SIXTY_FOUR_BITS)

    def refuse_doubles(self, source: ItemSource, paths: Iterable[Path]) -> None:
        """Raise where an id stands twice in these files, and say where."""
        if not self._hold_doubles():
            return
        places: dict[str, Place] = {}
        for place, item in source.all_in(paths):
            if isinstance(item, Item):
                if item.id in places:
                    told = f"the id {item.id!r} stands already {place.other(places[item.id])}"
                    raise DataError(told, path=place.path, line=place.line)
                places[item.id] = place

    def _hold_doubles(self) -> bool:
        if len(self.hashes) > _MANY:
            import numpy as np  # here, because it takes longer to load than to sort by other means

            many = np.sort(np.frombuffer(self.hashes, dtype=np.uint64))
            return bool(np.any(many[1:] == many[:-1]))
        ordered = sorted(self.hashes)
        return any(first == second for first, second in zip(ordered, islice(ordered, 1, None), strict=False))


def read_items(
    path: Path | str,
    *,
    context: Sequence[str] | None = None,
    filters: Mapping[str, Iterable[str]] | None = None,
    limit: int | None = None,
) -> ItemSource:
    """Return the items of a JSON Lines, CSV, TSV or Parquet file, or of a folder of them.

    `context` names the columns that the judge sees; by default source, reference and context. `filters` gives for a
    column the values that are wanted.
    """
    wanted = {name: frozenset(values) for name, values in (filters or {}).items()}
    return ItemSource(Path(path), context, wanted, limit)


def read_results(path: Path | str) -> Iterator[tuple[str, RunOutcome]]:
    """Yield the outcomes of a run file, in any format of rows, or of a folder of parts, with the ids of their items."""
    path = Path(path)
    if not path.is_dir() and path.suffix.lower() not in ROW_KINDS[1:]:
        yield from read_outcomes(path)
        return
    for place, row in rows_of(path):
        if isinstance(row, str):
            raise DataError(row, path=place.path, line=place.line)
        try:
            yield read_outcome_row(row)
        except DataError as error:
            raise DataError(str(error), path=place.path, line=place.line) from None


def rows_of(path: Path, start: Mark = START) -> Rows:
    """Yield place and row of a JSON Lines, CSV, TSV or Parquet file or folder, or what is wrong with the row."""
    for file in files_of(path):
        for line, row, _ in rows_from(file, start):
            yield Place(file, line), row


def files_of(path: Path) -> Iterable[Path]:
    """Return the files that rows stand in: one, or those of a folder by their names; of results, as they follow."""
    if path.exists() and not path.is_dir() and not path.is_file():
        raise DataError("is no ordinary file, and items are read more than once; save them to one", path=path)
    if not path.is_dir():
        return [path]
    parts = finished_parts(path)
    if parts is not None:
        return parts
    try:
        found = sorted(file for file in path.iterdir() if not file.name.startswith((".", "_")))
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path=path) from None
    files = [file for file in found if file.name != MANIFEST_FILE]
    for file in files:
        if file.is_dir() or not is_table(file):
            raise DataError(f"holds {file.name!r}; a folder of items holds only {', '.join(ROW_KINDS)}", path=path)
    if len({file.suffix.lower() for file in files}) != 1:
        raise DataError("holds files of several kinds; give one kind" if files else "holds no file of items", path=path)
    return files


def _cluster_of(row: Row) -> str:
    for name in CLUSTER_COLUMNS:
        value = row.get(name)
        if value is not None and value != "":
            return str(value)
    return ""


def _words(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
