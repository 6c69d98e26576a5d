"""Could a difference be chance alone?"""

import math
from collections.abc import Sequence


def mcnemar_exact(only_first: int, only_second: int) -> float:
    """Return the two-sided p of McNemar's exact test, from how many pairs only one of two got right.

    Without a difference, only chance decides which of the two it is: a fair coin, thrown once a pair.
    """
    count, fewer = only_first + only_second, min(only_first, only_second)
    tail = sum(math.comb(count, hits) for hits in range(fewer + 1))
    return min(1.0, tail / 2 ** (count - 1)) if count else 1.0


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Return p values adjusted so that, of those called significant, only that share is so by chance."""
    adjusted, lowest = [1.0] * len(p_values), 1.0
    by_size = sorted(range(len(p_values)), key=lambda place: p_values[place], reverse=True)
    for rank, place in zip(range(len(p_values), 0, -1), by_size, strict=True):
        lowest = min(lowest, p_values[place] * (len(p_values) / rank))
        adjusted[place] = lowest
    return adjusted
