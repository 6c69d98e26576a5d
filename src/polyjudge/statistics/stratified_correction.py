"""The overall estimate where labels are spread over groups unlike the items, as a page for labelling spreads them."""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from .estimates import TUNED_FROM, Bounds, Corrected, Scores, bounded, plain_mean, read_scores
from .group_correction import GroupSample
from .resampling import Figure, Floats, scores_of

_OWN_SPREAD_FROM = 5
"""With fewer labels than that a group's spread is taken from all groups together."""


def stratified_mean(groups: Mapping[str, GroupSample], *, bounds: Bounds | None = None) -> Corrected | None:
    """Return what people would say of all items on average, each group counting by its items and not by its labels.

    None where a group has fewer than two labels: how it differs from the others cannot be seen then.
    """
    if not groups or any(len(group.labelled_people) < 2 for group in groups.values()):
        return None
    judged, judge, people = (
        np.concatenate([scores_of(part) for part in parts])
        for parts in zip(
            *((each.judged, each.labelled_judge, each.labelled_people) for each in groups.values()), strict=True
        )
    )
    scale = read_scores(judged, judge, people, bounds)
    samples = [
        read_scores(each.judged, each.labelled_judge, each.labelled_people, scale.bounds) for each in groups.values()
    ]
    weight = _weight(samples)
    degrees = max(1, len(scale.people) - len(samples))
    rests = [sample.people - weight * sample.judge for sample in samples]
    shares = np.array([len(sample.judged) for sample in samples], dtype=np.float64) / len(scale.judged)
    means = [
        weight * float(sample.judged.mean()) + float(rest.mean()) for sample, rest in zip(samples, rests, strict=True)
    ]
    drawn = sum(
        share**2 * weight**2 * float(sample.judged.var()) / len(sample.judged)
        for share, sample in zip(shares, samples, strict=True)
    )
    figure = _figure(float(shares @ np.array(means)), _variance(rests, shares, scale) + drawn, degrees, scale)
    labelled = [sample.people for sample in samples]
    own = np.array([float(each.mean()) for each in labelled])
    labels_only = _figure(float(shares @ own), _variance(labelled, shares, scale), degrees, scale)
    return Corrected(figure, plain_mean(scale.judged, scale), labels_only, len(scale.judged), len(scale.people), weight)


def _weight(samples: Sequence[Scores]) -> float:
    """Return the slope of people's scores on the judge's within groups, kept within 0 and 1."""
    judge = np.concatenate([sample.judge - sample.judge.mean() for sample in samples])
    people = np.concatenate([sample.people - sample.people.mean() for sample in samples])
    if len(judge) < TUNED_FROM:
        return 0.5
    spread = float(judge @ judge)
    return float(np.clip((judge @ people) / spread, 0.0, 1.0)) if spread else 0.0


def _variance(parts: Sequence[Floats], shares: Floats, scale: Scores) -> float:
    """Return the variance of a mean over groups; small groups have the spread of all."""
    squares = sum(float(((part - part.mean()) ** 2).sum()) for part in parts)
    pooled = max(squares, scale.step**2) / max(1, sum(map(len, parts)) - len(parts))
    spreads = [float(part.var(ddof=1)) if len(part) >= _OWN_SPREAD_FROM else pooled for part in parts]
    floor = scale.step**2 / max(1, sum(map(len, parts)) - len(parts))
    return sum(
        share**2 * max(spread, floor) / len(part) for share, spread, part in zip(shares, spreads, parts, strict=True)
    )


def _figure(value: float, variance: float, degrees: int, scale: Scores) -> Figure:
    return bounded(value, math.sqrt(variance), degrees, scale.bounds)
