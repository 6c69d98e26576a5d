"""Pair the items of two runs: those with a score in both as arrays, the others counted and the first few named."""

import dataclasses
from array import array
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from msgspec.structs import replace

from polyjudge.errors import DataError
from polyjudge.files.spill import Names
from polyjudge.formats.columns import Row
from polyjudge.formats.scored_items import ScoredItem
from polyjudge.formats.scored_runs import ScoredRun
from polyjudge.records.comparison import ItemChange
from polyjudge.statistics.paired import in_file_order
from polyjudge.statistics.resampling import Codes, Floats


@dataclass(frozen=True, slots=True)
class Pairs:
    """Items with a verdict in both runs, sorted by language and id; each index of the arrays is one item."""

    before: Floats
    after: Floats
    clusters: Codes
    places: Codes
    """The place of each item in the file of the second run."""
    may_be_related: bool = False
    """Whether neighbouring clusters may belong together; they are then numbered in the order of the file."""

    def __len__(self) -> int:
        return len(self.before)

    @property
    def differences(self) -> Floats:
        """The second score minus the first."""
        return self.after - self.before

    def part(self, start: int, end: int) -> "Pairs":
        """Return the pairs between two indexes."""
        here = slice(start, end)
        return Pairs(self.before[here], self.after[here], self.clusters[here], self.places[here], self.may_be_related)

    def in_order(self) -> "Pairs":
        """Return the pairs with clusters in the order of the file, of which neighbours may be of one document."""
        return dataclasses.replace(self, clusters=in_file_order(self.clusters, self.places), may_be_related=True)

    def passing(self, threshold: float) -> "Pairs":
        """Return pairs of 1 for a score of at least the threshold, and 0 for a lower one."""
        return dataclasses.replace(
            self, before=np.float64(self.before >= threshold), after=np.float64(self.after >= threshold)
        )


@dataclass(frozen=True, slots=True)
class PairedItems:
    """All items of both runs by kind of change."""

    pairs: Pairs
    """Sorted by language and id."""
    tallies: Mapping[str, Counter[str]]
    """The number of items of each kind, by language in order."""
    named: Mapping[str, Sequence[ItemChange]]
    """The first few items of each kind except paired ones."""

    @property
    def kinds(self) -> Counter[str]:
        """The number of items of each kind over all languages."""
        return sum(self.tallies.values(), Counter[str]())

    @property
    def languages(self) -> Codes:
        """The language of each pair, as a number."""
        return np.repeat(np.arange(len(self.tallies)), [tally["paired"] for tally in self.tallies.values()])

    def languages_named(self, names: Collection[str]) -> Codes:
        """Return the indexes of the pairs in these languages."""
        wanted = [place for place, name in enumerate(self.tallies) if name in names]
        return np.flatnonzero(np.isin(self.languages, wanted))


_ItemPair = tuple[ScoredItem | None, ScoredItem | None]
"""One item before and after; None where it is missing."""


def _joined(before: ScoredRun, after: ScoredRun) -> Iterator[_ItemPair]:
    """Yield the items of both runs, merged by language and id."""
    rest_before, rest_after = iter(before.items), iter(after.items)
    was, now = next(rest_before, None), next(rest_after, None)
    while was is not None or now is not None:
        is_gone = now is None or (was is not None and was.key < now.key)
        is_added = was is None or (now is not None and now.key < was.key)
        yield None if is_added else was, None if is_gone else now
        if not is_added:
            was = next(rest_before, None)
        if not is_gone:
            now = next(rest_after, None)


def paired_items(before: ScoredRun, after: ScoredRun, show: int) -> PairedItems:
    """Pair the items of two runs; `show` is the number of items to name of each other kind."""
    scores_before, scores_after, places, clusters = array("d"), array("d"), array("q"), _Clusters()
    tallies: defaultdict[str, Counter[str]] = defaultdict(Counter)
    named: defaultdict[str, list[ItemChange]] = defaultdict(list)
    for was, now in _joined(before, after):
        kind, change = _kind(was, now), _change(was, now)
        tallies[change.language][kind] += 1
        if change.before is not None and change.after is not None:
            scores_before.append(change.before)
            scores_after.append(change.after)
            places.append(now.place if now else 0)
            clusters.add((now and now.cluster) or (was and was.cluster) or "")
        elif len(few := named["missing" if kind == "missing_judged" else kind]) < show:
            few.append(change)
    if not any(tally.keys() - {"missing", "missing_judged", "added"} for tally in tallies.values()):
        ids = [repr(next(iter(run.items)).id[:40]) for run in (before, after)]
        raise DataError(
            f"{before.path} and {after.path} have no items in common: items are matched by language and id, and the "
            f"first ids are {' and '.join(ids)}. Use the same ids in both"
        )
    columns = np.frombuffer(scores_before), np.frombuffer(scores_after), clusters.codes()
    pairs = Pairs(*columns, np.frombuffer(places, dtype=np.int64))
    names_clusters = before.names_clusters or after.names_clusters
    return PairedItems(pairs if names_clusters else pairs.in_order(), tallies, named)


def _kind(was: ScoredItem | None, now: ScoredItem | None) -> str:
    was_judged = was is not None and was.score is not None
    if now is None:
        return "missing_judged" if was_judged else "missing"
    if was is None:
        return "added"
    if now.score is not None:
        return "paired" if was_judged else "newly_judged"
    return "newly_unjudged" if was_judged else "unjudged"


def _change(was: ScoredItem | None, now: ScoredItem | None) -> ItemChange:
    language, item_id = (was or now or ScoredItem("", "")).key
    return ItemChange(id=item_id, language=language, before=was and was.score, after=now and now.score)


class _Clusters:
    """Numbers the clusters of items: named ones in the order of names, then each other item separately."""

    def __init__(self) -> None:
        self._names = Names()
        self._numbers = array("q")

    def add(self, name: str) -> None:
        self._numbers.append(self._names.number(name) if name else -1)

    def codes(self) -> Codes:
        numbers = np.frombuffer(self._numbers, dtype=np.int64)
        order = np.fromiter(self._names.in_order(), dtype=np.int64)
        ranks = np.empty(len(order) + 1, dtype=np.int64)
        ranks[order] = np.arange(len(order))
        alone = numbers < 0
        return np.where(alone, len(order) + np.cumsum(alone) - 1, ranks[numbers])


def largest_changes(
    after: ScoredRun, items: PairedItems, most: int, changed: Mapping[str, Collection[str]]
) -> tuple[tuple[ItemChange, ...], tuple[ItemChange, ...]]:
    """Return the items that fell and rose most; ties in the order of language and id.

    `changed` has the languages that got `worse` and `better`: their items come first, because they decide.
    """
    differences = items.pairs.differences
    fell = _furthest(differences, items.languages_named(changed["worse"]), most)
    rose = _furthest(-differences, items.languages_named(changed["better"]), most)
    return _pairs_at(fell, items.pairs, after), _pairs_at(rose, items.pairs, after)


def _furthest(differences: Floats, deciding: Codes, most: int) -> list[int]:
    """Return the indexes of the lowest negative differences, those of the deciding items before others."""
    order = np.lexsort((differences, ~np.isin(np.arange(len(differences)), deciding)))[:most]
    return sorted(
        (int(index) for index in order if differences[index] < 0), key=lambda index: (differences[index], index)
    )


def _pairs_at(indexes: Sequence[int], pairs: Pairs, after: ScoredRun) -> tuple[ItemChange, ...]:
    """Return the pairs at some indexes."""
    named = after.items.at(pairs.places[indexes].tolist())
    found: list[ItemChange] = []
    for index in indexes:
        language, item_id = named[int(pairs.places[index])]
        was, now = float(pairs.before[index]), float(pairs.after[index])
        found.append(ItemChange(id=item_id, language=language, before=was, after=now))
    return tuple(found)


def with_texts(
    shown: Mapping[str, Sequence[ItemChange]], before: ScoredRun, after: ScoredRun, *, by_source: bool
) -> dict[str, tuple[ItemChange, ...]]:
    """Add the texts and reasons of both runs to some items; this reads their rows again."""
    ids = {(each.language, each.id) for changes in shown.values() for each in changes}
    was, now = (run.rows.texts_of(ids, by_source=by_source) if run.rows else {} for run in (before, after))
    return {
        kind: tuple(
            _with_text(each, was.get((each.language, each.id)), now.get((each.language, each.id))) for each in changes
        )
        for kind, changes in shown.items()
    }


def _with_text(change: ItemChange, was: Row | None, now: Row | None) -> ItemChange:
    def text(row: Row | None, name: str) -> str:
        value = row.get(name) if row is not None else None
        return value if isinstance(value, str) else ""

    return replace(
        change,
        source=text(now, "source") or text(was, "source"),
        text_before=text(was, "candidate"),
        text_after=text(now, "candidate"),
        reason_before=text(was, "reason"),
        reason_after=text(now, "reason"),
    )
