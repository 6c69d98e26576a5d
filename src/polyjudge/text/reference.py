"""How far a translation agrees with a reference, through sacreBLEU where it is installed."""

from functools import lru_cache
from typing import Any

from polyjudge.errors import MissingExtraError
from polyjudge.extras import require


def chrf(text: str, reference: str) -> float | None:
    """Return chrF++ of a text against one reference, 0 to 100; None where sacreBLEU is not installed."""
    metric = _metric()
    return None if metric is None else float(metric.sentence_score(text, [reference]).score)


def chrf_signature() -> str:
    """Return how chrF++ is computed, as sacreBLEU writes it; empty where it is not installed."""
    metric = _metric()
    return "" if metric is None else str(metric.get_signature())


@lru_cache(maxsize=1)
def _metric() -> Any:
    try:
        sacrebleu: Any = require("sacrebleu.metrics.chrf", feature="chrF++", extra="metrics")
    except MissingExtraError:
        return None
    return sacrebleu.CHRF(word_order=2)
