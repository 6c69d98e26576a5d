"""Reserve and count calls, tokens and cost, so that caps hold at any concurrency."""

import asyncio

from msgspec.structs import replace

from polyjudge.errors import CapReachedError, ConfigError, MalformedResponseError, RateLimitedError, TransientError
from polyjudge.records.requests import ModelName, Price, Reply, Request
from polyjudge.records.runs import Caps, Spent

from .base import Provider, close_wrapped

DEFAULT_MAX_TOKENS = 4096
_OVERHEAD_TOKENS = 64
"""Tokens that chat templates add to a prompt."""


class Budget:
    """Reserves and counts what one run uses, over all its providers."""

    def __init__(self, caps: Caps | None = None) -> None:
        self.caps = caps or Caps()
        self.spent = Spent()
        self._reserved_calls = 0
        self._reserved_tokens = 0
        self._reserved_cost = 0.0
        self._held_calls = self._held_tokens = 0
        self._held_cost = 0.0
        self._settled = asyncio.Event()

    async def reserve(self, tokens: int, cost: float) -> None:
        """Wait until a call of this size fits under the caps; raise `CapReachedError` if it never will."""
        while not self._fits(tokens, cost):
            if not self._reserved_calls:
                raise CapReachedError(self._reason(tokens, cost))
            self._settled.clear()
            await self._settled.wait()
        self._reserved_calls += 1
        self._reserved_tokens += tokens
        self._reserved_cost += cost

    def settle(self, tokens: int, cost: float) -> None:
        """Release a reservation; what was actually used is recorded by `book`."""
        self._reserved_calls -= 1
        self._reserved_tokens -= tokens
        self._reserved_cost = self._reserved_cost - cost if self._reserved_calls else 0.0
        self._settled.set()

    def hold(self, tokens: int, cost: float) -> None:
        """Reserve budget for a call in a batch, which is made later; raise `CapReachedError` if it does not fit."""
        if not self._fits(tokens, cost):
            raise CapReachedError(self._reason(tokens, cost))
        self.hold_anyway(1, tokens, cost)

    def hold_anyway(self, calls: int, tokens: int, cost: float) -> None:
        """Reserve budget for calls that are already in flight, even beyond the caps."""
        self._held_calls += calls
        self._held_tokens += tokens
        self._held_cost += cost

    def release(self, calls: int, tokens: int, cost: float) -> None:
        """Release what `hold` reserved; what was actually used is recorded by `book`."""
        self._held_calls -= calls
        self._held_tokens -= tokens
        self._held_cost = self._held_cost - cost if self._held_calls else 0.0

    def book(self, reply: Reply, price: Price | None, *, most: tuple[int, float] = (0, 0.0)) -> Reply:
        """Record the usage that a reply reports, and return the reply with its cost.

        If it reports none, the caps count `most`: the maximum tokens and dollars of the call.
        """
        spent, cost = self.spent, _cost_usd(reply, price)
        if most[0] and (reply.input_tokens is None or reply.output_tokens is None):
            spent.lost_tokens += most[0]
            spent.lost_cost_usd += most[1]
        spent.input_tokens += reply.input_tokens or 0
        spent.output_tokens += reply.output_tokens or 0
        spent.cost_usd += cost or 0.0
        spent.unpriced_calls += cost is None
        return reply if cost is None else replace(reply, cost_usd=cost)

    def _fits(self, tokens: int, cost: float) -> bool:
        caps, spent = self.caps, self.spent
        if caps.calls is not None and spent.calls + self._held_calls + 1 > caps.calls:
            return False
        if caps.tokens is not None:
            tokens += spent.tokens + spent.lost_tokens + self._reserved_tokens + self._held_tokens
            if tokens > caps.tokens:
                return False
        if caps.cost_usd is not None:
            cost = spent.cost_usd + spent.lost_cost_usd + self._reserved_cost + self._held_cost + cost
            return cost <= caps.cost_usd
        return True

    def _reason(self, tokens: int, cost: float) -> str:
        caps, spent = self.caps, self.spent
        calls = spent.calls + self._held_calls
        if caps.calls is not None and calls >= caps.calls:
            return f"stopped after {calls} calls, the most allowed"
        used = spent.tokens + spent.lost_tokens
        if caps.tokens is not None and used + tokens > caps.tokens:
            return f"stopped at {used} tokens: the next call may take {tokens}, and {caps.tokens} are allowed"
        dollars = spent.cost_usd + spent.lost_cost_usd
        return f"stopped at ${dollars:.4f}: the next call may cost ${cost:.4f}, and ${caps.cost_usd} is allowed"


class BudgetedProvider:
    """Reserves budget for each call, makes it, and records what it used."""

    aclose = close_wrapped

    def __init__(
        self, provider: Provider, budget: Budget, price: Price | None, *, name: ModelName | str = "this model"
    ) -> None:
        need_price(budget.caps, price, name)
        self._provider = provider
        self.origin = provider.origin
        self._budget = budget
        self._price = price

    async def complete(self, request: Request) -> Reply:
        """Send the request as soon as the budget allows it."""
        request, tokens, cost = bound_request(request, self._budget.caps, self._price)
        await self._budget.reserve(tokens, cost)
        spent = self._budget.spent
        spent.calls += 1
        spent.in_flight += 1
        try:
            reply = await self._provider.complete(request)
        except TransientError as error:
            spent.rate_limited += isinstance(error, RateLimitedError)
            spent.calls -= error.unreachable
            if error.may_be_charged:
                self._count_as_lost(tokens, cost)
            raise
        except (asyncio.CancelledError, MalformedResponseError):
            self._count_as_lost(tokens, cost)
            raise
        else:
            return self._budget.book(reply, self._price, most=(tokens, cost))
        finally:
            spent.in_flight -= 1
            self._budget.settle(tokens, cost)

    def _count_as_lost(self, tokens: int, cost: float) -> None:
        spent = self._budget.spent
        spent.lost_calls += 1
        spent.lost_tokens += tokens
        spent.lost_cost_usd += cost


def need_price(caps: Caps, price: Price | None, name: ModelName | str) -> None:
    """Raise an error for a cap on cost if the model's price is unknown."""
    if caps.cost_usd is not None and price is None:
        message = f"a cost limit needs a price, and the price of {name} is not known; give it"
        raise ConfigError(message, option="price", value="INPUT,OUTPUT")


def bound_request(request: Request, caps: Caps, price: Price | None) -> tuple[Request, int, float]:
    """Return the request, with a limit on its reply if the caps need one, and its maximum tokens and cost in USD."""
    if caps.tokens is None and caps.cost_usd is None:
        return request, 0, 0.0
    bounded = replace(request, max_tokens=request.max_tokens or DEFAULT_MAX_TOKENS)
    tokens = most_tokens(bounded)
    return bounded, sum(tokens), most_cost(tokens, price)


def most_cost(tokens: tuple[int, int], price: Price | None) -> float:
    """Return the cost in USD of so many input and output tokens; 0 if the price is unknown."""
    return (tokens[0] * price.input + tokens[1] * price.output) / 1e6 if price else 0.0


def most_tokens(request: Request) -> tuple[int, int]:
    """Return the maximum input and output tokens of a call; no tokeniser makes more than one token of a byte."""
    size = len(request.prompt.encode(errors="surrogatepass")) + len(request.system.encode(errors="surrogatepass"))
    return size + _OVERHEAD_TOKENS, request.max_tokens or DEFAULT_MAX_TOKENS


def _cost_usd(reply: Reply, price: Price | None) -> float | None:
    """Return the cost of a reply, as reported or calculated from its tokens; None if neither is known."""
    if reply.cost_usd is not None:
        return reply.cost_usd
    if price == Price(0.0, 0.0):
        return 0.0
    if price is None or reply.input_tokens is None or reply.output_tokens is None:
        return None
    return (reply.input_tokens * price.input + reply.output_tokens * price.output) / 1e6
