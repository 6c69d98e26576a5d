"""Bootstrap: resample clusters of items to compute intervals."""

from collections.abc import Hashable, Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from polyjudge.records.calibration import Figure

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
"""Integers from 0 that encode names."""

Weights = NDArray[np.float64]
"""How often each item was drawn: a row per resample, a column per item."""

CELLS_AT_ONCE = 1_000_000
"""Weights in memory at once (8 MB): large enough for numpy to be fast."""


class Resamples:
    """Bootstrap resamples: whole clusters, drawn with replacement.

    Iterating gives blocks of weights; the first row of the first block is the sample itself, all ones. With fewer than
    two clusters that row is the only one. The same seed gives the same draws, for any order of the clusters.
    """

    def __init__(
        self, clusters: Sequence[Hashable] | None, count: int, *, resamples: int = 1000, seed: int = 0
    ) -> None:
        if clusters is not None and len(clusters) != count:
            raise ValueError(f"{len(clusters)} clusters for {count} items")
        self.count = count
        self.seed = seed
        self._codes = None if clusters is None else codes_of(clusters)
        self._drawn = count if self._codes is None else int(self._codes.max(initial=-1)) + 1
        self.resamples = resamples if self._drawn > 1 else 0

    def __iter__(self) -> Iterator[Weights]:
        """Yield blocks of weights, the sample itself first."""
        random = np.random.default_rng(self.seed)
        rows = max(1, CELLS_AT_ONCE // max(self.count, 1))
        yield np.ones((1, self.count))
        for start in range(0, self.resamples, rows):
            yield self._block(random, min(rows, self.resamples - start))

    def _block(self, random: np.random.Generator, rows: int) -> Weights:
        drawn = np.empty((rows, self._drawn))
        for row in drawn:
            row[:] = np.bincount(random.integers(0, self._drawn, self._drawn), minlength=self._drawn)
        return drawn if self._codes is None else drawn[:, self._codes]


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
