"""Notice that a judge and people use different scales, and map one onto the other."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import isnan

from polyjudge.errors import ConfigError

from .matching import Pair

Span = tuple[float, float]
"""The lowest and the highest score."""
_TOPS = (1.0, 5.0, 10.0, 100.0)
"""The highest scores of usual scales."""
_TIMES_LARGER = 2.5
"""So many times larger is the top of another scale: 5 and 100, but not 5 and 10 of a mild and a strict rater."""


@dataclass(frozen=True, slots=True)
class Scales:
    """The scores that both sides gave, and whether they are on one scale."""

    judge: Span
    labels: Span
    differ: bool


def scales_of(pairs: Iterable[Pair]) -> Scales | None:
    """Return the lowest and highest scores of both sides, and whether they seem to be of different scales.

    They do if only one side has negative scores, or if the highest scores are of different usual scales and one is at
    least two and a half times the other. A side that gives a single score does not show its scale.
    """
    found = list(pairs)
    judge, labels = {pair.judge for pair in found}, {pair.people for pair in found}
    if len(judge) < 2 or len(labels) < 2:
        return None
    spans = (min(judge), max(judge)), (min(labels), max(labels))
    negative = {low < 0 for low, _ in spans}
    low, high = sorted(max(abs(end) for end in span) for span in spans)
    differ = len(negative) == 2 or (_top(low) != _top(high) and high >= _TIMES_LARGER * low)
    return Scales(*spans, differ)


def _top(value: float) -> float:
    return next((top for top in _TOPS if value <= top), value)


def on_judges_scale(pairs: Sequence[Pair], judge: Span, labels: Span) -> tuple[Pair, ...]:
    """Map the labels linearly onto the judge's scale; raise ConfigError if a score is not on its scale."""
    for name, span, values in (
        ("judge's score", judge, [pair.judge for pair in pairs if not isnan(pair.judge)]),
        ("label", labels, [pair.people for pair in pairs]),
    ):
        off = next((value for value in values if not span[0] <= value <= span[1]), None)
        if off is not None:
            raise ConfigError(f"The {name} {off:g} is not on the scale {span[0]:g} to {span[1]:g}.")
    factor = (judge[1] - judge[0]) / (labels[1] - labels[0])
    return tuple(replace(pair, people=judge[0] + (pair.people - labels[0]) * factor) for pair in pairs)
