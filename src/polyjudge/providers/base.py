"""The provider interface, and what providers share: the timing of a call, and the parameters that a model accepts."""

import time
from collections.abc import Awaitable, Callable
from operator import attrgetter
from typing import Protocol

from msgspec.structs import replace

from polyjudge.clock import utc_now
from polyjudge.errors import RefusedError, TransientError
from polyjudge.records.requests import PARAMETERS, VALUES, Origin, Reply, Request

from .models import ModelFacts


class Provider(Protocol):
    """Returns the reply to a request, or raises a `ProviderError`."""

    @property
    def origin(self) -> Origin:
        """The provider and its address: part of the cache key and of every result's provenance."""
        ...

    async def complete(self, request: Request) -> Reply:
        """Send a request, and return the reply."""
        ...


async def close_provider(provider: Provider) -> None:
    """Close a provider's connections, if it has any; it opens new ones for its next call."""
    close = getattr(provider, "aclose", None)
    if close is not None:
        await close()


class _Wrapper(Protocol):
    _provider: Provider


async def close_wrapped(self: _Wrapper) -> None:
    """Close the wrapped provider; a cache stays open, because it may be shared."""
    await close_provider(self._provider)  # pyright: ignore[reportPrivateUsage] - it is a method of the wrappers


class Stopwatch:
    """Measures the time of a call, from the creation of this object."""

    def __init__(self) -> None:
        self._started = time.monotonic()

    def stamped(self, reply: Reply) -> Reply:
        """Return the reply with its time of arrival and duration, unless it has them already."""
        duration_ms = reply.duration_ms or round((time.monotonic() - self._started) * 1000)
        return replace(reply, duration_ms=duration_ms, answered_at=reply.answered_at or utc_now())


class ParameterFilter:
    """Sends requests without the parameters that a model does not accept, which errors tell, and times the calls.

    `api` is the name of the API in `PARAMETERS`.
    """

    def __init__(self, facts: ModelFacts, api: str) -> None:
        self._left_out = {*facts.without, *(name for name in VALUES if api not in PARAMETERS[name].sent_as)}

    async def call(self, request: Request, send: Callable[[Request], Awaitable[Reply]]) -> Reply:
        """Send a request without the parameters that the model does not accept; the reply lists those.

        A newly refused parameter is raised as a temporary error, so that the call is repeated, counted and paced as
        any other.
        """
        allowed, dropped = self.allowed(request)
        watch = Stopwatch()
        try:
            reply = await send(allowed)
        except RefusedError as error:
            parameter = refused_parameter_in(str(error), allowed)
            if parameter is None:
                raise
            self.leave_out(parameter)
            raise TransientError(str(error), retry_after_s=0.0) from None
        reply = watch.stamped(reply)
        return replace(reply, dropped=dropped) if dropped else reply

    def allowed(self, request: Request) -> tuple[Request, tuple[str, ...]]:
        """Return the request without the parameters that the model does not accept, and their names."""
        if not self._left_out:
            return request, ()
        dropped = tuple(name for name in sorted(self._left_out) if getattr(request, name) is not None)
        return (replace(request, **dict.fromkeys(dropped)) if dropped else request), dropped

    def leave_out(self, parameter: str) -> None:
        """Leave out a parameter from now on."""
        self._left_out.add(parameter)


def refused_parameter_in(message: str, request: Request) -> str | None:
    """Return the parameter that an error message names as refused, if the request has it."""
    text = message.lower()
    for name, parameter in PARAMETERS.items():
        if getattr(request, name) is not None and any(word in text for word in parameter.refused_as):
            return name
    return None


def is_same_but_prompt(one: Request, other: Request) -> bool:
    """Return whether two requests differ in their prompts at most."""
    return one.schema is other.schema and _all_but_prompt(one) == _all_but_prompt(other)


_all_but_prompt = attrgetter("model", "system", *VALUES)
