"""How far a judge may answer alone: thresholds of confidence that keep its errors below a limit.

A policy says from which confidence on each judge answers. Its error rate is that of the items it answers. Whether the
rate is below the limit is tested exactly on labelled items (Clopper and Pearson's binomial tail, as in Jung et al.,
2024, "Trust or Escalate"). The policies are ordered beforehand, from few answers to many; the allowed error of the test
is shared out over a few of them, and each one that passes hands its share to the next (the fallback procedure of Wiens,
2003). So the probability that any policy passes whose error rate is above the limit is at most the allowed error,
without assumptions on how confidence and errors are related.

That is about the rate in the long run. Among a known number of items to come, the share of errors varies around it. A
policy then also has to pass an exact test of that share, for which the labelled items are a random sample of all.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

from .intervals import incomplete_beta

_LIKELY = 0.8
_MOST_LABELS = 1_000_000


class Trial(NamedTuple):
    """What one policy did on the labelled items."""

    answered: int
    errors: int
    """Of the answered items, those where people say otherwise."""
    others: int = 0
    """How many of the items without a label the policy answers; 0 for a statement about the long run only."""


def binomial_tail(errors: int, count: int, rate: float) -> float:
    """Return the probability of at most so many errors in `count` items, at an error rate."""
    if errors < 0:
        return 0.0
    return 1.0 if errors >= count else incomplete_beta(count - errors, errors + 1, 1 - rate)


def p_value(trial: Trial, limit: float) -> float:
    """Return how likely so few errors are, at most, if the limit is exceeded: in the long run or among the others."""
    in_the_long_run = binomial_tail(trial.errors, trial.answered, limit)
    return max(in_the_long_run, _others_tail(trial, limit)) if trial.others else in_the_long_run


def _others_tail(trial: Trial, limit: float) -> float:
    """Return the probability of at most so many errors among the labelled, with one too many among the others."""
    too_many = math.floor(limit * trial.others + 1e-9) + 1
    total, errors = trial.answered + trial.others, trial.errors + too_many
    if too_many > trial.others:
        return 0.0
    whole = _log_choose(total, trial.others)
    return min(
        1.0,
        sum(
            math.exp(_log_choose(errors, place) + _log_choose(total - errors, trial.others - place) - whole)
            for place in range(too_many, min(errors, trial.others) + 1)
            if total - errors >= trial.others - place
        ),
    )


def _log_choose(count: int, chosen: int) -> float:
    return math.lgamma(count + 1) - math.lgamma(chosen + 1) - math.lgamma(count - chosen + 1)


def highest_rate(errors: int, count: int, level: float) -> float:
    """Return Clopper and Pearson's upper limit of an error rate, which is exceeded with at most this probability."""
    if errors >= count:
        return 1.0
    low, high = errors / count, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if binomial_tail(errors, count, middle) > level else (low, middle)
    return high


def certified(trials: Sequence[Trial], limit: float, delta: float, starts: Sequence[int]) -> int | None:
    """Return the last policy whose error rate is at most `limit`; None if no policy passes.

    With probability 1 - delta, the rates of all policies that pass are at most `limit`. Each of the policies in
    `starts` has an equal share of delta of its own.
    """
    last, level = None, 0.0
    for place, trial in enumerate(trials):
        level += delta * starts.count(place) / len(starts)
        if level > 0 and trial.answered and p_value(trial, limit) <= level:
            last = place
        else:
            level = 0.0
    return last


def fewest_labels(limit: float, level: float) -> int:
    """Return how many labelled items a policy must answer, all of them as people do, to pass a test at this level."""
    return math.ceil(math.log(level) / math.log1p(-limit)) if 0 < limit < 1 else 0


def labels_needed(trials: Sequence[Trial], labels: int, limit: float, level: float) -> int | None:
    """Return about how many labels would let some policy pass, with a probability of 80%, if its error rate is as seen.

    None if no policy has fewer errors than the limit.
    """
    found = [
        math.ceil(needed * labels / trial.answered)
        for trial in trials
        if trial.answered and (needed := _answers_needed(trial.errors / trial.answered, limit, level)) is not None
    ]
    return max(min(found), labels + 1) if found else None


def _answers_needed(rate: float, limit: float, level: float) -> int | None:
    """Return the number of answers at which a policy with this error rate is likely to pass."""
    if rate >= limit:
        return None
    count = low = fewest_labels(limit, level)
    while not _is_likely(count, rate, limit, level):
        low, count = count, 2 * count
        if count > _MOST_LABELS:
            return None
    while count - low > max(1, count // 50):
        middle = (low + count) // 2
        low, count = (low, middle) if _is_likely(middle, rate, limit, level) else (middle, count)
    return count


def _is_likely(count: int, rate: float, limit: float, level: float) -> bool:
    allowed = most_errors(count, limit, level)
    return binomial_tail(allowed, count, rate) >= _LIKELY


def most_errors(count: int, limit: float, level: float) -> int:
    """Return the most errors with which so many answers pass the test; -1 if none do."""
    low, high = -1, count
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if binomial_tail(middle, count, limit) <= level else (low, middle)
    return low
