"""Adapt concurrency and request rate to the provider's limits."""

import asyncio
import time
from collections import deque
from collections.abc import Callable

from polyjudge.errors import RateLimitedError, StoppedError
from polyjudge.records.requests import Reply, Request

from .base import Provider, close_wrapped

_FIRST_IN_FLIGHT = 8
_SLACK_S = 0.05
"""How far calls that are behind schedule may catch up, because timers are not exact."""
_WINDOW_S = 1.0
_CUT, _HARD_CUT, _FIRST_CUT = 0.94, 0.75, 0.8
_FAST_GROWTH, _SLOW_GROWTH = 0.25, 0.02
"""Growth of the rate each second, below and above the rate that was refused last."""
_SLOW_GROWTH_PER_ANSWER = 0.0002
"""At low rates growth is per answer, to control how many calls are made between two refusals."""
_NEAR = 0.96
_OUTCOMES, _MANY, _MANY_SHARE = 100, 6, 0.15
"""Of the last calls, how many refusals, and which share, indicate a rate limit rather than chance."""
_FAR_BELOW, _MEMORY_S = 0.7, 60.0
_PROOF, _QUICK_PROOF, _PROOF_S = 150, 30, 5.0
"""Answers in a row after which a refused rate counts as allowed again: a limit still in force refuses some before that.

At high rates they must also span some seconds.
"""
_LOWEST_PROBE_RATE = 0.2
"""Calls a second that are made even if all are refused: only an answer can show that a limit is over."""
LIKELY_ANSWER_TOKENS = 200
_STOPPED = "the run was stopped; no new calls are started"


class RateLimiter:
    """Decides when a call may start.

    The number of calls in flight doubles with every round of answers, up to the maximum. When many calls are refused
    because of a rate limit, a rate below that of the recent answers is set, and calls are then evenly spaced. Each
    further refusal lowers the rate, and time without one raises it: fast up to near the rate that was refused, slowly
    beyond it. A few refusals at a rate far below that of earlier answers have another cause, and do not lower it; nor
    do errors of other kinds. An outage that refuses calls at any rate is not used to estimate the allowed rate.
    """

    def __init__(
        self,
        most: int,
        *,
        rpm: float | None = None,
        tpm: float | None = None,
        clock: Callable[[], float] = time.monotonic,
        on_change: Callable[[float], None] | None = None,
    ) -> None:
        self._most = most
        self._on_change = on_change
        self._is_stopped = False
        self._limit = min(most, _FIRST_IN_FLIGHT)
        self._in_flight = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._clock = clock
        self._cap = rpm / 60 if rpm else None
        self._rate = self._cap
        self._refused_at_rate: float | None = None
        self._next_call = clock()
        self._turn = asyncio.Lock()
        self._tokens_per_s = tpm / 60 if tpm else None
        self._tokens_due = clock()
        self._answered: deque[float] = deque()
        self._outcomes: deque[bool] = deque(maxlen=_OUTCOMES)
        self._refusals = 0
        self._answers_since_cut = 0
        self._best_rate, self._best_at = 0.0, clock()
        self._last_cut = self._last_grown = clock()

    async def enter(self, tokens: Callable[[], int] = lambda: 0) -> float:
        """Wait until the call may start; return its start time.

        `tokens` returns an estimate of the call's tokens, and is only called if tokens are limited.
        """
        self._refuse_if_stopped()
        if self._in_flight >= self._limit:
            slot = asyncio.get_running_loop().create_future()
            self._waiting.append(slot)
            try:
                await slot
            except asyncio.CancelledError:
                if slot.done() and not slot.cancelled():
                    self.leave()
                elif slot in self._waiting:
                    self._waiting.remove(slot)
                raise
        else:
            self._in_flight += 1
        try:
            await self._wait_for_rate()
            await self._wait_for_tokens(tokens)
            self._refuse_if_stopped()
        except (asyncio.CancelledError, StoppedError):
            self.leave()
            raise
        return self._clock()

    def stop(self) -> None:
        """Start no more calls: waiting ones end with a `StoppedError`."""
        self._is_stopped = True
        waiting, self._waiting = self._waiting, deque()
        for slot in waiting:
            if not slot.done():
                slot.set_exception(StoppedError(_STOPPED))

    def _refuse_if_stopped(self) -> None:
        if self._is_stopped:
            raise StoppedError(_STOPPED)

    def leave(self) -> None:
        """End a call, and let the next ones start."""
        self._in_flight -= 1
        while self._waiting and self._in_flight < self._limit:
            slot = self._waiting.popleft()
            if not slot.done():
                self._in_flight += 1
                slot.set_result(None)

    def answered(self) -> None:
        """Record an answer."""
        now = self._clock()
        if self._limit < self._most:
            self._limit += 1
        self._record(refused=False)
        self._answers_since_cut += 1
        self._answered.append(now)
        while self._answered[0] < now - _WINDOW_S:
            self._answered.popleft()
        if len(self._answered) / _WINDOW_S >= self._best_rate or now - self._best_at > _MEMORY_S:
            self._best_rate, self._best_at = len(self._answered) / _WINDOW_S, now
        self._grow(now)

    def refused(self, started: float) -> None:
        """Record a refusal; one of a call that was started before the last cut does not change the rate."""
        now, again = self._clock(), bool(self._outcomes) and self._outcomes[-1]
        self._record(refused=True)
        if started < self._last_cut:
            return
        if self._rate is None:
            if again:  # one refusal may be chance; two in a row may be a limit
                self._limit = max(1, self._limit // 2)
            if not self._are_many_refused():
                return
            window = max(0.1, min(_WINDOW_S, now - self._answered[0])) if self._answered else _WINDOW_S
            self._rate = max(1.0, _FIRST_CUT * len(self._answered) / window)
        elif self._rate < _FAR_BELOW * self._best_rate and not self._are_many_refused():
            self._refused_at_rate = None
            return
        else:
            self._rate = self._cut(self._rate)
        self._answers_since_cut = 0
        self._last_cut = self._last_grown = now
        self._next_call = now + 1 / self._rate
        if self._on_change is not None:
            self._on_change(self._rate)

    def _cut(self, rate: float) -> float:
        """Return a lower rate; the refused rate is only remembered if calls were answered, as under a rate limit."""
        lower = rate * (_HARD_CUT if self._are_many_refused() else _CUT)
        if not self._answers_since_cut:
            return max(lower, min(rate, _LOWEST_PROBE_RATE))
        self._refused_at_rate = rate
        return lower

    def _record(self, *, refused: bool) -> None:
        if len(self._outcomes) == _OUTCOMES:
            self._refusals -= self._outcomes[0]
        self._outcomes.append(refused)
        self._refusals += refused

    def _are_many_refused(self) -> bool:
        return self._refusals >= _MANY and self._refusals > _MANY_SHARE * len(self._outcomes)

    def _grow(self, now: float) -> None:
        if self._rate is None or self._rate == self._cap:
            return
        seconds, self._last_grown = now - self._last_grown, now
        near = self._is_near_refusal(self._rate)
        slow = min(_SLOW_GROWTH, _SLOW_GROWTH_PER_ANSWER * self._rate)
        self._rate *= 1 + (slow if near else _FAST_GROWTH) * min(seconds, _WINDOW_S)
        if self._cap is not None:
            self._rate = min(self._rate, self._cap)

    def _is_near_refusal(self, rate: float) -> bool:
        refused = self._refused_at_rate
        if refused is None or rate <= _NEAR * refused:
            return False
        # If much more was answered recently, a limit is a less likely cause.
        proof = _QUICK_PROOF if refused < _FAR_BELOW * self._best_rate else max(_PROOF, _PROOF_S * rate)
        return self._answers_since_cut <= proof

    async def _wait_for_rate(self) -> None:
        """Wait as the rate requires, one call after the other, so that a lower rate applies to all waiting calls."""
        if self._rate is None:
            return
        async with self._turn:
            while (wait_s := self._next_call - self._clock()) > 0:  # noqa: ASYNC110 - until a time, not an event
                await asyncio.sleep(wait_s)
            self._next_call = max(self._next_call, self._clock() - _SLACK_S) + 1 / self._rate

    async def _wait_for_tokens(self, tokens: Callable[[], int]) -> None:
        if self._tokens_per_s is None:
            return
        now = self._clock()
        start = max(self._tokens_due, now)
        self._tokens_due = start + tokens() / self._tokens_per_s
        if start > now:
            await asyncio.sleep(start - now)


class RateLimitedProvider:
    """Makes calls at the rate that the provider allows."""

    aclose = close_wrapped

    def __init__(self, provider: Provider, limiter: RateLimiter) -> None:
        self._provider = provider
        self.origin = provider.origin
        self._limiter = limiter

    async def complete(self, request: Request) -> Reply:
        """Wait until the call may start, then send the request."""
        started = await self._limiter.enter(lambda: likely_tokens(request))
        try:
            reply = await self._provider.complete(request)
        except RateLimitedError:
            self._limiter.refused(started)
            raise
        else:
            self._limiter.answered()
            return reply
        finally:
            self._limiter.leave()


def likely_tokens(request: Request) -> int:
    """Estimate the tokens of a call: one for about four bytes, and those of a short reply."""
    return (len(request.prompt.encode(errors="surrogatepass")) + len(request.system)) // 4 + LIKELY_ANSWER_TOKENS
