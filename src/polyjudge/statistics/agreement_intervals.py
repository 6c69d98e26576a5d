"""Compute all usual measures of agreement between a judge and people, with intervals.

- "accuracy": the share of equal scores; with `pass_from` (the lowest passing score of the judge and of people), the
  share of equal verdicts, which also works for scales of many values.
- "kappa", "kappa_linear", "kappa_quadratic": Cohen's, with disagreements weighted by 1, by the distance of the two
  values (not of their ranks), or by its square.
- "alpha_nominal", "alpha_ordinal", "alpha_interval": Krippendorff's. These, the kappas and the accuracy without
  `pass_from` need categories: None for more than 200 different values.
- "macro_f1": the mean F1 of the categories that one of the two gives.
- "pearson"; "spearman", with mean ranks for ties; "kendall_tau_b".
- "pairwise_accuracy": share of all pairs that both order equally or both tie.
- "pairwise_decided_accuracy": share of the pairs that people do not tie, which both order equally.
- "true_positive_rate", "true_negative_rate": share of the items that people pass (fail) that the judge passes (fails);
  "base_rate", "judge_rate": share that people (the judge) pass; all need `pass_from`.
- "mean_difference": the mean of the judge minus that of people.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from polyjudge.records.calibration import Figure

from .rankings import Spearman, Sums, joined, pair_rates, weighted_pairs
from .resampling import Codes, Floats, Weights, codes_of, draws, ratio, scores_of, within

MAX_CATEGORIES = 200
"""With more different values the measures of categories are None."""

Flags = NDArray[np.bool_]

Rates = dict[str, Floats]
"""By name: a number per resample; NaN where it is undefined."""

CATEGORY_MEASURES = (
    "accuracy",
    "kappa",
    "kappa_linear",
    "kappa_quadratic",
    "alpha_nominal",
    "alpha_ordinal",
    "alpha_interval",
    "macro_f1",
)
"""Measures that compare values for equality, and so need a scale of few values."""

NAMES = (
    *CATEGORY_MEASURES,
    "pearson",
    "spearman",
    "kendall_tau_b",
    "pairwise_accuracy",
    "pairwise_decided_accuracy",
    "true_positive_rate",
    "true_negative_rate",
    "base_rate",
    "judge_rate",
    "mean_difference",
)


_CORRELATIONS = frozenset(("pearson", "spearman", "kendall_tau_b"))
_SHARES = frozenset(name for name in NAMES if name.endswith(("accuracy", "rate", "f1")))


@dataclass(frozen=True, slots=True)
class _Sample:
    """Scores of two raters, sorted so that resamples do not depend on the order of the input."""

    first: Floats
    second: Floats
    groups: Codes
    clusters: Codes | None
    first_codes: Codes
    second_codes: Codes
    cells: Codes
    """The distinct pairs of scores, numbered in order."""
    weights: Floats | None = None
    """How many items each item counts as, 1 on average; None if all count the same."""


def agreement_figures(
    first: ArrayLike,
    second: ArrayLike,
    *,
    clusters: Sequence[Hashable] | None = None,
    groups: Sequence[Hashable] | None = None,
    pass_from: tuple[float, float] | None = None,
    resamples: int = 1000,
    seed: int = 0,
    weights: Floats | None = None,
) -> dict[str, Figure]:
    """Compute all measures of agreement (see the module) between scores of a judge and of people for the same items.

    Intervals are percentile intervals of a bootstrap over clusters (by default items), or for very many items those of
    a jackknife (`LeftOutGroups`). They have no width if the measure is the same in every resample, such as an accuracy
    of 1. Values are None where they are undefined, such as the correlation with a constant rater.

    With `groups`, pairs are formed within a group; measures without pairs do not change. With `weights`, of mean 1, an
    item counts as so many, a pair with the product of both; for more than 5,000 items there are then no measures of
    pairs.
    """
    sample = _sample(scores_of(first), scores_of(second), clusters, groups, weights)
    measures = _measures(sample, pass_from)
    names = None if sample.clusters is None else sample.clusters.tolist()
    drawn = draws(names, len(sample.first), resamples=resamples, seed=seed, base=sample.weights)
    blocks = [{name: values for measure in measures for name, values in measure(weights).items()} for weights in drawn]
    found = {name: drawn.figure(np.concatenate([block[name] for block in blocks])) for name in blocks[0]}
    return {name: _within_scale(name, found.get(name, Figure(None))) for name in NAMES}


def _within_scale(name: str, found: Figure) -> Figure:
    """Return a figure whose interval ends where the measure does; a correlation may be below 0, alpha below -1."""
    if name == "mean_difference":
        return found
    return within(found, 0.0 if name in _SHARES else -1.0 if name in _CORRELATIONS else -np.inf, 1.0)


def _sample(
    first: Floats,
    second: Floats,
    clusters: Sequence[Hashable] | None,
    groups: Sequence[Hashable] | None,
    weights: Floats | None,
) -> _Sample:
    for others in (second, clusters, groups, weights):
        if others is not None and len(others) != len(first):
            raise ValueError(f"{len(others)} entries for {len(first)} scores; the numbers must be equal")
    group_codes = np.zeros(len(first), dtype=np.int64) if groups is None else codes_of(groups)
    cluster_codes = None if clusters is None else codes_of(clusters)
    keys = (second, first, group_codes)
    order = np.lexsort(keys if cluster_codes is None else (cluster_codes, *keys))
    first, second = first[order], second[order]
    first_codes, second_codes = (np.unique(scores, return_inverse=True)[1].reshape(-1) for scores in (first, second))
    return _Sample(
        first=first,
        second=second,
        groups=group_codes[order],
        clusters=None if cluster_codes is None else cluster_codes[order],
        first_codes=first_codes,
        second_codes=second_codes,
        cells=joined(first_codes, second_codes),
        weights=None if weights is None else weights[order],
    )


def _measures(sample: _Sample, pass_from: tuple[float, float] | None) -> list[Callable[[Weights], Rates]]:
    if not len(sample.first):
        return []
    spearman = Spearman(sample.first_codes, sample.second_codes, sample.cells)
    measures: list[Callable[[Weights], Rates]] = [
        _Pearson(sample),
        lambda weights: {"spearman": spearman(weights)},
    ]
    pairs = weighted_pairs(sample.first_codes, sample.second_codes, sample.groups, sample.clusters, sample.weights)
    if pairs is not None:
        measures.append(partial(pair_rates, pairs))
    values = np.unique(np.concatenate([sample.first, sample.second]))
    if len(values) <= MAX_CATEGORIES:
        measures.append(_Categories(sample, values))
    if pass_from is not None:
        # Last, so that this accuracy replaces that of the categories.
        measures.append(_Verdicts(sample.first >= pass_from[0], sample.second >= pass_from[1]))
    return measures


class _Pearson:
    """Means and Pearson's correlation, from sums of products."""

    def __init__(self, sample: _Sample) -> None:
        self._difference = sample.first - sample.second
        # Centred, so that squares do not lose precision.
        first, second = sample.first - sample.first.mean(), sample.second - sample.second.mean()
        self._columns = np.stack([np.ones_like(first), first, second, first**2, second**2, first * second], axis=1)

    def __call__(self, weights: Weights) -> Rates:
        count, first, second, first_squares, second_squares, products = (weights @ self._columns).T
        first_spread = _spread(first_squares, first**2 / count)
        second_spread = _spread(second_squares, second**2 / count)
        correlation = ratio(products - first * second / count, np.sqrt(first_spread * second_spread))
        return {
            "pearson": np.clip(correlation, -1, 1),
            "mean_difference": weights @ self._difference / count,
        }


def _spread(squares: Floats, of_mean: Floats) -> Floats:
    """Return the sum of squares about the mean; 0 if it is within the rounding error of equal scores."""
    spread = squares - of_mean
    return np.where(spread > 1e-12 * squares, spread, 0.0)


class _Verdicts:
    """Agreement on pass and fail."""

    def __init__(self, judge: Flags, people: Flags) -> None:
        columns: list[Floats | Flags] = [np.ones(len(judge)), judge, people, judge & people, ~judge & ~people]
        self._columns = np.stack(columns, axis=1).astype(np.float64)

    def __call__(self, weights: Weights) -> Rates:
        count, judge, people, both_pass, both_fail = (weights @ self._columns).T
        return {
            "accuracy": (both_pass + both_fail) / count,
            "true_positive_rate": ratio(both_pass, people),
            "true_negative_rate": ratio(both_fail, count - people),
            "base_rate": people / count,
            "judge_rate": judge / count,
        }


class _Margin:
    """Counts of each value by one rater, including values of only the other rater."""

    def __init__(self, codes: Codes, values: int) -> None:
        self._sums, self._present, self._values = Sums(codes), np.unique(codes), values

    def __call__(self, cells: Weights) -> Floats:
        counts = np.zeros((len(cells), self._values))
        counts[:, self._present] = self._sums(cells)
        return counts


class _Categories:
    """Exact agreement, Cohen's kappa and Krippendorff's alpha, from counts of pairs of scores."""

    def __init__(self, sample: _Sample, values: Floats) -> None:
        self._cells = Sums(sample.cells)
        indexes = np.unique(sample.cells, return_index=True)[1]
        self._first = np.searchsorted(values, sample.first[indexes])
        self._second = np.searchsorted(values, sample.second[indexes])
        self._margins = _Margin(self._first, len(values)), _Margin(self._second, len(values))
        distance = np.abs(values[:, None] - values)
        self._distances = [(distance > 0).astype(np.float64), distance, distance**2]

    def __call__(self, weights: Weights) -> Rates:
        cells = self._cells(weights)
        first, second, count = *(margin(cells) for margin in self._margins), weights.sum(axis=1)
        nominal, linear, square = ((cells @ by[self._first, self._second], by) for by in self._distances)
        pooled = first + second
        return {
            "accuracy": 1 - nominal[0] / count,
            "kappa": 1 - ratio(nominal[0] * count, _products(first, nominal[1], second)),
            "kappa_linear": 1 - ratio(linear[0] * count, _products(first, linear[1], second)),
            "kappa_quadratic": 1 - ratio(square[0] * count, _products(first, square[1], second)),
            "alpha_nominal": _alpha(nominal[0], _products(pooled, nominal[1], pooled), count),
            "alpha_interval": _alpha(square[0], _products(pooled, square[1], pooled), count),
            "alpha_ordinal": self._ordinal(cells, pooled, count),
            "macro_f1": self._macro_f1(cells, pooled),
        }

    def _macro_f1(self, cells: Weights, pooled: Floats) -> Floats:
        """Return the mean over categories of the harmonic mean of precision and recall."""
        agreed = np.zeros_like(pooled)
        same = self._first == self._second
        agreed[:, self._first[same]] = cells[:, same]
        given = (pooled > 0).sum(axis=1)
        return np.divide(2 * agreed, pooled, out=np.zeros_like(pooled), where=pooled > 0).sum(axis=1) / given

    def _ordinal(self, cells: Weights, pooled: Floats, count: Floats) -> Floats:
        """Return ordinal alpha: distances are ratings between two scores and half of those at both ends."""
        ranks = np.cumsum(pooled, axis=1) - pooled / 2 - count[:, None]
        observed = (cells * (ranks[:, self._first] - ranks[:, self._second]) ** 2).sum(axis=1)
        return _alpha(observed, 4 * count * (pooled * ranks**2).sum(axis=1), count)


def _products(first: Floats, distance: Floats, second: Floats) -> Floats:
    return np.einsum("ij,ij->i", first @ distance, second)


def _alpha(observed: Floats, expected: Floats, count: Floats) -> Floats:
    """Return Krippendorff's alpha of two raters from the summed distances within items and of all ordered pairs."""
    return 1 - ratio(2 * observed * (2 * count - 1), expected)
