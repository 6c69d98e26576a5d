"""Count in which order two raters put pairs of items, in every resample."""

import numpy as np

from .resampling import Codes, Floats, Weights

CONCORDANT, DISCORDANT, FIRST_TIED, SECOND_TIED, BOTH_TIED = range(5)
"""Columns of the counts. A pair tied by both raters is counted in all three of the last."""

CELLS = 2000
"""With at most so many different cells the pairs of a resample are counted one by one, with more by their slope."""


class PairCounts:
    """Counts of the pairs within a group, for weights of the items.

    A pair of different clusters counts as often as both were drawn together (the product of their weights), a pair
    within a cluster as often as the cluster was drawn: copies of a cluster are not compared with one another, nor an
    item with itself. With few cells, or where no pair leaves its cluster, that is exact. With many it is the straight
    line through the sample (each item's share in the counts times its weight), whose error falls with the number of
    items while the interval only falls with its root.
    """

    def __init__(
        self, first: Codes, second: Codes, groups: Codes, clusters: Codes | None, *, exact_up_to: int = CELLS
    ) -> None:
        self._pairs = item_pair_counts(first, second, groups)
        self._inner = np.zeros_like(self._pairs)
        if clusters is not None:
            self._inner = item_pair_counts(first, second, joined(groups, clusters)) / 2
        cells = joined(groups, first, second)
        sizes = np.bincount(groups[np.unique(cells, return_index=True)[1]])
        nested = np.array_equal(self._pairs, 2 * self._inner)
        self._squares = None
        if not nested and (sizes.astype(float) ** 2).sum() <= exact_up_to**2:
            self._squares = _Squares(first, second, groups)

    def __call__(self, weights: Weights) -> Floats:
        """Return the five counts of each resample."""
        if self._squares is None:
            return self._pairs.sum(axis=0) / 2 + (weights - 1) @ (self._pairs - self._inner)
        own = self._inner + 0.5 * np.array([0, 0, 1, 1, 1])
        return self._squares(weights) - weights**2 @ own + weights @ self._inner


def pair_total(counts: Floats) -> Floats:
    """Return how many pairs there are in all."""
    return counts @ np.array([1.0, 1.0, 1.0, 1.0, -1.0])


def item_pair_counts(first: Codes, second: Codes, groups: Codes) -> Floats:
    """Return, for each item, in how many pairs of its group it stands, by kind of pair; in O(n log n)."""
    first_tied, second_tied = (_companions(joined(groups, codes)) for codes in (first, second))
    both_tied, others = _companions(joined(groups, first, second)), _companions(groups)
    concordant = _below_both(first, second, groups) + _below_both(-first, -second, groups)
    discordant = others - first_tied - second_tied + both_tied - concordant
    columns = [concordant, discordant, first_tied, second_tied, both_tied]
    return np.stack(columns, axis=1).astype(np.float64)


def joined(*codes: Codes) -> Codes:
    """Return one code for each combination of codes, in their order."""
    total = codes[0]
    for more in codes[1:]:
        combined = total * (int(more.max(initial=0)) + 1) + more
        total = np.unique(combined, return_inverse=True)[1].reshape(-1).astype(np.int64)
    return total


def _companions(codes: Codes) -> Codes:
    return np.bincount(codes)[codes] - 1


def _below_both(first: Codes, second: Codes, groups: Codes) -> Codes:
    """Count, for each item, those of its group that are lower on both scales.

    Items are laid out by group and first score, and ranked by second score. What is tied, or of another group, is laid
    out and ranked in opposite ways, so that "earlier and ranked lower" is the same as "lower on both".
    """
    count = len(first)
    layout = np.lexsort((-second, first, groups))
    ranks = np.empty(count, dtype=np.int64)
    ranks[np.lexsort((-np.arange(count), second[layout], -groups[layout]))] = np.arange(count)
    below = np.empty(count, dtype=np.int64)
    below[layout] = _lower_before(ranks)
    return below


def _lower_before(ranks: Codes) -> Codes:
    """Count, for each place of a permutation, the earlier places with a lower number.

    The numbers are sorted bit by bit from the highest, as in a wavelet tree: at each bit a number with a one has the
    zeros before it in its block below it. In a permutation the block of a number begins at the number without its
    lower bits.
    """
    below, places, here = np.zeros_like(ranks), np.arange(len(ranks)), ranks
    index = np.arange(len(ranks))
    for bit in reversed(range(len(ranks).bit_length())):
        zero = (here >> bit & 1) == 0
        start = here >> (bit + 1) << (bit + 1)
        before = np.cumsum(zero) - zero
        before -= before[start]
        below[places] += np.where(zero, 0, before)
        target = index - before + (1 << bit)
        target[zero] = start[zero] + before[zero]
        here, places = _moved(here, target), _moved(places, target)
    return below


def _moved(values: Codes, target: Codes) -> Codes:
    moved = np.empty_like(values)
    moved[target] = values
    return moved


class Sums:
    """Sums of the columns that share a code, for columns in any order."""

    def __init__(self, codes: Codes) -> None:
        order = np.argsort(codes, kind="stable")
        self._order = None if np.array_equal(order, np.arange(len(codes))) else order
        self._starts = np.unique(codes[order], return_index=True)[1]
        self._single = len(self._starts) == len(codes)

    def __call__(self, weights: Weights) -> Weights:
        """Return a column for each code, in their order."""
        ordered = weights if self._order is None else np.take(weights, self._order, axis=1)
        return ordered if self._single else np.add.reduceat(ordered, self._starts, axis=1)


class _Squares:
    """Half of all products of two weights, by kind of pair, each item paired with itself too."""

    def __init__(self, first: Codes, second: Codes, groups: Codes) -> None:
        cells = joined(groups, first, second)
        self._cells = Sums(cells)
        places = np.unique(cells, return_index=True)[1]
        first, second, groups = first[places], second[places], groups[places]
        self._ties = [Sums(joined(groups, first)), Sums(joined(groups, second))]
        self._groups = [_signs(first[here], second[here], here) for here in _runs(groups)]

    def __call__(self, weights: Weights) -> Floats:
        cells = self._cells(weights)
        ordered = np.zeros((2, len(weights)))
        for here, concordant, discordant in self._groups:
            own = cells[:, here]
            ordered[0] += np.einsum("ij,ij->i", own @ concordant, own)
            ordered[1] += np.einsum("ij,ij->i", own @ discordant, own)
        tied = [(sums(cells) ** 2).sum(axis=1) for sums in self._ties]
        return np.stack([*ordered, *tied, (cells**2).sum(axis=1)], axis=1) / 2


def _runs(groups: Codes) -> list[slice]:
    """Return where each group's cells stand; they are sorted by group."""
    starts = np.flatnonzero(np.diff(groups, prepend=-1))
    return [slice(int(start), int(end)) for start, end in zip(starts, [*starts[1:], len(groups)], strict=True)]


def _signs(first: Codes, second: Codes, here: slice) -> tuple[slice, Floats, Floats]:
    product = np.sign(first[:, None] - first) * np.sign(second[:, None] - second)
    return here, (product > 0).astype(np.float64), (product < 0).astype(np.float64)
