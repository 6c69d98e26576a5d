"""Estimate the mean of human labels from many judge scores and few labels."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from msgspec import Struct

from polyjudge.records.calibration import Figure

from .resampling import Floats, MeanError, mean_error, scores_of
from .skewed import distances, skewness_of_mean, student

MIN_LABELS_FOR_WEIGHT = 6
"""With fewer labels the weight of the judge cannot be estimated, and is one half."""

_DRAWS = 20_000
Bounds = tuple[float, float]
"""The lowest and the highest score of a scale."""


class Corrected(Struct, frozen=True, rename="camel"):
    """Three estimates of the mean score of people."""

    figure: Figure
    """The mean of the judge, corrected by labels."""

    naive: Figure
    """The mean of the judge."""

    labels_only: Figure
    """The mean of the labels, without the judge."""

    judged: int
    labelled: int
    weight: float
    """The weight of the judge's scores from 0 to 1 (the lambda of power tuning)."""


@dataclass(frozen=True, slots=True)
class Scores:
    """The scores of a sample as arrays, with their scale."""

    judged: Floats
    judge: Floats
    people: Floats
    bounds: Bounds | None
    step: float
    """The smallest difference that one more label may show."""
    weights: Floats
    """The weight of each label, 1 on average."""
    kept: Floats
    """The share of each label's squared error that counts: less if a large part of all items is labelled."""

    @property
    def effective(self) -> float:
        """The number of labels of equal weight that are worth as much."""
        return len(self.weights) ** 2 / float(self.weights @ self.weights) if len(self.weights) else 0.0


def read_scores(
    judged: Sequence[float] | Floats,
    labelled_judge: Sequence[float] | Floats,
    labelled_people: Sequence[float] | Floats,
    bounds: Bounds | None,
    probabilities: Sequence[float] | Floats | None = None,
    *,
    only_these: bool = False,
) -> Scores:
    """Check the scores, determine their scale, and weight each label by the inverse of its probability.

    The estimates are of the mean over all items like these; with `only_these`, of that over the judged items.
    """
    total, judge, people = scores_of(judged), scores_of(labelled_judge), scores_of(labelled_people)
    if len(judge) != len(people):
        raise ValueError(f"{len(judge)} scores of the judge for {len(people)} labels; the numbers must be equal")
    if not len(total):
        raise ValueError("no scores of the judge to correct")
    values = np.unique(np.concatenate([total, judge, people]))
    if bounds is None and is_rate(values):
        bounds = (0.0, 1.0)
    step, drawn = step_of(values, people, bounds), probabilities_of(probabilities, len(people), len(total))
    weights = 1 / drawn
    kept = 1 - drawn if only_these else np.ones(len(people))
    return Scores(total, judge, people, bounds, step, weights / (weights.mean() if len(weights) else 1.0), kept)


def step_of(values: Floats, people: Floats, bounds: Bounds | None) -> float:
    """Return the smallest difference that one more label may show, from the distinct values of both sides.

    Labels may be on a smaller scale than the judge's scores, as 1 to 5 beside 0 to 100.
    """
    labels = np.unique(people)
    return min(_step(each, bounds) for each in ([values, labels] if len(labels) > 1 else [values]))


def _step(values: Floats, bounds: Bounds | None) -> float:
    low, high = float(values[0]), float(values[-1])
    ends = bounds or (low, high)
    gap = float(np.diff(np.unique(np.append(values, ends))).min(initial=ends[1] - ends[0]))
    return max(gap, (high - low) / 10)


def probabilities_of(given: Sequence[float] | Floats | None, labels: int, items: int) -> Floats:
    """Return the probability that each labelled item had of being labelled: the same for all if none are given."""
    if given is None:
        return np.full(labels, min(labels / items, 1.0))
    found = scores_of(given)
    if len(found) != labels:
        raise ValueError(f"{len(found)} probabilities for {labels} labels; the numbers must be equal")
    if not ((found > 0) & (found <= 1)).all():
        raise ValueError("a probability of being labelled must be above 0 and at most 1")
    return found


def plain_mean(values: Floats, scores: Scores) -> Figure:
    """Return the mean of a whole sample with its interval, or a rate with Wilson's."""
    count = len(values)
    return _mean(values, np.ones(count), np.ones(count), scores)


def labels_mean(scores: Scores) -> Figure:
    """Return the mean of the labels, each by its weight, with its interval, or a rate with Wilson's."""
    return _mean(scores.people, scores.weights, scores.kept, scores)


def _mean(values: Floats, weights: Floats, kept: Floats, scores: Scores) -> Figure:
    if not len(values):
        return Figure(None)
    count = len(values)
    mean, effective = float(weights @ values) / count, count**2 / float(weights @ weights)
    parts = weights * (values - mean)
    squares = float(parts**2 @ kept)
    if not kept.any():
        return Figure(mean, mean, mean)
    if scores.bounds == (0.0, 1.0) and is_rate(values):
        same = count * mean * (1 - mean)  # the squares of equal weights
        most = effective / float(kept.mean())
        return wilson(min(mean, 1.0), min(most, count * same / squares) if squares > 0 and same > 0 else most)
    if count < 2:
        return Figure(mean)
    squares = max(squares, scores.step**2 * float(kept.mean()))
    error, degrees = math.sqrt(squares / (count - 1) / count), degrees_of(effective, 1)
    return bounded(mean, error, degrees, scores.bounds, skewness_of_mean(parts, 1 - float(kept.mean())))


def degrees_of(effective: float, parameters: int) -> int:
    """Return the degrees of freedom that labels leave, of which unequal weights make fewer."""
    return max(1, math.floor(effective + 1e-9) - parameters)


def is_rate(values: Floats) -> bool:
    """Return whether all scores are 0 or 1."""
    return bool(np.isin(values, (0.0, 1.0)).all())


def wilson(rate: float, count: float) -> Figure:
    """Return a rate with Wilson's interval for a possibly fractional number of labels."""
    z = NormalDist().inv_cdf(0.975)
    scale = 1 + z * z / count
    middle = (rate + z * z / (2 * count)) / scale
    half = z / scale * math.sqrt(rate * (1 - rate) / count + z * z / (4 * count * count))
    return Figure(rate, max(0.0, middle - half), min(1.0, middle + half))


def bounded(value: float, error: float, degrees: int, bounds: Bounds | None, skewness: float = 0.0) -> Figure:
    """Return a value with the interval of its standard error and skewness, clipped to the scale."""
    low, high = bounds or (-math.inf, math.inf)
    if error == 0:
        return Figure(min(max(value, low), high))
    below, above = distances(student(degrees), skewness)
    clipped = [min(max(number, low), high) for number in (value, value - below * error, value + above * error)]
    return Figure(*clipped)


def corrected_mean(
    judged: Sequence[float] | Floats,
    labelled_judge: Sequence[float] | Floats,
    labelled_people: Sequence[float] | Floats,
    *,
    bounds: Bounds | None = None,
    probabilities: Sequence[float] | Floats | None = None,
    only_these: bool = False,
) -> Corrected:
    """Estimate the mean score of people over all items, by prediction-powered inference with power tuning.

    `judged` has the judge's scores of all items, including the labelled ones, which must be a random sample: with equal
    probabilities, or with the `probabilities` of being labelled, by whose inverse each label is weighted (Hájek).
    The estimate is the mean of people plus `weight` times the difference between the judge's mean over all items and
    over the labelled ones. The weight is the slope of people's scores on the judge's, clipped to 0 to 1: an
    uninformative judge gets 0, so that only the labels count. With fewer than six labels it is one half.

    The 95% interval is Student's t, widened where the remainders are skewed (for verdicts Wilson's, with the number of
    labels of the same variance), and includes the uncertainty of the weight. The spread of the remainders is at least
    that of one label that is one step of the scale away, because agreement on five labels does not prove agreement on
    all. Scores of 0 and 1 are verdicts and stay within 0 and 1; for others give the `bounds` of the scale. Without
    labels there is no value, and with a single one no interval.

    The interval is of the mean over all items of which the judged ones are a random sample. With `only_these` it is of
    the mean over the judged items, and narrower: nothing is left to estimate if all of them are labelled.
    """
    scores = read_scores(judged, labelled_judge, labelled_people, bounds, probabilities, only_these=only_these)
    count = len(scores.people)
    naive, labels_only = plain_mean(scores.judged, scores), labels_mean(scores)
    weight = _weight(scores)
    corrected = labels_only if weight == 0 or not count else _regression(scores, weight, only_these=only_these)
    return Corrected(corrected, naive, labels_only, len(scores.judged), count, weight)


def _weight(scores: Scores) -> float:
    judge, people = scores.judge, scores.people
    if not len(judge) or np.ptp(scores.judged) == 0:
        return 0.0
    if len(judge) < MIN_LABELS_FOR_WEIGHT:
        return 0.5
    if np.ptp(judge) == 0:
        return 0.0
    centred, own = judge - np.average(judge, weights=scores.weights), scores.weights
    return float(np.clip((own * centred @ people) / (own * centred @ centred), 0.0, 1.0))


def _regression(scores: Scores, weight: float, *, only_these: bool) -> Figure:
    """Return the estimate with its interval, from the variance of labels, weight and judged items."""
    judge, people, count = scores.judge, scores.people, len(scores.judge)
    own, rest = scores.weights, people - weight * judge
    mean, centre = float(own @ rest) / count, float(own @ judge) / count
    value = weight * float(scores.judged.mean()) + mean
    if not scores.kept.any():
        return Figure(value, value, value)
    if count < 2:
        return bounded(value, 0.0, 1, scores.bounds)
    tuned = count >= MIN_LABELS_FOR_WEIGHT
    degrees = count - 2 if tuned else count - 1
    centred, parts, kept = judge - centre, own * (rest - mean), float(scores.kept.mean())
    variance = max(float(parts**2 @ scores.kept), scores.step**2 * kept) / degrees / count
    if not only_these:
        shared = float(own * centred @ rest) / degrees
        drawn = (weight**2 * float(scores.judged.var(ddof=1)) + 2 * weight * shared) / len(scores.judged)
        variance = max(variance + drawn, variance * count / len(scores.judged))
    if tuned and weight < 1:
        spread = max(float(parts @ parts), scores.step**2) / degrees
        variance += spread * float(scores.judged.mean() - centre) ** 2 / float(own * centred @ centred)
    if scores.bounds == (0.0, 1.0) and is_rate(people):
        return _rate(value, variance, scores)
    skewness = skewness_of_mean(parts, 1 - kept)
    left = degrees_of(scores.effective, count - degrees)
    return bounded(value, math.sqrt(variance), left, scores.bounds, skewness)


def _rate(value: float, variance: float, scores: Scores) -> Figure:
    """Return a rate with Wilson's interval for the number of plain labels of the same variance."""
    count, rate = len(scores.people), float(scores.weights @ scores.people) / len(scores.people)
    plain = max(rate * (1 - rate) * count, scores.step**2) / (count - 1) / count
    return wilson(min(max(value, 0.0), 1.0), count * plain / variance)


def separate_mean(
    unlabelled: Sequence[float] | Floats,
    labelled_judge: Sequence[float] | Floats,
    labelled_people: Sequence[float] | Floats,
) -> MeanError:
    """Estimate the mean score of people by prediction-powered inference with weight 1, from two independent samples.

    It is the judge's mean of the unlabelled items plus the mean difference of people and judge on the labelled ones,
    and the squares of their standard errors add up. Without unlabelled items it is the mean of the labels.
    """
    others, judge, people = scores_of(unlabelled), scores_of(labelled_judge), scores_of(labelled_people)
    if not len(others):
        return mean_error(people)
    ours, rest = mean_error(others), mean_error(people - judge)
    count = len(others) + len(people)
    if ours.mean is None or rest.mean is None:
        return MeanError(count)
    value = ours.mean + rest.mean
    if ours.standard_error is None or rest.standard_error is None:
        return MeanError(count, value)
    error = math.hypot(ours.standard_error, rest.standard_error)
    half = student(len(people) - 1) * error
    return MeanError(count, value, error, value - half, value + half)


def rogan_gladen(
    judge_passes: int,
    judged: int,
    true_pos: int,
    positives: int,
    true_neg: int,
    negatives: int,
) -> Figure:
    """Estimate the pass rate of people from the judge's pass rate and its error rates on other items.

    The judge passed `judge_passes` of the `judged` items. Of other items, people passed `positives`, of which the judge
    passed `true_pos`, and failed `negatives`, of which the judge failed `true_neg`. The estimate is that of Rogan and
    Gladen (1978), clipped to 0 to 1. For the interval the three rates are drawn from their Jeffreys posteriors; in a
    draw in which the judge is no better than chance, the rate is uniform from 0 to 1.
    None if the judge is no better than chance, or one of the three counts is 0.
    """
    if not (judged and positives and negatives):
        return Figure(None)
    skill = true_pos / positives + true_neg / negatives - 1
    if skill <= 0:
        return Figure(None)
    value = (judge_passes / judged + true_neg / negatives - 1) / skill
    random = np.random.default_rng(0)
    passed = random.beta(judge_passes + 0.5, judged - judge_passes + 0.5, _DRAWS)
    sensitivity = random.beta(true_pos + 0.5, positives - true_pos + 0.5, _DRAWS)
    specificity = random.beta(true_neg + 0.5, negatives - true_neg + 0.5, _DRAWS)
    skills = sensitivity + specificity - 1
    rates = np.where(skills > 0, (passed + specificity - 1) / np.where(skills > 0, skills, 1), random.random(_DRAWS))
    low, high = np.quantile(np.clip(rates, 0, 1), [0.025, 0.975])
    return Figure(min(max(value, 0.0), 1.0), float(low), float(high))
