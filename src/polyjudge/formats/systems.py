"""Read which of several systems is better on which item: from one run for each, one run of many, or rows of pairs."""

from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from polyjudge.errors import ConfigError, DataError
from polyjudge.records.calibration import JudgeIdentity
from polyjudge.statistics.comparisons import ScoreTable

from .columns import AS_IT_IS, TableOptions
from .ratings import ALL_INDEPENDENT, Rating, RatingColumns, Ratings, each_rating
from .row_files import system_name

Hashes = NDArray[np.uint64]
Numbers = NDArray[np.int64]
Floats = NDArray[np.float64]
_MASK = 2**64 - 1
_NAMED_MOST = 3
MOST_SYSTEMS = 100
"""Each two systems are tested; with more of them that takes too long, and hardly any pair can be distinguished."""
PAIRED_BY_SOURCE = "the items have no common ids and are paired by source and language"
SEVERAL_RATINGS = "some items were rated several times for one system; the mean rating counts"


@dataclass(frozen=True, slots=True)
class Compared:
    """Comparisons of systems on items: of two at a time, in the order of the rows, and of all by their scores."""

    systems: tuple[str, ...]
    languages: tuple[str, ...]
    first: Numbers
    """The number of the first system."""
    second: Numbers
    share: Floats
    """The share of the preference for the first: 1 if it is better, 0 if it is worse, 0.5 for a tie."""
    language: Numbers
    clusters: Numbers
    """The groups of dependent comparisons, numbered in the order of appearance."""
    names_clusters: bool
    """Whether a column names the clusters, or they are said to be independent; else rows near each other may not be."""
    failures: "Counter[str]"
    """By system, the items without a verdict."""
    table: ScoreTable | None = None
    """The scores of items that at least two systems have; its clusters are numbered with those of the pairs."""
    table_language: Numbers | None = None
    """The language of each item of the table."""
    judges: tuple[JudgeIdentity, ...] = ()
    notes: tuple[str, ...] = ()
    """What a reader should know about how the items were compared."""
    problems: tuple[str, ...] = ()
    """Messages about the first few invalid rows."""
    skipped: int = 0


def read_compared(
    paths: Sequence[Path],
    *,
    systems: Sequence[str] = (),
    measure: str = "",
    cluster: str = "",
    table: TableOptions = AS_IT_IS,
) -> Compared:
    """Read all comparisons of the systems in some files; `systems` selects and orders them.

    A row with `otherSystem` or `otherCandidate` is a comparison. Other rows are scores: of the system in the column
    `system`, or of that which the file is named after. Of each item that two systems have, the higher score wins.
    """
    rows = _Rows(systems=tuple(dict.fromkeys(systems)))
    named = "" if cluster == ALL_INDEPENDENT else cluster
    notes = Ratings()
    for path in paths:
        before = len(rows.ids)
        columns = RatingColumns(
            value=measure, option="score", cluster=named, group="item" if _is_wmt(path) else "", table=table
        )
        own = names_of(paths)[path]
        for rating in each_rating(path, columns, notes):
            rows.add(rating, own, notes.note, clusters=not _is_wmt(path))
        if len(rows.ids) == before and len(paths) > 1 and not systems:
            why = f": {notes.problems[0]}" if notes.problems else ""
            raise DataError(f"no scores found{why}", path=path)
    if systems:
        rows.check_known(paths)
    if named and rows.ids and not rows.has_clusters and not any(map(_is_wmt, paths)):
        raise ConfigError(f"no row has the column {named!r}", option="cluster")
    found = _Joined(rows, paths, names_clusters=cluster != "" or rows.has_clusters, joins=cluster != ALL_INDEPENDENT)
    return found.compared(notes)


def _is_wmt(path: Path) -> bool:
    return path.name.endswith((".seg.score", ".sys.score"))


def names_of(paths: Sequence[Path]) -> dict[Path, str]:
    """Return the systems that files are named after; the whole path where two files have the same name."""
    counts = Counter(map(system_name, dict.fromkeys(paths)))
    return {path: name if counts[name := system_name(path)] == 1 else str(path) for path in paths}


class Codes:
    """Distinct texts, numbered in the order of appearance."""

    def __init__(self, names: Sequence[str] = ()) -> None:
        self._numbers = {name: number for number, name in enumerate(names)}

    def __len__(self) -> int:
        return len(self._numbers)

    def __contains__(self, name: str) -> bool:
        return name in self._numbers

    def number(self, name: str) -> int:
        """Return the number of a text, from 0; a new text gets the next number."""
        return self._numbers.setdefault(name, len(self._numbers))

    @property
    def names(self) -> tuple[str, ...]:
        """The texts, in order."""
        return tuple(self._numbers)


@dataclass(slots=True)
class _Rows:
    """Ratings as arrays: texts are kept as hashes, so that a row needs sixty bytes."""

    systems: tuple[str, ...] = ()
    known: Codes = field(init=False)
    languages: Codes = field(default_factory=Codes)
    failures: "Counter[str]" = field(default_factory=Counter[str])
    has_clusters: bool = False
    has_annotators: bool = False
    has_sources: bool = True
    has_made_ids: bool = True
    seen: set[str] = field(default_factory=set[str])
    """All systems of the files."""
    occurrences: "defaultdict[int, int]" = field(default_factory=lambda: defaultdict[int, int](int))
    ids: "array[int]" = field(default_factory=lambda: array("Q"))
    sources: "array[int]" = field(default_factory=lambda: array("Q"))
    counts: "array[int]" = field(default_factory=lambda: array("i"))
    """Which row of its source and system it is."""
    clusters: "array[int]" = field(default_factory=lambda: array("Q"))
    language: "array[int]" = field(default_factory=lambda: array("i"))
    first: "array[int]" = field(default_factory=lambda: array("i"))
    second: "array[int]" = field(default_factory=lambda: array("i"))
    """The other system of a pair; -1 for the score of one."""
    values: "array[float]" = field(default_factory=lambda: array("d"))

    def __post_init__(self) -> None:
        self.known = Codes(self.systems)

    def add(self, rating: Rating, own: str, refuse: Callable[[str], None], *, clusters: bool) -> None:
        """Add a rating; a pair of systems that are not both selected is left out."""
        system, other = rating.system or own, rating.other_system
        self.seen.update((system, other) if other else (system,))
        if self.systems and (system not in self.systems or (other and other not in self.systems)):
            return
        value = rating.value
        if value is None:
            self.failures.update((system, other) if other else (system,))
            return
        if other and not 0 <= value <= 1:
            refuse(f"{rating.id!r}: a preference must be from 0 to 1, or first, second or tie, not {value:g}")
            return
        if other == system:
            refuse(f"{rating.id!r}: both texts are of the system {system!r}")
            return
        self.has_clusters |= clusters and bool(rating.cluster)
        self.has_annotators |= bool(rating.annotator)
        self.has_sources &= bool(rating.source)
        self.has_made_ids &= rating.has_made_id
        source = _hash(rating.source) if rating.source else 0
        self.ids.append(_hash(rating.group or rating.id))
        self.sources.append(source)
        self.counts.append(0 if other or not source else self._occurrence(source, system, rating.language))
        self.clusters.append(_hash(rating.cluster) if clusters and rating.cluster else 0)
        self.language.append(self.languages.number(rating.language))
        self.first.append(self.known.number(system))
        self.second.append(self.known.number(other) if other else -1)
        if len(self.known) > MOST_SYSTEMS:
            raise ConfigError(f"more than {MOST_SYSTEMS} systems; name those to rank", option="systems")
        self.values.append(value)

    def _occurrence(self, source: int, system: str, language: str) -> int:
        key = hash((source, system, language))
        self.occurrences[key] += 1
        return self.occurrences[key]

    def check_known(self, paths: Sequence[Path]) -> None:
        """Raise ConfigError for a selected system that no file has."""
        missing = next((name for name in self.systems if name not in self.seen), None)
        if missing is not None:
            where = ", ".join(map(str, paths[:_NAMED_MOST]))
            found = ", ".join(sorted(self.seen)) or "none"
            raise ConfigError(f"no system {missing!r} in {where}. Systems: {found}", option="systems")


def _hash(text: str) -> int:
    return hash(text) & _MASK


class _Joined:
    """Pairs the scores of systems by item, and joins them with the pairs in the files."""

    def __init__(self, rows: _Rows, paths: Sequence[Path], *, names_clusters: bool, joins: bool) -> None:
        self._rows, self._paths = rows, paths
        self._names_clusters, self._joins = names_clusters or not joins, joins
        self._notes = list[str]()
        as_hashes, as_numbers = np.uint64, np.int32
        self._ids = np.frombuffer(rows.ids, dtype=as_hashes)
        self._sources = np.frombuffer(rows.sources, dtype=as_hashes)
        self._counts = np.frombuffer(rows.counts, dtype=as_numbers)
        self._clusters = np.frombuffer(rows.clusters, dtype=as_hashes)
        self._first = np.frombuffer(rows.first, dtype=as_numbers)
        self._second = np.frombuffer(rows.second, dtype=as_numbers)
        self._values = np.frombuffer(rows.values, dtype=np.float64)
        self._language = self._languages()

    def compared(self, notes: Ratings) -> Compared:
        """Return the comparisons; raise DataError if there are none."""
        if len(self._rows.known) < 2 or not len(self._values):
            raise DataError(self._why_none(notes), path=self._paths[0])
        scored, pairs = np.flatnonzero(self._second < 0), np.flatnonzero(self._second >= 0)
        scores, places = self._table(scored)
        if not len(pairs) and not len(places):
            raise DataError(self._why_none(notes), path=self._paths[0])
        together = np.concatenate([pairs, places])
        order = np.argsort(together, kind="stable")
        clusters = np.empty(len(together), dtype=np.int64)
        clusters[order] = in_order(self._cluster_keys()[together[order]])
        return Compared(
            systems=self._rows.known.names,
            languages=self._rows.languages.names,
            first=self._first[pairs].astype(np.int64),
            second=self._second[pairs].astype(np.int64),
            share=self._values[pairs],
            language=self._language[pairs],
            clusters=clusters[: len(pairs)],
            names_clusters=self._names_clusters,
            failures=self._rows.failures,
            table=ScoreTable(scores, clusters[len(pairs) :]) if len(places) else None,
            table_language=self._language[places] if len(places) else None,
            judges=tuple(notes.judges),
            notes=tuple(self._notes),
            problems=tuple(notes.problems),
            skipped=notes.skipped,
        )

    def _languages(self) -> Numbers:
        """Return the language of each row; a row without one gets that of the same id, if there is only one."""
        codes = np.frombuffer(self._rows.language, dtype=np.int32).astype(np.int64)
        names = self._rows.languages
        if "" not in names or len(names) == 1:
            return codes
        empty = codes == names.number("")
        known = np.unique(self._ids[~empty])
        lows, highs = np.full(len(known), np.iinfo(np.int64).max), np.full(len(known), -1)
        index = np.searchsorted(known, self._ids[~empty])
        np.minimum.at(lows, index, codes[~empty])
        np.maximum.at(highs, index, codes[~empty])
        wanted = np.flatnonzero(empty)
        at = np.minimum(np.searchsorted(known, self._ids[wanted]), len(known) - 1)
        fits = (known[at] == self._ids[wanted]) & (lows[at] == highs[at])
        codes[wanted[fits]] = lows[at[fits]]
        return codes

    def _keys(self, *, by_source: bool) -> Hashes:
        """Return what identifies the item of each row: its language, and its id or its source."""
        own = self._sources + self._counts.astype(np.uint64) if by_source else self._ids
        return own * np.uint64(0x9E3779B97F4A7C15) + self._language.astype(np.uint64)

    def _cluster_keys(self) -> Hashes:
        """Return the cluster of each row: the named one, else that of its source, else the item."""
        items = self._keys(by_source=False)
        if not self._joins:
            return items
        other = np.where(self._sources > 0, self._sources, items) if not self._rows.has_clusters else items
        return np.where(self._clusters > 0, self._clusters, other)

    def _table(self, rows: Numbers) -> tuple[Floats, Numbers]:
        """Return the scores of items (rows) that two systems (columns) have, and the first row of each item."""
        by_source = self._rows.has_sources and self._rows.has_made_ids
        table, places, is_shared = self._table_by(rows, by_source=by_source)
        if len(rows) and not by_source and not is_shared and self._rows.has_sources:
            table, places, by_source = *self._table_by(rows, by_source=True)[:2], True
        if by_source and len(rows):
            self._notes.append(PAIRED_BY_SOURCE)
        shared = np.flatnonzero((~np.isnan(table)).sum(axis=1) > 1)
        shared = shared[np.argsort(places[shared], kind="stable")]
        return table[shared], places[shared]

    def _table_by(self, rows: Numbers, *, by_source: bool) -> tuple[Floats, Numbers, bool]:
        keys, size = self._keys(by_source=by_source)[rows], len(self._rows.known)
        _, starts, items = np.unique(keys, return_index=True, return_inverse=True)
        cells = items * size + self._first[rows]
        counts = np.bincount(cells, minlength=len(starts) * size)
        if counts.max(initial=0) > 1:
            self._refuse_duplicates(int(rows[np.flatnonzero(counts[cells] > 1)[0]]))
        sums = np.bincount(cells, weights=self._values[rows], minlength=len(starts) * size)
        table = np.divide(sums, counts, out=np.full(len(sums), np.nan), where=counts > 0).reshape(-1, size)
        is_shared = bool(((counts.reshape(-1, size) > 0).sum(axis=1) > 1).any())
        return table, rows[starts], is_shared

    def _refuse_duplicates(self, row: int) -> None:
        """Raise DataError for two scores of an item and system, unless they are of several people."""
        system = self._rows.known.names[int(self._first[row])]
        if not self._rows.has_annotators:
            message = f"several scores of {system!r} for an item; use one judge, and one run for each system"
            raise DataError(message, path=self._paths[0])
        if SEVERAL_RATINGS not in self._notes:
            self._notes.append(SEVERAL_RATINGS)

    def _why_none(self, notes: Ratings) -> str:
        systems = self._rows.known.names
        if notes.problems and not len(self._values):
            return f"no scores found: {notes.problems[0]}"
        if len(systems) < 2:
            only = f"only {systems[0]!r}" if systems else "none"
            return f"two systems are needed, found {only}; give one run for each, a column system, or rows of pairs"
        return "no common items: they are matched by language and id, or by source"


def in_order(keys: Hashes) -> Numbers:
    """Number keys in the order in which they appear."""
    _, first, codes = np.unique(keys, return_index=True, return_inverse=True)
    ranks = np.empty(len(first), dtype=np.int64)
    ranks[np.argsort(first, kind="stable")] = np.arange(len(first))
    return ranks[codes]
