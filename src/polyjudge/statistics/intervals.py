"""Compute means, rates, intervals and tests of significance without numpy."""

import math
from collections.abc import Sequence
from functools import lru_cache
from statistics import NormalDist

from polyjudge.records.calibration import Interval


def mcnemar_exact(only_first: int, only_second: int) -> float:
    """Return the two-sided p of McNemar's exact test, from the numbers of pairs that only one of two got right.

    Without a difference, each such pair is a fair coin toss.
    """
    count, fewer = only_first + only_second, min(only_first, only_second)
    tail = sum(math.comb(count, hits) for hits in range(fewer + 1))
    return min(1.0, tail / 2 ** (count - 1)) if count else 1.0


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Return p-values adjusted for the false discovery rate (Benjamini-Hochberg)."""
    adjusted, lowest = [1.0] * len(p_values), 1.0
    by_size = sorted(range(len(p_values)), key=lambda index: p_values[index], reverse=True)
    for rank, index in zip(range(len(p_values), 0, -1), by_size, strict=True):
        lowest = min(lowest, p_values[index] * (len(p_values) / rank))
        adjusted[index] = lowest
    return adjusted


class RunningMean:
    """Mean and standard deviation of a stream in constant memory (Welford's algorithm)."""

    def __init__(self) -> None:
        self.count = 0
        self.mean = 0.0
        self._squares = 0.0

    def add(self, value: float) -> None:
        """Add a value."""
        self.count += 1
        step = value - self.mean
        self.mean += step / self.count
        self._squares += step * (value - self.mean)

    @property
    def standard_deviation(self) -> float | None:
        """The sample standard deviation; None for fewer than two values."""
        return math.sqrt(self._squares / (self.count - 1)) if self.count > 1 else None

    def interval(self) -> Interval | None:
        """Return the 95% interval of the mean by Student's t; None for fewer than two values."""
        deviation = self.standard_deviation
        if deviation is None:
            return None
        half = t_quantile(self.count - 1) * deviation / math.sqrt(self.count)
        return Interval(self.mean - half, self.mean + half)


def reached_by(values: Sequence[float | None], share: float) -> float | None:
    """Return the highest value that at least such a share of the values reach.

    None if that depends on unknown values, or if there are no values.
    """
    best = reached_at_best(values, share)
    return best if best is not None and _reached(values, share, -math.inf) == best else None


def reached_at_best(values: Sequence[float | None], share: float) -> float | None:
    """Return the upper limit of `reached_by` over all possible unknown values; None if there is no limit."""
    best = _reached(values, share, math.inf) if values else math.inf
    return None if best == math.inf else best


def _reached(values: Sequence[float | None], share: float, unknown: float) -> float:
    needed = math.ceil(share * len(values) - 1e-9)
    return sorted((unknown if value is None else value for value in values), reverse=True)[max(needed, 1) - 1]


def wilson_interval(hits: float, count: float, *, z: float | None = None) -> Interval | None:
    """Return Wilson's 95% interval of a rate, or for another quantile `z`; None if the count is 0."""
    if not count:
        return None
    z = NormalDist().inv_cdf(0.975) if z is None else z
    rate, scale = hits / count, 1 + z * z / count
    middle = (rate + z * z / (2 * count)) / scale
    half = z / scale * math.sqrt(rate * (1 - rate) / count + z * z / (4 * count * count))
    return Interval(max(0.0, middle - half), min(1.0, middle + half))


@lru_cache(maxsize=4096)
def t_quantile(degrees: int, probability: float = 0.975) -> float:
    """Return the quantile of Student's t, by bisection of its distribution."""
    low, high = 0.0, 1e6
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if 1 - two_sided_p(middle, degrees) / 2 < probability else (low, middle)
    return (low + high) / 2


def two_sided_p(t: float, degrees: int) -> float:
    """Return the probability of a Student's t at least as far from 0."""
    return incomplete_beta(degrees / 2, 0.5, degrees / (degrees + t * t))


def variance_ratio_p(ratio: float, above: int, below: int) -> float:
    """Return the probability of a larger ratio of two equal variances, by Fisher's F for both degrees of freedom."""
    return incomplete_beta(below / 2, above / 2, below / (below + above * ratio))


def incomplete_beta(a: float, b: float, x: float) -> float:
    """Return the regularised incomplete beta function."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x))
    if x < (a + 1) / (a + b + 2):
        return front * _beta_fraction(a, b, x) / a
    return 1 - front * _beta_fraction(b, a, 1 - x) / b


def _beta_fraction(a: float, b: float, x: float) -> float:
    """Return the continued fraction of the incomplete beta function (Lentz's method)."""
    tiny = 1e-300
    c, d = 1.0, 1 / max(1 - (a + b) * x / (a + 1), tiny)
    value = d
    for m in range(1, 500):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for step in (even, odd):
            d = 1 / (1 + step * d or tiny)
            c = 1 + step / c or tiny
            value *= c * d
        if abs(c * d - 1) < 1e-14:
            break
    return value
