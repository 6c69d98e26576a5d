"""A number that says how sure it is."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Figure:
    """A number with its 95% interval; None where it is not defined."""

    value: float | None = None
    low: float | None = None
    high: float | None = None
