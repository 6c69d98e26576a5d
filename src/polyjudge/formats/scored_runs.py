"""Read the scores of a run for comparison, and write small baselines."""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from msgspec import structs

from polyjudge.errors import DataError, other_version
from polyjudge.files.atomic import write_atomically
from polyjudge.files.json_lines import json_lines_from, read_json_lines, row_line
from polyjudge.files.kinds import FileKind
from polyjudge.files.spill import Occurrences
from polyjudge.languages.table import LanguageTags
from polyjudge.records.calibration import JudgeIdentity
from polyjudge.records.codec import from_json, to_json

from .columns import AS_IT_IS, Row, TableOptions, counted_id, made_id
from .metrics_files import SCORE_FILES
from .ratings import ALL_INDEPENDENT, LARGEST, Rating, RatingColumns, Ratings, each_rating, has_translation_scores
from .row_files import column_map, first_row_of, named_rows_of, system_name
from .scored_items import ScoredItem, ScoredItems

KIND = "polyjudge baseline"
SCHEMA_VERSION = 1
_SOURCE = "source"


@dataclass(frozen=True, slots=True)
class ScoredRun:
    """The scores of one run."""

    path: Path
    items: ScoredItems
    judges: tuple[JudgeIdentity, ...]
    """The judges that gave the scores, if the file names them."""
    measure: str
    """The column of the score; empty for the default one."""
    default_measure: str = field(default="", kw_only=True)
    """The default column that has the scores, `score` or `label`; empty if that is not known."""
    problems: tuple[str, ...] = ()
    """Messages about the first few invalid rows."""
    skipped: int = 0
    is_baseline: bool = False
    """Whether it is a baseline, which has only scores."""
    by_source: ScoredItems | None = None
    """The items with ids made from source and language, if their own ids were made from the content."""
    name: str = ""
    """The system that wrote the items, or the name of the file if it names none or several."""
    passes: Mapping[str, "Counter[bool | None]"] = field(default_factory=dict[str, "Counter[bool | None]"])
    """By language, the items with a score that pass, that fail, and of which the file does not say so."""
    rows: "ItemRows | None" = None
    """The rows of the items; None if it has scores only."""
    names_clusters: bool = True
    """Whether the file names clusters, or the items are known to be independent; else neighbours may not be.

    The prompts of polyjudge's own suites are independent; the segments of a WMT file are not.
    """
    is_averaged: bool = False
    """Whether an item was rated by several people, and its score is their mean."""


@dataclass(frozen=True, slots=True)
class ItemRows:
    """The rows of a run's items, which are read again when their texts are needed."""

    path: Path
    table: TableOptions
    system: str
    ids_name_systems: bool = False
    """The ids have the system at their end, because several systems have the same."""

    def __iter__(self) -> Iterator[Row]:
        """Yield the rows of the system, with their languages as tags."""
        return self._of(row for _, row in named_rows_of(self.path, self.table))

    def _of(self, rows: Iterable[Row | str]) -> Iterator[Row]:
        tags = LanguageTags()
        for row in rows:
            if not isinstance(row, str) and (not self.system or str(row.get("system") or "") == self.system):
                language = str(row.get("language") or row.get("languageCode") or "")
                named = row if tags[language] == language else {**row, "language": tags[language]}
                yield {**named, "id": f"{row.get('id')}/{row.get('system') or ''}"} if self.ids_name_systems else named

    def texts_of(self, ids: Collection[tuple[str, str]], *, by_source: bool) -> dict[tuple[str, str], Row]:
        """Return the rows of some items, which are given by language and id; a row may have no language."""
        wanted: defaultdict[str, list[str]] = defaultdict(list)
        for language, item_id in ids:
            wanted[item_id].append(language)
        found: dict[tuple[str, str], Row] = {}
        seen, tags = Occurrences(), LanguageTags()
        for row in (self if by_source else self._with_ids(wanted)) if wanted else ():
            item_id = counted_id(row, (_SOURCE, "language"), seen, tags) if by_source else str(row.get("id"))
            language = str(row.get("language") or row.get("languageCode") or "")
            found |= {(each, item_id): row for each in wanted.get(item_id, ()) if language in ("", each)}
        return found

    def _with_ids(self, ids: Collection[str]) -> Iterator[Row]:
        """Yield the rows of the system that have one of these ids, and perhaps others."""
        is_plain = self.path.suffix == ".jsonl" and self.path.is_file() and not self.ids_name_systems
        if not is_plain or not all(map(_PLAIN_ID.fullmatch, ids)) or not column_map(self.path, self.table).is_own:
            return iter(self)
        having = re.compile(rf'"id"\s*:\s*"(?:{"|".join(map(re.escape, ids))})"').search
        return self._of(row for _, row, _ in json_lines_from(self.path, encoding=self.table.encoding, having=having))


_PLAIN_ID = re.compile(r"[\w.:/-]+", re.ASCII)
"""Is written in JSON as it is."""


def read_run(
    path: Path, *, measure: str = "", cluster: str = "", table: TableOptions = AS_IT_IS, system: str = ""
) -> ScoredRun:
    """Read the scores of a run or baseline, or those of one system in it; a duplicate item is an error."""
    header = _header(path)
    if header is not None:
        return _read_baseline(path, header)
    columns = RatingColumns(
        value=measure,
        option="score",
        cluster="" if cluster == ALL_INDEPENDENT else cluster,
        group="item" if system and path.name.endswith(SCORE_FILES) else "",
        table=table,
        system=system,
    )
    passes: defaultdict[str, Counter[bool | None]] = defaultdict(Counter)
    systems, share_ids = dict[str, int](), False
    try:
        notes, items, is_averaged = _read_items(path, columns, passes, systems)
    except _SystemsShareIdsError:
        share_ids = True
        notes, items, is_averaged = _read_items(path, columns, passes, systems, names_systems=True)
    if not len(items):
        why = f": {notes.problems[0]}" if notes.problems else f" of the system {system!r}" if system else ""
        raise DataError(f"no scores found{why}", path=path)
    of_prompts = has_translation_scores(path, table)
    rows = ItemRows(path, table, system, share_ids) if not of_prompts and not path.name.endswith(".score") else None
    names_clusters = of_prompts or bool(cluster) or (items.has_clusters and not path.name.endswith(SCORE_FILES))
    items.joins_content = not names_clusters and not items.has_clusters
    return ScoredRun(
        *(path, items, tuple(notes.judges), measure, tuple(notes.problems), notes.skipped),
        by_source=None if rows is None else _by_source(rows, items),
        name=next(iter(systems)) if len(systems) == 1 and "" not in systems else system_name(path),
        passes=passes,
        rows=rows,
        default_measure=notes.default_columns.pop() if len(notes.default_columns) == 1 else "",
        names_clusters=names_clusters,
        is_averaged=is_averaged,
    )


def _read_items(
    path: Path,
    columns: RatingColumns,
    passes: dict[str, "Counter[bool | None]"],
    systems: dict[str, int],
    *,
    names_systems: bool = False,
) -> tuple[Ratings, ScoredItems, bool]:
    """Return notes, the scored items, and whether some have a mean; with the systems in the ids if wanted."""
    passes.clear()
    notes = Ratings()
    ratings: Iterable[Rating] = each_rating(path, columns, notes)
    if names_systems:
        ratings = (structs.replace(each, id=f"{each.id}/{each.system}") for each in ratings)
    return notes, *_unique_items(path, _tallied(ratings, passes, systems), systems)


def _tallied(
    ratings: Iterable[Rating], passes: Mapping[str, "Counter[bool | None]"], systems: dict[str, int]
) -> Iterator[Rating]:
    """Yield ratings, and count those that pass and fail by language; number the systems."""
    for rating in ratings:
        if rating.value is not None:
            passes[rating.language][rating.passed] += 1
        systems.setdefault(rating.system, len(systems))
        yield rating


def systems_of(path: Path, table: TableOptions = AS_IT_IS) -> tuple[str, ...]:
    """Return the systems that the rows of a file name, in the order of appearance."""
    rows = (row for _, row in named_rows_of(path, table) if not isinstance(row, str))
    return tuple(dict.fromkeys(str(name) for row in rows if (name := row.get("system")) not in (None, "")))


PAIRED_BY_SOURCE = "the items have no ids of their own and are paired by source and language"


def paired_by_source(before: ScoredRun, after: ScoredRun) -> tuple[ScoredRun, ScoredRun] | None:
    """Return two runs with ids made from source and language; None if they have ids of their own.

    An id that is made from the content changes with the judged text, which is what differs between two runs.
    """
    if before.by_source is None or after.by_source is None:
        return None
    return replace(before, items=before.by_source), replace(after, items=after.by_source)


def write_baseline(path: Path, run: ScoredRun, *, force: bool = False) -> None:
    """Write a baseline for later comparisons: sorted ids, languages and scores, without texts and times."""
    judges = sorted(run.judges, key=lambda judge: tuple(to_json(judge).items()))
    header = {
        "schemaVersion": SCHEMA_VERSION,
        "kind": KIND,
        "items": len(run.items),
        "measure": run.measure,
        "judges": [to_json(judge) for judge in judges],
        **({"pairedBy": _SOURCE} if run.by_source is not None else {}),
    }
    items = run.items if run.by_source is None else run.by_source
    with write_atomically(path, kind=FileKind.BASELINE, force=force) as file:
        file.write(row_line(header))
        for item in items:
            file.write(row_line({"id": item.id, "language": item.language, "score": item.score}))


def _header(path: Path) -> Mapping[str, Any] | None:
    """Return the first row of a baseline, or None if the file is not one."""
    if path.suffix.lower() != ".jsonl":
        return None
    first = first_row_of(path, AS_IT_IS)
    return first if first.get("kind") == KIND else None


def _read_baseline(path: Path, header: Mapping[str, Any]) -> ScoredRun:
    if header.get("schemaVersion") != SCHEMA_VERSION:
        raise DataError(other_version(header.get("schemaVersion"), SCHEMA_VERSION), path=path, line=1)
    rows, tags = read_json_lines(path), LanguageTags()
    next(rows)
    items, _ = _unique_items(path, (_baseline_rating(path, line, row, tags) for line, row in rows))
    if len(items) != header.get("items") or not len(items):
        raise DataError(
            f"incomplete baseline: {len(items)} of {header.get('items')!r} items; create it again", path=path
        )
    try:
        judges = tuple(from_json(JudgeIdentity, judge) for judge in header.get("judges", []))
    except (DataError, TypeError) as error:
        raise DataError(f"invalid judges: {error}", path=path, line=1) from None
    by_source = items if header.get("pairedBy") == _SOURCE else None
    return ScoredRun(
        path,
        items,
        judges,
        str(header.get("measure", "")),
        is_baseline=True,
        by_source=by_source,
        name=system_name(path),
        names_clusters=False,
    )


def _baseline_rating(path: Path, line: int, row: Mapping[str, Any], tags: LanguageTags) -> Rating:
    item_id, language, score = (row.get(name) for name in ("id", "language", "score"))
    is_number = isinstance(score, int | float) and not isinstance(score, bool) and -LARGEST <= score <= LARGEST
    if not isinstance(item_id, str) or not isinstance(language, str) or not (is_number or score is None):
        raise DataError("expected the id, language and score of an item", path=path, line=line)
    return Rating(id=item_id, language=tags[language], value=score)


class _SystemsShareIdsError(Exception):
    """Items of several systems have the same id."""


def _unique_items(
    path: Path, ratings: Iterable[Rating], systems: Mapping[str, int] | None = None
) -> tuple[ScoredItems, bool]:
    """Return the items, and whether some have a mean of ratings; raise DataError for a duplicate or too large score."""
    items, is_averaged = ScoredItems(), False
    for rating in ratings:
        if rating.value is not None and abs(rating.value) > LARGEST:
            raise DataError(f"the score {rating.value:g} of item {rating.id!r} is out of range", path=path)
        item = ScoredItem(rating.language, rating.group or rating.id, rating.value, rating.cluster)
        system = systems[rating.system] if systems else 0
        if items.add(item, system, rating.source):
            continue
        if items.system_of(item) != system:
            raise _SystemsShareIdsError
        if not rating.annotator:
            where = f" in {rating.language!r}" if rating.language else ""
            raise DataError(f"duplicate scores for id {rating.id!r}{where}; use the results of one judge", path=path)
        items.add_rating(item)
        is_averaged = True
    return items, is_averaged


def _by_source(rows: ItemRows, items: ScoredItems) -> ScoredItems | None:
    """Return the items with ids made from source and language; None if some id is not made from the content.

    Rows that a run wrote do not say so, but their ids can be made again, unless the table named a system.
    """
    columns = column_map(rows.path, rows.table)
    if not columns.makes_ids and not columns.is_own:
        return None
    found, seen, systems, tags = ScoredItems(), Occurrences(), set[str](), LanguageTags()
    for row in rows:
        own_id, system = str(row.get("id")), str(row.get("system") or "")
        if not row.get(_SOURCE) or len(systems | {system}) > 1:
            return None
        if columns.is_own and ("candidate" not in row or own_id.partition("-")[0] != made_id(row, tags)):
            return None
        systems.add(system)
        item = items.get(str(row.get("language") or ""), own_id)
        paired = counted_id(row, (_SOURCE, "language"), seen, tags)
        if item is not None:
            found.add(item._replace(id=paired))
    return found
