"""Correct the scores of many groups at once, with labels pooled or stratified."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from polyjudge.records.calibration import Figure

from .estimates import TUNED_FROM, Bounds, Corrected, Scores, bounded, plain_mean, read_scores
from .resampling import Floats, scores_of

BORROWED = 10
"""How many labels' worth the common spread counts for in a group's own."""


@dataclass(frozen=True, slots=True)
class GroupSample:
    """One group's scores: the judge's of all its items, and both sides' of those with a label."""

    judged: Sequence[float]
    labelled_judge: Sequence[float] = ()
    labelled_people: Sequence[float] = ()


@dataclass(frozen=True, slots=True)
class _Labels:
    """What the labels of all groups say together, of remainders: people's score less the judge's, weighted."""

    weight: float
    weight_variance: float
    counts: Floats
    rests: Floats
    """The mean remainder of each group; 0 in a group without labels."""

    judge_means: Floats
    """The judge's mean over the labelled items of each group; over all where a group has none."""

    spreads: Floats
    """The variance of one remainder in each group."""

    degrees: int


def corrected_by_group(groups: Mapping[str, GroupSample], *, bounds: Bounds | None = None) -> dict[str, Corrected]:
    """Return each group's mean as people would give it, groups with few labels leaning on all the others.

    The judge's weight is learnt from all groups together. What is left of people's scores without the weighted judge
    (with weight 1, the judge's bias) may differ from group to group, by an amount that is itself estimated: each
    group's own remainder is drawn towards the common one, the more so the fewer its labels and the more alike the
    groups. How much groups differ is averaged over, not fixed at one estimate. A group without labels gets the common
    remainder, and an interval that counts how much groups differ. Without any label there is no value.
    """
    scale = _together(groups.values(), bounds)
    samples = {
        name: read_scores(sample.judged, sample.labelled_judge, sample.labelled_people, scale.bounds)
        for name, sample in groups.items()
    }
    if not len(scale.people) or scale.step == 0:
        alone = plain_mean(scale.people, scale)
        return {name: _without(sample, alone, 0.0, scale) for name, sample in samples.items()}
    labels = _labels(list(samples.values()), scale)
    means, variances = _posterior(labels)
    return {
        name: _without(sample, _figure(sample, labels, place, (means[place], variances[place])), labels.weight, scale)
        for place, (name, sample) in enumerate(samples.items())
    }


def _together(samples: Iterable[GroupSample], bounds: Bounds | None) -> Scores:
    """Return the scores of all groups as one sample, which shows the scale."""
    parts = [(sample.judged, sample.labelled_judge, sample.labelled_people) for sample in samples]
    judged, judge, people = (np.concatenate([scores_of(part[place]) for part in parts]) for place in range(3))
    return read_scores(judged, judge, people, bounds)


def _without(sample: Scores, figure: Figure, weight: float, scale: Scores) -> Corrected:
    """Put the corrected figure beside those that need no other group."""
    naive, labels_only = plain_mean(sample.judged, scale), plain_mean(sample.people, scale)
    return Corrected(figure, naive, labels_only, len(sample.judged), len(sample.people), weight)


def _labels(samples: list[Scores], scale: Scores) -> _Labels:
    counts = np.array([len(sample.people) for sample in samples], dtype=np.float64)
    owned = int((counts - (counts > 0)).sum())
    weight, along = _common_weight(samples, owned)
    rests = [sample.people - weight * sample.judge for sample in samples]
    squares = np.array([((rest - rest.mean()) ** 2).sum() if len(rest) else 0.0 for rest in rests])
    degrees = max(owned - 1, 1)
    common = max(float(squares.sum()), scale.step**2) / degrees
    everywhere = float(scale.judge.mean())
    return _Labels(
        weight=weight,
        weight_variance=common / along if along > 0 and 0 < weight < 1 else 0.0,
        counts=counts,
        rests=np.array([rest.mean() if len(rest) else 0.0 for rest in rests]),
        judge_means=np.array([sample.judge.mean() if len(sample.judge) else everywhere for sample in samples]),
        spreads=(BORROWED * common + squares) / (BORROWED + np.maximum(counts - 1, 0)),
        degrees=degrees,
    )


def _common_weight(samples: list[Scores], owned: int) -> tuple[float, float]:
    """Return the slope of people's scores on the judge's within groups, and the squares it rests on."""
    centred = [(sample.judge - sample.judge.mean(), sample.people) for sample in samples if len(sample.judge)]
    along = float(sum(judge @ judge for judge, _ in centred))
    if owned < TUNED_FROM:
        return 0.5, 0.0
    if along <= 0:
        return 0.0, 0.0
    return float(np.clip(sum(judge @ people for judge, people in centred) / along, 0.0, 1.0)), along


def _posterior(labels: _Labels) -> tuple[Floats, Floats]:
    """Return mean and variance of each group's true remainder, averaged over how much groups may differ.

    Groups' remainders are normal about a common mean of which nothing is known before. Their standard deviation is
    half-normal before the labels, as wide as single remainders spread: groups seldom differ more than their items do.
    """
    scale = math.sqrt(float(np.average(labels.spreads, weights=labels.counts)))
    between = (np.linspace(0.0, 4.0, 201)[:, None] * scale) ** 2
    told = labels.counts > 0
    own = np.where(told, labels.spreads / np.maximum(labels.counts, 1), np.inf)
    precision = np.where(told, 1 / np.where(told, own + between, 1.0), 0.0)
    total = precision.sum(axis=1, keepdims=True)
    common = (precision * labels.rests).sum(axis=1, keepdims=True) / total
    misfit = (precision * (labels.rests - common) ** 2).sum(axis=1) + between[:, 0] / scale**2
    logged = np.log(np.where(told, precision, 1.0)).sum(axis=1) - np.log(total[:, 0]) - misfit
    likely = np.exp((logged - logged.max()) / 2)
    likely = (likely / likely.sum())[:, None]
    kept = between * precision
    means = kept * labels.rests + (1 - kept) * common
    variances = np.where(told, kept * np.where(told, own, 0.0), between) + (1 - kept) ** 2 / total
    mean = (likely * means).sum(axis=0)
    return mean, (likely * (variances + (means - mean) ** 2)).sum(axis=0)


def _figure(sample: Scores, labels: _Labels, place: int, rest: tuple[float, float]) -> Figure:
    judged = float(sample.judged.mean())
    spread = float(sample.judged.var(ddof=1)) if len(sample.judged) > 1 else 0.0
    variance = float(rest[1]) + labels.weight**2 * spread / len(sample.judged)
    variance += labels.weight_variance * (judged - float(labels.judge_means[place])) ** 2
    degrees = min(labels.degrees, BORROWED + int(labels.counts[place]) - 1)
    return bounded(labels.weight * judged + float(rest[0]), math.sqrt(variance), max(degrees, 1), sample.bounds)


_OWN_SPREAD_FROM = 5
"""With fewer labels than that a group's spread is taken from all groups together."""


def stratified_mean(groups: Mapping[str, GroupSample], *, bounds: Bounds | None = None) -> Corrected | None:
    """Return what people would say of all items on average, each group counting by its items and not by its labels.

    None where a group has fewer than two labels: how it differs from the others cannot be seen then.
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
    samples = [
        read_scores(each.judged, each.labelled_judge, each.labelled_people, scale.bounds) for each in groups.values()
    ]
    weight = _weight(samples)
    degrees = max(1, len(scale.people) - len(samples))
    rests = [sample.people - weight * sample.judge for sample in samples]
    shares = np.array([len(sample.judged) for sample in samples], dtype=np.float64) / len(scale.judged)
    means = [
        weight * float(sample.judged.mean()) + float(rest.mean()) for sample, rest in zip(samples, rests, strict=True)
    ]
    drawn = sum(
        share**2 * weight**2 * float(sample.judged.var()) / len(sample.judged)
        for share, sample in zip(shares, samples, strict=True)
    )
    figure = _stratified_figure(
        float(shares @ np.array(means)), _variance(rests, shares, scale) + drawn, degrees, scale
    )
    labelled = [sample.people for sample in samples]
    own = np.array([float(each.mean()) for each in labelled])
    labels_only = _stratified_figure(float(shares @ own), _variance(labelled, shares, scale), degrees, scale)
    return Corrected(figure, plain_mean(scale.judged, scale), labels_only, len(scale.judged), len(scale.people), weight)


def _weight(samples: Sequence[Scores]) -> float:
    """Return the slope of people's scores on the judge's within groups, kept within 0 and 1."""
    judge = np.concatenate([sample.judge - sample.judge.mean() for sample in samples])
    people = np.concatenate([sample.people - sample.people.mean() for sample in samples])
    if len(judge) < TUNED_FROM:
        return 0.5
    spread = float(judge @ judge)
    return float(np.clip((judge @ people) / spread, 0.0, 1.0)) if spread else 0.0


def _variance(parts: Sequence[Floats], shares: Floats, scale: Scores) -> float:
    """Return the variance of a mean over groups; small groups have the spread of all."""
    squares = sum(float(((part - part.mean()) ** 2).sum()) for part in parts)
    pooled = max(squares, scale.step**2) / max(1, sum(map(len, parts)) - len(parts))
    spreads = [float(part.var(ddof=1)) if len(part) >= _OWN_SPREAD_FROM else pooled for part in parts]
    floor = scale.step**2 / max(1, sum(map(len, parts)) - len(parts))
    return sum(
        share**2 * max(spread, floor) / len(part) for share, spread, part in zip(shares, spreads, parts, strict=True)
    )


def _stratified_figure(value: float, variance: float, degrees: int, scale: Scores) -> Figure:
    return bounded(value, math.sqrt(variance), degrees, scale.bounds)
