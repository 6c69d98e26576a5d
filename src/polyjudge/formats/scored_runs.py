"""Read the scores of a run for comparison, and write small baselines."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

from polyjudge.errors import DataError
from polyjudge.files.atomic import write_atomically
from polyjudge.files.json_lines import read_json_lines, row_line
from polyjudge.files.kinds import FileKind
from polyjudge.files.spill import from_blob, open_scratch, to_blob
from polyjudge.records.calibration import JudgeIdentity
from polyjudge.records.codec import from_json, to_json

from .columns import AS_IT_IS, TableOptions
from .ratings import Rating, RatingColumns, Ratings, each_rating, has_translation_scores
from .row_files import column_map, first_row_of, named_rows_of

_SCHEMA = """
CREATE TABLE items (language BLOB, id BLOB, score REAL, cluster BLOB, PRIMARY KEY (language, id)) WITHOUT ROWID
"""


class ScoredItem(NamedTuple):
    """The score of one item, which is identified by language and id."""

    language: str
    id: str
    score: float | None = None
    """None if there is no verdict."""
    cluster: str = ""
    """The cluster of the item, if the file names one."""

    @property
    def key(self) -> tuple[str, str]:
        """The identity of the item across runs."""
        return self.language, self.id


class ScoredItems:
    """Items with their scores, sorted by language and id."""

    def __init__(self, items: Iterable[ScoredItem] = ()) -> None:
        self._scratch = open_scratch(self, _SCHEMA)
        self.names_languages = False
        self.has_clusters = False
        self._is_indexed = False
        self._count = 0
        for item in items:
            self.add(item)

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[ScoredItem]:
        for language, item_id, score, cluster in self._scratch.execute("SELECT * FROM items ORDER BY language, id"):
            yield ScoredItem(from_blob(language), from_blob(item_id), score, from_blob(cluster))

    def add(self, item: ScoredItem) -> bool:
        """Add an item; return whether its language and id are new."""
        values = (to_blob(item.language), to_blob(item.id), item.score, to_blob(item.cluster))
        is_new = self._scratch.execute("INSERT OR IGNORE INTO items VALUES (?, ?, ?, ?)", values).rowcount == 1
        self._count += is_new
        self.names_languages = self.names_languages or bool(item.language)
        self.has_clusters = self.has_clusters or bool(item.cluster)
        return is_new

    def put_cluster(self, language: str, item_id: str, cluster: str) -> None:
        """Set the cluster of an item, if it exists."""
        values = (to_blob(cluster), to_blob(language), to_blob(item_id))
        self._scratch.execute("UPDATE items SET cluster = ? WHERE language = ? AND id = ?", values)

    def only_language(self, item_id: str) -> str:
        """Return the language of an id; empty if the id occurs in no language or in several."""
        if not self._is_indexed:
            self._scratch.execute("CREATE INDEX by_id ON items (id)")
            self._is_indexed = True
        query = "SELECT language FROM items WHERE id = ? LIMIT 2"
        found = self._scratch.execute(query, (to_blob(item_id),)).fetchall()
        return from_blob(found[0][0]) if len(found) == 1 else ""


class Names:
    """Distinct names, numbered in order of appearance."""

    def __init__(self) -> None:
        self._scratch = open_scratch(self, "CREATE TABLE names (name BLOB PRIMARY KEY, number INTEGER) WITHOUT ROWID")
        self._count = 0

    def number(self, name: str) -> int:
        """Return the number of a name, from 0; a new name gets the next number."""
        own = to_blob(name)
        found = self._scratch.execute("SELECT number FROM names WHERE name = ?", (own,)).fetchone()
        if found is not None:
            return found[0]
        self._scratch.execute("INSERT INTO names VALUES (?, ?)", (own, self._count))
        self._count += 1
        return self._count - 1

    def in_order(self) -> Iterator[int]:
        """Yield the numbers in the order of the names."""
        return (number for (number,) in self._scratch.execute("SELECT number FROM names ORDER BY name"))


KIND = "polyjudge baseline"
SCHEMA_VERSION = 1
_CONTENT = "source"
"""Items with the same content in this column are a cluster."""
_DIGEST_BYTES = 12
_LARGEST = 1e12
"""Larger than any scale; beyond it sums and squares would not be exact."""


@dataclass(frozen=True, slots=True)
class ScoredRun:
    """The scores of one run."""

    path: Path
    items: ScoredItems
    judges: tuple[JudgeIdentity, ...]
    """The judges that gave the scores, if the file names them."""
    measure: str
    """The column of the score; empty for the default one."""
    problems: tuple[str, ...] = ()
    """Messages about the first few invalid rows."""
    skipped: int = 0
    is_baseline: bool = False
    """Whether it is a baseline, which has only scores."""


def read_run(path: Path, *, measure: str = "", cluster: str = "", table: TableOptions = AS_IT_IS) -> ScoredRun:
    """Read the scores of a run or baseline; a duplicate item is an error."""
    header = _header(path)
    if header is not None:
        return _read_baseline(path, header)
    notes = Ratings()
    items = _unique_items(
        path, each_rating(path, RatingColumns(value=measure, option="score", cluster=cluster, table=table), notes)
    )
    if not len(items):
        why = f": {notes.problems[0]}" if notes.problems else ""
        raise DataError(f"no scores found{why}", path=path)
    has_rows = not path.name.endswith(".score") and not has_translation_scores(path, table)
    if has_rows and not items.has_clusters and not cluster:
        _cluster_by_content(path, items, table)
    return ScoredRun(path, items, tuple(notes.judges), measure, tuple(notes.problems), notes.skipped)


def write_baseline(path: Path, run: ScoredRun, *, force: bool = False) -> None:
    """Write a baseline for later comparisons: sorted ids, languages and scores, without texts and times."""
    judges = sorted(run.judges, key=lambda judge: tuple(to_json(judge).items()))
    header = {
        "schemaVersion": SCHEMA_VERSION,
        "kind": KIND,
        "items": len(run.items),
        "measure": run.measure,
        "judges": [to_json(judge) for judge in judges],
    }
    with write_atomically(path, kind=FileKind.BASELINE, force=force) as file:
        file.write(row_line(header))
        for item in run.items:
            file.write(row_line({"id": item.id, "language": item.language, "score": item.score}))


def _header(path: Path) -> Mapping[str, Any] | None:
    """Return the first row of a baseline, or None if the file is not one."""
    if path.suffix.lower() != ".jsonl":
        return None
    first = first_row_of(path, AS_IT_IS)
    return first if first.get("kind") == KIND else None


def _read_baseline(path: Path, header: Mapping[str, Any]) -> ScoredRun:
    if header.get("schemaVersion") != SCHEMA_VERSION:
        raise DataError(
            f"schemaVersion is {header.get('schemaVersion')!r}, expected {SCHEMA_VERSION}", path=path, line=1
        )
    rows = read_json_lines(path)
    next(rows)
    items = _unique_items(path, (_baseline_rating(path, line, row) for line, row in rows))
    if len(items) != header.get("items") or not len(items):
        raise DataError(f"contains {len(items)} of {header.get('items')!r} items; create the baseline again", path=path)
    try:
        judges = tuple(from_json(JudgeIdentity, judge) for judge in header.get("judges", []))
    except (DataError, TypeError) as error:
        raise DataError(f"invalid judges: {error}", path=path, line=1) from None
    return ScoredRun(path, items, judges, str(header.get("measure", "")), is_baseline=True)


def _baseline_rating(path: Path, line: int, row: Mapping[str, Any]) -> Rating:
    item_id, language, score = (row.get(name) for name in ("id", "language", "score"))
    is_number = isinstance(score, int | float) and not isinstance(score, bool) and -_LARGEST <= score <= _LARGEST
    if not isinstance(item_id, str) or not isinstance(language, str) or not (is_number or score is None):
        raise DataError("expected the id, language and score of an item", path=path, line=line)
    return Rating(id=item_id, language=language, value=score)


def _unique_items(path: Path, ratings: Iterable[Rating]) -> ScoredItems:
    """Return the scored items; raise DataError for a duplicate item or a score out of range."""
    items = ScoredItems()
    for rating in ratings:
        if rating.value is not None and abs(rating.value) > _LARGEST:
            raise DataError(f"the score {rating.value:g} of item {rating.id!r} is out of range", path=path)
        if not items.add(ScoredItem(rating.language, rating.id, rating.value, rating.cluster)):
            where = f" in {rating.language!r}" if rating.language else ""
            raise DataError(f"duplicate scores for id {rating.id!r}{where}; use the results of one judge", path=path)
    return items


def _cluster_by_content(path: Path, items: ScoredItems, table: TableOptions) -> None:
    """Make items with the same content a cluster, named by a hash of the content."""
    if _CONTENT not in column_map(path, table).columns:
        return
    for _, row in named_rows_of(path, table):
        if not isinstance(row, str) and row.get(_CONTENT) not in (None, ""):
            content = str(row[_CONTENT]).encode(errors="surrogatepass")
            name = blake2b(content, digest_size=_DIGEST_BYTES).hexdigest()
            items.put_cluster(str(row.get("language") or row.get("languageCode") or ""), str(row.get("id")), name)
