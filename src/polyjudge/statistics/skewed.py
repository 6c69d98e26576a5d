"""Intervals of means that hold for skewed scores: those of Student's t, widened towards the long tail."""

import math
from functools import lru_cache

import numpy as np

from .intervals import t_quantile
from .resampling import Floats

LABELS_PER_SKEWNESS = 2.5
"""With fewer labels than this times the squared skewness, an interval does not hold (after Cochran's rule, which asks
for 25 of the interval of Student's t alone)."""
FEWEST_LABELS = 10
_LARGEST_SHARE = 0.75
_NO_SKEWNESS = 1e-9


@lru_cache(maxsize=1024)
def student(degrees: int) -> float:
    """Return the 97.5% quantile of Student's t, with at most 1,000 degrees of freedom."""
    return t_quantile(min(degrees, 1000))


def skewness_of_mean(parts: Floats, share: float = 0.0, count: int | None = None) -> float:
    """Return the skewness of a sum of independent parts, which add up to about 0: that of a sample's mean.

    For `n` equally weighted scores it is their skewness divided by the root of `n`, with the usual correction for small
    samples; `count` is the number of scores, if other parts are added to theirs. `share` is the share of all items that
    are in the sample: if it is large, the mean is less skewed.
    """
    count, squares = len(parts) if count is None else count, float(parts @ parts)
    if count < 3 or squares <= 0:
        return 0.0
    own = float((parts**3).sum()) / squares**1.5 * math.sqrt(count * (count - 1)) / (count - 2)
    drawn = min(share, _LARGEST_SHARE)
    return own * (1 - 2 * drawn) / math.sqrt(1 - drawn)


def distances(quantile: float, skewness: float) -> tuple[float, float]:
    """Return how far below and above a mean its interval reaches, in standard errors.

    Each side is the larger one of Student's t and of Hall's (1992) monotone transformation of t, which removes most of
    the effect of skewness. Either alone covers too rarely if the sample happens to have few of the extreme scores.
    """
    if abs(skewness) < _NO_SKEWNESS:
        return quantile, quantile
    below, above = _transformed(quantile, skewness), -_transformed(-quantile, skewness)
    return max(quantile, below), max(quantile, above)


def _transformed(quantile: float, skewness: float) -> float:
    """Return the quantile of the studentised mean whose transformed value is the one given."""
    return 3 / skewness * (float(np.cbrt(1 + skewness * (quantile - skewness / 6))) - 1)


def least_quantile(errors: float, skewness: float) -> float:
    """Return the quantile at which the interval of a mean just reaches 0, `errors` standard errors above or below it.

    It is what a test compares with Student's t, so that test and interval agree.
    """
    if not errors or abs(skewness) < _NO_SKEWNESS:
        return abs(errors)
    # A mean above 0 is tested with the lower side of its interval, one below 0 with the upper side.
    turned = skewness if errors > 0 else -skewness
    found = ((1 + abs(errors) * turned / 3) ** 3 - 1) / turned + turned / 6
    return min(abs(errors), max(found, 0.0))


def labels_needed(skewness: float) -> int:
    """Return how many labels an interval of the mean of scores with this skewness needs."""
    return max(FEWEST_LABELS, math.ceil(LABELS_PER_SKEWNESS * skewness**2 - 1e-9))
