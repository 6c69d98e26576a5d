"""Estimate the mean of human labels from many judge scores and few labels."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

import numpy as np
from msgspec import Struct

from polyjudge.records.calibration import Figure

from .intervals import t_quantile
from .resampling import Floats, scores_of

TUNED_FROM = 6
"""With fewer labels than that the judge's weight cannot be learnt from them, and is one half."""

Bounds = tuple[float, float]
"""The lowest and the highest score of a scale."""


class Corrected(Struct, frozen=True, rename="camel"):
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


def corrected_mean(
    judged: Sequence[float] | Floats,
    labelled_judge: Sequence[float] | Floats,
    labelled_people: Sequence[float] | Floats,
    *,
    bounds: Bounds | None = None,
) -> Corrected:
    """Return what people would say of all items on average, by prediction-powered inference with power tuning.

    `judged` holds the judge's scores of all items, the labelled ones among them; these are a random sample of all.
    The estimate is people's mean, moved by `weight` times the difference between the judge's mean over all items and
    over the labelled ones. The weight is the slope of people's scores on the judge's, kept within 0 and 1: a judge who
    says nothing about people's scores gets 0, and the labels decide alone. It is one half with fewer than six labels.

    The 95% interval is Student's (for verdicts Wilson's, for as many labels as would leave the same variance), and
    counts that the weight was estimated. Where (nearly) all labels leave the same
    remainder, the spread is taken to be at least that of one label one step of the scale away: agreement on five
    labels does not prove agreement on all. Scores that are all 0 or 1 are verdicts, and stay within 0 and 1; for
    others give the scale's `bounds`. There is no value without labels, and no interval with a single one.
    """
    scores = read_scores(judged, labelled_judge, labelled_people, bounds)
    count = len(scores.people)
    naive, labels_only = plain_mean(scores.judged, scores), plain_mean(scores.people, scores)
    weight = _weight(scores)
    corrected = labels_only if weight == 0 or not count else _regression(scores, weight)
    return Corrected(corrected, naive, labels_only, len(scores.judged), count, weight)


def _weight(scores: Scores) -> float:
    judge, people = scores.judge, scores.people
    if not len(judge) or np.ptp(scores.judged) == 0:
        return 0.0
    if len(judge) < TUNED_FROM:
        return 0.5
    if np.ptp(judge) == 0:
        return 0.0
    centred = judge - judge.mean()
    return float(np.clip((centred @ people) / (centred @ centred), 0.0, 1.0))


def _regression(scores: Scores, weight: float) -> Figure:
    """Return the estimate with the interval that counts labels, judged items and the weight as drawn by chance."""
    judge, people, count, total = scores.judge, scores.people, len(scores.judge), len(scores.judged)
    rest = people - weight * judge
    value = weight * float(scores.judged.mean()) + float(rest.mean())
    if count < 2:
        return bounded(value, 0.0, 1, scores.bounds)
    tuned = count >= TUNED_FROM
    degrees = count - 2 if tuned else count - 1
    centred = judge - judge.mean()
    spread = max(float(((rest - rest.mean()) ** 2).sum()), scores.step**2) / degrees
    shared = float(centred @ rest) / degrees
    variance = spread / count + (weight**2 * float(scores.judged.var(ddof=1)) + 2 * weight * shared) / total
    if tuned and weight < 1:
        variance += spread * float(scores.judged.mean() - judge.mean()) ** 2 / float(centred @ centred)
    variance = max(variance, spread / total)
    if scores.bounds == (0.0, 1.0) and is_rate(people):
        return _rate(value, variance, scores)
    return bounded(value, math.sqrt(variance), degrees, scores.bounds)


def _rate(value: float, variance: float, scores: Scores) -> Figure:
    """Return a rate with Wilson's interval for as many plain labels as would leave the same variance."""
    count, rate = len(scores.people), float(scores.people.mean())
    plain = max(rate * (1 - rate) * count, scores.step**2) / (count - 1) / count
    return wilson(min(max(value, 0.0), 1.0), count * plain / variance)


def rogan_gladen(
    judge_passes: int,
    judged: int,
    true_pos: int,
    positives: int,
    true_neg: int,
    negatives: int,
    *,
    draws: int = 20_000,
    seed: int = 0,
) -> Figure:
    """Return the rate people would pass, from the judge's rate and how often it is right elsewhere.

    The judge passed `judge_passes` of the items in question. Of other items, people passed `positives` and the judge
    `true_pos` of those; people failed `negatives` and the judge `true_neg` of those. The estimate is Rogan and
    Gladen's (1978), kept within 0 and 1. For the interval the three rates are drawn from their Jeffreys posteriors; a
    draw in which the judge is no better than chance says nothing of the rate, which may then be anything from 0 to 1.
    None where the judge's two rates together are no better than chance, or one of the three was not counted.
    """
    if not (judged and positives and negatives):
        return Figure(None)
    skill = true_pos / positives + true_neg / negatives - 1
    if skill <= 0:
        return Figure(None)
    value = (judge_passes / judged + true_neg / negatives - 1) / skill
    random = np.random.default_rng(seed)
    passed = random.beta(judge_passes + 0.5, judged - judge_passes + 0.5, draws)
    sensitivity = random.beta(true_pos + 0.5, positives - true_pos + 0.5, draws)
    specificity = random.beta(true_neg + 0.5, negatives - true_neg + 0.5, draws)
    skills = sensitivity + specificity - 1
    rates = np.where(skills > 0, (passed + specificity - 1) / np.where(skills > 0, skills, 1), random.random(draws))
    low, high = np.quantile(np.clip(rates, 0, 1), [0.025, 0.975])
    return Figure(min(max(value, 0.0), 1.0), float(low), float(high))
