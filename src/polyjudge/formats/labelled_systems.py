"""Read the scores of several systems and the labels of some of their items, in little memory."""

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from polyjudge.errors import DataError, suggestion
from polyjudge.statistics.system_correction import SystemSample
from polyjudge.text.display import one_line

from .ratings import LARGEST, Rating, RatingColumns, Ratings, each_rating
from .systems import MOST_SYSTEMS, Codes, Floats, Hashes, Numbers, in_order, names_of

Source = tuple[Path, RatingColumns]
"""A file, and its columns of ratings."""
_MASK = 2**64 - 1
_ODD = np.uint64(0x9E3779B97F4A7C15)
_ROWS_LOOKED_AT = 10_000
_KINDS_KEPT = 50
_LONGEST = 400
_SYSTEMS_SHOWN = 3
_SYSTEM_SCORES = ".sys.score"


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledSystems:
    """The scores of several systems, with labels for some of their items."""

    estimate: Literal["mean", "pass rate"]
    systems: tuple[str, ...]
    languages: tuple[str, ...]
    samples: tuple[SystemSample, ...]
    """The scores of each system."""
    notes: tuple[str, ...] = ()
    """What a reader should know about the scores and labels."""


def has_several_systems(sources: Sequence[Source]) -> bool:
    """Say whether the rows of files name two systems, or two files without systems have an id in common.

    Of rows that name no system, only the first ones of each file are looked at.
    """
    named, ids = set[str](), dict[str, Path]()
    for path, columns in sources:
        if path.name.endswith(_SYSTEM_SCORES):
            return False
        for number, rating in enumerate(each_rating(path, columns, Ratings())):
            if rating.other_system or (not rating.system and number >= _ROWS_LOOKED_AT):
                break
            if rating.system:
                named.add(rating.system)
            elif ids.setdefault(rating.id, path) != path:
                return True
            if len(named) > 1:
                return True
    return False


@dataclass(slots=True)
class SystemRows:
    """Scores and labels as arrays: texts are kept as hashes, so that a row needs forty bytes."""

    judged: Sequence[Source]
    labels: Sequence[Source]
    is_clustered: bool = True
    """Whether labels of the same cluster depend on each other, or items are all independent."""
    notes: Ratings = field(default_factory=Ratings)
    label_notes: Ratings = field(default_factory=Ratings)
    """Messages about the labels, with a few of each kind of them."""
    systems: Codes = field(default_factory=Codes)
    languages: Codes = field(default_factory=Codes)
    unjudged: "Counter[str]" = field(default_factory=Counter[str])
    has_clusters: bool = False
    _ids: "array[int]" = field(default_factory=lambda: array("Q"))
    _clusters: "array[int]" = field(default_factory=lambda: array("Q"))
    _of: "array[int]" = field(default_factory=lambda: array("i"))
    _language: "array[int]" = field(default_factory=lambda: array("i"))
    _values: "array[float]" = field(default_factory=lambda: array("d"))
    _label_ids: list[str] = field(default_factory=list[str])
    _label_of: "array[int]" = field(default_factory=lambda: array("i"))
    _annotators: "array[int]" = field(default_factory=lambda: array("Q"))
    _unknown: dict[str, None] = field(default_factory=dict[str, None])
    """Some systems of labels that have no scores."""
    _people: "array[float]" = field(default_factory=lambda: array("d"))
    _drawn: "array[float]" = field(default_factory=lambda: array("d"))

    def __post_init__(self) -> None:
        names = names_of([path for path, _ in self.judged])
        for path, columns in self.judged:
            before = len(self._values) + self.unjudged.total()
            for rating in each_rating(path, columns, self.notes):
                self._add(rating, rating.system or names.get(path, ""), path)
            if len(self._values) + self.unjudged.total() == before:
                raise DataError(f"no scores found{_first(self.notes)}", path=path)
        kinds = set[tuple[float | None, bool, bool]]()
        for path, columns in self.labels:
            for rating in each_rating(path, columns, self.label_notes):
                self._add_label(rating, rating.system or names.get(path, ""), path)
                kind = (rating.value, rating.in_words, rating.is_preference)
                if len(kinds) < _KINDS_KEPT and kind not in kinds:
                    kinds.add(kind)
                    self.label_notes.ratings.append(rating)

    def _add(self, rating: Rating, system: str, path: Path) -> None:
        if rating.value is None:
            self.unjudged[system] += 1
            return
        _check_size(rating, path)
        self.has_clusters |= bool(rating.cluster)
        self._of.append(self.systems.number(system))
        if len(self.systems) > MOST_SYSTEMS:
            raise DataError(
                f"more than {MOST_SYSTEMS} systems; select fewer", path=path, option="filter", value="system=NAME,…"
            )
        self._ids.append(_hash(rating.id))
        self._clusters.append(_hash(rating.cluster) if rating.cluster and self.is_clustered else 0)
        self._language.append(self.languages.number(rating.language))
        self._values.append(rating.value)

    def _add_label(self, rating: Rating, system: str, path: Path) -> None:
        if rating.value is None:
            return
        _check_size(rating, path)
        item, own = rating.id, system
        if not own and "/" in item and item.rpartition("/")[2] in self.systems:
            item, _, own = item.rpartition("/")
        if own and own not in self.systems and len(self._unknown) < _KINDS_KEPT:
            self._unknown[own] = None
        self._label_ids.append(item)
        self._label_of.append(self.systems.number(own) if own in self.systems else -2 if own else -1)
        self._annotators.append(_hash(rating.annotator))
        self._people.append(rating.value)
        self._drawn.append(np.nan if rating.probability is None else rating.probability)

    @property
    def are_verdicts(self) -> bool:
        """Whether all scores are 0 or 1."""
        return bool(np.isin(np.frombuffer(self._values, np.float64), (0.0, 1.0)).all())

    def labelled(self, pass_from: tuple[float, float] | None) -> LabelledSystems:
        """Join scores and labels; with the lowest values that pass of judge and people, all are verdicts."""
        if not len(self._values):
            raise DataError(
                "no item has a verdict of the judge. Name the column of the verdicts",
                path=self.judged[0][0],
                option="score",
            )
        values, of = np.frombuffer(self._values, np.float64), np.frombuffer(self._of, np.int32)
        ids, strata = np.frombuffer(self._ids, np.uint64), np.frombuffer(self._language, np.int32)
        self._refuse_duplicates(ids * _ODD + of.astype(np.uint64))
        places, people, drawn, notes = self._joined(ids, of)
        if pass_from:
            values = (values >= pass_from[0]).astype(np.float64)
            people = (people >= pass_from[1]).astype(np.float64)
        clusters = np.frombuffer(self._clusters, np.uint64)
        clusters = in_order(np.where(clusters > 0, clusters, ids))
        samples = list[SystemSample]()
        for number in range(len(self.systems)):
            inside, own = np.flatnonzero(of == number), np.flatnonzero(of[places] == number)
            at, tags = np.searchsorted(inside, places[own]), strata[inside].astype(np.int64)
            given = drawn[own]
            samples.append(
                SystemSample(
                    judged=values[inside],
                    strata=tags,
                    places=at,
                    people=people[own],
                    clusters=clusters[inside],
                    drawn=_shares(tags, at) if np.isnan(given).all() else given,
                )
            )
        return LabelledSystems(
            estimate="pass rate" if pass_from else "mean",
            systems=self.systems.names,
            languages=self.languages.names,
            samples=tuple(samples),
            notes=tuple(notes),
        )

    def _joined(self, ids: Hashes, of: NDArray[np.int32]) -> tuple[Numbers, Floats, Floats, list[str]]:
        """Return the labelled rows in their order, the mean label of each, its probability, and notes."""
        wanted = np.array([_hash(item) for item in self._label_ids], dtype=np.uint64)
        own = np.array(self._label_of, dtype=np.int64)
        rows = self._rows_of(ids, of, wanted, own)
        found = rows >= 0
        if not len(found):
            raise DataError("the label column is empty", path=self.labels[0][0])
        if not found.any():
            some = f", such as {self._label_ids[0]!r},"
            known = f". Systems: {one_line(', '.join(self.systems.names), _LONGEST)}" if any(self.systems.names) else ""
            raise DataError(
                f"no label{some} belongs to an item of {self.judged[0][0]}{known}. Use the same ids in both",
                path=self.labels[0][0],
            )
        notes = list[str]()
        if unknown := int((~found).sum()):
            first = self._label_ids[int(np.flatnonzero(~found)[0])]
            left = "labels of items without a score are" if unknown > 1 else "label of an item without a score is"
            notes.append(f"{unknown:,} {left} left out, such as {first!r}.")
            names = self.systems.names
            notes += [f"No scores are of the system {name!r}.{suggestion(name, names)}" for name in self._shown()]
        annotators = np.frombuffer(self._annotators, np.uint64)[found]
        both = rows[found].astype(np.uint64) * _ODD + annotators
        _, firsts, counts = np.unique(both, return_index=True, return_counts=True)
        if (counts > 1).any():
            twice = self._label_ids[int(np.flatnonzero(found)[firsts[counts > 1].min()])]
            raise DataError(
                f"two labels for {twice!r}; if they are by different people, name these in a column 'annotator'"
            )
        places, starts, groups, sizes = np.unique(
            rows[found], return_index=True, return_inverse=True, return_counts=True
        )
        people = np.bincount(groups, weights=np.array(self._people)[found]) / sizes
        drawn = np.array(self._drawn)[found][starts]
        self._check_probabilities(places, drawn, of, np.flatnonzero(found)[starts])
        return places, people.astype(np.float64), drawn, notes

    def _shown(self) -> list[str]:
        """Return a few of the systems that only labels have, as they can be shown."""
        return [one_line(name, _LONGEST) for name in list(self._unknown)[:_SYSTEMS_SHOWN]]

    def _rows_of(self, ids: Hashes, of: NDArray[np.int32], wanted: Hashes, own: Numbers) -> Numbers:
        """Return the row of each label's item; -1 if there is none."""
        rows = np.full(len(wanted), -1, dtype=np.int64)
        named, unnamed = np.flatnonzero(own >= 0), np.flatnonzero(own == -1)
        if len(named):
            keys = ids * _ODD + of.astype(np.uint64)
            rows[named] = _find(keys, wanted[named] * _ODD + own[named].astype(np.uint64))[0]
        if len(unnamed):
            rows[unnamed], counts = _find(ids, wanted[unnamed])
            if (counts > 1).any():
                item = self._label_ids[int(unnamed[np.flatnonzero(counts > 1)[0]])]
                message = (
                    f"the label of {item!r} does not name its system, and several systems have this item; add a "
                    "column 'system'"
                )
                raise DataError(message, path=self.labels[0][0])
        return rows

    def _check_probabilities(self, places: Numbers, drawn: Floats, of: NDArray[np.int32], labels: Numbers) -> None:
        """Raise DataError if only some labels of a system have a probability."""
        lacking = np.isnan(drawn)
        for number in range(len(self.systems)):
            own = of[places] == number
            if lacking[own].any() and not lacking[own].all():
                item = self._label_ids[int(labels[np.flatnonzero(own & lacking)[0]])]
                message = f"the label of {item!r} has no 'inclusionProbability', but others of its system have one"
                raise DataError(message, path=self.labels[0][0])

    def _refuse_duplicates(self, keys: Hashes) -> None:
        """Raise DataError for two scores of an item of one system."""
        _, counts = np.unique(keys, return_counts=True)
        if counts.max(initial=0) < 2:
            return
        seen = set[tuple[str, str]]()
        names = names_of([path for path, _ in self.judged])
        for path, rating in _each(self.judged):
            if rating.value is None:
                continue
            key = (rating.id, rating.system or names.get(path, ""))
            if key in seen:
                system = f" of the system {key[1]!r}" if key[1] else ""
                raise DataError(f"two scores of the id {key[0]!r}{system}; give the results of one judge", path=path)
            seen.add(key)


def _each(sources: Iterable[Source]) -> Iterator[tuple[Path, Rating]]:
    for path, columns in sources:
        yield from ((path, rating) for rating in each_rating(path, columns, Ratings()))


def _find(keys: Hashes, wanted: Hashes) -> tuple[Numbers, Numbers]:
    """Return the place of each wanted key, -1 if there is none, and how often it is there."""
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    start, end = np.searchsorted(ordered, wanted, "left"), np.searchsorted(ordered, wanted, "right")
    counts = end - start
    places = order[np.minimum(start, len(keys) - 1)]
    return np.where(counts > 0, places, -1), counts


def _shares(strata: Numbers, places: Numbers) -> Floats:
    """Return the share of labelled items: of their language, or over all if a language has too few labels."""
    size = int(strata.max(initial=0)) + 1
    items, labels = np.bincount(strata, minlength=size), np.bincount(strata[places], minlength=size)
    if (labels[items > 0] < 2).any():
        return np.full(len(places), len(places) / len(strata))
    return (labels / np.maximum(items, 1))[strata[places]]


def _check_size(rating: Rating, path: Path) -> None:
    if rating.value is not None and abs(rating.value) > LARGEST:
        raise DataError(f"the score {rating.value:g} of item {rating.id[:40]!r} is out of range", path=path)


def _first(notes: Ratings) -> str:
    return f": {notes.problems[0]}" if notes.problems else ""


def _hash(text: str) -> int:
    return hash(text) & _MASK
