"""Read a judge's number strictly: what is not clearly a value of the scale is no value."""

import math

from polyjudge.records import Scale
from polyjudge.text import plain_number


def read_number(value: object, scale: Scale) -> float:
    """Return a number of the scale from 85, 85.0, '85' or '85/100'; anything else is a `ValueError`."""
    if (type(value) is float or type(value) is int) and scale.lowest <= value <= scale.highest:
        return float(value)
    number = _number(value, scale)
    if number is None:
        raise ValueError(f"{value!r} is not a number")
    if not math.isfinite(number) or not scale.lowest <= number <= scale.highest:
        raise ValueError(f"{value!r} is off the scale {scale.lowest:g} to {scale.highest:g}")
    return number


def _number(value: object, scale: Scale) -> float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        # An integer too large for a float is off every scale; infinity says so without an OverflowError.
        return float(value) if abs(value) < 1e300 else math.inf
    if not isinstance(value, str):
        return None
    parts = plain_number(value)
    if parts is None or parts[1] not in (None, scale.highest):
        return None
    return parts[0]
