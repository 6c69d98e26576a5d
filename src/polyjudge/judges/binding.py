"""Let a judge ask through the providers of a run."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeVar, cast

from polyjudge.providers.base import Provider
from polyjudge.records.outcomes import Failure, Item, Outcome
from polyjudge.records.requests import ModelName
from polyjudge.records.runs import Event


class ProviderSource(Protocol):
    """Opens the providers of a run: with its cache, retries, rate limits and budget."""

    @property
    def emit(self) -> Callable[[Event], None]:
        """Called with what the caller of the run should know."""
        ...

    def open(self, name: ModelName) -> Provider:
        """Open the provider of a model."""
        ...

    def around(self, provider: Provider, name: ModelName) -> Provider:
        """Put the run's cache, retries, rate limits and budget around a provider that the caller has opened."""
        ...

    @property
    def is_dry(self) -> bool:
        """Whether calls are only counted."""
        ...


AnyJudge = TypeVar("AnyJudge")


def bound(judge: AnyJudge, source: ProviderSource) -> AnyJudge:
    """Return a judge with its providers opened by a run.

    A judge that has no `bind` is returned as it is. In a dry run it is not asked: its calls could not be counted.
    """
    own: Callable[[ProviderSource], AnyJudge] | None = getattr(judge, "bind", None)
    if own is not None:
        return own(source)
    return cast(AnyJudge, _NotAsked()) if source.is_dry else judge


class _NotAsked:
    """Stands for a judge in a dry run."""

    async def judge(self, item: Item, *, repeat: int = 0) -> Outcome:
        """Return a failure."""
        return await self.outcome(item.candidate, item.context, repeat=repeat)

    async def outcome(
        self,
        candidate: str,  # noqa: ARG002 - nothing is asked
        context: Mapping[str, Any] | None = None,  # noqa: ARG002
        *,
        repeat: int = 0,  # noqa: ARG002
    ) -> Outcome:
        """Return a failure."""
        return Failure("nothing is asked in a dry run", "not_recorded")
