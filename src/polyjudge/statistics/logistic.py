"""Fit a regularised logistic regression, and choose a threshold by the probabilities that it gives."""

import numpy as np

from polyjudge.records.spans import Aim, LogisticModel

from .resampling import Floats

_STEPS = 50
_CLOSE = 1e-8
_LARGEST = 30.0
OPTIMISM = 1.1
"""By what factor the probabilities of the selected rows are taken to be too high: they are selected for being high."""
SELECTS_NOTHING = 2.0
"""A threshold above every probability."""


def probabilities(model: LogisticModel, features: Floats) -> Floats:
    """Return the probability of each row of features."""
    return _logistic((features - np.array(model.means)) / np.array(model.scales) @ np.array(model.weights))


def fit_logistic(features: Floats, shares: Floats, counts: Floats, *, penalty: float) -> LogisticModel:
    """Fit weights to the share of positive ones among the counts of each row, with a ridge penalty; by Newton's method.

    Features are standardised first; that of the first column, which is 1, has no penalty.
    """
    means, scales = features.mean(axis=0), features.std(axis=0)
    scales[scales < _CLOSE] = 1.0
    means[0], scales[0] = 0.0, 1.0
    weights = _fitted((features - means) / scales, shares, counts, penalty)
    return LogisticModel(*(tuple(map(float, each.tolist())) for each in (weights, means, scales)))


def _fitted(rows: Floats, shares: Floats, counts: Floats, penalty: float) -> Floats:
    ridge = np.full(rows.shape[1], penalty)
    ridge[0] = _CLOSE
    weights = np.zeros(rows.shape[1])
    for _ in range(_STEPS):
        found = _logistic(rows @ weights)
        gradient = rows.T @ (counts * (shares - found)) - ridge * weights
        curvature = (rows * (counts * found * (1 - found))[:, None]).T @ rows + np.diag(ridge)
        step = np.linalg.solve(curvature, gradient)
        weights += step
        if float(np.abs(step).max()) < _CLOSE:
            break
    return weights


def threshold_for(
    probabilities: Floats, sizes: Floats, *, aim: Aim, precision: float = 0.0, missed: float = 0.0
) -> float:
    """Return the probability from which on rows are selected, as it is best if the probabilities are right.

    For F1, the expected F1 is greatest; for a precision, as many as possible are selected with it. `sizes` says how
    much each row counts, and `missed` how much there is outside all rows, as a share of what is expected in them.
    """
    if not len(probabilities):
        return SELECTS_NOTHING
    order = np.argsort(-probabilities, kind="stable")
    sorted_ones, weights = probabilities[order], sizes[order]
    selected, right = np.cumsum(weights), np.cumsum(weights * sorted_ones)
    is_last = np.append(sorted_ones[1:] != sorted_ones[:-1], True)
    if aim == "f1":
        expected = 2 * right / (selected + right[-1] * (1 + missed))
        return float(sorted_ones[int(np.argmax(np.where(is_last, expected, -1.0)))])
    enough = np.flatnonzero((right / selected >= min(precision * OPTIMISM, 1.0)) & is_last)
    return float(sorted_ones[enough[-1]]) if len(enough) else SELECTS_NOTHING


def _logistic(values: Floats) -> Floats:
    return 1 / (1 + np.exp(-np.clip(values, -_LARGEST, _LARGEST)))
