"""How long batches are waited for, and how a lost one is looked for."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from .retrying import RetryPolicy


@dataclass(frozen=True, slots=True)
class BatchPatience:
    """Waits between calls about batches."""

    first_wait_s: float = 2.0
    longest_wait_s: float = 60.0
    growth: float = 1.5
    looks_s: tuple[float, ...] = (0.0, 2.0, 5.0, 10.0)
    """Waits before each look for a batch that may just have been handed over: lists can lag behind."""
    young_s: float = 60.0
    """A batch that was begun longer ago than this is looked for only once."""
    unanswered: int = 10
    """So many questions in a row without an answer, each after its own tries, end the waiting."""
    retries: RetryPolicy = field(default_factory=RetryPolicy)

    def waits(self) -> Iterator[float]:
        """Yield the waits between two looks at the batches under way."""
        wait_s = self.first_wait_s
        while True:
            yield wait_s
            wait_s = min(wait_s * self.growth, self.longest_wait_s)
