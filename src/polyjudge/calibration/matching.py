"""Pair the scores of a judge with the labels of people, of whom several may have labelled an item."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import nan
from statistics import fmean
from typing import Literal

from msgspec import structs

from polyjudge.errors import DataError
from polyjudge.formats.ratings import Rating, Ratings
from polyjudge.statistics.agreement import Level, krippendorff_alpha

Combination = Literal["majority", "mean", "each"]
"""How the labels of several people are used: the most frequent one, their mean, or each by itself."""
_CATEGORIES = {-1.0, 0.0, 1.0, 2.0}
"""Numbers that name categories: fail and pass; tie, first and second; worse, equal and better."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """One item with the score of the judge and the label of people."""

    id: str
    judge: float
    """NaN for an item without a verdict."""
    people: float
    language: str = ""
    group: str = ""
    cluster: str = ""
    system: str = ""
    part: str = ""
    probability: float | None = None
    """The probability that the item had of being labelled, if it was not the same for all items."""


@dataclass(frozen=True, slots=True)
class Matched:
    """Items rated by both sides, and how many by only one."""

    pairs: tuple[Pair, ...]
    without_verdict: tuple[Pair, ...]
    """Labelled items without a verdict of the judge."""
    not_labelled: int
    """Judged items without a label."""
    unknown: tuple[str, ...]
    """Ids of labels that are not in the judge's results."""
    names: tuple[str, ...]
    """The annotators."""
    people_alpha: float | None
    """Krippendorff's alpha between the annotators."""
    alpha_level: Level = "interval"
    without_majority: int = 0
    """Labelled items left out because no label is the most frequent."""
    labels: Mapping[str, Sequence[Rating]] = field(default_factory=dict[str, Sequence[Rating]])
    """All labels by item."""
    first_judged: str = ""
    """Id of the judge's first item; empty if there is none."""

    @property
    def unjudged(self) -> int:
        """The number of labelled items without a verdict of the judge."""
        return len(self.without_verdict)

    @property
    def annotators(self) -> int:
        """The number of annotators."""
        return len(self.names)


def usual_combination(labels: Iterable[Rating]) -> Combination:
    """Return how labels of this kind are combined: the majority of categories, the mean of scores.

    Categories are words, and the whole numbers from -1 to 2.
    """
    values: set[float] = set()
    for label in labels:
        if label.in_words or label.is_preference:
            return "majority"
        if label.value is not None:
            values.add(label.value)
    return "majority" if values <= _CATEGORIES else "mean"


def are_equally_likely(labelled: Iterable[Rating | Pair]) -> bool:
    """Return whether all items had the same probability of being labelled, or the labels say nothing of it."""
    return len({each.probability for each in labelled}) < 2


def match(judged: Iterable[Rating], labelled: Iterable[Rating], how: Combination = "mean") -> Matched:
    """Pair the ratings of the same items; raise DataError for two scores, or two labels by one person, of an item."""
    scores = by_id(judged)
    labels = _labels(labelled)
    pairs, without_verdict, unknown, tied = list[Pair](), list[Pair](), list[str](), 0
    for item_id, given in labels.items():
        found = scores.get(item_id)
        if found is None:
            unknown.append(item_id)
            continue
        made = _pairs(found, given, how)
        tied += not made
        (without_verdict if found.value is None else pairs).extend(made)
    names = tuple(sorted({rating.annotator for given in labels.values() for rating in given}))
    level: Level = "nominal" if how == "majority" else "interval"
    return Matched(
        pairs=tuple(pairs),
        without_verdict=tuple(without_verdict),
        not_labelled=sum(rating.value is not None and rating.id not in labels for rating in scores.values()),
        unknown=tuple(unknown),
        names=names,
        people_alpha=krippendorff_alpha([[rating.value for rating in given] for given in labels.values()], level)
        if len(names) > 1
        else None,
        alpha_level=level,
        without_majority=tied,
        labels=labels,
        first_judged=next(iter(scores), ""),
    )


def by_id(ratings: Iterable[Rating]) -> dict[str, Rating]:
    """Return ratings by item; raise DataError for two of the same item."""
    found: dict[str, Rating] = {}
    for rating in ratings:
        if rating.id in found:
            raise DataError(f"two scores of the id {rating.id!r}{_what_differs(found[rating.id], rating)}")
        found[rating.id] = rating
    return found


def _what_differs(one: Rating, other: Rating) -> str:
    """Return why an item may have two scores, and what to do."""
    if one.system != other.system:
        return f", of the systems {one.system!r} and {other.system!r}; leave out all systems but one"
    if one.annotator != other.annotator:
        return (
            f", by {one.annotator!r} and {other.annotator!r}; people's ratings are labels, not the results of a judge"
        )
    return "; give the results of one judge"


def _labels(ratings: Iterable[Rating]) -> Mapping[str, Sequence[Rating]]:
    labels: defaultdict[str, list[Rating]] = defaultdict(list)
    for rating in ratings:
        if rating.value is not None:
            if any(rating.annotator == other.annotator for other in labels[rating.id]):
                who = f" by {rating.annotator!r}" if rating.annotator else ""
                raise DataError(
                    f"two labels for {rating.id!r}{who}; if they are by different people, name these in a column "
                    "'annotator'"
                )
            labels[rating.id].append(rating)
    return labels


def _pairs(judged: Rating, labels: Sequence[Rating], how: Combination) -> list[Pair]:
    """Return the pair of an item, one for each annotator, or none if no label is the most frequent."""
    values = [rating.value for rating in labels if rating.value is not None]
    if how == "each":
        return [_pair(judged, rating, rating.value or 0.0, rating.annotator) for rating in labels]
    if how == "mean":
        return [_pair(judged, labels[0], fmean(values))]
    (most, count), *others = Counter(values).most_common(2)
    return [] if others and others[0][1] == count else [_pair(judged, labels[0], most)]


def _pair(judged: Rating, label: Rating, people: float, annotator: str = "") -> Pair:
    value = judged.verdict if label.is_preference and judged.verdict is not None else judged.value
    group = judged.group or label.group
    return Pair(
        id=judged.id,
        judge=nan if value is None else value,
        people=people,
        language=judged.language or label.language,
        group=f"{annotator}|{group}" if annotator else group,
        cluster=judged.cluster or label.cluster or judged.id,
        system=judged.system or label.system,
        part=judged.part or label.part,
        probability=label.probability,
    )


def once_per_item(ratings: Iterable[Rating]) -> list[Rating]:
    """Return the scores of a file that repeats a judged row for each annotator, each score once."""
    found: dict[tuple[str, float | None], Rating] = {}
    for rating in ratings:
        found.setdefault((rating.id, rating.value), rating)
    return list(found.values())


def name_systems(judged: Ratings, labelled: Ratings) -> None:
    """Put the systems into the ids where several systems have the same id, or the other side's ids have them."""
    sides = (judged, labelled)
    if all(map(_names_systems, sides)) and any(map(_share_ids, sides)):
        for side in sides:
            side.ratings = _with_systems(side)
        return
    for side, other in ((judged, labelled), (labelled, judged)):
        if _names_systems(side):
            known, named = {rating.id for rating in other.ratings}, _with_systems(side)
            if not any(rating.id in known for rating in side.ratings) and any(rating.id in known for rating in named):
                side.ratings = named


def _names_systems(side: Ratings) -> bool:
    return bool(side.ratings) and all(rating.system and not rating.other_system for rating in side.ratings)


def _with_systems(side: Ratings) -> list[Rating]:
    return [structs.replace(each, id=f"{each.id}/{each.system}") for each in side.ratings]


def _share_ids(side: Ratings) -> bool:
    """Return whether several systems have the same id."""
    systems: dict[str, str] = {}
    return any(systems.setdefault(rating.id, rating.system) != rating.system for rating in side.ratings)
