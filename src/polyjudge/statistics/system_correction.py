"""Estimate the means of several systems from many judge scores and few labels.

A test says whether the judge's error on one system is the same as on the others.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from polyjudge.records.calibration import Figure

from .estimates import Bounds, bounded, is_rate, wilson
from .group_correction import BORROWED_LABELS
from .intervals import t_quantile, two_sided_p
from .resampling import Codes, Floats
from .skewed import distances, labels_needed, least_quantile, skewness_of_mean, student

FEWEST_FOR_CHECK = 10
"""With fewer labels a system cannot be checked, and is estimated from the labels of the others."""
FEWEST_CLUSTERS = 5
"""With labels of fewer clusters a system cannot be checked: so few hardly show how much clusters differ."""
_FEWEST_FOR_SLOPE = 6
_FEWEST_IN_LANGUAGE = 2
_POWER = 0.8


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemSample:
    """The scores of one system, of which some items are labelled."""

    judged: Floats
    """The judge's scores of all items."""
    strata: Codes
    """The language of each item."""
    places: Codes
    """The labelled items, as places in `judged`."""
    people: Floats
    """The label of each of them."""
    clusters: Codes
    """The cluster of each item, in a numbering that all systems share: dependent items have the same number."""
    drawn: Floats
    """The probability that each labelled item had of being labelled."""

    @property
    def judge(self) -> Floats:
        """The judge's scores of the labelled items."""
        return self.judged[self.places]

    @property
    def weights(self) -> Floats:
        """The weight of each label, 1 on average."""
        return 1 / self.drawn / (1 / self.drawn).mean()

    @property
    def labels(self) -> int:
        """The number of labels."""
        return len(self.people)

    @property
    def labelled_clusters(self) -> int:
        """The number of clusters with labels."""
        return len(np.unique(self.clusters[self.places]))

    @property
    def can_be_checked(self) -> bool:
        """Whether the labels are enough to test whether a correction holds."""
        return self.labels >= FEWEST_FOR_CHECK and self.labelled_clusters >= FEWEST_CLUSTERS

    def among(self, stratum: int) -> "SystemSample":
        """Return the items of one language."""
        inside = np.flatnonzero(self.strata == stratum)
        labelled = self.strata[self.places] == stratum
        return SystemSample(
            judged=self.judged[inside],
            strata=self.strata[inside],
            places=np.searchsorted(inside, self.places[labelled]),
            people=self.people[labelled],
            clusters=self.clusters[inside],
            drawn=self.drawn[labelled],
        )


@dataclass(frozen=True, slots=True)
class Slope:
    """How people's scores rise with the judge's, within systems."""

    value: float
    variance: float
    """0 if it is not estimated."""
    spread: float
    """The variance of one label about the line."""


def slope_of(samples: Iterable[SystemSample], step: float) -> Slope:
    """Return the slope within systems and languages; never negative, and one half with fewer than six labels."""
    along = across = squares = 0.0
    degrees, parts = -1, list[tuple[Floats, Floats, Floats]]()
    for each in (group for sample in samples for group in _groups(sample)):
        if each.labels < 2:
            continue
        weights, judge, people = each.weights, each.judge, each.people
        judge, people = judge - np.average(judge, weights=weights), people - np.average(people, weights=weights)
        along, across = along + float(weights * judge @ judge), across + float(weights * judge @ people)
        degrees += each.labels - 1
        parts.append((weights, judge, people))
    is_known = degrees >= _FEWEST_FOR_SLOPE and along > 0
    value = max(across / along, 0.0) if is_known else 0.5 if along > 0 else 0.0
    for weights, judge, people in parts:
        squares += float(weights @ (people - value * judge) ** 2)
    spread = max(squares, step**2) / max(degrees, 1)
    return Slope(value, spread / along if is_known and value > 0 else 0.0, spread)


def _groups(sample: SystemSample) -> list[SystemSample]:
    """Return the languages of a system if each has two labels, else the system."""
    groups = [sample.among(stratum) for stratum in np.unique(sample.strata).tolist()]
    return [sample] if any(each.labels < 2 for each in groups) else groups


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean with the error that each cluster of labels adds to it."""

    value: float
    parts: Floats
    """The errors of the clusters, which add up to about 0."""
    clusters: Codes
    """Their numbers."""
    labelled: int
    """The clusters that have labels."""
    degrees: int
    away: float = 0.0
    """How far the judge's mean of all items is from that of the labelled ones: the effect of an error of the slope."""
    share: float = 0.0
    """The share of all items that are labelled."""
    least: float = 0.0
    """The smallest variance that so few labels can show."""

    def variance(self, slope_variance: float = 0.0) -> float:
        """Return the variance of the estimate."""
        return max(float(self.parts @ self.parts), self.least) + slope_variance * self.away**2


def mean_of(sample: SystemSample, slope: float, step: float, *, only_these: bool = False) -> Estimate:
    """Return the mean of people's scores over the items of a system, from at least two labels.

    It is the judge's mean times the slope plus the mean remainder of the labels, which is unbiased for any slope if the
    labels are a random sample. Each language counts by its items if all have two labels. The error is that of the mean
    over all items like these; with `only_these`, over the judged items.
    """
    groups = _groups(sample)
    total, value, away, least = len(sample.judged), 0.0, 0.0, 0.0
    numbers = np.unique(np.concatenate([each.clusters[each.places] for each in groups]))
    degrees = max(len(numbers) - len(groups), 1)
    small = math.sqrt(len(numbers) / degrees)
    errors, codes, own = list[Floats](), list[Codes](), list[Floats]()
    for each in groups:
        share, weights = len(each.judged) / total, each.weights
        rest, judged = each.people - slope * each.judge, float(each.judged.mean())
        mean = float(np.average(rest, weights=weights))
        kept = 1 - each.drawn if only_these else np.ones(each.labels)
        value += share * (slope * judged + mean)
        away += share * (judged - float(np.average(each.judge, weights=weights)))
        own.append(weights * (rest - mean) * np.sqrt(kept))
        errors.append(small * share * own[-1] / each.labels)
        codes.append(each.clusters[each.places])
        if slope and not only_these:
            errors.append(share * slope * (each.judged - judged) / len(each.judged))
            codes.append(each.clusters)
        least += share**2 * step**2 * float(kept.mean()) / max(each.labels - 1, 1) / each.labels
    found, parts = _by_cluster(np.concatenate(codes), np.concatenate(errors))
    drawn = min(sample.labels / total, 1.0) if only_these else 0.0
    lacking = _lacking(own, [len(each.judged) / total for each in groups], degrees) if len(groups) > 1 else 0.0
    least = max(least, float(parts @ parts) + lacking)
    return Estimate(value, parts, found, len(numbers), degrees, away if slope else 0.0, drawn, least)


def _lacking(errors: Sequence[Floats], shares: Sequence[float], degrees: int) -> float:
    """Return the variance that languages with few labels lack: each has at least nearly the spread of all of them."""
    pooled, found = sum(float(each @ each) for each in errors) / degrees, 0.0
    for each, share in zip(errors, shares, strict=True):
        least = (BORROWED_LABELS * pooled + float(each @ each)) / (BORROWED_LABELS + len(each) - 1)
        found += share**2 * max(0.0, least - float(each @ each) / (len(each) - 1)) / len(each)
    return found


def _by_cluster(clusters: Codes, errors: Floats) -> tuple[Codes, Floats]:
    """Return the clusters, sorted, and the sum of the errors in each of them."""
    numbers, places = np.unique(clusters, return_inverse=True)
    return numbers, _sums(places, errors, len(numbers))


def _sums(places: Codes, errors: Floats, size: int) -> Floats:
    return np.asarray(np.bincount(places, weights=errors, minlength=size), dtype=np.float64)


def figure_of(found: Estimate, slope: Slope | None, bounds: Bounds | None, sample: SystemSample) -> Figure:
    """Return an estimate with its interval: of Student's t widened by the skewness, or Wilson's for a pass rate."""
    variance, (low, high) = found.variance(slope.variance if slope else 0.0), bounds or (-math.inf, math.inf)
    value = min(max(found.value, low), high)
    if variance == 0:
        return Figure(value, value, value)
    if bounds == (0.0, 1.0) and is_rate(sample.people):
        rate, labels = float(np.average(sample.people, weights=sample.weights)), sample.labels
        plain = max(rate * (1 - rate) * labels, 0.01) / (labels - 1) / labels
        return wilson(value, labels * plain / variance)
    skewness = skewness_of_mean(found.parts, found.share, found.labelled)
    return bounded(found.value, math.sqrt(variance), found.degrees, bounds, skewness)


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference of two estimates, of which dependent labels are compared with each other."""

    value: float
    error: float
    degrees: int
    skewness: float

    @property
    def p(self) -> float:
        """The two-sided p-value of no difference; it is below 0.05 if the interval does not include 0."""
        if not self.error:
            return float(self.value == 0)
        return two_sided_p(least_quantile(self.value / self.error, self.skewness), self.degrees)

    @property
    def figure(self) -> Figure:
        """The difference with its interval."""
        below, above = distances(student(self.degrees), self.skewness)
        return Figure(self.value, self.value - below * self.error, self.value + above * self.error)

    def is_within(self, margin: float) -> bool:
        """Return whether the difference is shown to be smaller than a margin, by two one-sided tests at 0.05."""
        below, above = distances(t_quantile(self.degrees, 0.95), self.skewness)
        return self.value - below * self.error > -margin and self.value + above * self.error < margin


def difference_of(first: Estimate, second: Estimate, slope_variance: float) -> Difference:
    """Return the difference of two estimates that use the same slope."""
    size = 1 + int(max(first.clusters.max(initial=0), second.clusters.max(initial=0)))
    parts = _sums(first.clusters, first.parts, size) - _sums(second.clusters, second.parts, size)
    parts = parts[np.union1d(first.clusters, second.clusters)]
    # The smallest variances count if the labels of one system show hardly any error.
    lacking = sum(max(0.0, each.least - float(each.parts @ each.parts)) for each in (first, second))
    variance = float(parts @ parts) + lacking + slope_variance * (first.away - second.away) ** 2
    share, labelled = (first.share + second.share) / 2, min(first.labelled, second.labelled)
    skewness = skewness_of_mean(parts, share, labelled)
    return Difference(first.value - second.value, math.sqrt(variance), _degrees(first, second), skewness)


def _degrees(first: Estimate, second: Estimate) -> int:
    """Return the degrees of freedom of a difference, after Welch."""
    one, other = first.variance(), second.variance()
    below = one**2 / first.degrees + other**2 / second.degrees
    return max(1, math.floor((one + other) ** 2 / below)) if below else min(first.degrees, second.degrees)


def shift_of(own: SystemSample, others: Sequence[SystemSample], step: float) -> Difference:
    """Return by how much people's mean score of a system differs from the judge's as corrected on other systems.

    The correction is a line: the slope within all these systems, and the mean remainder of the others in each language,
    which counts by the system's own labels. Where the others lack labels in most of its languages, languages are
    disregarded. Labels of both sides count as equally noisy: few labels of skewed scores often have none of the rare
    ones, and then vary too little.
    """
    slope = slope_of([own, *others], step)
    mine, theirs = _labels_of([own], slope.value), _labels_of(others, slope.value)
    size = 1 + int(max(mine.strata.max(), theirs.strata.max()))
    known = np.bincount(theirs.strata, minlength=size) >= _FEWEST_IN_LANGUAGE
    if 2 * known[mine.strata].sum() < len(mine.rest):
        mine, theirs, known = mine.together(), theirs.together(), np.ones(1, dtype=bool)
    mine, theirs = mine.where(known[mine.strata]), theirs.where(known[theirs.strata])
    shares = _sums(mine.strata, mine.weights, len(known)) / mine.weights.sum()
    first, second = mine.mean(shares, step), theirs.mean(shares, step)
    return difference_of(_at_least_as_noisy(first, second), _at_least_as_noisy(second, first), slope.variance)


def _at_least_as_noisy(one: Estimate, other: Estimate) -> Estimate:
    """Return a mean whose labels vary no less than those of another one."""
    return replace(one, least=max(one.least, other.variance() * other.labelled / one.labelled))


@dataclass(frozen=True, slots=True)
class _Labels:
    """Labels of one or more systems."""

    rest: Floats
    """People's score minus the judge's times the slope."""
    judge: Floats
    weights: Floats
    strata: Codes
    clusters: Codes

    def where(self, chosen: NDArray[np.bool_]) -> "_Labels":
        """Return some of the labels."""
        rest, judge, weights = self.rest[chosen], self.judge[chosen], self.weights[chosen]
        return _Labels(rest, judge, weights, self.strata[chosen], self.clusters[chosen])

    def together(self) -> "_Labels":
        """Return the labels as if all were of one language."""
        return _Labels(self.rest, self.judge, self.weights, np.zeros_like(self.strata), self.clusters)

    def mean(self, shares: Floats, step: float) -> Estimate:
        """Return the mean remainder over languages, each of which counts by its share, and its error."""
        size, count = len(shares), len(self.rest)
        weights = _sums(self.strata, self.weights, size)
        each = np.divide(shares, weights, out=np.zeros(size), where=weights > 0)[self.strata] * self.weights
        means = _sums(self.strata, self.weights * self.rest, size) / np.where(weights > 0, weights, 1.0)
        numbers, sums = _by_cluster(self.clusters, each * (self.rest - means[self.strata]))
        degrees = max(len(sums) - int((weights > 0).sum()), 1)
        scaled, least = np.multiply(sums, math.sqrt(len(sums) / degrees)), step**2 / max(count - 1, 1) / count
        away = -float(each @ self.judge)
        return Estimate(float(each @ self.rest), scaled, numbers, len(sums), degrees, away, least=least)


def _labels_of(samples: Sequence[SystemSample], slope: float) -> _Labels:
    return _Labels(
        rest=np.concatenate([each.people - slope * each.judge for each in samples]),
        judge=np.concatenate([each.judge for each in samples]),
        weights=np.concatenate([each.weights for each in samples]),
        strata=np.concatenate([each.strata[each.places] for each in samples]),
        clusters=np.concatenate([each.clusters[each.places] for each in samples]),
    )


def noticeable_shift(found: Difference, alpha: float, tests: int) -> float:
    """Return the shift that a test of several would show with a probability of 0.8, at a family-wise level."""
    level = t_quantile(found.degrees, 1 - alpha / (2 * max(tests, 1)))
    return (level + NormalDist().inv_cdf(_POWER)) * found.error


def pooled_skewness(samples: Iterable[SystemSample], slope: float) -> float:
    """Return the skewness of the remainders of all systems together, each about its own mean."""
    parts = [each.people - slope * each.judge for each in samples if each.labels > 1]
    centred = np.concatenate([part - part.mean() for part in parts] or [np.zeros(0)])
    return skewness_of_mean(centred) * math.sqrt(len(centred))


def why_not_reliable(sample: SystemSample, skewness: float, bounds: Bounds | None, *, only_these: bool = False) -> str:
    """Return why no interval of the mean of these labels would hold; empty if one does.

    It depends on the numbers of labels and items, on the skewness over all systems, and on nothing unknown.
    """
    if only_these and sample.labels == len(sample.judged):
        return ""
    clusters = sample.labelled_clusters
    is_verdict = bounds == (0.0, 1.0) and is_rate(sample.people)
    needed = FEWEST_FOR_CHECK if is_verdict else labels_needed(skewness)
    if clusters < needed:
        kind = "labels" if clusters == sample.labels else f"labels in {clusters} clusters"
        given = f"{sample.labels} {kind}"
        why = "" if needed == FEWEST_FOR_CHECK else f" for scores this skewed ({skewness:.1f})"
        return f"{given} are too few{why}; about {needed} are needed"
    if not is_verdict and np.ptp(sample.people) == 0:
        return f"all {sample.labels} labels are {sample.people[0]:g}, so they do not show how scores differ"
    return ""
