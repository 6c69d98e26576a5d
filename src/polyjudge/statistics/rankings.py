"""Compute the rank agreement of two raters over resamples."""

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from polyjudge.records.calibration import Figure

from .resampling import Codes, Floats, Weights, codes_of, draws, equal_items, ratio, scores_of, widened_share, within

CONCORDANT, DISCORDANT, FIRST_TIED, SECOND_TIED, BOTH_TIED = range(5)
"""Columns of the counts; a pair tied by both raters is counted in the last three."""

CELLS = 2000
"""Up to this number of different cells the pairs of a resample are counted exactly, above it by linearisation."""


_MOST_WEIGHTED = 5_000
"""With more items of unequal weight, pairs are not counted."""
_ROUNDING = 1e-12


class PairCounts:
    """Counts of the pairs within a group, for weights of the items.

    A pair of different clusters counts with the product of their weights, a pair within a cluster with the weight of
    the cluster: copies of a cluster are not compared with each other, nor an item with itself. The counts are exact for
    few cells, or if no pair spans two clusters. For many cells they are linearised about the sample (each item's share
    in the counts times its weight); this error falls with the number of items, and the interval only with its root.
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


def weighted_pairs(
    first: Codes, second: Codes, groups: Codes, clusters: Codes | None, base: Floats | None
) -> PairCounts | None:
    """Return counts of pairs for resamples of items with these weights, if any; None if there are too many."""
    if base is None:
        return PairCounts(first, second, groups, clusters)
    if len(first) > _MOST_WEIGHTED:
        return None
    return PairCounts(first, second, groups, clusters, exact_up_to=_MOST_WEIGHTED)  # a line is about equal weights


def pair_total(counts: Floats) -> Floats:
    """Return the total number of pairs."""
    return counts @ np.array([1.0, 1.0, 1.0, 1.0, -1.0])


def item_pair_counts(first: Codes, second: Codes, groups: Codes) -> Floats:
    """Return for each item the number of its pairs within the group, by kind; in O(n log n)."""
    first_tied, second_tied = (_companions(joined(groups, codes)) for codes in (first, second))
    both_tied, others = _companions(joined(groups, first, second)), _companions(groups)
    concordant = _below_both(first, second, groups) + _below_both(-first, -second, groups)
    discordant = others - first_tied - second_tied + both_tied - concordant
    columns = [concordant, discordant, first_tied, second_tied, both_tied]
    return np.stack(columns, axis=1).astype(np.float64)


def joined(*codes: Codes) -> Codes:
    """Return one sorted code per combination of codes."""
    total = codes[0]
    for more in codes[1:]:
        combined = total * (int(more.max(initial=0)) + 1) + more
        total = np.unique(combined, return_inverse=True)[1].reshape(-1).astype(np.int64)
    return total


def _companions(codes: Codes) -> Codes:
    return np.bincount(codes)[codes] - 1


def _below_both(first: Codes, second: Codes, groups: Codes) -> Codes:
    """Count, for each item, those of its group that are lower on both scales.

    Items are ordered by group and first score, and ranked by second score. Ties and other groups are ordered and ranked
    in opposite directions, so that "earlier and ranked lower" is the same as "lower on both".
    """
    count = len(first)
    layout = np.lexsort((-second, first, groups))
    ranks = np.empty(count, dtype=np.int64)
    ranks[np.lexsort((-np.arange(count), second[layout], -groups[layout]))] = np.arange(count)
    below = np.empty(count, dtype=np.int64)
    below[layout] = _lower_before(ranks)
    return below


def _lower_before(ranks: Codes) -> Codes:
    """Count, for each position of a permutation, the earlier positions with a lower number.

    The numbers are sorted bit by bit from the highest, as in a wavelet tree: at each bit, the zeros before a one in the
    same block are lower numbers. In a permutation the block of a number starts at the number without its lower bits.
    """
    below, indexes, here = np.zeros_like(ranks), np.arange(len(ranks)), ranks
    index = np.arange(len(ranks))
    for bit in reversed(range(len(ranks).bit_length())):
        zero = (here >> bit & 1) == 0
        start = here >> (bit + 1) << (bit + 1)
        before = np.cumsum(zero) - zero
        before -= before[start]
        below[indexes] += np.where(zero, 0, before)
        target = index - before + (1 << bit)
        target[zero] = start[zero] + before[zero]
        here, indexes = _scattered(here, target), _scattered(indexes, target)
    return below


def _scattered(values: Codes, target: Codes) -> Codes:
    scattered = np.empty_like(values)
    scattered[target] = values
    return scattered


class Sums:
    """Sums of the columns with the same code, for columns in any order."""

    def __init__(self, codes: Codes) -> None:
        order = np.argsort(codes, kind="stable")
        self._order = None if np.array_equal(order, np.arange(len(codes))) else order
        self._starts = np.unique(codes[order], return_index=True)[1]
        self._single = len(self._starts) == len(codes)

    def __call__(self, weights: Weights) -> Weights:
        """Return one column per code, in order."""
        ordered = weights if self._order is None else np.take(weights, self._order, axis=1)
        return ordered if self._single else np.add.reduceat(ordered, self._starts, axis=1)


class _Squares:
    """Half of all products of two weights by kind of pair, including each item with itself."""

    def __init__(self, first: Codes, second: Codes, groups: Codes) -> None:
        cells = joined(groups, first, second)
        self._cells = Sums(cells)
        indexes = np.unique(cells, return_index=True)[1]
        first, second, groups = first[indexes], second[indexes], groups[indexes]
        self._ties = [Sums(joined(groups, first)), Sums(joined(groups, second))]
        self._whole = Sums(groups)
        self._groups = [(here, _concordant(first[here], second[here])) for here in _runs(groups)]

    def __call__(self, weights: Weights) -> Floats:
        cells = self._cells(weights)
        concordant = np.zeros(len(weights))
        for here, signs in self._groups:
            own = cells[:, here]
            concordant += np.einsum("ij,ij->i", own @ signs, own)
        all_pairs, first_tied, second_tied, both_tied = (
            np.einsum("ij,ij->i", each, each)
            for each in (self._whole(cells), *(ties(cells) for ties in self._ties), cells)
        )
        discordant = all_pairs - first_tied - second_tied + both_tied - concordant
        return np.stack([concordant, discordant, first_tied, second_tied, both_tied], axis=1) / 2


def _runs(groups: Codes) -> list[slice]:
    """Return the range of each group's cells, which are sorted by group."""
    starts = np.flatnonzero(np.diff(groups, prepend=-1))
    return [slice(int(start), int(end)) for start, end in zip(starts, [*starts[1:], len(groups)], strict=True)]


def _concordant(first: Codes, second: Codes) -> Floats:
    """Return 1 for each two cells that both raters order equally, else 0."""
    return (np.sign(first[:, None] - first) * np.sign(second[:, None] - second) > 0).astype(np.float64)


class Spearman:
    """Spearman's rank correlation for weights of the items, with mean ranks for ties."""

    def __init__(self, first: Codes, second: Codes, cells: Codes) -> None:
        indexes = np.unique(cells, return_index=True)[1]
        self._cells = Sums(cells)
        self._first, self._second = first[indexes], second[indexes]
        self._sums = Sums(self._first), Sums(self._second)

    def __call__(self, weights: Weights) -> Floats:
        """Return the correlation in each resample; NaN for a constant rater."""
        cells = self._cells(weights)
        (first, first_spread), (second, second_spread) = (_middle_ranks(sums(cells)) for sums in self._sums)
        product = cells * np.take(first, self._first, axis=1)
        product *= np.take(second, self._second, axis=1)
        return ratio(product.sum(axis=1), np.sqrt(first_spread * second_spread))


def _middle_ranks(counts: Weights) -> tuple[Weights, Floats]:
    """Return the centred mean rank of each value, and the sum of squares of the ranks."""
    total = counts.sum(axis=1)
    ranks = np.cumsum(counts, axis=1)
    ranks -= counts / 2
    ranks -= total[:, None] / 2
    spread = (total**3 - np.einsum("ij,ij,ij->i", counts, counts, counts)) / 12
    return ranks, _without_noise(spread, total**3)


def pair_rates(counts: PairCounts, weights: Weights) -> dict[str, Floats]:
    """Return the measures of pairs in each resample.

    "kendall_tau_b": concordant minus discordant pairs, divided by the root of (pairs not tied by the first times pairs
    not tied by the second). "pairwise_accuracy": concordant pairs and pairs tied by both, of all pairs (Deutsch et al.
    2023). "pairwise_decided_accuracy": concordant pairs, of the pairs not tied by the second.
    """
    pairs = counts(weights)
    total = pair_total(pairs)
    decided = _without_noise(total - pairs[:, SECOND_TIED], total)
    untied = _without_noise(total - pairs[:, FIRST_TIED], total) * decided
    return {
        "kendall_tau_b": ratio(pairs[:, CONCORDANT] - pairs[:, DISCORDANT], np.sqrt(untied)),
        "pairwise_accuracy": ratio(pairs[:, CONCORDANT] + pairs[:, BOTH_TIED], total),
        "pairwise_decided_accuracy": ratio(pairs[:, CONCORDANT], decided),
    }


def ordering_figure(
    first: ArrayLike,
    second: ArrayLike,
    *,
    groups: Sequence[Hashable],
    clusters: Sequence[Hashable],
    resamples: int = 1000,
    seed: int = 0,
    weights: Floats | None = None,
) -> Figure:
    """Return how often the first rater puts the item first that the second rates higher; a tie counts half.

    Pairs are formed within a group, and pairs that the second rater ties are left out. 0.5 is chance. The interval is
    of a bootstrap over clusters; without spread, as for a share of 1, it is Wilson's for as many clusters. With
    `weights`, of mean 1, a pair counts with the product of both; for more than 5,000 items there is then no value.
    """
    judge, people = scores_of(first), scores_of(second)
    if len(judge) < 2:
        return Figure()
    by_name = codes_of(clusters)
    first_codes, second_codes = (np.unique(each, return_inverse=True)[1].reshape(-1) for each in (judge, people))
    counts = weighted_pairs(first_codes, second_codes, codes_of(groups), by_name, weights)
    if counts is None:
        return Figure()
    shares: list[Floats] = []
    drawn = draws(clusters, len(judge), resamples=resamples, seed=seed, base=weights)
    for own in drawn:
        pairs = counts(own)
        total = pair_total(pairs)
        decided = _without_noise(total - pairs[:, SECOND_TIED], total)
        half = (pairs[:, FIRST_TIED] - pairs[:, BOTH_TIED]) / 2
        shares.append(ratio(pairs[:, CONCORDANT] + half, decided))
    independent = int(by_name.max()) + 1 if weights is None else min(int(by_name.max()) + 1, equal_items(weights))
    return widened_share(within(drawn.figure(np.concatenate(shares)), 0, 1), independent)


def _without_noise(values: Floats, scale: Floats) -> Floats:
    """Return values that are not negative; 0 if they are within the rounding error of fractional weights."""
    return np.where(values > _ROUNDING * scale, values, 0.0)


def tie_calibrated_accuracy(
    first: ArrayLike, second: ArrayLike, groups: Sequence[Hashable] | None = None
) -> tuple[float, float] | None:
    """Return the best pairwise accuracy, and the largest difference of the first rater that counts as a tie.

    A pair within a group is correct if both raters tie it, or order it equally (Deutsch et al. 2023, "acc-t"). The
    accuracy is the mean over groups with a pair. Of several equally good differences the smallest is returned. Time and
    memory grow with the number of pairs; None without pairs.
    """
    judge, people = scores_of(first), scores_of(second)
    if len(judge) != len(people):
        raise ValueError(f"{len(judge)} scores for {len(people)} labels; the numbers must be equal")
    codes = np.zeros(len(judge), dtype=np.int64) if groups is None else codes_of(groups)
    left, right = _pairs_within(codes)
    if not len(left):
        return None
    gaps, orders = judge[left] - judge[right], np.sign(people[left] - people[right])
    sizes = np.bincount(codes[left], minlength=1)
    shares = 1 / (sizes[codes[left]] * np.count_nonzero(sizes))
    return _best_threshold(gaps, orders, shares)


def _best_threshold(gaps: Floats, orders: Floats, shares: Floats) -> tuple[float, float]:
    sizes = np.abs(gaps)
    by_size = np.argsort(sizes, kind="stable")
    # A pair up to the threshold is correct if people tie it, a pair above it if the order is the same.
    change = shares * ((orders == 0).astype(np.float64) - ((np.sign(gaps) == orders) & (gaps != 0)))
    untied = float((shares * ((np.sign(gaps) == orders) & (gaps != 0))).sum())
    thresholds, last = np.unique(sizes[by_size][::-1], return_index=True)
    accuracies = untied + np.cumsum(change[by_size])[len(gaps) - 1 - last]
    if thresholds[0] > 0:
        thresholds, accuracies = np.append(0.0, thresholds), np.append(untied, accuracies)
    best = int(np.argmax(accuracies > accuracies.max() - 1e-12))
    return float(accuracies[best]), float(thresholds[best])


def _pairs_within(groups: Codes) -> tuple[Codes, Codes]:
    """Return both indexes of every pair of items in the same group."""
    order = np.argsort(groups, kind="stable")
    sizes = np.bincount(groups) if len(groups) else np.zeros(0, dtype=np.int64)
    starts = np.cumsum(sizes) - sizes
    lefts, rights = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    for size in np.unique(sizes):
        left, right = np.triu_indices(int(size), 1)
        first_positions = starts[sizes == size][:, None]
        lefts.append(order[(first_positions + left).reshape(-1)])
        rights.append(order[(first_positions + right).reshape(-1)])
    return np.concatenate(lefts), np.concatenate(rights)
