"""Adapt concurrency and request rate to the provider's limits."""

import asyncio
import time
from collections import deque
from collections.abc import Callable

from polyjudge.errors import RateLimitedError, StoppedError
from polyjudge.records.requests import Reply, Request

from .base import Provider, close_provider

_FIRST_IN_FLIGHT = 8
_SLACK_S = 0.05
"""How far behind its timetable a pace may catch up; timers are not exact."""
_WINDOW_S = 1.0
_CUT, _HARD_CUT, _FIRST_CUT = 0.94, 0.75, 0.8
_FAST_GROWTH, _SLOW_GROWTH = 0.25, 0.02
"""Growth of the rate each second, below and above the rate that was refused last."""
_SLOW_GROWTH_PER_ANSWER = 0.0002
"""At low rates growth goes by answers: what counts is how many calls lie between two refusals."""
_NEAR = 0.96
_OUTCOMES, _MANY, _MANY_SHARE = 100, 6, 0.15
"""Of so many calls, how many refusals, and what share of them, tell of a rate limit and not of chance."""
_FAR_BELOW, _MEMORY_S = 0.7, 60.0
_PROOF, _QUICK_PROOF, _PROOF_S = 150, 30, 5.0
"""Answers in a row that show a refused rate to be allowed again; a limit that still holds refuses some before that.

At high rates they must take some seconds, too.
"""
_LOWEST_UNTOLD = 0.2
"""Calls a second that are tried even where every one is refused: only an answer can tell that it is over."""
LIKELY_ANSWER_TOKENS = 200
_STOPPED = "the run is stopped, and no more calls are started"


class RateLimiter:
    """Who may call now.

    The number of calls in flight doubles with every round of answers up to the most allowed. When many are refused for
    asking too often, a rate below what was answered lately is set, and from then on calls keep to a timetable. Each
    further refusal cuts the rate, and time without one lets it grow: fast up to near the rate that was refused, slowly
    beyond it. A few refusals at a rate far below what was answered before have another cause than the rate, and do not
    cut it; neither does trouble of other kinds. A storm, which refuses at any rate, says nothing about the rate, and
    is forgotten when it is over.
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
        """Wait for a place and for the timetable; return the moment the call begins.

        `tokens` tells how many the call will take, and is asked only where tokens are limited.
        """
        self._refuse_if_stopped()
        if self._in_flight >= self._limit:
            place = asyncio.get_running_loop().create_future()
            self._waiting.append(place)
            try:
                await place
            except asyncio.CancelledError:
                self._gave_up(place)
                raise
        else:
            self._in_flight += 1
        try:
            await self._wait_for_slot()
            await self._wait_for_tokens(tokens)
            self._refuse_if_stopped()
        except (asyncio.CancelledError, StoppedError):
            self.leave()
            raise
        return self._clock()

    def stop(self) -> None:
        """Let no more calls start: those that wait for a place end with a `StoppedError`."""
        self._is_stopped = True
        waiting, self._waiting = self._waiting, deque()
        for place in waiting:
            if not place.done():
                place.set_exception(StoppedError(_STOPPED))

    def _refuse_if_stopped(self) -> None:
        if self._is_stopped:
            raise StoppedError(_STOPPED)

    def leave(self) -> None:
        """Give the place to the next."""
        self._in_flight -= 1
        while self._waiting and self._in_flight < self._limit:
            place = self._waiting.popleft()
            if not place.done():
                self._in_flight += 1
                place.set_result(None)

    def answered(self) -> None:
        """Take note of an answer."""
        now = self._clock()
        if self._limit < self._most:
            self._limit += 1
        self._note(refused=False)
        self._answers_since_cut += 1
        self._answered.append(now)
        while self._answered[0] < now - _WINDOW_S:
            self._answered.popleft()
        if len(self._answered) / _WINDOW_S >= self._best_rate or now - self._best_at > _MEMORY_S:
            self._best_rate, self._best_at = len(self._answered) / _WINDOW_S, now
        self._grow(now)

    def refused(self, begun: float) -> None:
        """Take note of a refusal; calls begun before the last cut tell nothing new."""
        now, again = self._clock(), bool(self._outcomes) and self._outcomes[-1]
        self._note(refused=True)
        if begun < self._last_cut:
            return
        if self._rate is None:
            if (
                again
            ):  # one refusal among answers is chance; two in a row may be a limit: fewer at once until it is clear
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
        """Return the rate to go on with; a limit lets some calls through at every rate, and only then is it learnt."""
        lower = rate * (_HARD_CUT if self._are_many_refused() else _CUT)
        if not self._answers_since_cut:
            return max(lower, min(rate, _LOWEST_UNTOLD))
        self._refused_at_rate = rate
        return lower

    def _note(self, *, refused: bool) -> None:
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
        # Where much more was answered a moment ago, a limit is the less likely cause.
        proof = _QUICK_PROOF if refused < _FAR_BELOW * self._best_rate else max(_PROOF, _PROOF_S * rate)
        return self._answers_since_cut <= proof

    async def _wait_for_slot(self) -> None:
        """Wait for the timetable, one after the other, so that a cut of the rate counts for all who still wait."""
        if self._rate is None:
            return
        async with self._turn:
            while (wait_s := self._next_call - self._clock()) > 0:  # noqa: ASYNC110 - for a moment, not an event
                await asyncio.sleep(wait_s)
            self._next_call = max(self._next_call, self._clock() - _SLACK_S) + 1 / self._rate

    async def _wait_for_tokens(self, tokens: Callable[[], int]) -> None:
        if self._tokens_per_s is None:
            return
        now = self._clock()
        begin = max(self._tokens_due, now)
        self._tokens_due = begin + tokens() / self._tokens_per_s
        if begin > now:
            await asyncio.sleep(begin - now)

    def _gave_up(self, place: "asyncio.Future[None]") -> None:
        if place.done() and not place.cancelled():
            self.leave()
        elif place in self._waiting:
            self._waiting.remove(place)


class RateLimitedProvider:
    """Lets calls through at the pace that the provider bears."""

    def __init__(self, provider: Provider, pace: RateLimiter) -> None:
        self._provider = provider
        self.origin = provider.origin
        self._pace = pace

    async def complete(self, request: Request) -> Reply:
        """Wait for a place, then ask."""
        begun = await self._pace.enter(lambda: likely_tokens(request))
        try:
            reply = await self._provider.complete(request)
        except RateLimitedError:
            self._pace.refused(begun)
            raise
        else:
            self._pace.answered()
            return reply
        finally:
            self._pace.leave()

    async def aclose(self) -> None:
        """Close the provider inside."""
        await close_provider(self._provider)


def likely_tokens(request: Request) -> int:
    """Return about how many tokens a call takes: some four bytes make one, and a verdict is short."""
    return (len(request.prompt.encode(errors="surrogatepass")) + len(request.system)) // 4 + LIKELY_ANSWER_TOKENS
