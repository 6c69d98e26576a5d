"""Count what a run would ask, and ask nothing."""

from dataclasses import dataclass

from polyjudge.cache import Cache, request_key
from polyjudge.errors import NotRecordedError
from polyjudge.records import Origin, Reply, Request

from .naming import Price
from .pacing import LIKELY_ANSWER_TOKENS, likely_tokens


@dataclass(slots=True)
class Estimate:
    """What a run would take; tokens and cost are estimates."""

    calls: int = 0
    cached: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0
    unpriced_calls: int = 0


class CountingProvider:
    """Stands in for a provider in a dry run."""

    def __init__(
        self, origin: Origin, cache: Cache | None, price: Price | None, estimate: Estimate, *, since: str = ""
    ) -> None:
        self.origin = origin
        self._since = since
        self._cache = cache
        self._price = price
        self._estimate = estimate

    async def complete(self, request: Request) -> Reply:
        """Count the request; there is never an answer."""
        estimate = self._estimate
        key = request_key(self.origin, request)
        if self._cache is not None and await self._cache.find(key, since=self._since) is not None:
            estimate.cached += 1
        else:
            tokens = likely_tokens(request) - LIKELY_ANSWER_TOKENS
            estimate.calls += 1
            estimate.input_tokens += tokens
            estimate.output_tokens += LIKELY_ANSWER_TOKENS
            if self._price is None:
                estimate.unpriced_calls += 1
            else:
                estimate.cost_usd += (tokens * self._price.input + LIKELY_ANSWER_TOKENS * self._price.output) / 1e6
        raise NotRecordedError("a dry run asks nothing")
