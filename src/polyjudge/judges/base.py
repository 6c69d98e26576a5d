"""What a judge is, and the methods that all judges share."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from copy import copy
from types import CoroutineType
from typing import Any, NoReturn, Protocol, TypeVar, cast

from polyjudge.concurrency.pool import in_order
from polyjudge.concurrency.sync import run_sync
from polyjudge.errors import NotRecordedError, ProviderError, RefusedError, TransientError, UnreadableReplyError
from polyjudge.records.outcomes import Failure, Item, JudgeResult, Outcome, RunOutcome
from polyjudge.records.requests import ModelName

from .asking import Asker, ProviderSource

T = TypeVar("T")
Context = Mapping[str, Any]
Candidate = str | tuple[str, Context] | Item
"""A candidate, alone, with its context, or as an item."""


class Judge(Protocol):
    """Judges a candidate."""

    async def outcome(self, candidate: str, context: Context | None = None, *, repeat: int = 0) -> Outcome:
        """Return a result, or a failure with its reason; never raise because the judge failed."""
        ...


class ItemWorker(Protocol):
    """Does the work of a run, item by item: a judge, or a generator of texts."""

    async def judge(self, item: Item, *, repeat: int = 0) -> RunOutcome:
        """Return a result, a generated text, or a failure with its reason; raise only what stops the run."""
        ...


class ItemJudge(ItemWorker, Protocol):
    """Judges the items of a run.

    It may also have `bind(source)`, which returns the judge with its providers opened by the run; `models` with their
    addresses; `fingerprint`, which changes when its prompts do; `rubric`; `prompt_hashes(item)`, of prompts that may
    have judged it; `prepare`, the work before the first item; `settled(item)`, an outcome of that work; and `aclose`.
    """

    async def judge(self, item: Item, *, repeat: int = 0) -> Outcome:
        """Return a result, or a failure with its reason; raise only what stops the run."""
        ...


class CandidateJudge(ItemJudge, Judge, Protocol):
    """Judges candidates, and the items of a run."""


class _Asking(Protocol):
    asker: Asker


def judge(self: Judge, item: Item, *, repeat: int = 0) -> "CoroutineType[Any, Any, Outcome]":
    """Judge an item of a run."""
    return self.outcome(item.candidate, item.context, repeat=repeat)


def asked_fingerprint(judge: object) -> str:
    """Return the fingerprint of what a judge is asked, as in the provenance of its results."""
    return getattr(judge, "asked_fingerprint", "") or getattr(judge, "fingerprint", "")


class _Adapted:
    def __init__(self, judge: Judge) -> None:
        self._judge = judge

    async def judge(self, item: Item, *, repeat: int = 0) -> Outcome:
        return await self._judge.outcome(item.candidate, item.context, repeat=repeat)

    async def aclose(self) -> None:
        await close_judge(self._judge)


def as_item_judge(judge: ItemJudge | Judge) -> ItemJudge:
    """Return a judge that judges items: the judge itself, or an adapter around its `outcome`."""
    return cast(ItemJudge, judge) if hasattr(judge, "judge") else _Adapted(cast(Judge, judge))


def bound(judge: T, source: ProviderSource) -> T:
    """Return a judge with its providers opened by a run, or the judge itself if it has no `bind`."""
    own: Callable[[ProviderSource], T] | None = getattr(judge, "bind", None)
    if own is not None:
        return own(source)
    return cast(T, _DryRunJudge()) if source.is_dry else judge


class _DryRunJudge:
    """Replaces a judge without `bind` in a dry run, because its calls cannot be counted."""

    judge = judge

    async def outcome(self, *_: object, **__: object) -> Outcome:
        return Failure("a dry run makes no calls", "not_recorded")


BoundJudge = TypeVar("BoundJudge", bound=_Asking)


def bind(self: BoundJudge, source: ProviderSource) -> BoundJudge:
    """Return this judge with its provider opened by a run, so that the run's cache and limits apply to it."""
    bound = copy(self)
    bound.asker = self.asker.bind(source)
    return bound


ModelAddresses = tuple[tuple[ModelName, str], ...]
"""Models with their addresses, which are empty for the vendor's own."""


def models(self: _Asking) -> ModelAddresses:
    """Return the judge's model with its address."""
    return (self.asker.model(),)


async def aclose(self: _Asking) -> None:
    """Close the provider's connections; the next question opens new ones."""
    await self.asker.aclose()


async def score(judge: Judge, candidate: str, context: Context | None = None) -> JudgeResult:
    """Return the judge's result for one candidate; raise an error if there is no verdict."""
    outcome = await judge.outcome(candidate, context)
    if isinstance(outcome, Failure):
        raise_failure(outcome)
    return outcome


async def score_batch(judge: Judge, items: Sequence[Candidate], concurrency: int = 5) -> list[Outcome]:
    """Judge candidates concurrently; return results and failures in the order of the items."""

    async def one(item: Candidate) -> Outcome:
        if isinstance(item, Item):
            return await as_item_judge(judge).judge(item)
        candidate, context = (item, None) if isinstance(item, str) else _unpacked(item)
        if not isinstance(candidate, str):
            return Failure(f"an item must be a text, or a text and its context, not {str(item)[:100]!r}", "bad_item")
        return await judge.outcome(candidate, context)

    return [outcome async for outcome in in_order(one, items, concurrency=concurrency)]


def _unpacked(item: object) -> tuple[object, Context | None]:
    """Return the text and the context of an item, or None for both if it is not such a pair."""
    is_pair = isinstance(item, tuple | list) and len(cast(Sequence[object], item)) == 2
    return cast(tuple[object, Context | None], tuple(cast(Sequence[object], item))) if is_pair else (None, None)


def score_sync(judge: Judge, candidate: str, context: Context | None = None) -> JudgeResult:
    """Call `score` from synchronous code or a notebook."""
    return run_sync(then_close(judge, score(judge, candidate, context)))


def score_batch_sync(judge: Judge, items: Sequence[Candidate], concurrency: int = 5) -> list[Outcome]:
    """Call `score_batch` from synchronous code or a notebook."""
    return run_sync(then_close(judge, score_batch(judge, items, concurrency)))


async def close_judge(judge: object) -> None:
    """Close a judge's connections, if it has any; it opens new ones for its next question."""
    if (close := getattr(judge, "aclose", None)) is not None:
        await close()


async def then_close(judge: object, work: Awaitable[T]) -> T:
    """Await work, then close the judge's connections before the event loop ends: each sync call has its own loop."""
    try:
        return await work
    finally:
        await close_judge(judge)


def raise_failure(failure: Failure) -> NoReturn:
    """Raise the error of a failure."""
    if failure.kind in ("unreadable", "refused"):
        raise (UnreadableReplyError if failure.kind == "unreadable" else RefusedError)(failure.reason, text=failure.raw)
    errors = {"transient": TransientError, "not_recorded": NotRecordedError}
    raise errors.get(failure.kind, ProviderError)(failure.reason)
