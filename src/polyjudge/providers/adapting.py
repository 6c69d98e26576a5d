"""Leave out what a model does not take: known beforehand, or learnt from its complaint."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any

from polyjudge.errors import RefusedError, TransientError
from polyjudge.records import Reply, Request

from .naming import ModelFacts

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
        dropped = tuple(name for name in sorted(self._left_out) if getattr(request, name) is not None)
        allowed = replace(request, **dict.fromkeys(dropped)) if dropped else request
        try:
            reply = await send(allowed)
        except RefusedError as error:
            complaint = self._complaint(str(error), allowed)
            if complaint is None:
                raise
            self._left_out.add(complaint)
            raise TransientError(str(error), retry_after_s=0.0) from None
        return replace(reply, dropped=dropped) if dropped else reply

    def _complaint(self, message: str, request: Request) -> str | None:
        """Return the parameter that the model complains about, if it is one that we sent."""
        told = message.lower()
        for name, words in _WORDS.items():
            if getattr(request, name) is not None and any(word in told for word in words):
                return name
        return None


def sent_parameters(request: Request, names: Mapping[str, str]) -> dict[str, Any]:
    """Return the request's parameters that are set, under the names that the provider has for them."""
    values = {theirs: getattr(request, ours) for ours, theirs in names.items()}
    return {name: value for name, value in values.items() if value is not None}
