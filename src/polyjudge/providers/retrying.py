"""Retry calls after temporary errors, with the wait that the provider requests; the error's class decides."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from msgspec.structs import replace

from polyjudge.errors import ProviderError, RateLimitedError, TransientError, UnusableError
from polyjudge.records.requests import Reply, Request

from .base import Provider, close_wrapped

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often calls are retried, and how long to wait between tries."""

    attempts: int = 5
    """Tries of a call that fails, not counting rate limits."""
    rate_limited_attempts: int = 50
    """Tries of a call that is refused because of a rate limit."""
    unreachable_attempts: int = 10
    """Tries of all calls together to reach a server that has never answered."""
    first_wait_s: float = 0.5
    longest_wait_s: float = 60.0
    longest_named_wait_s: float = 300.0
    """If a provider requests a longer wait than this, the item fails; it can be retried later."""


OnRetry = Callable[[TransientError, float], None]
"""Called with the error and the seconds to wait, before a call is made again."""


class Tries:
    """Counts the tries of one call; waits grow, with jitter, unless the response has Retry-After."""

    def __init__(
        self,
        policy: RetryPolicy,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        on_retry: OnRetry | None = None,
    ) -> None:
        self._policy = policy
        self._sleep = sleep
        self._on_retry = on_retry
        self._failed = self._limited = 0

    @property
    def failed(self) -> int:
        """The number of failed tries."""
        return self._failed + self._limited

    async def wait_after(self, error: TransientError) -> None:
        """Wait before the next try; raise the error if no try is left."""
        self._limited += isinstance(error, RateLimitedError)
        self._failed += not isinstance(error, RateLimitedError)
        error.attempts = self.failed
        if self._was_last(error):
            raise error
        wait_s = self._wait_s(error)
        if self._on_retry is not None:
            self._on_retry(error, wait_s)
        await self._sleep(wait_s)

    def _was_last(self, error: TransientError) -> bool:
        policy = self._policy
        if self._failed >= policy.attempts or self._limited >= policy.rate_limited_attempts:
            return True
        return error.retry_after_s is not None and error.retry_after_s > policy.longest_named_wait_s

    def _wait_s(self, error: TransientError) -> float:
        generator = random.Random()
        if error.retry_after_s is not None:
            # A little later than requested, and not all calls at the same time.
            return error.retry_after_s + generator.uniform(0, 0.1)
        longest = min(self._policy.first_wait_s * 2 ** min(self.failed - 1, 20), self._policy.longest_wait_s)
        return generator.uniform(longest / 2, longest)


async def call_with_retries(
    call: Callable[[], Awaitable[Result]],
    policy: RetryPolicy,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> Result:
    """Repeat an idempotent call until it succeeds, fails with a permanent error, or no try is left."""
    tries = Tries(policy, sleep)
    while True:
        try:
            return await call()
        except TransientError as error:
            await tries.wait_after(error)


class RetryingProvider:
    """Repeats calls that fail with a temporary error."""

    aclose = close_wrapped

    def __init__(
        self,
        provider: Provider,
        policy: RetryPolicy | None = None,
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        on_retry: OnRetry | None = None,
    ) -> None:
        self._provider = provider
        self._on_retry = on_retry
        self.origin = provider.origin
        self._policy = policy or RetryPolicy()
        self._sleep = sleep
        self._answered = False
        self._unreachable = 0

    async def complete(self, request: Request) -> Reply:
        """Send the request until there is an answer, a permanent error, or no try left."""
        tries = Tries(self._policy, self._sleep, self._on_retry)
        while True:
            try:
                reply = await self._provider.complete(request)
            except TransientError as error:
                self._raise_if_unreachable(error)
                await tries.wait_after(error)
            except ProviderError as error:
                error.attempts = tries.failed + 1
                raise
            else:
                self._answered = True
                return replace(reply, attempts=tries.failed + 1) if tries.failed else reply

    def _raise_if_unreachable(self, error: TransientError) -> None:
        """Stop the run if the server has never been reached, instead of failing every item slowly."""
        self._unreachable += error.unreachable
        if not self._answered and self._unreachable >= self._policy.unreachable_attempts:
            where = self.origin.base_url or self.origin.provider
            raise UnusableError(f"no answer from {where} ({error}). Is the server running?") from None
