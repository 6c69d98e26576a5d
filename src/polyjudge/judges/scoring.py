"""What every judge of single candidates can do once it can judge one: these functions are its methods."""

from collections.abc import Awaitable, Mapping, Sequence
from typing import Any, NoReturn, Protocol, TypeVar, cast

from polyjudge.engine import in_order, run_sync
from polyjudge.errors import NotRecordedError, ProviderError, RefusedError, TransientError, UnreadableReplyError
from polyjudge.records import Failure, JudgeResult, Outcome

Done = TypeVar("Done")
Context = Mapping[str, Any]
Item = str | tuple[str, Context]
"""A candidate, alone or with its context."""


class Judge(Protocol):
    """Anything that can judge a candidate."""

    async def outcome(self, candidate: str, context: Context | None = None, *, repeat: int = 0) -> Outcome:
        """Return a result, or a failure with its reason; never raise because the judge failed."""
        ...


async def score(judge: Judge, candidate: str, context: Context | None = None) -> JudgeResult:
    """Return the judge's result for one candidate; raise when there is no verdict."""
    outcome = await judge.outcome(candidate, context)
    if isinstance(outcome, Failure):
        raise_failure(outcome)
    return outcome


async def score_batch(judge: Judge, items: Sequence[Item], concurrency: int = 5) -> list[Outcome]:
    """Judge many candidates, so many at a time; results in the order of the items, failures among them."""

    async def one(item: Item) -> Outcome:
        candidate, context = (item, None) if isinstance(item, str) else _unpacked(item)
        if not isinstance(candidate, str):
            return Failure(f"an item is a text, or a text and its context, not {str(item)[:100]!r}", "bad_item")
        return await judge.outcome(candidate, context)

    return [outcome async for outcome in in_order(one, items, concurrency=concurrency)]


def _unpacked(item: object) -> tuple[object, Context | None]:
    """Take apart what should be a text and its context; not everybody checks types."""
    if isinstance(item, tuple | list) and len(cast(Sequence[object], item)) == 2:
        candidate, context = cast(tuple[object, Context | None], item)
        return candidate, context
    return None, None


def score_sync(judge: Judge, candidate: str, context: Context | None = None) -> JudgeResult:
    """Do what `score` does, from ordinary code or a notebook."""
    return run_sync(then_close(judge, score(judge, candidate, context)))


def score_batch_sync(judge: Judge, items: Sequence[Item], concurrency: int = 5) -> list[Outcome]:
    """Do what `score_batch` does, from ordinary code or a notebook."""
    return run_sync(then_close(judge, score_batch(judge, items, concurrency)))


async def close_judge(judge: object) -> None:
    """Close what a judge has open, if anything; it opens it anew when it is asked again."""
    close = getattr(judge, "aclose", None)
    if close is not None:
        await close()


async def then_close(judge: object, work: Awaitable[Done]) -> Done:
    """Close connections before their loop ends: each sync call has a loop of its own."""
    try:
        return await work
    finally:
        await close_judge(judge)


def raise_failure(failure: Failure) -> NoReturn:
    """Raise the error that a failure stands for."""
    if failure.kind == "unreadable":
        raise UnreadableReplyError(failure.reason, text=failure.raw)
    if failure.kind == "refused":
        raise RefusedError(failure.reason, text=failure.raw)
    if failure.kind == "transient":
        raise TransientError(failure.reason)
    if failure.kind == "not_recorded":
        raise NotRecordedError(failure.reason)
    raise ProviderError(failure.reason)
