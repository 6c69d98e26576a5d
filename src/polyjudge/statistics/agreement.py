"""Measure the agreement of raters beyond chance."""

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Literal

Level = Literal["nominal", "ordinal", "interval"]
"""The level of measurement: values can be distinguished, ordered, or subtracted."""

Value = float | str
Unit = Sequence[Value | None]
"""The rating of one item by each rater; None for a missing rating."""


def krippendorff_alpha(units: Sequence[Unit], level: Level = "nominal") -> float | None:
    """Return Krippendorff's alpha: 1 is perfect agreement, 0 is chance; None if it is undefined.

    Ratings may be missing. Alpha is undefined if no item has two ratings, or if all ratings are equal.
    """
    pairable = [[value for value in unit if value is not None] for unit in units]
    pairable = [values for values in pairable if len(values) > 1]
    counts = Counter(value for values in pairable for value in values)
    total = sum(counts.values())
    if len(counts) < 2:
        return None
    difference = _difference(level, counts)
    observed = sum(_disagreement(Counter(values), difference) / (len(values) - 1) for values in pairable)
    expected = _disagreement(counts, difference) / (total - 1)
    return 1 - observed / expected


def exact_agreement(units: Sequence[Unit]) -> float | None:
    """Return the share of equal pairs of ratings of the same item; None without a pair."""
    pairs = _pairs(units)
    return sum(first == second for first, second in pairs) / len(pairs) if pairs else None


def mean_difference(units: Sequence[Sequence[float | None]]) -> float | None:
    """Return the mean absolute difference of two ratings of the same item; None without a pair."""
    pairs = _pairs(units)
    return sum(abs(float(first) - float(second)) for first, second in pairs) / len(pairs) if pairs else None


def _pairs(units: Sequence[Unit]) -> list[tuple[Value, Value]]:
    return [pair for unit in units for pair in combinations([value for value in unit if value is not None], 2)]


def _disagreement(counts: Counter[Value], difference: Callable[[Value, Value], float]) -> float:
    """Return the sum of differences over all ordered pairs of different values."""
    return 2 * sum(counts[a] * counts[b] * difference(a, b) for a, b in combinations(counts, 2))


def _difference(level: Level, counts: Counter[Value]) -> Callable[[Value, Value], float]:
    if level == "nominal":
        return lambda a, b: float(a != b)
    if level == "interval":
        return lambda a, b: (float(a) - float(b)) ** 2
    ordered = sorted(counts, key=float)
    before = {value: sum(counts[low] for low in ordered[:index]) for index, value in enumerate(ordered)}
    # The distance of two ranks: all ratings between them and half of those at both ends.
    middle = {value: before[value] + counts[value] / 2 for value in ordered}
    return lambda a, b: (middle[a] - middle[b]) ** 2


def cohen_kappa(pairs: Sequence[tuple[Value, Value]]) -> float | None:
    """Return Cohen's kappa of two raters over the same items; None if chance agreement is total."""
    first, second = Counter(pair[0] for pair in pairs), Counter(pair[1] for pair in pairs)
    count = len(pairs)
    by_chance = sum(first[value] * second[value] for value in first)
    agreed = sum(one == other for one, other in pairs)
    return (agreed * count - by_chance) / (count * count - by_chance) if by_chance < count * count else None
