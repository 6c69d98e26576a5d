"""A run to be compared with another: its scores by item, from any file of scores or from a small committed baseline."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

from polyjudge.errors import DataError
from polyjudge.records import JudgeIdentity

from .item_rows import rows_of
from .json_lines import read_json_lines
from .json_records import from_json, to_json
from .ratings import Rating, RatingColumns, Ratings, each_rating
from .row_log import row_line
from .scored_items import ScoredItem, ScoredItems
from .writing import write_atomically

KIND = "polyjudge baseline"
SCHEMA_VERSION = 1
_CONTENT = "source"
"""The column with what an item is about; items about the same belong together."""
_BYTES_OF_CONTENT = 12
_LARGEST = 1e12
"""No scale goes so far; beyond it sums and squares would not be exact."""


@dataclass(frozen=True, slots=True)
class ScoredRun:
    """The scores of one run."""

    path: Path
    items: ScoredItems
    judges: tuple[JudgeIdentity, ...]
    """Who gave the scores, where the file says so."""
    measure: str
    """Which score: a column's name, or empty for the usual one."""
    problems: tuple[str, ...] = ()
    """What is wrong with the first few rows that cannot be used."""
    skipped: int = 0
    is_baseline: bool = False
    """It was blessed, and holds scores alone."""


def read_run(path: Path, *, measure: str = "", cluster: str = "") -> ScoredRun:
    """Read a run's scores, or a baseline; two rows of the same item are an error."""
    header = _header(path)
    if header is not None:
        return _read_baseline(path, header)
    notes = Ratings()
    items = _only_once(path, each_rating(path, RatingColumns(value=measure, cluster=cluster), notes))
    if not len(items):
        why = f": {notes.problems[0]}" if notes.problems else ""
        raise DataError(f"holds no scores{why}", path=path)
    if not (items.has_clusters or cluster or path.suffix.lower() == ".json" or path.name.endswith(".score")):
        _cluster_by_content(path, items)
    return ScoredRun(path, items, tuple(notes.judges), measure, tuple(notes.problems), notes.skipped)


def write_baseline(path: Path, run: ScoredRun, *, force: bool = False) -> None:
    """Write what later runs are compared with: ids, languages and scores, sorted, no texts and no times."""
    judges = sorted(run.judges, key=lambda judge: tuple(to_json(judge).items()))
    header = {
        "schemaVersion": SCHEMA_VERSION,
        "kind": KIND,
        "items": len(run.items),
        "measure": run.measure,
        "judges": [to_json(judge) for judge in judges],
    }
    with write_atomically(path, force=force) as file:
        file.write(row_line(header))
        for item in run.items:
            file.write(row_line({"id": item.id, "language": item.language, "score": item.score}))


def _header(path: Path) -> Mapping[str, Any] | None:
    """Return the first row of a baseline; None where the file is none."""
    if path.suffix.lower() != ".jsonl":
        return None
    first = _first_row(path)
    return first if first.get("kind") == KIND else None


def _read_baseline(path: Path, header: Mapping[str, Any]) -> ScoredRun:
    if header.get("schemaVersion") != SCHEMA_VERSION:
        raise DataError(
            f"schemaVersion is {header.get('schemaVersion')!r}, expected {SCHEMA_VERSION}", path=path, line=1
        )
    rows = read_json_lines(path)
    next(rows)
    items = _only_once(path, (_of_baseline(path, line, row) for line, row in rows))
    if len(items) != header.get("items") or not len(items):
        raise DataError(f"holds {len(items)} of {header.get('items')!r} items: bless it anew", path=path)
    try:
        judges = tuple(from_json(JudgeIdentity, judge) for judge in header.get("judges", []))
    except (DataError, TypeError) as error:
        raise DataError(f"names its judges wrongly: {error}", path=path, line=1) from None
    return ScoredRun(path, items, judges, str(header.get("measure", "")), is_baseline=True)


def _of_baseline(path: Path, line: int, row: Mapping[str, Any]) -> Rating:
    item_id, language, score = (row.get(name) for name in ("id", "language", "score"))
    is_number = isinstance(score, int | float) and not isinstance(score, bool) and -_LARGEST <= score <= _LARGEST
    if not isinstance(item_id, str) or not isinstance(language, str) or not (is_number or score is None):
        raise DataError("is not an item's id, language and score", path=path, line=line)
    return Rating(id=item_id, language=language, value=score)


def _only_once(path: Path, ratings: Iterable[Rating]) -> ScoredItems:
    """Return the scored items, of which none may stand twice."""
    items = ScoredItems()
    for rating in ratings:
        if rating.value is not None and abs(rating.value) > _LARGEST:
            raise DataError(f"the score {rating.value:g} of {rating.id!r} is on no scale", path=path)
        if not items.add(ScoredItem(rating.language, rating.id, rating.value, rating.cluster)):
            where = f" in {rating.language!r}" if rating.language else ""
            raise DataError(f"the id {rating.id!r} has two scores{where}; give the results of one judge", path=path)
    return items


def _cluster_by_content(path: Path, items: ScoredItems) -> None:
    """Put items together that are about the same; of the texts only a short name is kept."""
    if _CONTENT not in _first_row(path):
        return
    for _, row in rows_of(path):
        if not isinstance(row, str) and row.get(_CONTENT) not in (None, ""):
            content = str(row[_CONTENT]).encode(errors="surrogatepass")
            name = blake2b(content, digest_size=_BYTES_OF_CONTENT).hexdigest()
            items.put_cluster(str(row.get("language") or row.get("languageCode") or ""), str(row.get("id")), name)


def _first_row(path: Path) -> Mapping[str, Any]:
    first = next(iter(rows_of(path)), (0, ""))[1]
    return {} if isinstance(first, str) else first
