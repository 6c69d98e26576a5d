"""Fit Bradley–Terry strengths to comparisons of two systems, with errors by cluster, and test for equal strength.

A tie counts as half a win of each side. The strengths then reproduce the win rates exactly, a preference may also be a
probability, and nothing has to be assumed about ties: the errors come from the spread between clusters, and are smaller
with many ties. Davidson's model would estimate a rate of ties that is alike for all pairs, and needs whole ties.
"""

import math
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from polyjudge.records.calibration import Figure

from .comparisons import Comparisons, Matrix
from .intervals import t_quantile, wilson_interval
from .resampling import Codes, Floats

PSEUDO_WINS = 0.5
"""Wins added to both sides of each compared pair if the strengths would otherwise be infinite (Haldane, Anscombe)."""
MIN_CLUSTERS = 2
"""A spread needs two."""
_STEPS = 100
_TOLERANCE = 1e-10


@dataclass(frozen=True)
class Strengths:
    """The strengths of systems: the log odds of a win, with mean 0 among systems that can be compared."""

    values: Floats
    """NaN for a system without comparisons."""
    components: Codes
    """Systems with the same number are compared with each other, directly or through others."""
    is_limited: bool
    """Whether half a win was added to both sides of each pair, because some side never won against the rest."""

    def chances(self) -> Matrix:
        """Return the probability that each system (row) wins against each other one (column)."""
        return chances_of(self.values)


def strengths_of(wins: Matrix, near: Floats | None = None) -> Strengths:
    """Return the strengths of maximum likelihood; with half a win added to each side if some would be infinite.

    Strengths `near` the result make it faster.
    """
    components = components_of((wins + wins.T) > 0)
    is_limited = not np.array_equal(components_of(wins > 0, both_ways=True), components)
    used = wins + PSEUDO_WINS * ((wins + wins.T) > 0) if is_limited else wins
    together = (components[:, None] == components).astype(np.float64)
    values: Floats = np.zeros(len(wins)) if near is None else np.nan_to_num(near)
    for _ in range(_STEPS):
        chances = chances_of(values)
        counts = used + used.T
        gradient = (used - counts * chances).sum(axis=1)
        step = cast(Floats, np.linalg.solve(information(counts, chances) + together, gradient))
        # Newton's steps can overshoot while strengths are far apart.
        values += step * min(1.0, 2.0 / max(float(np.abs(step).max(initial=0.0)), 1e-300))
        if np.abs(step).max(initial=0.0) < _TOLERANCE:
            break
    values -= together @ values / together.sum(axis=1)
    values[(wins + wins.T).sum(axis=1) == 0] = np.nan
    return Strengths(values, components, is_limited)


def standard_errors(found: Comparisons, strengths: Strengths) -> Floats | None:
    """Return the standard errors of the strengths, from the spread between clusters; None if there are none.

    This is the sandwich estimate with the factor G/(G-1) for G clusters. Strengths that would be infinite have no
    errors: the spread of comparisons that all end alike says nothing about them.
    """
    groups = found.cluster_count
    if strengths.is_limited or groups < MIN_CLUSTERS:
        return None
    together = (strengths.components[:, None] == strengths.components).astype(np.float64)
    inverse = cast(Matrix, np.linalg.inv(information(found.counts, strengths.chances()) + together))
    inverse -= together / together.sum(axis=1)[:, None] ** 2  # the centred strengths have no common part
    middle = np.zeros_like(inverse)
    for scores in found.cluster_scores(strengths.chances()):
        middle += scores.T @ scores
    variances = np.diagonal(inverse @ middle @ inverse) * groups / (groups - 1)
    return np.where(np.isnan(strengths.values), np.nan, np.sqrt(np.maximum(variances, 0)))


def win_rate(found: Comparisons, system: int) -> tuple[Figure, float | None]:
    """Return a system's share of wins over all its comparisons, with its 95% interval, and its standard error.

    The error is that of the mean over clusters. The interval is Wilson's for the number of independent comparisons
    with this error, with Student's t over the clusters.
    """
    wins, counts = found.own(system)
    groups, total = len(counts), float(counts.sum())
    if not groups:
        return Figure(), None
    rate = float(wins.sum()) / total
    if groups < MIN_CLUSTERS:
        return Figure(rate), None
    residuals = wins - counts * rate
    error = math.sqrt(groups / (groups - 1) * float(residuals @ residuals)) / total
    spread = rate * (1 - rate)
    independent = spread / error**2 if error and spread else groups
    found_interval = wilson_interval(rate * independent, independent, z=t_quantile(groups - 1))
    return Figure(rate, *((found_interval.low, found_interval.high) if found_interval else ())), error


def chances_of(values: Floats) -> Matrix:
    """Return the probability that each strength (row) wins against each other one (column)."""
    return 1 / (1 + np.exp(np.clip(values - values[:, None], -700, 700)))


def information(counts: Matrix, chances: Matrix) -> Matrix:
    """Return the Fisher information of the strengths."""
    weights = counts * np.nan_to_num(chances * (1 - chances))
    return np.diag(weights.sum(axis=1)) - weights


def components_of(edges: NDArray[np.bool_], *, both_ways: bool = False) -> Codes:
    """Number the components of a graph, in the order of their first nodes; `both_ways`: strongly connected ones."""
    reach = edges | np.eye(len(edges), dtype=bool)
    while True:
        further = (reach.astype(np.float64) @ reach.astype(np.float64)) > 0
        if np.array_equal(further, reach):
            break
        reach = further
    joined = reach & reach.T if both_ways else reach
    first = joined.argmax(axis=1)
    return np.unique(first, return_inverse=True)[1].astype(np.int64)
