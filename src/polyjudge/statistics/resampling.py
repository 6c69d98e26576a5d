"""Draw the sample again, many times, to see how far a number could have come out otherwise."""

from collections.abc import Hashable, Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from polyjudge.records.calibration import Figure

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
"""Whole numbers from 0 that stand for names."""

Weights = NDArray[np.float64]
"""How often each item was drawn: a row for each resample, a column for each item."""

CELLS_AT_ONCE = 1_000_000
"""Weights held at once: 8 MB, small enough for the memory and large enough for numpy to be quick."""


class Resamples:
    """The same sample drawn again and again: whole clusters, with replacement, as many as there are.

    Iterating gives blocks of weights; the first row of the first block is the sample itself, all ones.
    With fewer than two clusters there is nothing to draw, and that row is the only one.
    The same seed gives the same draws. Names of clusters count as they are sorted, not as they come.
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
        """Yield blocks of weights, the plain sample first."""
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
    """Return a whole number for each name: numbers in their order, then texts in theirs, then all others."""
    distinct = set(names)
    texts = sorted(name for name in distinct if isinstance(name, str))
    numbers = sorted(name for name in distinct if isinstance(name, int | float))
    others = sorted((name for name in distinct if not isinstance(name, str | int | float)), key=repr)
    code: dict[Hashable, int] = {name: place for place, name in enumerate([*numbers, *texts, *others])}
    return np.fromiter((code[name] for name in names), dtype=np.int64, count=len(names))


def scores_of(values: ArrayLike) -> Floats:
    """Return the scores as an array, or say which is not a number."""
    scores = np.asarray(values, dtype=np.float64)
    if scores.ndim != 1:
        raise ValueError(f"scores must be one row, not {scores.shape!r}")
    if not np.isfinite(scores).all():
        raise ValueError(f"score number {int(np.argmin(np.isfinite(scores)))} is not a number: leave it out")
    return scores


def ratio(above: Floats, below: Floats) -> Floats:
    """Divide; NaN where there is nothing to divide by."""
    return np.divide(above, below, out=np.full(np.shape(below), np.nan), where=below > 0)


def figure(values_over_resamples: Floats) -> Figure:
    """Return the first entry as the value and the middle 95% of the others as its interval (percentile interval).

    NaN is a resample where the number is not defined, and left out. There is no value where the first entry is NaN,
    and no interval where fewer than twenty resamples, or fewer than half of them, are defined.
    """
    value, rest = float(values_over_resamples[0]), values_over_resamples[1:]
    if np.isnan(value):
        return Figure(None)
    defined = rest[~np.isnan(rest)]
    if len(defined) < max(20, len(rest) / 2):
        return Figure(value)
    low, high = np.quantile(defined, [0.025, 0.975])
    return Figure(value, float(low), float(high))


def mean_figure(
    values: ArrayLike, clusters: Sequence[Hashable] | None = None, *, resamples: int = 1000, seed: int = 0
) -> Figure:
    """Return the mean with the interval that drawing whole clusters gives."""
    scores = scores_of(values)
    blocks = Resamples(clusters, len(scores), resamples=resamples, seed=seed)
    return figure(np.concatenate([ratio(weights @ scores, weights.sum(axis=1)) for weights in blocks]))
