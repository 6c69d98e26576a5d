"""Do two raters put things in the same order?"""

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from .pairs import BOTH_TIED, CONCORDANT, DISCORDANT, FIRST_TIED, SECOND_TIED, PairCounts, Sums, pair_total
from .resampling import Codes, Figure, Floats, Resamples, Weights, codes_of, figure, ratio, scores_of


class Spearman:
    """Spearman's rank correlation for weights of the items: Pearson's of the ranks, ties sharing their middle rank."""

    def __init__(self, first: Codes, second: Codes, cells: Codes) -> None:
        places = np.unique(cells, return_index=True)[1]
        self._cells = Sums(cells)
        self._first, self._second = first[places], second[places]
        self._sums = Sums(self._first), Sums(self._second)

    def __call__(self, weights: Weights) -> Floats:
        """Return the correlation in each resample; NaN where a rater gave everything the same score."""
        cells = self._cells(weights)
        (first, first_spread), (second, second_spread) = (_middle_ranks(sums(cells)) for sums in self._sums)
        product = cells * np.take(first, self._first, axis=1)
        product *= np.take(second, self._second, axis=1)
        return ratio(product.sum(axis=1), np.sqrt(first_spread * second_spread))


def _middle_ranks(counts: Weights) -> tuple[Weights, Floats]:
    """Return each value's middle rank, counted from the middle of all, and the ranks' sum of squares."""
    total = counts.sum(axis=1)
    ranks = np.cumsum(counts, axis=1)
    ranks -= counts / 2
    ranks -= total[:, None] / 2
    spread = (total**3 - np.einsum("ij,ij,ij->i", counts, counts, counts)) / 12
    return ranks, spread


def pair_rates(counts: PairCounts, weights: Weights) -> dict[str, Floats]:
    """Return, for each resample, what is made of the orders of pairs.

    "kendall_tau_b": concordant less discordant pairs, over the root of (pairs the first does not tie times pairs the
    second does not tie). "pairwise_accuracy": concordant pairs and pairs tied by both, over all pairs (Deutsch and
    others 2023). "pairwise_decided_accuracy": concordant pairs over the pairs the second does not tie.
    """
    pairs = counts(weights)
    total = pair_total(pairs)
    decided = total - pairs[:, SECOND_TIED]
    untied = np.maximum(total - pairs[:, FIRST_TIED], 0) * np.maximum(decided, 0)
    return {
        "kendall_tau_b": ratio(pairs[:, CONCORDANT] - pairs[:, DISCORDANT], np.sqrt(untied)),
        "pairwise_accuracy": ratio(pairs[:, CONCORDANT] + pairs[:, BOTH_TIED], total),
        "pairwise_decided_accuracy": ratio(pairs[:, CONCORDANT], decided),
    }


def auc_figure(
    clean: ArrayLike,
    spoiled: ArrayLike,
    *,
    clusters: Sequence[Hashable] | None = None,
    resamples: int = 1000,
    seed: int = 0,
) -> Figure:
    """Return how often a clean text scores above a spoiled one, a tie counting half (Mann and Whitney).

    Place i of both is the same text, clean and spoiled. The value is over all pairs of a clean and a spoiled text;
    the bootstrap draws texts (or clusters of texts), always both sides of one together. Every resample is exact.
    """
    good, bad = scores_of(clean), scores_of(spoiled)
    if len(good) != len(bad):
        raise ValueError(f"{len(good)} clean scores and {len(bad)} spoiled ones: they must be of the same texts")
    values = np.unique(np.concatenate([good, bad]))
    good_codes, bad_codes = np.searchsorted(values, good), np.searchsorted(values, bad)
    blocks = Resamples(clusters, len(good), resamples=resamples, seed=seed)
    return figure(np.concatenate([_auc(weights, good_codes, bad_codes) for weights in blocks]))


def _auc(weights: Weights, good: Codes, bad: Codes) -> Floats:
    length = int(max(good.max(initial=0), bad.max(initial=0))) + 1
    above = np.empty(len(weights))
    for place, row in enumerate(weights):
        spoiled = np.bincount(bad, row, length)
        above[place] = row @ (np.cumsum(spoiled) - spoiled / 2)[good]
    return ratio(above, weights.sum(axis=1) ** 2)


def tie_calibrated_accuracy(
    first: ArrayLike,
    second: ArrayLike,
    groups: Sequence[Hashable] | None = None,
    *,
    pooled: bool = False,
) -> tuple[float, float] | None:
    """Return the best pairwise accuracy, and the difference up to which the first rater's scores count as a tie.

    A pair within a group is right where both raters tie it, or both put it in the same order (Deutsch and others 2023,
    "acc-t"). The accuracy is the mean over the groups that have a pair, or of all pairs if pooled. Of several
    differences that do equally well the least counts. Time and memory grow with the number of pairs; None without any.
    """
    judge, people = scores_of(first), scores_of(second)
    if len(judge) != len(people):
        raise ValueError(f"{len(judge)} scores against {len(people)}")
    codes = np.zeros(len(judge), dtype=np.int64) if groups is None else codes_of(groups)
    left, right = _pairs_within(codes)
    if not len(left):
        return None
    gaps, orders = judge[left] - judge[right], np.sign(people[left] - people[right])
    sizes = np.bincount(codes[left], minlength=1)
    shares = np.full(len(left), 1 / len(left)) if pooled else 1 / (sizes[codes[left]] * np.count_nonzero(sizes))
    return _best_threshold(gaps, orders, shares)


def _best_threshold(gaps: Floats, orders: Floats, shares: Floats) -> tuple[float, float]:
    sizes = np.abs(gaps)
    by_size = np.argsort(sizes, kind="stable")
    # A pair up to the threshold is right where people tie it, one beyond it where the order is the same.
    change = shares * ((orders == 0).astype(np.float64) - ((np.sign(gaps) == orders) & (gaps != 0)))
    untied = float((shares * ((np.sign(gaps) == orders) & (gaps != 0))).sum())
    thresholds, last = np.unique(sizes[by_size][::-1], return_index=True)
    accuracies = untied + np.cumsum(change[by_size])[len(gaps) - 1 - last]
    if thresholds[0] > 0:
        thresholds, accuracies = np.append(0.0, thresholds), np.append(untied, accuracies)
    best = int(np.argmax(accuracies > accuracies.max() - 1e-12))
    return float(accuracies[best]), float(thresholds[best])


def _pairs_within(groups: Codes) -> tuple[Codes, Codes]:
    """Return both places of every pair of items of the same group."""
    order = np.argsort(groups, kind="stable")
    sizes = np.bincount(groups) if len(groups) else np.zeros(0, dtype=np.int64)
    starts = np.cumsum(sizes) - sizes
    lefts, rights = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    for size in np.unique(sizes):
        left, right = np.triu_indices(int(size), 1)
        begins = starts[sizes == size][:, None]
        lefts.append(order[(begins + left).reshape(-1)])
        rights.append(order[(begins + right).reshape(-1)])
    return np.concatenate(lefts), np.concatenate(rights)
