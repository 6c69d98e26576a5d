"""Draw the items whose labels say most, with known probabilities.

Each item has at least half of the probability that it would have in a plain random sample, so that no label gets more
than about twice the weight of another sample's. The other half goes to items that look informative. If they are not, as
when the judge's doubts have nothing to do with people's labels, an estimate loses little; the inverse of the
probabilities makes it right in any case.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from .resampling import Floats, scores_of

PLAIN_SHARE = 0.5
"""The part of an item's probability that does not depend on how informative it looks."""
_DAMPING = 0.7
"""The power of a signal: twice the doubt is less than twice the spread of labels, because signals are noisy."""


def distance_to_ends(scores: Sequence[float] | Floats, ends: Sequence[float]) -> Floats:
    """Return how far scores are from the nearest end of their scale: labels near an end vary least."""
    return np.abs(np.subtract.outer(scores_of(scores), np.array(ends))).min(axis=1)


def denser_end(scores: Sequence[float] | Floats) -> float:
    """Return the end of some scores that most are close to.

    Of scores without a usual scale, such as penalties, the other one is no end: labels of the worst texts vary most.
    """
    given = scores_of(scores)
    low, high = float(given.min()), float(given.max())
    return high if 2 * float(np.median(given)) > low + high else low


def closeness_to(threshold: float, scores: Sequence[float] | Floats) -> Floats:
    """Return how close scores are to the threshold of passing, from 0 for the farthest to 1."""
    distances = np.abs(scores_of(scores) - threshold)
    return 1 - distances / max(float(distances.max(initial=0.0)), 1e-12)


def sizes(signals: Mapping[str, Floats], count: int) -> Floats:
    """Return how often each of `count` items is to be drawn, 1 on average, from signals that grow with its doubt.

    Each signal, damped, counts relative to its mean, so its unit does not matter. NaN is an item that lacks the signal
    and has the mean; a signal that is the same for all items says nothing.
    """
    every = [_relative(signal) for signal in signals.values()]
    found = [each for each in every if each is not None]
    doubt = np.mean(found, axis=0) if found else np.ones(count)
    return PLAIN_SHARE + (1 - PLAIN_SHARE) * doubt


def _relative(signal: Floats) -> Floats | None:
    damped = signal**_DAMPING
    known = damped[~np.isnan(damped)]
    mean = float(known.mean()) if len(known) else 0.0
    if mean <= 0 or np.ptp(known) == 0:
        return None
    return np.where(np.isnan(signal), 1.0, damped / mean)


def inclusion_probabilities(sizes_: Floats, count: int) -> Floats:
    """Return the probabilities of being among `count` items, in proportion to the sizes; none is above 1."""
    certain = np.zeros(len(sizes_), dtype=bool)
    chances = np.ones(len(sizes_))
    while count < len(sizes_) and not certain.all():
        rest = float(sizes_[~certain].sum())
        chances = np.where(certain, 1.0, (count - certain.sum()) * sizes_ / rest)
        if not (over := (chances > 1) & ~certain).any():
            break
        certain |= over
    return np.minimum(chances, 1.0)


def systematic_sample(chances: Floats, random: np.random.Generator, groups: Sequence[str] = ()) -> NDArray[np.intp]:
    """Return the places of a sample with exactly these probabilities, whose sum is its size.

    The items are laid end to end in a random order, each as long as its probability, and marks at a distance of 1 from
    a random start choose them. The random order makes the usual variance of a weighted mean fit. Items of one of the
    `groups` lie together, so that each group has its share in every sample.
    """
    order = random.permutation(len(chances))
    if groups:
        order = order[np.argsort(np.unique(groups, return_inverse=True)[1][order], kind="stable")]
    count = round(float(chances.sum()))
    ends = np.cumsum(chances[order])
    marks = (random.random() + np.arange(count)) * float(ends[-1]) / max(count, 1)
    places = np.minimum(np.searchsorted(ends, marks, side="right"), len(chances) - 1)
    return np.sort(order[places])
