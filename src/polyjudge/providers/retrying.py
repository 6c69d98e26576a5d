"""Retry calls that failed for a while, after the wait that the provider named; the class of the error decides."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from msgspec.structs import replace

from polyjudge.errors import ProviderError, RateLimitedError, TransientError, UnusableError
from polyjudge.records.requests import Reply, Request

from .base import Provider, close_provider

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often, and how long between."""

    attempts: int = 5
    """Tries after trouble of any kind but rate limits."""
    rate_limited_attempts: int = 50
    """Tries after a rate limit, which says nothing about the question and ends by itself."""
    unreachable_attempts: int = 10
    """Tries of all calls together to reach a server that has never answered."""
    first_wait_s: float = 0.5
    longest_wait_s: float = 60.0
    longest_named_wait_s: float = 300.0
    """A provider that names a longer wait than this is not waited for; the item fails and can be retried later."""


OnRetry = Callable[[TransientError, float], None]
"""Called with the error and the seconds to wait, before a call is made again."""


class Tries:
    """The tries of one call: counted, with growing waits and jitter between; Retry-After goes before both."""

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
        """Tries that brought nothing."""
        return self._failed + self._limited

    async def wait_after(self, error: TransientError) -> None:
        """Wait before the next try; where there is none left, raise the error."""
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
        chance = random.Random()
        if error.retry_after_s is not None:
            # A little later than told, and not all at the same moment.
            return error.retry_after_s + chance.uniform(0, 0.1)
        longest = min(self._policy.first_wait_s * 2 ** min(self.failed - 1, 20), self._policy.longest_wait_s)
        return chance.uniform(longest / 2, longest)


async def persist(
    call: Callable[[], Awaitable[Result]],
    policy: RetryPolicy,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> Result:
    """Make a call that may be made twice until it works, fails for good, or no try is left."""
    tries = Tries(policy, sleep)
    while True:
        try:
            return await call()
        except TransientError as error:
            await tries.wait_after(error)


class RetryingProvider:
    """Repeats calls that failed for a while."""

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
        """Ask until there is an answer, an error that will not pass, or no try left."""
        tries = Tries(self._policy, self._sleep, self._on_retry)
        while True:
            try:
                reply = await self._provider.complete(request)
            except TransientError as error:
                self._stop_if_nobody_is_there(error)
                await tries.wait_after(error)
            except ProviderError as error:
                error.attempts = tries.failed + 1
                raise
            else:
                self._answered = True
                return replace(reply, attempts=tries.failed + 1) if tries.failed else reply

    async def aclose(self) -> None:
        """Close the provider inside."""
        await close_provider(self._provider)

    def _stop_if_nobody_is_there(self, error: TransientError) -> None:
        """Give up on a server that never answered and cannot even be reached, instead of failing every item slowly."""
        self._unreachable += error.unreachable
        if not self._answered and self._unreachable >= self._policy.unreachable_attempts:
            where = self.origin.base_url or self.origin.provider
            raise UnusableError(f"nobody answers at {where}; is the server running? ({error})") from None
