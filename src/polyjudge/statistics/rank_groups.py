"""Test which systems differ in strength, and group those that cannot be distinguished."""

import math
from collections.abc import Sequence
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from .bradley_terry import Strengths, chances_of, components_of, information, strengths_of
from .comparisons import Comparisons
from .neighbours import NeighbourError, neighbour_error
from .paired import Seed, sign_flip_p
from .resampling import Floats

_MANY_CLUSTERS = 500
"""From this number of clusters on, the distribution of a sum with random signs is normal, if no cluster dominates."""
_LARGEST_PART = 0.01
_NO_PART = 1e-12
"""Parts that are smaller than this share of the largest one are rounding errors."""


class Evidence(NamedTuple):
    """What each cluster says about the difference of two strengths, if it were 0."""

    scores: Floats
    """Their sum is positive if the first one is better."""
    information: Floats
    """The variances of the scores by the model: a true difference shows in proportion to them."""

    def neighbour_error(self) -> NeighbourError:
        """Return the error of the sum if neighbouring clusters may be of one document."""
        return neighbour_error(self.scores, self.information)


def equal_strength_scores(
    found: Comparisons, first: int, second: int, strengths: Strengths | None = None
) -> Evidence | None:
    """Return what each cluster says about the difference of two strengths, if it were 0; None if nothing connects them.

    The strengths are fitted as if both were equal, from those of all if they are given, which is faster. The scores are
    what each cluster then adds to the gradient of their difference, free of the other strengths (the efficient score).
    For two systems they are wins minus losses.
    """
    components = strengths.components if strengths else components_of(found.counts > 0)
    if components[first] != components[second]:
        return None
    merged = np.arange(found.systems)
    merged[second] = first
    basis = np.eye(found.systems)[merged]
    wins = basis.T @ found.wins @ basis
    np.fill_diagonal(wins, 0)
    near = None
    if strengths:
        near = strengths.values.copy()
        near[first] = (near[first] + near[second]) / 2
    chances = chances_of(np.nan_to_num(strengths_of(wins, near).values)[merged])
    fisher = information(found.counts, chances)
    direction = np.zeros(found.systems)
    direction[first], direction[second] = 0.5, -0.5
    # Ones within each component, and for the second system, make it regular: they add a constant, which cancels out.
    nuisance = basis.T @ fisher @ basis + (components[:, None] == components)
    nuisance[second, second] += 1
    direction -= basis @ cast(Floats, np.linalg.solve(nuisance, basis.T @ (fisher @ direction)))
    return Evidence(*found.projected(direction, chances))


def random_signs_p(sums: Floats, *, permutations: int = 10_000, seed: Seed = 0) -> float:
    """Return the two-sided p of a sum by random signs of its parts; the normal limit if these are many and small.

    For the scores of `equal_strength_scores` this is the test of Hemerik, Goeman and Finos (2020), and for two systems
    the exact sign-flip test.
    """
    parts = sums[np.abs(sums) > _NO_PART * np.abs(sums).max(initial=0.0)]
    if not len(parts):
        return 1.0
    squares = float(parts @ parts)
    if len(parts) >= _MANY_CLUSTERS and float((parts**2).max()) < _LARGEST_PART * squares:
        return math.erfc(abs(float(parts.sum())) / math.sqrt(2 * squares))
    return sign_flip_p(parts, permutations=permutations, seed=seed)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values adjusted so that the chance of any false rejection among them is kept (Holm)."""
    adjusted, largest = [1.0] * len(p_values), 0.0
    by_size = sorted(range(len(p_values)), key=lambda index: p_values[index])
    for left, index in zip(range(len(p_values), 0, -1), by_size, strict=True):
        largest = min(1.0, max(largest, left * p_values[index]))
        adjusted[index] = largest
    return adjusted


def rank_ranges(better: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return the best and worst rank of each system; `better[a, b]` says that a is known to be better than b.

    If all statements hold, all these ranges contain the true ranks.
    """
    size = len(better)
    return [(1 + int(better[:, each].sum()), size - int(better[each].sum())) for each in range(size)]


def rank_groups(order: Sequence[int], better: NDArray[np.bool_]) -> list[int]:
    """Return the group of each system, from 1, for systems in the order of their strengths.

    A group ends where each system so far is known to be better than each one after it.
    """
    groups, number = [0] * len(better), 1
    for place, system in enumerate(order):
        if place and better[np.ix_(order[:place], order[place:])].all():
            number += 1
        groups[system] = number
    return groups
