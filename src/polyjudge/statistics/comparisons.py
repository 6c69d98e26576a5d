"""Hold comparisons of systems: single pairs, and tables of scores in which each two systems of an item are compared.

A table is not unrolled into its pairs: fifty systems would have 1,225 for each item.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from .resampling import Codes, Floats

Matrix = NDArray[np.float64]
Flags = NDArray[np.bool_]
_CELLS_AT_ONCE = 4_000_000
_TIE = 0.5


@dataclass(frozen=True)
class Tally:
    """How often each system (row) met each other one (column)."""

    wins: Matrix
    """Ties count half."""
    won: Matrix
    """Without ties."""
    tied: Matrix

    @property
    def counts(self) -> Matrix:
        """The number of comparisons."""
        return self.wins + self.wins.T


@dataclass(frozen=True)
class ScoreTable:
    """Scores of items (rows) by systems (columns); NaN where there is none."""

    scores: Matrix
    clusters: Codes
    """The group of dependent items, numbered as those of the pairs."""

    @cached_property
    def wins(self) -> Matrix:
        """The wins of each system on each item over all others, ties counting half."""
        found = np.zeros_like(self.scores)
        for first, second in combinations(range(self.scores.shape[1]), 2):
            share = self._share(first, second)
            found[:, first] += np.nan_to_num(share)
            found[:, second] += np.nan_to_num(1 - share)
        return found

    @cached_property
    def tally(self) -> Tally:
        """The outcomes of all pairs of systems."""
        size = self.scores.shape[1]
        won, tied = np.zeros((size, size)), np.zeros((size, size))
        for first, second in combinations(range(size), 2):
            share = self._share(first, second)
            won[first, second], won[second, first] = (share > _TIE).sum(), (share < _TIE).sum()
            tied[first, second] = tied[second, first] = (share == _TIE).sum()
        return Tally(won + tied / 2, won, tied)

    def _share(self, first: int, second: int) -> Floats:
        left, right = self.scores[:, first], self.scores[:, second]
        share = (left > right) + _TIE * (left == right)
        return np.where(np.isnan(left) | np.isnan(right), np.nan, share)

    @cached_property
    def patterns(self) -> tuple[Matrix, Codes]:
        """The distinct rows of which systems have a score, and which one each item has."""
        has = ~np.isnan(self.scores)
        _, first, codes = np.unique(np.packbits(has, axis=1), axis=0, return_index=True, return_inverse=True)
        return has[first].astype(np.float64), codes.reshape(-1)

    @property
    def met(self) -> Matrix:
        """The comparisons of each system on each item."""
        has, codes = self.patterns
        return (has * (has.sum(axis=1, keepdims=True) - 1))[codes]

    def residuals(self, chances: Matrix) -> Matrix:
        """Return the wins of each system on each item, beyond what is expected."""
        has, codes = self.patterns
        return self.wins - (has * (has @ _between(chances).T))[codes]

    def projected(self, direction: Floats, chances: Matrix) -> tuple[Floats, Floats]:
        """Return the residuals of each item in a direction of strengths, and their variances."""
        has, codes = self.patterns
        between = _between(chances)
        expected = (has * (has @ between.T)) @ direction
        spread = (direction[:, None] - direction) ** 2 * between * (1 - between)
        return self.wins @ direction - expected[codes], ((has @ spread) * has).sum(axis=1)[codes] / 2

    def among(self, chosen: Flags) -> "ScoreTable":
        """Return some of the items."""
        return ScoreTable(self.scores[chosen], self.clusters[chosen])


def _between(chances: Matrix) -> Matrix:
    """Return chances of different systems; 0 for a system with itself, and for those that nothing connects."""
    found = np.nan_to_num(chances)
    np.fill_diagonal(found, 0)
    return found


@dataclass(frozen=True)
class Comparisons:
    """Comparisons of systems, which are numbered from 0; each index of the arrays is one comparison of two."""

    systems: int
    first: Codes
    second: Codes
    share: Floats
    """The share of the preference for the first: 1 if it won, 0 if it lost, 0.5 for a tie."""
    clusters: Codes
    """The group of dependent comparisons, numbered from 0 in the order of the rows."""
    table: ScoreTable | None = None
    """Scores, which compare all systems that an item has."""

    def __len__(self) -> int:
        return round(float(self.tally.counts.sum())) // 2

    @cached_property
    def tally(self) -> Tally:
        """The outcomes of all pairs of systems."""
        won, lost = self._counted(self.share > _TIE), self._counted(self.share < _TIE).T
        tied = self._counted(self.share == _TIE)
        forward, backward = self._summed(self.share), self._summed(1 - self.share).T
        found = Tally(forward + backward, won + lost, tied + tied.T)
        if self.table is None:
            return found
        other = self.table.tally
        return Tally(found.wins + other.wins, found.won + other.won, found.tied + other.tied)

    def _counted(self, flags: Flags) -> Matrix:
        return self._summed(flags.astype(np.float64))

    def _summed(self, values: Floats) -> Matrix:
        size = self.systems
        sums = np.bincount(self.first * size + self.second, weights=values, minlength=size**2)
        return sums.astype(np.float64).reshape(size, size)

    @property
    def wins(self) -> Matrix:
        """How often each system (row) won against each other one (column), ties counting half."""
        return self.tally.wins

    @property
    def counts(self) -> Matrix:
        """How often each system was compared with each other one."""
        return self.tally.counts

    @cached_property
    def cluster_count(self) -> int:
        """The number of clusters."""
        items = -1 if self.table is None else int(self.table.clusters.max(initial=-1))
        return max(int(self.clusters.max(initial=-1)), items) + 1

    def among(self, chosen: Flags, items: Flags | None = None) -> "Comparisons":
        """Return some of the pairs, and of the items of the table."""
        table = self.table.among(items) if self.table is not None and items is not None else None
        own = self.clusters[chosen]
        together = own if table is None else np.concatenate([own, table.clusters])
        _, clusters = np.unique(together, return_inverse=True)
        parts = self.first[chosen], self.second[chosen], self.share[chosen], clusters[: len(own)].astype(np.int64)
        if table is not None:
            table = replace(table, clusters=clusters[len(own) :].astype(np.int64))
        return Comparisons(self.systems, *parts, table)

    def cluster_scores(self, chances: Matrix) -> Iterator[Matrix]:
        """Yield what each cluster (row) adds to the gradient of each strength (column), in blocks of clusters."""
        size, count = self.systems, self.cluster_count
        residuals = self.share - chances[self.first, self.second]
        rows = max(1, _CELLS_AT_ONCE // size)
        of_items = None if self.table is None else self.table.residuals(chances)
        for start in range(0, count, rows):
            found = np.zeros((min(rows, count - start), size))
            here = np.flatnonzero((self.clusters >= start) & (self.clusters < start + rows))
            for systems, sign in ((self.first, 1), (self.second, -1)):
                places = (self.clusters[here] - start) * size + systems[here]
                found += sign * np.bincount(places, residuals[here], minlength=found.size).reshape(found.shape)
            if self.table is not None and of_items is not None:
                here = np.flatnonzero((self.table.clusters >= start) & (self.table.clusters < start + rows))
                np.add.at(found, self.table.clusters[here] - start, of_items[here])
            yield found

    def projected(self, direction: Floats, chances: Matrix) -> tuple[Floats, Floats]:
        """Return what each cluster adds to the gradient in a direction of strengths, and the variance of that."""
        weights = (direction[:, None] - direction)[self.first, self.second]
        expected = chances[self.first, self.second]
        scores, spread = weights * (self.share - expected), weights**2 * expected * (1 - expected)
        found = [np.bincount(self.clusters, each, minlength=self.cluster_count) for each in (scores, spread)]
        if self.table is not None:
            for place, each in enumerate(self.table.projected(direction, chances)):
                found[place] = found[place] + np.bincount(self.table.clusters, each, minlength=self.cluster_count)
        return found[0].astype(np.float64), found[1].astype(np.float64)

    def own(self, system: int) -> tuple[Floats, Floats]:
        """Return the wins and the comparisons of a system by cluster, for the clusters in which it has any."""
        as_first, as_second = self.first == system, self.second == system
        share = np.where(as_first, self.share, np.where(as_second, 1 - self.share, 0.0))
        met = (as_first | as_second).astype(np.float64)
        wins, count = (np.bincount(self.clusters, each, minlength=self.cluster_count) for each in (share, met))
        if self.table is not None:
            where = self.table.clusters
            wins = wins + np.bincount(where, self.table.wins[:, system], minlength=self.cluster_count)
            count = count + np.bincount(where, self.table.met[:, system], minlength=self.cluster_count)
        return wins[count > 0].astype(np.float64), count[count > 0].astype(np.float64)
