"""Compute intervals by a bootstrap over clusters of items or, for few texts, by Student's t and Wilson's method."""

from collections.abc import Hashable, Iterator, Sequence
from math import sqrt

import numpy as np
from msgspec import Struct
from numpy.typing import ArrayLike, NDArray

from polyjudge.records.calibration import Figure
from polyjudge.records.codec import Number

from .intervals import t_quantile, wilson_interval

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
"""Integers from 0 that encode names."""

Weights = NDArray[np.float64]
"""How often each item was drawn: a row per resample, a column per item."""

CELLS_AT_ONCE = 1_000_000
"""Weights in memory at once (8 MB): large enough for numpy to be fast."""
_ROUNDING = 1e-9
"""A share so close to 0 or 1 is one of them: the weights of items are rounded when they are added up."""

MANY = 10_000
"""With more items, and at least `MANY_CLUSTERS` clusters, intervals come from leaving groups out."""
MANY_CLUSTERS = 1_000
_GROUPS = 100


class Resamples:
    """Bootstrap resamples: whole clusters, drawn with replacement.

    Iterating gives blocks of weights; the first row of the first block is the sample itself, all ones. With fewer than
    two clusters that row is the only one. The same seed gives the same draws, for any order of the clusters. With
    `base`, an item counts with this weight each time it is drawn.
    """

    def __init__(
        self,
        clusters: Sequence[Hashable] | None,
        count: int,
        *,
        resamples: int = 1000,
        seed: int = 0,
        base: Floats | None = None,
    ) -> None:
        if clusters is not None and len(clusters) != count:
            raise ValueError(f"{len(clusters)} clusters for {count} items")
        self.count = count
        self.seed = seed
        self._codes = None if clusters is None else codes_of(clusters)
        self._drawn = count if self._codes is None else int(self._codes.max(initial=-1)) + 1
        self.resamples = resamples if self._drawn > 1 else 0
        self._base = np.ones(count) if base is None else base

    def __iter__(self) -> Iterator[Weights]:
        """Yield blocks of weights, the sample itself first."""
        random = np.random.default_rng(self.seed)
        rows = max(1, CELLS_AT_ONCE // max(self.count, 1))
        yield self._base[None, :].copy()
        for start in range(0, self.resamples, rows):
            drawn = np.empty((min(rows, self.resamples - start), self._drawn))
            for row in drawn:
                row[:] = np.bincount(random.integers(0, self._drawn, self._drawn), minlength=self._drawn)
            yield (drawn if self._codes is None else drawn[:, self._codes]) * self._base

    def figure(self, replicates: Floats) -> Figure:
        """Return the number for the sample itself with the percentile interval of those for the resamples."""
        return figure(replicates)


class LeftOutGroups:
    """The sample without one of a hundred groups of clusters at a time: the delete-a-group jackknife.

    For very many items it is as good as the bootstrap and takes a tenth of the time. Iterating gives blocks of weights,
    as `Resamples` does: the first row is the sample itself. The clusters of a group are drawn with the seed.
    """

    def __init__(self, codes: Codes, seed: int, base: Floats) -> None:
        clusters = int(codes.max()) + 1
        self._groups = np.random.default_rng(seed).permutation(clusters)[codes] % _GROUPS
        self._base = base

    def __iter__(self) -> Iterator[Weights]:
        """Yield blocks of weights, the sample itself first."""
        rows = max(1, CELLS_AT_ONCE // len(self._base))
        yield self._base[None, :].copy()
        for start in range(0, _GROUPS, rows):
            left_out = np.arange(start, min(start + rows, _GROUPS))
            yield (self._groups != left_out[:, None]) * self._base

    def figure(self, replicates: Floats) -> Figure:
        """Return the number for the sample itself with Student's t interval; see `figure` for undefined numbers."""
        value, rest = float(replicates[0]), replicates[1:]
        if np.isnan(value):
            return Figure(None)
        defined = rest[~np.isnan(rest)]
        if len(defined) < _GROUPS:
            return Figure(value)
        error = sqrt((_GROUPS - 1) / _GROUPS * float(((defined - defined.mean()) ** 2).sum()))
        half = t_quantile(_GROUPS - 1) * error
        return Figure(value, value - half, value + half)


def draws(
    clusters: Sequence[Hashable] | None,
    count: int,
    *,
    resamples: int = 1000,
    seed: int = 0,
    base: Floats | None = None,
) -> Resamples | LeftOutGroups:
    """Return the resamples of a bootstrap over clusters, or for very many items the sample without groups of them."""
    if count > MANY and resamples:
        codes = np.arange(count) if clusters is None else codes_of(clusters)
        if len(codes) == count and int(codes.max()) + 1 >= MANY_CLUSTERS:
            return LeftOutGroups(codes, seed, np.ones(count) if base is None else base)
    return Resamples(clusters, count, resamples=resamples, seed=seed, base=base)


def within(found: Figure, lowest: float, highest: float) -> Figure:
    """Return a figure whose interval ends at the ends of its scale."""
    if found.low is None or found.high is None:
        return found
    return Figure(found.value, max(found.low, lowest), min(found.high, highest))


def codes_of(names: Sequence[Hashable]) -> Codes:
    """Encode names as integers: sorted numbers, then sorted texts, then all others."""
    distinct = set(names)
    texts = sorted(name for name in distinct if isinstance(name, str))
    numbers = sorted(name for name in distinct if isinstance(name, int | float))
    others = sorted((name for name in distinct if not isinstance(name, str | int | float)), key=repr)
    code: dict[Hashable, int] = {name: index for index, name in enumerate([*numbers, *texts, *others])}
    return np.fromiter((code[name] for name in names), dtype=np.int64, count=len(names))


def scores_of(values: ArrayLike) -> Floats:
    """Return scores as an array; raise `ValueError` if one is not a finite number."""
    scores = np.asarray(values, dtype=np.float64)
    if scores.ndim != 1:
        raise ValueError(f"scores must be one-dimensional, not of shape {scores.shape!r}")
    if not np.isfinite(scores).all():
        raise ValueError(f"score number {int(np.argmin(np.isfinite(scores)))} is not a finite number; remove it")
    return scores


def ratio(above: Floats, below: Floats) -> Floats:
    """Divide; NaN where the divisor is not above 0."""
    return np.divide(above, below, out=np.full(np.shape(below), np.nan), where=below > 0)


def figure(values_over_resamples: Floats) -> Figure:
    """Return the first entry as the value, with the percentile interval of the others.

    NaN marks a resample in which the number is undefined. There is no value if the first entry is NaN, and no interval
    if fewer than twenty resamples, or fewer than half of them, are defined.
    """
    value, rest = float(values_over_resamples[0]), values_over_resamples[1:]
    if np.isnan(value):
        return Figure(None)
    defined = rest[~np.isnan(rest)]
    if len(defined) < max(20, len(rest) / 2):
        return Figure(value)
    low, high = np.quantile(defined, [0.025, 0.975])
    return Figure(value, float(low), float(high))


def widened_share(found: Figure, count: float) -> Figure:
    """Return a share of 0 or 1, of which all resamples are the same, with Wilson's interval for so many items."""
    share = found.value
    if share is None or min(abs(share), abs(1 - share)) > _ROUNDING:
        return found
    interval = wilson_interval(round(share) * count, count)
    return Figure(float(round(share)), interval.low, interval.high) if interval else found


def equal_items(weights: Floats) -> int:
    """Return how many items of equal weight say as much as items of these weights."""
    return round(float(weights.sum()) ** 2 / float(weights @ weights)) if len(weights) else 0


def resampled_mean(
    values: Sequence[float],
    clusters: Sequence[Hashable] | None = None,
    *,
    resamples: int = 1000,
    seed: int = 0,
    weights: Floats | None = None,
) -> Figure:
    """Return the mean of shares from 0 to 1 with its bootstrap interval, or Wilson's if all are 0 or all are 1."""
    scores = scores_of(values)
    if not len(scores):
        return Figure()
    drawn = draws(clusters, len(scores), resamples=resamples, seed=seed, base=weights)
    found = within(drawn.figure(np.concatenate([counts @ scores / counts.sum(axis=1) for counts in drawn])), 0, 1)
    return widened_share(found, len(scores) if weights is None else equal_items(weights))


class MeanError(Struct, frozen=True, rename="camel"):
    """A mean with its standard error and 95% interval."""

    items: int
    mean: Number | None = None
    standard_error: Number | None = None
    """The sample standard deviation by the root of the number; of cluster sums, if items belong together."""
    low: Number | None = None
    high: Number | None = None


def mean_error(
    values: Sequence[float] | Floats, clusters: Sequence[Hashable] | None = None, *, weights: Floats | None = None
) -> MeanError:
    """Return a mean with its standard error over clusters (by default items) and Student's t interval.

    The `weights` of the values have the mean 1.
    """
    scores = scores_of(values)
    if not len(scores):
        return MeanError(0)
    own, codes = np.ones(len(scores)) if weights is None else weights, None if clusters is None else codes_of(clusters)
    mean = float(scores.mean()) if weights is None else float(own @ scores) / len(scores)
    sums = own * (scores - mean) if codes is None else np.bincount(codes, weights=own * (scores - mean))
    if len(sums) < 2:
        return MeanError(len(scores), mean)
    error = sqrt(float((sums**2).sum()) * len(sums) / (len(sums) - 1)) / len(scores)
    half = t_quantile(min(len(sums) - 1, 1000)) * error
    return MeanError(len(scores), mean, error, mean - half, mean + half)


MIN_TEXTS_FOR_BOOTSTRAP = 15
"""From this number of texts on the bootstrap is as good as Student's t, and better for skewed scores."""
_DIGITS = 4


def interval_of(replicates: Floats, *, never: bool = False) -> Figure:
    """Return the first replicate with the 95% interval of the rest; with `never`, infinite replicates mean never."""
    value, rest = float(replicates[0]), replicates[1:]
    rest = rest[~np.isnan(rest)]
    if np.isnan(value):
        return Figure()
    low, high = np.quantile(rest, [0.025, 0.975], method="inverted_cdf") if len(rest) else (np.nan, np.nan)
    shown = [_rounded(each) if np.isfinite(each) else None for each in (value, low, high)]
    return Figure() if never and shown[0] is None else Figure(*shown)


def mean_of(values: Floats, replicates: Floats) -> Figure:
    """Return a mean from -1 to 1 with its interval: of the bootstrap or, for few texts, of Student's t."""
    known = values[~np.isnan(values)]
    if len(known) >= MIN_TEXTS_FOR_BOOTSTRAP:
        return interval_of(replicates)
    if len(known) < 2:
        return Figure(_rounded(float(known[0]))) if len(known) else Figure()
    found = _by_t(float(known.mean()), float(known.std(ddof=1)) / sqrt(len(known)), len(known))
    return Figure(found.value, max(-1.0, found.low or 0.0), min(1.0, found.high or 0.0))


def clustered_mean(values: Sequence[float], clusters: Sequence[str], probability: float = 0.975) -> Figure:
    """Return a mean with its Student's t interval over clusters."""
    scores = np.array(values, dtype=np.float64)
    if not len(scores):
        return Figure()
    names = {name: index for index, name in enumerate(sorted(set(clusters)))}
    mean, count = float(scores.mean()), len(names)
    if count < 2:
        return Figure(_rounded(mean))
    sums = np.bincount([names[name] for name in clusters], weights=scores - mean)
    error = sqrt(float((sums**2).sum()) * count / (count - 1)) / len(scores)
    return _by_t(mean, error, count, probability)


def _by_t(mean: float, error: float, count: int, probability: float = 0.975) -> Figure:
    half = t_quantile(count - 1, probability) * error
    return Figure(_rounded(mean), _rounded(mean - half), _rounded(mean + half))


def share_of_wins(won: float, lost: float, count: float) -> Figure:
    """Return the share of wins, ties counting half, with its interval.

    The Wilson intervals of wins and losses are combined by Newcombe's method for paired shares: without ties the two
    are perfectly correlated, so the distances of their bounds add up.
    """
    if not count:
        return Figure()
    wins, losses = wilson_interval(won, count), wilson_interval(lost, count)
    if wins is None or losses is None:
        return Figure()
    p, q = won / count, lost / count
    tied = count - won - lost
    against = -1.0 if tied < 1e-9 or p >= 1 or q >= 1 else -sqrt(p * q / ((1 - p) * (1 - q)))
    middle = 0.5 + (p - q) / 2
    low = middle - _joined(p - wins.low, losses.high - q, against) / 2
    high = middle + _joined(wins.high - p, q - losses.low, against) / 2
    return Figure(_rounded(middle), _rounded(max(0.0, low)), _rounded(min(1.0, high)))


def _joined(one: float, other: float, correlation: float) -> float:
    return sqrt(max(0.0, one**2 - 2 * correlation * one * other + other**2))


def hull(*figures: Figure) -> Figure:
    """Return the first figure with an interval that contains those of all."""
    lows = [each.low for each in figures if each.low is not None]
    highs = [each.high for each in figures if each.high is not None]
    value = figures[0].value
    if value is None or not lows or not highs:
        return Figure(value)
    return Figure(value, min(*lows, value), max(*highs, value))


def _rounded(number: float) -> float:
    return round(float(number), _DIGITS) + 0.0  # avoids -0.0
