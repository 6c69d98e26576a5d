"""Read items from tables and from run files."""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import islice
from pathlib import Path

from polyjudge.errors import DataError
from polyjudge.files.json_lines import START, Mark
from polyjudge.files.opening import inner_suffix
from polyjudge.files.spill import Numbers
from polyjudge.languages.table import LANGUAGE, LanguageMatcher, LanguageTags
from polyjudge.records.outcomes import Item, RunOutcome, read_outcome_row
from polyjudge.store.run_file import read_outcomes

from .columns import AS_IT_IS, ColumnMap, Row, RowMapper, TableOptions, table_options
from .row_files import SAME_COLUMNS, KnownColumns, MarkedRows, Place, files_of, rows_from, rows_of, spooled

CLUSTER_COLUMNS = ("cluster", "document", "doc", "doc_id", "document_id")
"""The columns that name the cluster of a row."""
DEFAULT_CONTEXT = ("language", "source", "reference", "context")
FORMER_CONTEXT = ("source", "reference", "context")
"""The default of earlier versions; runs that they left unfinished are resumed with it."""
MAX_PROBLEMS_SHOWN = 5
_SIXTY_FOUR_BITS = 2**64 - 1
_SURROGATES = "surrogatepass"
"""Lone surrogates of a text are encoded too."""
_INVALID_ID_TYPES = (dict, list, bool)
_ROWS_FOR_VALUES = 10_000
_VALUES_SHOWN = 12
_LONGEST_VALUE = 40
_MOST_KEPT = 1 << 22
"""The size of the items that a survey keeps in memory, in bytes; more of them are read again."""
_SIZE_OF_ITEM = 300
"""What an item takes in memory beside its texts."""
ItemsOfRow = Callable[[Row | str], Sequence[Item | str]]
"""Returns the items, or error messages, of a row; none if filters exclude it."""


@dataclass(slots=True)
class _Surveyed:
    """What was there when the items were surveyed."""

    version: Sequence[object] = ()
    items: Sequence[Item] | None = None
    """All of them, if they are few."""


@dataclass(frozen=True, slots=True)
class ItemSource:
    """Items of a file or folder, selected by filters and a limit."""

    path: Path
    context: Sequence[str] | None = None
    """The columns that the judge sees; None for the default ones, if present."""
    filters: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    limit: int | None = None
    start: Mark = START
    """The position at which to start reading."""
    rows: int | None = None
    """The number of rows to read from there; None for all."""
    earlier: Mapping[int, int] = field(default_factory=dict[int, int])
    """How often ids that are made from the content of these rows were made before them, by their number."""
    table: TableOptions = AS_IT_IS
    default_context: Sequence[str] = DEFAULT_CONTEXT
    known: KnownColumns = field(default_factory=KnownColumns, compare=False, repr=False)
    """The columns that were found before."""
    _surveyed: _Surveyed = field(default_factory=_Surveyed, init=False, compare=False, repr=False)

    @property
    def is_former(self) -> bool:
        """Whether the judge sees what the judges of earlier versions saw by default."""
        return self.context is None and self.default_context == FORMER_CONTEXT

    def __iter__(self) -> Iterator[Item]:
        """Yield the items in the order of the file, without the invalid rows."""
        if (kept := self._surveyed.items) is not None and self._surveyed.version == _version(self.path):
            return iter(kept)
        usable = (item for _, _, item in self.read_all([self.path]) if isinstance(item, Item))
        return islice(usable, self.limit)

    def survey(self) -> "Survey":
        """Read the file once, up to the limit, count the items and invalid rows, and check that ids are unique.

        If they are few, the items are kept, and not read again as long as the file is the same.
        """
        digest, count, problems, seen = ItemsDigest(), 0, Problems(), SeenIds()
        languages: set[str] = set()
        version, kept = _version(self.path), list[Item]()
        for file, line, item in self.read_all([self.path]):
            if isinstance(item, str):
                problems.note(Place(file, line), item)
                continue
            count += 1
            seen.add(item)
            digest.add(item)
            languages.add(item.language)
            if digest.size + count * _SIZE_OF_ITEM <= _MOST_KEPT:
                kept.append(item)
            else:
                kept.clear()
            if count == self.limit:
                break
        if not count:
            filtered = self._excluded() if self.filters and not problems.count else ""
            raise DataError(f"no items to judge{filtered}{problems.why}", path=self.path)
        seen.check_unique(self, [self.path])
        self._surveyed.version, self._surveyed.items = version, kept or None
        return Survey(count, problems.count, tuple(problems.named), digest.hexdigest(), tuple(sorted(languages)))

    def is_unchanged(self, fingerprint: str) -> bool:
        """Return whether the file still has the items of the survey with this fingerprint; a deleted one counts so."""
        if self._surveyed.version == _version(self.path) or not self.path.exists():
            return True
        try:
            return self.survey().fingerprint == fingerprint
        except DataError:
            return False

    def _excluded(self) -> str:
        """Say why the filters exclude all rows: which values their columns have."""
        found: dict[str, set[str]] = {name: set() for name in self.filters}
        mapper = RowMapper()
        for file in files_of(self.path):
            naming = mapper.naming(self.columns_of(file))
            for _, given, _ in islice(rows_from(file, self.start, self.table), _ROWS_FOR_VALUES):
                for row in naming(given):
                    if not isinstance(row, str):
                        for name in found.keys() & row.keys():
                            found[name].add(_as_text(row[name])[:_LONGEST_VALUE])
        name = next((name for name, values in found.items() if not values & self.filters[name]), next(iter(found)))
        wanted = f"{name}={','.join(sorted(self.filters[name]))}"
        values = ", ".join(sorted(found[name])[:_VALUES_SHOWN])
        close = LanguageMatcher().suggestions(self.filters[name]) if name == LANGUAGE else ""
        had = f"Values of {name}: {values}" if values else f"There is no column {name!r}"
        return f": no row has {wanted}.{close} {had}"

    def read_all(self, paths: Iterable[Path]) -> Iterator[tuple[Path, int, Item | str]]:
        """Yield the items of some files, or error messages, with file and line."""
        mapper = RowMapper(earlier=self.earlier)
        for path in paths:
            for file in files_of(path):
                items_of, rows = self.reading(file, mapper)
                for line, row, _ in islice(rows, self.rows):
                    for item in items_of(row):
                        yield file, line, item

    def columns_of(self, file: Path) -> ColumnMap:
        """Return the columns of a file; raise MissingColumnError without candidates."""
        columns = self.known.of(file, self.table)
        columns.need("candidate")
        return columns

    def reading(self, file: Path, mapper: RowMapper) -> tuple[ItemsOfRow, MarkedRows]:
        """Return the rows of a file, and the function that makes items of them; raise as `columns_of` does."""
        columns, rows = self.known.opened(file, self.start, self.table)
        columns.need("candidate")
        changes_rows, parse = columns.changes_rows, self.parser(columns.names)
        if not changes_rows:
            return lambda row: () if (item := parse(row)) is None else (item,), rows
        naming = mapper.naming(columns)
        return lambda row: [item for named in naming(row) if (item := parse(named)) is not None], rows

    def parser(self, names: Collection[str] | None = None) -> Callable[[Row | str], Item | str | None]:
        """Return the function that makes an item of a row with the names of roles, or an error message.

        It returns None if the filters exclude the row. `names` are those of all columns, if all rows have the same.
        """
        filters, required, tags = self.filters, self.context or (), LanguageTags()
        wanted = self.default_context if self.context is None else self.context
        matcher = LanguageMatcher() if filters else None
        seen_by_judge = [name for name in wanted if names is None or name in names]
        clusters = frozenset(name for name in CLUSTER_COLUMNS if names is None or name in names)

        def parse(row: Row | str) -> Item | str | None:
            if isinstance(row, str):
                return row
            if matcher is not None and not matcher.selects(filters, lambda name: _as_text(row.get(name, ""))):
                return None
            own_id, candidate = row.get("id"), row.get("candidate")
            if (
                not isinstance(candidate, str)
                or own_id is None
                or own_id == ""
                or isinstance(own_id, _INVALID_ID_TYPES)
            ):
                return _unusable(row)
            if required and (missing := [name for name in required if name not in row]):
                return f"{missing[0]!r} is missing, a column for the judge"
            language = row.get("language")
            tag = tags[str(language)] if language else ""
            cluster = "" if clusters.isdisjoint(row) else _first(row, CLUSTER_COLUMNS)
            return Item(str(own_id), candidate, _texts(row, seen_by_judge), tag, cluster)

        return parse


def _version(path: Path) -> Sequence[object]:
    """Return what changes when a file does, or one in a folder."""
    found: list[object] = []
    for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
        with suppress(OSError):
            now = file.stat()
            found.append((file, now.st_ino, now.st_size, now.st_mtime_ns, now.st_ctime_ns))
    return found


@dataclass(frozen=True, slots=True)
class Survey:
    """The items of a file, counted."""

    count: int
    """The number of items to judge."""
    skipped: int
    """The number of invalid rows."""
    problems: tuple[str, ...]
    """Messages about the first few of them."""
    fingerprint: str
    languages: tuple[str, ...]
    """The languages of the items, and an empty one if some items have none."""


class ItemList:
    """Items in memory."""

    def __init__(self, items: Iterable[Item]) -> None:
        self._items = list(items)

    def __iter__(self) -> Iterator[Item]:
        return iter(self._items)

    def survey(self) -> Survey:
        """Count the items, and check that ids are unique."""
        digest, seen = ItemsDigest(), set[str]()
        for item in self._items:
            digest.add(item)
            if item.id in seen:
                raise DataError(f"duplicate item id {item.id!r}; give each item its own id")
            seen.add(item.id)
        if not self._items:
            raise DataError("no items to judge: the given list is empty")
        languages = tuple(sorted({item.language for item in self._items}))
        return Survey(len(self._items), 0, (), digest.hexdigest(), languages)

    def is_unchanged(self, _: str) -> bool:
        """Return whether the items are still those of the survey."""
        return True


class ItemsDigest:
    """A hash of items, in order."""

    def __init__(self) -> None:
        self._digest = sha256()
        self.size = 0
        """The length of their texts."""

    def add(self, item: Item, *more: str) -> None:
        """Add an item, and further texts that belong to it."""
        context = item.context
        parts = (item.id, item.candidate, *context, *context.values(), *more)
        sized = [f"{len(part) if part.isascii() else len(part.encode(errors=_SURROGATES))}:{part}" for part in parts]
        text = "".join(sized)
        self.size += len(text)
        self._digest.update(text.encode(errors=_SURROGATES))  # the sizes are in bytes

    def hexdigest(self) -> str:
        """Return the hash of all items added so far."""
        return self._digest.hexdigest()[:16]


class Problems:
    """Counts invalid rows, and keeps the messages about the first few."""

    def __init__(self) -> None:
        self.count = 0
        self.named: list[str] = []

    def note(self, place: Place, problem: str) -> None:
        """Count an invalid row."""
        self.count += 1
        if len(self.named) < MAX_PROBLEMS_SHOWN:
            self.named.append(f"{place}: {problem}")

    @property
    def why(self) -> str:
        """The first message, as the end of another one."""
        return f": {self.named[0]}" if self.named else ""


class SeenIds:
    """The hashes of many ids."""

    def __init__(self) -> None:
        self._hashes = Numbers()

    def __len__(self) -> int:
        return len(self._hashes)

    def add(self, item: Item) -> None:
        """Add the id of an item."""
        self._hashes.add(hash(item.id) & _SIXTY_FOUR_BITS)

    def keep(self, count: int) -> None:
        """Remove all but the first ids."""
        self._hashes.keep(count)

    def check_unique(self, source: ItemSource, paths: Iterable[Path]) -> None:
        """Raise DataError if an id occurs twice in these files."""
        if not self._hashes.has_duplicates():
            return
        places: dict[str, Place] = {}
        for file, line, item in source.read_all(paths):
            if isinstance(item, Item):
                place = Place(file, line)
                if item.id in places:
                    message = (
                        f"duplicate id {item.id!r}, first {place.other(places[item.id])}; give each row its own id"
                    )
                    raise DataError(message, path=place.path, line=place.line)
                places[item.id] = place


def read_items(
    path: Path | str,
    *,
    context: Sequence[str] | None = None,
    filters: Mapping[str, Iterable[str]] | None = None,
    limit: int | None = None,
    columns: Mapping[str, str] | None = None,
    target_columns: Mapping[str, str] | None = None,
    encoding: str = "",
    sheet: str = "",
    header: bool = True,
) -> ItemSource:
    """Return the items of a table: CSV, TSV, JSON, JSON Lines, Parquet, Excel, a data set, or a folder of such files.

    `context` names the columns that the judge sees, by default language, source, reference and context. `filters`
    maps columns to the values to select; a language is a tag or a name. `columns` maps roles such as candidate to
    columns, which are otherwise recognised by their names; `target_columns` maps language tags to the columns of
    their texts. `header` says whether the first row of a CSV or Excel file has the names of the columns; without
    them the columns are "1", "2" and so on. The path `-` is stdin.
    """
    wanted = {name: frozenset(values) for name, values in (filters or {}).items()}
    table = table_options(columns, target_columns, encoding=encoding, sheet=sheet, header=header)
    return ItemSource(spooled(Path(path)), context, wanted, limit, table=table)


def read_results(path: Path | str) -> Iterator[tuple[str, RunOutcome]]:
    """Yield the item ids and outcomes of a run file in any format, or of a run folder."""
    path = Path(path)
    if not path.is_dir() and inner_suffix(path) not in SAME_COLUMNS:
        yield from read_outcomes(path)
        return
    for place, row in rows_of(path):
        if isinstance(row, str):
            raise DataError(row, path=place.path, line=place.line)
        try:
            yield read_outcome_row(row)
        except DataError as error:
            raise DataError(str(error), path=place.path, line=place.line) from None


def _texts(row: Row, names: Iterable[str]) -> dict[str, str]:
    """Return the values that a row has under some names."""
    texts: dict[str, str] = {}
    for name in names:
        value = row.get(name)
        if value is not None and value != "":
            texts[name] = value if isinstance(value, str) else _as_text(value)
    return texts


def _first(row: Row, names: Iterable[str]) -> str:
    for name in names:
        value = row.get(name)
        if value is not None and value != "":
            return str(value)
    return ""


def _unusable(row: Row) -> str:
    """Say what is wrong with the id or the candidate of a row."""
    if row.get("id") in (None, ""):
        return "'id' is missing"
    if row.get("candidate") is None:
        return "'candidate' is missing"
    return "the candidate must be text, and the id text or a number"


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
