"""Learn from labels at which confidence each judge of a cascade may answer."""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from polyjudge.records.calibration import Figure
from polyjudge.records.cascades import CascadePoint, CascadeThresholds
from polyjudge.records.fingerprint import fingerprint
from polyjudge.statistics.confidence_thresholds import Trial, certified, fewest_labels, highest_rate, labels_needed

Thresholds = tuple[float | None, ...]
_LEVELS = 20
_EARLIER = 0.5
"""The last judge answers the items of which it is surest, up to a share; each earlier one half of that share. When the
last one answers all that reaches it, the earlier ones answer more."""
_STARTS = (4, 9, 14)
"""The policies that share the allowed error: where the last judge answers a quarter, a half and three quarters."""
_FEWEST_PLACING = 20
_EVERY = 5
"""Without enough items that have no label, every fifth label places the thresholds and is left out of the test."""
_CURVE = (0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95)
_OTHERS = ""
"""The group of the languages without a group of their own."""


@dataclass(frozen=True, slots=True)
class CascadeItem:
    """What each judge of a cascade said about an item."""

    id: str
    language: str
    confidences: tuple[float | None, ...]
    """None for a judge without a verdict."""
    agrees: tuple[bool, ...] | None = None
    """Whether each judge agrees with people; None without a label."""
    costs: tuple[float | None, ...] = ()


@dataclass(frozen=True, slots=True)
class Unguaranteed:
    """Why a target cannot be guaranteed."""

    labels: int
    """Labelled items that the test used."""
    reachable: float | None
    """The highest target, in whole percents, that these labels guarantee."""
    needed: int | None
    """About how many labels it would take; None if no number is enough."""
    best: float
    """The highest agreement of a policy that could have passed with so many answers."""


@dataclass(frozen=True, slots=True)
class Learnt:
    """The thresholds by group of languages, and what other targets would give."""

    groups: Mapping[str, CascadeThresholds]
    unguaranteed: Mapping[str, Unguaranteed]
    languages: tuple[str, ...]
    """The languages of the labels without a group of their own."""
    placed_by: int
    curve: tuple[CascadePoint, ...]


def learn(
    items: Sequence[CascadeItem],
    target: float,
    delta: float,
    *,
    by_language: bool = False,
    coming: Mapping[str, int] | None = None,
) -> Learnt:
    """Return the thresholds with the most answers whose agreement with people is guaranteed.

    `by_language` learns them for each language that has labels enough, and for the others together. With `coming`, the
    numbers of items without a label by language, the guarantee is about these items too, not only about the long run.
    """
    fewest = fewest_labels(1 - target, delta / len(_STARTS)) * _EVERY / (_EVERY - 1)
    samples = _groups(items, fewest if by_language else math.inf, coming or {})
    groups, unguaranteed = dict[str, CascadeThresholds](), dict[str, Unguaranteed]()
    for name, sample in samples.items():
        found = sample.learn(target, delta)
        if isinstance(found, CascadeThresholds):
            groups[name] = found
        else:
            unguaranteed[name] = found
    others = samples.get(_OTHERS)
    return Learnt(
        groups=groups,
        unguaranteed=unguaranteed,
        languages=() if others is None else tuple(sorted({item.language for item in others.labelled})),
        placed_by=sum(len(sample.placing) for sample in samples.values()),
        curve=_curve(items, samples, target, delta),
    )


def guaranteed(items: Sequence[CascadeItem], target: float, delta: float, coming: int = 0) -> Thresholds | None:
    """Return the thresholds for all languages together; None if the target cannot be guaranteed."""
    return _sample(items, coming).thresholds(target, delta)


def answering(thresholds: Thresholds, confidences: Sequence[float | None]) -> int | None:
    """Return which judge answers; None for an abstention."""
    for place, (threshold, confidence) in enumerate(zip(thresholds, confidences, strict=True)):
        if threshold is not None and confidence is not None and confidence >= threshold:
            return place
    return None


def policies(placing: Sequence[CascadeItem], judges: int) -> list[Thresholds]:
    """Return the thresholds to be tested, from few answers to many; labels play no part in them."""
    columns = [[item.confidences[judge] for item in placing] for judge in range(judges)]
    levels = _LEVELS if judges == 1 else round(_LEVELS / _EARLIER)
    shares = [level / _LEVELS for level in range(1, levels + 1)]
    return [
        tuple(
            _threshold(column, share if judge == judges - 1 else share * _EARLIER)
            for judge, column in enumerate(columns)
        )
        for share in shares
    ]


def trial(thresholds: Thresholds, labelled: Sequence[CascadeItem]) -> Trial:
    """Return what a policy did on labelled items."""
    places = [(item, answering(thresholds, item.confidences)) for item in labelled]
    right = [item.agrees[place] for item, place in places if place is not None and item.agrees is not None]
    return Trial(len(right), right.count(False))


@dataclass(frozen=True, slots=True)
class _Sample:
    """The items of one group of languages."""

    placing: Sequence[CascadeItem]
    """Items whose labels, if any, the test does not use."""
    labelled: Sequence[CascadeItem]
    policies: Sequence[Thresholds]
    trials: Sequence[Trial]

    def thresholds(self, target: float, delta: float) -> Thresholds | None:
        place = certified(self.trials, 1 - target, delta, _STARTS)
        return None if place is None else self.policies[place]

    def learn(self, target: float, delta: float) -> CascadeThresholds | Unguaranteed:
        found = self.thresholds(target, delta)
        if found is None:
            return self._unguaranteed(target, delta)
        tested, places = trial(found, self.labelled), [answering(found, item.confidences) for item in self.labelled]
        return CascadeThresholds(
            thresholds=found,
            labels=len(self.labelled),
            answered=tuple(places.count(judge) for judge in range(len(found))),
            errors=tested.errors,
            agreement=_agreement(tested),
        )

    def _unguaranteed(self, target: float, delta: float) -> Unguaranteed:
        percents = (percent / 100 for percent in range(99, 0, -1))
        reachable = next(
            (each for each in percents if certified(self.trials, 1 - each, delta, _STARTS) is not None), None
        )
        enough = [each for each in self.trials if each.answered >= fewest_labels(1 - target, delta / len(_STARTS))]
        return Unguaranteed(
            labels=len(self.labelled),
            reachable=reachable,
            needed=labels_needed(self.trials, len(self.labelled), 1 - target, delta / len(_STARTS)),
            best=max((1 - each.errors / each.answered for each in enough or self.trials if each.answered), default=0.0),
        )


def _agreement(tested: Trial) -> Figure:
    """Return a share of agreement with its exact 95% interval (Clopper and Pearson)."""
    if not tested.answered:
        return Figure()
    right = tested.answered - tested.errors
    low = 1 - highest_rate(tested.errors, tested.answered, 0.025)
    return Figure(right / tested.answered, low, highest_rate(right, tested.answered, 0.025))


def _groups(items: Sequence[CascadeItem], fewest: float, coming: Mapping[str, int]) -> dict[str, _Sample]:
    """Return the items of each language that has enough labels, and of all others together."""
    labels = defaultdict[str, int](int)
    for item in items:
        labels[item.language] += item.agrees is not None
    groups = defaultdict[str, list[CascadeItem]](list)
    for item in items:
        groups[item.language if labels[item.language] >= fewest else _OTHERS].append(item)
    numbers = defaultdict[str, int](int)
    for language, count in coming.items():
        numbers[language if labels[language] >= fewest else _OTHERS] += count
    return {name: _sample(group, numbers[name]) for name, group in groups.items() if any(item.agrees for item in group)}


def _sample(items: Sequence[CascadeItem], coming: int) -> _Sample:
    labelled = [item for item in items if item.agrees is not None]
    placing = [item for item in items if item.agrees is None]
    if len(placing) < _FEWEST_PLACING:
        labelled.sort(key=lambda item: fingerprint([item.id, item.language], 16))  # labels play no part in this order
        placing, labelled = labelled[::_EVERY], [item for place, item in enumerate(labelled) if place % _EVERY]
    tested = policies(placing, len(items[0].confidences))
    shares = [_share_answered(each, placing) if coming else 0.0 for each in tested]
    trials = [
        trial(each, labelled)._replace(others=round(share * coming)) for each, share in zip(tested, shares, strict=True)
    ]
    return _Sample(placing, labelled, tested, trials)


def _share_answered(thresholds: Thresholds, items: Sequence[CascadeItem]) -> float:
    return sum(answering(thresholds, item.confidences) is not None for item in items) / max(len(items), 1)


def _threshold(confidences: Sequence[float | None], share: float) -> float:
    """Return the confidence that this share of the items reaches; 0 if fewer have any."""
    known = sorted((each for each in confidences if each is not None), reverse=True)
    wanted = max(math.ceil(share * len(confidences) - 1e-9), 1)
    return known[wanted - 1] if wanted < len(confidences) and wanted <= len(known) else 0.0


def _curve(
    items: Sequence[CascadeItem], samples: Mapping[str, _Sample], target: float, delta: float
) -> tuple[CascadePoint, ...]:
    targets = sorted({*_CURVE, round(target, 4)})
    return tuple(
        _point(each, items, {name: sample.thresholds(each, delta) for name, sample in samples.items()})
        for each in targets
    )


def _point(target: float, items: Sequence[CascadeItem], found: Mapping[str, Thresholds | None]) -> CascadePoint:
    """Return what a target gives on all items, whether they have a label or not."""
    if all(each is None for each in found.values()):
        return CascadePoint(target=target)
    judges, count = len(items[0].confidences), len(items)
    answered, asked, cost, alone = [0] * judges, [0] * judges, 0.0, 0.0
    for item in items:
        own = found[item.language] if item.language in found else found.get(_OTHERS)
        place = None if own is None else answering(own, item.confidences)
        last = 0 if own is None else judges if place is None else place + 1
        for judge in range(last):
            asked[judge] += 1
        if place is not None:
            answered[place] += 1
        known = [math.nan if each is None else each for each in item.costs or [None] * judges]
        cost, alone = cost + sum(known[:last]), alone + known[-1]
    return CascadePoint(
        target=target,
        answered=tuple(each / count for each in answered),
        asked=tuple(each / count for each in asked),
        cost=cost / alone if math.isfinite(cost) and alone > 0 else None,
    )
