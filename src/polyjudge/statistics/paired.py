"""Compare two runs of the same items: mean difference, significance, and minimum detectable difference."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

from polyjudge.records.calibration import Figure

from .intervals import t_quantile
from .resampling import Codes, Floats, Resamples, figure, ratio, scores_of

MIN_CLUSTERS = 6
"""Minimum number of clusters: with five, even equal signs of all differences have p = 1/16."""
FIRST_PERMUTATIONS = 1_000
"""Permutations that are always drawn; more follow only if p is then below 0.1, which keeps the test valid."""
_BITS_PER_BYTE = 8
_GROUPS_AT_ONCE = 4_096
_CELLS_AT_ONCE = 1_000_000
MANY_CLUSTERS = 20_000
"""From this number on, intervals are those of the normal distribution; the bootstrap differs by less than its noise."""
_UPPER = 0.975
"""The share below the upper end of a 95% interval."""
_POWER = 0.8
"""The probability with which a detectable difference is detected."""
Seed = int | Sequence[int]
Bytes = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Clustered:
    """Differences summed within clusters, because items of one document are correlated."""

    sums: Floats
    counts: Floats
    """The number of items of each cluster."""

    @property
    def mean(self) -> float:
        """The mean difference, with equal weight of items."""
        return float(self.sums.sum() / self.counts.sum())

    @property
    def standard_error(self) -> float | None:
        """The standard error of the mean, from the spread between clusters; None for fewer than two."""
        clusters = len(self.sums)
        if clusters < 2:
            return None
        residuals = self.residuals
        return math.sqrt(clusters / (clusters - 1) * float(residuals @ residuals)) / float(self.counts.sum())

    @property
    def residuals(self) -> Floats:
        """What each cluster adds beyond the mean."""
        return self.sums - self.counts * self.mean


def clustered(differences: ArrayLike, clusters: Codes | None = None) -> Clustered:
    """Sum differences within clusters; without clusters each item is its own."""
    values = scores_of(differences)
    if clusters is None:
        return Clustered(values, np.ones(len(values)))
    if len(clusters) != len(values):
        raise ValueError(f"{len(clusters)} clusters for {len(values)} differences")
    _, codes = np.unique(clusters, return_inverse=True)
    return Clustered(*_sums(values, codes))


def in_file_order(clusters: Codes, places: Codes) -> Codes:
    """Return clusters numbered in the order in which they appear in a file."""
    _, codes = np.unique(clusters, return_inverse=True)
    firsts = np.full(int(codes.max(initial=-1)) + 1, np.iinfo(np.int64).max)
    np.minimum.at(firsts, codes, places)
    ranks = np.empty(len(firsts), dtype=np.int64)
    ranks[np.argsort(firsts, kind="stable")] = np.arange(len(firsts))
    return ranks[codes]


def difference_figure(paired: Clustered, *, resamples: int = 1000, seed: int = 0) -> Figure:
    """Return the mean difference with an interval over clusters: by a bootstrap, or the normal one for many."""
    if not len(paired.sums):
        return Figure()
    if len(paired.sums) >= MANY_CLUSTERS:
        return _normal_figure(paired.mean, paired.standard_error)
    blocks = Resamples(None, len(paired.sums), resamples=resamples, seed=seed)
    columns = np.column_stack([paired.sums, paired.counts])
    drawn = np.concatenate([weights @ columns for weights in blocks])
    return figure(ratio(drawn[:, 0], drawn[:, 1]))


def group_mean_figure(
    differences: ArrayLike, clusters: Codes, groups: Codes, *, resamples: int = 1000, seed: int = 0
) -> Figure:
    """Return the mean of the groups' mean differences; a cluster in several groups is drawn for all of them."""
    values = scores_of(differences)
    if not len(values):
        return Figure()
    names, clusters = np.unique(clusters, return_inverse=True)
    if len(names) >= MANY_CLUSTERS:
        _, groups = np.unique(groups, return_inverse=True)
        sums, counts = _sums(values, groups)
        error = group_weighted(values - (sums / counts)[groups], clusters, groups).standard_error
        return _normal_figure(float((sums / counts).mean()), error)
    cells, codes = np.unique(groups * len(names) + clusters, return_inverse=True)  # one per cluster and group
    sums, counts = _sums(values, codes)
    starts = np.unique(cells // len(names), return_index=True)[1]
    drawn_with = cells % len(names)

    def means(weights: Floats) -> Floats:
        drawn = weights[:, drawn_with]
        above, below = (np.add.reduceat(drawn * each, starts, axis=1) for each in (sums, counts))
        return np.nanmean(ratio(above, below), axis=1)

    at_once = max(1, _CELLS_AT_ONCE // len(cells))
    blocks = Resamples(None, len(names), resamples=resamples, seed=seed)
    return figure(
        np.concatenate([means(block[row : row + at_once]) for block in blocks for row in range(0, len(block), at_once)])
    )


def _normal_figure(mean: float, error: float | None) -> Figure:
    margin = NormalDist().inv_cdf(_UPPER) * (error or 0.0)
    return Figure(mean, mean - margin, mean + margin)


def group_weighted(differences: ArrayLike, clusters: Codes, groups: Codes) -> Clustered:
    """Return differences weighted so that their mean is the mean over groups, for `sign_flip_p`."""
    values = scores_of(differences)
    _, codes, counts = np.unique(groups, return_inverse=True, return_counts=True)
    return clustered(values * (len(values) / max(len(counts), 1)) / counts[codes], clusters)


def sign_flip_p(sums: Floats, *, permutations: int = 10_000, seed: Seed = 0) -> float:
    """Return the two-sided p of a sum, by random signs of the clusters.

    All combinations of signs are computed if there are few. Else they are drawn, and the observed one is counted too,
    (k + 1) / (n + 1), so that p is never 0.
    """
    limit = abs(float(sums.sum())) - 1e-9 * float(np.abs(sums).sum())
    if len(sums) < permutations.bit_length():
        ways = np.arange(2 ** len(sums), dtype="<u8")
        signs = ways.view(np.uint8).reshape(-1, _BITS_PER_BYTE)
        flipped = _flipped(sums, len(ways), lambda start, rows, groups: signs[start : start + rows, :groups])
        return float((np.abs(flipped) >= limit).mean())
    random, drawn, reached = np.random.default_rng(seed), 0, 0
    for wanted in (min(FIRST_PERMUTATIONS, permutations), permutations):
        if reached * 10 < max(drawn, 1):
            flipped = _flipped(
                sums, wanted - drawn, lambda _, rows, groups: random.integers(0, 256, (rows, groups), dtype=np.uint8)
            )
            reached, drawn = reached + int((np.abs(flipped) >= limit).sum()), wanted
    return (reached + 1) / (drawn + 1)


def detectable_difference(paired: Clustered, *, alpha: float = 0.05) -> float | None:
    """Return the smallest true difference that a run with this spread detects with probability 0.8.

    None without a spread, or if the sign-flip test cannot reach `alpha` with so few clusters. The sum of two quantiles
    of Student's t approximates the noncentral t distribution, within 2% from 20 clusters on.
    """
    clusters, error = len(paired.sums), paired.standard_error
    if not error or math.ldexp(1, 1 - clusters) > alpha:
        return None
    return errors_needed(clusters - 1, alpha) * error


@lru_cache(maxsize=1024)
def errors_needed(degrees: int, alpha: float) -> float:
    """Return the detectable difference in standard errors; cached, because many languages have the same count."""
    return t_quantile(degrees, 1 - alpha / 2) + t_quantile(degrees, _POWER)


def _sums(values: Floats, codes: Codes) -> tuple[Floats, Floats]:
    """Return the sum and the number of the values of each code."""
    return np.bincount(codes, weights=values).astype(np.float64), np.bincount(codes).astype(np.float64)


def _flipped(sums: Floats, rows: int, signs: Callable[[int, int, int], Bytes]) -> Floats:
    """Return the sum for each row of signs.

    Eight clusters share a byte of signs: their sums for all 256 values are computed once and looked up, which needs an
    eighth of the random numbers and additions.
    """
    flipped = np.zeros(rows)
    padded = np.pad(sums, (0, -len(sums) % _BITS_PER_BYTE)).reshape(-1, _BITS_PER_BYTE)
    plus_or_minus = 1.0 - 2.0 * np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little")
    for first in range(0, len(padded), _GROUPS_AT_ONCE):
        tables = padded[first : first + _GROUPS_AT_ONCE] @ plus_or_minus.T
        groups = len(tables)
        indexes = np.arange(groups) * 256
        at_once = max(1, _CELLS_AT_ONCE // groups)
        for start in range(0, rows, at_once):
            some = min(at_once, rows - start)
            flipped[start : start + some] += tables.ravel()[indexes + signs(start, some, groups)].sum(axis=1)
    return flipped
