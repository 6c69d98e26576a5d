"""Say what one more hour of labelling would buy: the expected width of intervals, by language."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from statistics import median

import numpy as np

from polyjudge.records.calibration import Figure
from polyjudge.statistics.estimates import MIN_LABELS_FOR_WEIGHT
from polyjudge.statistics.group_correction import BORROWED_LABELS
from polyjudge.statistics.skewed import student
from polyjudge.store.labels import Label

from .estimates import Bounds, Known

USUAL_SECONDS = 30.0
"""Of a label, before enough are there to measure it."""
_FEWEST_PAUSES = 5
_LONGEST_PAUSE_S = 600.0
"""After a longer one the person did something else in between."""
_HOUR_S = 3_600


@dataclass(frozen=True, slots=True)
class Width:
    """The expected width of a 95% interval; None with fewer than two labels."""

    language: str
    labels: int
    more: float
    """Labels that an hour adds."""
    now: float | None
    after: float | None


@dataclass(frozen=True, slots=True)
class NextHour:
    """What one more hour of labelling would buy."""

    seconds: float
    """Of one label."""
    is_measured: bool
    labels: int
    """That an hour adds; fewer if the sample has fewer left."""
    left: int
    """Items of the sample without a label."""
    overall: Width
    languages: tuple[Width, ...] = ()
    """Those that gain most come first."""


def pace(labels: Iterable[Label]) -> tuple[float, bool]:
    """Return the seconds that a label takes, and whether they were measured: the median between two of one person."""
    times: defaultdict[str, list[datetime]] = defaultdict(list)
    for label in labels:
        if label.label is not None:
            with suppress(ValueError):  # a time that was written by hand
                times[label.annotator].append(datetime.fromisoformat(label.labelled_at).astimezone(UTC))
    pauses = [
        seconds
        for given in map(sorted, times.values())
        for one, other in pairwise(given)
        if 0 < (seconds := (other - one).total_seconds()) <= _LONGEST_PAUSE_S
    ]
    return (max(1.0, median(pauses)), True) if len(pauses) >= _FEWEST_PAUSES else (USUAL_SECONDS, False)


def next_hour(
    known: Sequence[Known],
    judged: Mapping[str, Sequence[float]],
    left: Mapping[str, int],
    estimate: Figure,
    seconds: tuple[float, bool],
    bounds: Bounds,
) -> NextHour:
    """Return the expected widths now and after an hour at this pace.

    `known` are the labels so far, `judged` the judge's scores of all items by language on people's scale, and `left`
    the items of the sample without a label. Labels come in a random order, so languages gain by what is left of them.
    The spread of labels is that within a language, shrunk to that of all; before there are labels, that of the scores,
    or without any a quarter of the scale.
    """
    remaining, most = sum(left.values()), bounds[1] - bounds[0]
    more = min(int(_HOUR_S / seconds[0]), remaining)
    spreads, counts = _spreads(known, judged, most / 4), Counter(each.language for each in known)
    widths = [
        _width(tag, counts[tag], more * left.get(tag, 0) / remaining if remaining else 0.0, spreads[tag], most)
        for tag in judged
    ]
    order = sorted(widths, key=lambda each: (-_gain(each), each.language))
    overall = _overall(estimate, (len(known), more), spreads, judged, most)
    return NextHour(*seconds, more, remaining, overall, tuple(order))


def _width(language: str, labels: int, more: float, spread: float, most: float) -> Width:
    return Width(language, labels, more, _expected(labels, spread, most), _expected(labels + more, spread, most))


def _expected(labels: float, spread: float, most: float) -> float | None:
    return None if labels < 2 else min(most, 2 * student(max(1, int(labels) - 1)) * spread / math.sqrt(labels))


def _gain(width: Width) -> float:
    if width.after is None:
        return 0.0
    return math.inf if width.now is None else width.now - width.after


def _overall(
    estimate: Figure,
    counts: tuple[int, int],
    spreads: Mapping[str, float],
    judged: Mapping[str, Sequence[float]],
    most: float,
) -> Width:
    """Return the width of the estimate over all items, which falls with the root of the number of labels."""
    labels, more = counts
    if estimate.low is not None and estimate.high is not None and labels:
        now = float(estimate.high - estimate.low)
        return Width("", labels, more, now, now * math.sqrt(labels / (labels + more)))
    total = sum(map(len, judged.values()))
    spread = sum(spreads[tag] * len(scores) for tag, scores in judged.items()) / total if total else 0.0
    return _width("", labels, more, spread, most)


def _spreads(known: Sequence[Known], judged: Mapping[str, Sequence[float]], usual: float) -> dict[str, float]:
    """Return the standard deviation of one label by language, without what the judge's score explains of it."""
    if len(known) < 2:
        return {tag: float(np.std(scores)) or usual for tag, scores in judged.items()}
    score, value = (np.array(each) for each in zip(*((each.score, each.value) for each in known), strict=True))
    centred, slope = score - score.mean(), 0.5
    if len(known) >= MIN_LABELS_FOR_WEIGHT:
        along = float(centred @ centred)
        slope = float(np.clip(centred @ value / along, 0, 1)) if along else 0.0
    rests = value - slope * score
    common = float(rests.var(ddof=1))
    found: dict[str, float] = {}
    for tag in judged:
        own = rests[[each.language == tag for each in known]]
        squares = float(((own - own.mean()) ** 2).sum()) if len(own) else 0.0
        found[tag] = math.sqrt((BORROWED_LABELS * common + squares) / (BORROWED_LABELS + max(len(own) - 1, 0)))
    return found
