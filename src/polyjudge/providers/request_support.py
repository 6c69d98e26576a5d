"""Which request parameters a model accepts; the others are left out."""

from collections.abc import Awaitable, Callable, Mapping
from operator import attrgetter
from typing import Any

from msgspec.structs import replace

from polyjudge.errors import RefusedError, TransientError
from polyjudge.records.requests import Reply, Request

from .models import ModelFacts

_WORDS = {
    # The parameter as we call it, and words by which complaints name it.
    "temperature": ("temperature",),
    "schema": (
        "response_format",
        "json_schema",
        "output_config",
        "response_json_schema",
        "responsejsonschema",
        "text.format",
    ),
}


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
    for name, words in _WORDS.items():
        if getattr(request, name) is not None and any(word in told for word in words):
            return name
    return None


def is_same_but_prompt(one: Request, other: Request) -> bool:
    """Say whether two requests differ in their prompts at most."""
    return one.schema is other.schema and _rest(one) == _rest(other)


_rest = attrgetter("model", "system", "temperature", "max_tokens")


def sent_parameters(request: Request, names: Mapping[str, str]) -> dict[str, Any]:
    """Return the request's parameters that are set, under the names that the provider has for them."""
    values = {theirs: getattr(request, ours) for ours, theirs in names.items()}
    return {name: value for name, value in values.items() if value is not None}
