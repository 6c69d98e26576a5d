"""Which request parameters a model accepts; the others are left out."""

from collections.abc import Awaitable, Callable
from operator import attrgetter
from typing import Any

from msgspec.structs import replace

from polyjudge.errors import RefusedError, TransientError
from polyjudge.records.requests import PARAMETERS, VALUES, Reply, Request, parameters_of

from .models import ModelFacts


class ParameterFilter:
    """Remembers for one model which parameters are left out."""

    def __init__(self, facts: ModelFacts) -> None:
        self._left_out = set(facts.without)

    async def call(self, request: Request, send: Callable[[Request], Awaitable[Reply]]) -> Reply:
        """Send a request without the parameters that the model does not take; the reply says which.

        A complaint about one is raised as an error that passes: the call is repeated where calls are counted and paced.
        """
        allowed, dropped = self.allowed(request)
        try:
            reply = await send(allowed)
        except RefusedError as error:
            complaint = error_message_in(str(error), allowed)
            if complaint is None:
                raise
            self.leave_out(complaint)
            raise TransientError(str(error), retry_after_s=0.0) from None
        return replace(reply, dropped=dropped) if dropped else reply

    def allowed(self, request: Request) -> tuple[Request, tuple[str, ...]]:
        """Return the request without what the model does not take, and what that was."""
        if not self._left_out:
            return request, ()
        dropped = tuple(name for name in sorted(self._left_out) if getattr(request, name) is not None)
        return (replace(request, **dict.fromkeys(dropped)) if dropped else request), dropped

    def leave_out(self, parameter: str) -> None:
        """Leave out a parameter from now on."""
        self._left_out.add(parameter)


def error_message_in(message: str, request: Request) -> str | None:
    """Return the parameter that a model complains about, if it is one that we sent."""
    told = message.lower()
    for name, parameter in PARAMETERS.items():
        if getattr(request, name) is not None and any(word in told for word in parameter.refused_as):
            return name
    return None


def is_same_but_prompt(one: Request, other: Request) -> bool:
    """Say whether two requests differ in their prompts at most."""
    return one.schema is other.schema and _rest(one) == _rest(other)


_rest = attrgetter("model", "system", *VALUES)


def sent_parameters(request: Request, api: str) -> dict[str, Any]:
    """Return the request's parameters that are set, under the names that an API has for them."""
    sent = {PARAMETERS[name].sent_as.get(api, ""): value for name, value in parameters_of(request).items()}
    return {name: value for name, value in sent.items() if name and value is not None}
