"""Means of scores with Student's or Wilson's interval, for the estimates that correct a judge."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

import numpy as np

from .intervals import t_quantile
from .resampling import Figure, Floats, scores_of

TUNED_FROM = 6
"""With fewer labels than that the judge's weight cannot be learnt from them, and is one half."""

Bounds = tuple[float, float]
"""The lowest and the highest score of a scale."""


@dataclass(frozen=True, slots=True)
class Corrected:
    """What people would say on average, estimated in three ways."""

    figure: Figure
    """The judge's mean, corrected by the labels."""

    naive: Figure
    """The judge's mean as it is."""

    labels_only: Figure
    """The mean of the labels, without the judge."""

    judged: int
    labelled: int
    weight: float
    """How far the judge's scores are counted on: 0 not at all, 1 fully (the lambda of power tuning)."""


@dataclass(frozen=True, slots=True)
class Scores:
    """The scores of a sample as arrays, with what is known of the scale."""

    judged: Floats
    judge: Floats
    people: Floats
    bounds: Bounds | None
    step: float
    """The least difference that one more label can be expected to show."""


def read_scores(
    judged: Sequence[float] | Floats,
    labelled_judge: Sequence[float] | Floats,
    labelled_people: Sequence[float] | Floats,
    bounds: Bounds | None,
) -> Scores:
    """Check the scores, and see what their scale is."""
    total, judge, people = scores_of(judged), scores_of(labelled_judge), scores_of(labelled_people)
    if len(judge) != len(people):
        raise ValueError(f"{len(judge)} scores by the judge for {len(people)} labels: there must be as many")
    if not len(total):
        raise ValueError("the judge has scored nothing, so there is nothing to correct")
    values = np.unique(np.concatenate([total, judge, people]))
    if bounds is None and is_rate(values):
        bounds = (0.0, 1.0)
    low, high = bounds or (float(values[0]), float(values[-1]))
    gap = float(np.diff(np.unique(np.append(values, [low, high]))).min(initial=high - low))
    return Scores(total, judge, people, bounds, max(gap, (high - low) / 10))


def plain_mean(values: Floats, scores: Scores) -> Figure:
    """Return a mean with Student's interval, or a rate with Wilson's."""
    if not len(values):
        return Figure(None)
    mean, count = float(values.mean()), len(values)
    if scores.bounds == (0.0, 1.0) and is_rate(values):
        return wilson(mean, count)
    if count < 2:
        return Figure(mean)
    squares = max(float(((values - mean) ** 2).sum()), scores.step**2)
    return bounded(mean, math.sqrt(squares / (count - 1) / count), count - 1, scores.bounds)


def is_rate(values: Floats) -> bool:
    """Tell whether all scores are 0 or 1: fail or pass."""
    return bool(np.isin(values, (0.0, 1.0)).all())


def wilson(rate: float, count: float) -> Figure:
    """Return a rate with Wilson's interval for a number of labels that need not be whole."""
    z = NormalDist().inv_cdf(0.975)
    scale = 1 + z * z / count
    middle = (rate + z * z / (2 * count)) / scale
    half = z / scale * math.sqrt(rate * (1 - rate) / count + z * z / (4 * count * count))
    return Figure(rate, max(0.0, middle - half), min(1.0, middle + half))


def bounded(value: float, error: float, degrees: int, bounds: Bounds | None) -> Figure:
    """Return a value with Student's interval for its standard error, kept within the scale."""
    low, high = bounds or (-math.inf, math.inf)
    half = student(degrees) * error
    if half == 0:
        return Figure(min(max(value, low), high))
    clipped = [min(max(number, low), high) for number in (value, value - half, value + half)]
    return Figure(*clipped)


@lru_cache(maxsize=1024)
def student(degrees: int) -> float:
    """Return the 97.5% quantile of Student's t; beyond 1,000 degrees it no longer changes."""
    return t_quantile(min(degrees, 1000))
