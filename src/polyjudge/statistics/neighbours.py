"""Test a sum over items in the order of a file, where neighbours may belong to one document that no column names.

The differences along the file are split into waves (cosines), from one slow rise and fall over the whole file to
item-by-item noise. Documents make the slow waves stronger than the fast ones. The error of the sum is therefore taken
from the slowest waves only, with Student's t for as many degrees of freedom as there are waves (equal-weighted cosines;
Müller 2007, Lazarus, Lewis, Stock and Watson 2018). The constants were chosen by simulation for documents of up to
sixteen items with any correlation; tests/statistics/test_neighbours.py repeats it.
"""

from dataclasses import dataclass

import numpy as np

from .intervals import two_sided_p, variance_ratio_p
from .resampling import Floats

FEWEST = 48
"""Below this number of items nothing can be said without their documents."""
FEWEST_RELATED = 96
"""The same for items of which neighbours visibly vary together."""
_ITEMS_A_WAVE, _ITEMS_A_WAVE_RELATED = 16, 48
"""A slow wave takes so many items: each adds a degree of freedom."""
_MOST_WAVES = 48
"""More degrees of freedom gain nothing, and fewer waves allow for longer documents."""
_SLOW_PART = 8
_UNRELATED_P = 0.25
"""Neighbours count as related if waves as strong as the slowest eighth are rarer than this by chance."""
_MARGIN = 1.05
"""Even the slow waves miss some of what long documents add."""
_ROUNDING = 1e-12
_ALMOST = 1e-6


@dataclass(frozen=True, slots=True)
class NeighbourError:
    """The standard error of a sum over items in order, without assuming that neighbours are independent."""

    error: float
    degrees: int
    """Degrees of freedom; 0 if there are too few items."""
    needed: int
    """The number of items that a test needs."""

    def p(self, total: float) -> float:
        """Return the two-sided p of a sum by Student's t; 1 with too few items."""
        if not self.degrees or not total:
            return 1.0
        return two_sided_p(abs(total) / self.error, self.degrees) if self.error > _ROUNDING * abs(total) else 0.0


def neighbour_error(sums: Floats, shares: Floats) -> NeighbourError:
    """Return the error of a total, from what each item adds to it, in order, and the share that each should have.

    Items with unequal shares count as fewer equal ones.
    """
    total = float(shares.sum())
    count = int(total**2 / float(shares @ shares) + _ALMOST) if total else 0
    if count < FEWEST:
        return NeighbourError(0.0, 0, FEWEST)
    parts = sums - shares * (float(sums.sum()) / total)
    parts[np.abs(parts) <= _ROUNDING * np.abs(sums).max()] = 0.0
    powers = _powers(parts)
    is_related = _is_related(powers)
    needed = FEWEST_RELATED if is_related else FEWEST
    if count < needed:
        return NeighbourError(0.0, 0, needed)
    waves = min(count // (_ITEMS_A_WAVE_RELATED if is_related else _ITEMS_A_WAVE), _MOST_WAVES)
    return NeighbourError(_MARGIN * float(np.sqrt(len(sums) * powers[:waves].mean())), waves, needed)


def _powers(parts: Floats) -> Floats:
    """Return the squared size of each wave: an orthonormal discrete cosine transform (DCT-II) without the mean."""
    count = len(parts)
    turned = np.exp(-0.5j * np.pi * np.arange(count) / count)
    spectrum = np.fft.rfft(parts, 2 * count)[:count]
    waves = np.sqrt(2 / count) * (turned * spectrum).real
    return (waves[1:] ** 2).astype(np.float64)


def _is_related(powers: Floats) -> bool:
    """Return whether slow waves are stronger than the others by more than chance often makes them."""
    slow = (len(powers) + 1) // _SLOW_PART
    if slow >= _ITEMS_A_WAVE_RELATED * _MOST_WAVES // _SLOW_PART:
        return False  # so many items have the same number of waves either way
    strong, weak = float(powers[:slow].mean()), float(powers[slow:].mean())
    if strong <= 0:
        return False
    return weak <= 0 or variance_ratio_p(strong / weak, slow, len(powers) - slow) < _UNRELATED_P
