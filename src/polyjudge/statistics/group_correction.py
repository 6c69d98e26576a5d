"""Correct the scores of several groups at once, with pooled or stratified labels."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from polyjudge.records.calibration import Figure

from .estimates import MIN_LABELS_FOR_WEIGHT, Bounds, Corrected, Scores, bounded, labels_mean, plain_mean, read_scores
from .resampling import Floats, scores_of
from .skewed import skewness_of_mean

BORROWED_LABELS = 10
"""The weight of the common spread in a group's own, in labels."""


@dataclass(frozen=True, slots=True)
class GroupSample:
    """The scores of one group: the judge's of all items, and those of both sides for labelled items."""

    judged: Sequence[float] | Floats
    labelled_judge: Sequence[float] | Floats = ()
    labelled_people: Sequence[float] | Floats = ()
    probabilities: Sequence[float] | Floats | None = None
    """The probability that each labelled item had of being labelled; None if it was the same for all of them."""

    def scores(self, bounds: Bounds | None, *, only_these: bool = False) -> Scores:
        """Return the scores as arrays."""
        labels = self.labelled_judge, self.labelled_people
        return read_scores(self.judged, *labels, bounds, self.probabilities, only_these=only_these)


@dataclass(frozen=True, slots=True)
class _Labels:
    """The remainders of all groups: people's score minus the weighted score of the judge."""

    weight: float
    weight_variance: float
    counts: Floats
    """The labels of each group; of unequal weight, the number of equal ones that are worth as much."""

    rests: Floats
    """The mean remainder of each group; 0 in a group without labels."""

    judge_means: Floats
    """The judge's mean over the labelled items of each group; over all groups if it has none."""

    spreads: Floats
    """The variance of one remainder in each group."""

    degrees: int


def corrected_by_group(groups: Mapping[str, GroupSample], *, bounds: Bounds | None = None) -> dict[str, Corrected]:
    """Estimate the mean score of people in each group; groups with few labels borrow from the others.

    The weight of the judge is estimated from all groups together. The remainder of people's scores without the weighted
    judge (with weight 1, the judge's bias) may differ between groups, by an amount that is estimated too: each group's
    remainder is shrunk towards the common one, more with fewer labels and more similar groups. The estimate averages
    over how much groups may differ. A group without labels gets the common remainder, and an interval that includes the
    differences between groups. Without any label there is no value.
    """
    scale = _pooled_scores(groups.values(), bounds)
    samples = {name: sample.scores(scale.bounds) for name, sample in groups.items()}
    if not len(scale.people) or scale.step == 0:
        alone = plain_mean(scale.people, scale)
        return {name: _with_own_estimates(sample, alone, 0.0, scale) for name, sample in samples.items()}
    labels = _labels(list(samples.values()), scale)
    means, variances = _posterior(labels)
    return {
        name: _with_own_estimates(
            sample, _figure(sample, labels, index, (means[index], variances[index])), labels.weight, scale
        )
        for index, (name, sample) in enumerate(samples.items())
    }


def _pooled_scores(samples: Iterable[GroupSample], bounds: Bounds | None) -> Scores:
    """Return the scores of all groups as one sample, to determine the scale."""
    parts = [(sample.judged, sample.labelled_judge, sample.labelled_people) for sample in samples]
    judged, judge, people = (np.concatenate([scores_of(part[index]) for part in parts]) for index in range(3))
    return read_scores(judged, judge, people, bounds)


def _with_own_estimates(sample: Scores, figure: Figure, weight: float, scale: Scores) -> Corrected:
    """Return a corrected figure with the estimates of the group alone."""
    naive, labels_only = plain_mean(sample.judged, scale), labels_mean(sample)
    return Corrected(figure, naive, labels_only, len(sample.judged), len(sample.people), weight)


def _labels(samples: list[Scores], scale: Scores) -> _Labels:
    counts = np.array([sample.effective for sample in samples], dtype=np.float64)
    owned = int(sum(max(len(sample.people) - 1, 0) for sample in samples))
    weight, along = _common_weight(samples, owned)
    rests = [sample.people - weight * sample.judge for sample in samples]
    means = [_mean(rest, sample) for rest, sample in zip(rests, samples, strict=True)]
    squares = np.array(
        [float(sample.weights @ (rest - mean) ** 2) for rest, mean, sample in zip(rests, means, samples, strict=True)]
    )
    degrees = max(owned - 1, 1)
    common = max(float(squares.sum()), scale.step**2) / degrees
    everywhere = float(scale.judge.mean())
    return _Labels(
        weight=weight,
        weight_variance=common / along if along > 0 and 0 < weight < 1 else 0.0,
        counts=counts,
        rests=np.array(means),
        judge_means=np.array([_mean(each.judge, each) if len(each.judge) else everywhere for each in samples]),
        spreads=(BORROWED_LABELS * common + squares) / (BORROWED_LABELS + np.maximum(counts - 1, 0)),
        degrees=degrees,
    )


def _mean(values: Floats, sample: Scores) -> float:
    """Return the weighted mean over the labels of a group; 0 without labels."""
    return float(sample.weights @ values) / len(values) if len(values) else 0.0


def _common_weight(samples: list[Scores], owned: int) -> tuple[float, float]:
    """Return the slope of people's scores on the judge's within groups, and the sum of squares behind it."""
    centred = [(each.judge - _mean(each.judge, each), each.people, each.weights) for each in samples]
    along = float(sum(weights * judge @ judge for judge, _, weights in centred))
    if owned < MIN_LABELS_FOR_WEIGHT:
        return 0.5, 0.0
    if along <= 0:
        return 0.0, 0.0
    return float(np.clip(sum(weights * judge @ people for judge, people, weights in centred) / along, 0.0, 1.0)), along


def _posterior(labels: _Labels) -> tuple[Floats, Floats]:
    """Return mean and variance of each group's true remainder, averaged over how much groups may differ.

    The remainders of groups are normal about a common mean with a flat prior. Their standard deviation has a
    half-normal prior with the spread of single remainders, because groups rarely differ more than their items.
    """
    scale = math.sqrt(float(np.average(labels.spreads, weights=labels.counts)))
    between = (np.linspace(0.0, 4.0, 201)[:, None] * scale) ** 2
    labelled = labels.counts > 0
    own = np.where(labelled, labels.spreads / np.maximum(labels.counts, 1), np.inf)
    precision = np.where(labelled, 1 / np.where(labelled, own + between, 1.0), 0.0)
    total = precision.sum(axis=1, keepdims=True)
    common = (precision * labels.rests).sum(axis=1, keepdims=True) / total
    misfit = (precision * (labels.rests - common) ** 2).sum(axis=1) + between[:, 0] / scale**2
    logged = np.log(np.where(labelled, precision, 1.0)).sum(axis=1) - np.log(total[:, 0]) - misfit
    likely = np.exp((logged - logged.max()) / 2)
    likely = (likely / likely.sum())[:, None]
    kept = between * precision
    means = kept * labels.rests + (1 - kept) * common
    variances = np.where(labelled, kept * np.where(labelled, own, 0.0), between) + (1 - kept) ** 2 / total
    mean = (likely * means).sum(axis=0)
    return mean, (likely * (variances + (means - mean) ** 2)).sum(axis=0)


def _figure(sample: Scores, labels: _Labels, index: int, rest: tuple[float, float]) -> Figure:
    judged = float(sample.judged.mean())
    spread = float(sample.judged.var(ddof=1)) if len(sample.judged) > 1 else 0.0
    variance = float(rest[1]) + labels.weight**2 * spread / len(sample.judged)
    variance += labels.weight_variance * (judged - float(labels.judge_means[index])) ** 2
    degrees = min(labels.degrees, BORROWED_LABELS + math.floor(float(labels.counts[index]) + 1e-9) - 1)
    return bounded(labels.weight * judged + float(rest[0]), math.sqrt(variance), max(degrees, 1), sample.bounds)


_MIN_LABELS_FOR_SPREAD = 5
"""With fewer labels a group has the spread of all groups together."""


def stratified_mean(
    groups: Mapping[str, GroupSample], *, bounds: Bounds | None = None, only_these: bool = False
) -> Corrected | None:
    """Estimate the mean score of people over all items; groups are weighted by their items, not by their labels.

    The interval is as that of `corrected_mean`, also with `only_these`.
    None if a group has fewer than two labels, because its difference from the others cannot be estimated.
    """
    if not groups or any(len(group.labelled_people) < 2 for group in groups.values()):
        return None
    judged, judge, people = (
        np.concatenate([scores_of(part) for part in parts])
        for parts in zip(
            *((each.judged, each.labelled_judge, each.labelled_people) for each in groups.values()), strict=True
        )
    )
    scale = read_scores(judged, judge, people, bounds)
    samples = [each.scores(scale.bounds, only_these=only_these) for each in groups.values()]
    weight = _weight(samples)
    rests = [sample.people - weight * sample.judge for sample in samples]
    shares = np.array([len(sample.judged) for sample in samples], dtype=np.float64) / len(scale.judged)
    figure = _over_groups(weight, rests, samples, shares, scale, only_these=only_these)
    labels_only = _over_groups(
        0.0, [sample.people for sample in samples], samples, shares, scale, only_these=only_these
    )
    return Corrected(figure, plain_mean(scale.judged, scale), labels_only, len(scale.judged), len(scale.people), weight)


def _weight(samples: Sequence[Scores]) -> float:
    """Return the slope of people's scores on the judge's within groups, clipped to 0 to 1."""
    judge = np.concatenate([sample.judge - _mean(sample.judge, sample) for sample in samples])
    people = np.concatenate([sample.people - _mean(sample.people, sample) for sample in samples])
    if len(judge) < MIN_LABELS_FOR_WEIGHT:
        return 0.5
    weighted = np.concatenate([sample.weights for sample in samples]) * judge
    spread = float(weighted @ judge)
    return float(np.clip((weighted @ people) / spread, 0.0, 1.0)) if spread else 0.0


def _over_groups(
    weight: float,
    parts: Sequence[Floats],
    samples: Sequence[Scores],
    shares: Floats,
    scale: Scores,
    *,
    only_these: bool,
) -> Figure:
    """Return the mean over groups of the weighted judge and the remainders.

    Groups with few labels have at least nearly the pooled spread: labels that happen to be alike do not show their own.
    """
    means = [_mean(part, sample) for part, sample in zip(parts, samples, strict=True)]
    errors = [sample.weights * (part - mean) for part, mean, sample in zip(parts, means, samples, strict=True)]
    degrees, step = max(1, sum(map(len, parts)) - len(parts)), scale.step**2
    pooled = max(sum(float(each @ each) for each in errors), step) / degrees
    value, variance, labelled = 0.0, 0.0, 0.0
    for share, mean, each, sample in zip(shares, means, errors, samples, strict=True):
        kept = float(sample.kept.mean())
        own = float(each**2 @ sample.kept) / (len(each) - 1) if len(each) >= _MIN_LABELS_FOR_SPREAD else pooled * kept
        drawn = 0.0 if only_these else weight**2 * float(sample.judged.var()) / len(sample.judged)
        value += float(share) * (weight * float(sample.judged.mean()) + mean)
        borrowed = (BORROWED_LABELS * pooled * kept + (len(each) - 1) * own) / (BORROWED_LABELS + len(each) - 1)
        variance += float(share) ** 2 * (max(own, borrowed, step / degrees * kept) / len(each) + drawn)
        labelled += float(share) * (1 - kept)
    if not variance:
        return Figure(value, value, value)
    weighted = np.concatenate([share * each / len(each) for share, each in zip(shares, errors, strict=True)])
    return bounded(value, math.sqrt(variance), degrees, scale.bounds, skewness_of_mean(weighted, labelled))
