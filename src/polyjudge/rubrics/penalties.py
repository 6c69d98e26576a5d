"""The penalties of error spans: what each error takes from the score of a text."""

from collections.abc import Mapping
from functools import lru_cache
from typing import get_args

from polyjudge.records.spans import SpanSeverity

from .loading import load_rubric

SEVERITIES: tuple[SpanSeverity, ...] = get_args(SpanSeverity)


def penalty_of(category: str, severity: str, penalties: Mapping[str, float]) -> float:
    """Return the penalty of an error; one for its category and severity counts before one for either.

    A category is meant by its whole name (`fluency/punctuation`), by its start (`fluency`) or by its end
    (`punctuation`). An error of a severity that is not in the table, such as `neutral`, has none.
    """
    degree, name = severity.strip().casefold(), category.strip().casefold()
    if degree not in SEVERITIES:
        return 0.0
    fitting = [
        (bool(wanted), len(wanted), bool(only), value)
        for (only, wanted), value in ((_parts(key), value) for key, value in penalties.items())
        if only in ("", degree) and (not wanted or name.startswith(wanted) or name.endswith(f"/{wanted}"))
    ]
    return float(max(fitting)[-1]) if fitting else 0.0


@lru_cache(maxsize=1)
def wmt_penalties() -> Mapping[str, float]:
    """Return the penalties of MQM as WMT counts it: those of the rubric `mqm`."""
    rules = load_rubric("mqm").spans
    return rules.penalties if rules is not None else {}


@lru_cache(maxsize=256)
def _parts(key: str) -> tuple[str, str]:
    """Return the severity and the category that a key of the table means; each may be empty."""
    first, _, rest = key.strip().casefold().partition(" ")
    return (first, rest.strip()) if first in SEVERITIES else ("", key.strip().casefold())
