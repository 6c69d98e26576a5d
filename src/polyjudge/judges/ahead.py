"""Judge without a model in several processes, ahead of the run that asks for one item after the other."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from polyjudge.concurrency.pool import Slots, StopToken
from polyjudge.concurrency.workers import FEW, Workers
from polyjudge.records.outcomes import Item, Outcome, RunOutcome

from .base import ItemJudge

_ITEMS_AT_ONCE = 100
Setup = TypeVar("Setup")


class AheadJudge:
    """A judge that waits for nothing, such as `offline`: its answers come from several processes.

    `make` is a function of a module that makes the judge from a setup, in each process. A run asks about the items in
    their order; those that it has already are left out.
    """

    def __init__(
        self,
        make: Callable[[Setup], ItemJudge],
        setup: Setup,
        items: Sequence[Item],
        *,
        jobs: int,
        few: int = FEW,
    ) -> None:
        judge = make(setup)
        self.rubric: object = getattr(judge, "rubric", None)
        self.fingerprint: str = getattr(judge, "fingerprint", "")
        self.models: Any = getattr(judge, "models", ())
        self.policy: Any = getattr(judge, "policy", None)
        self._items = items
        self._workers = Workers(_prepare, (make, setup), size=len, jobs=jobs, few=few)
        self._answers: Iterator[tuple[str, Outcome]] | None = None
        self._known = frozenset[str]()

    async def prepare(
        self, stored: Iterable[tuple[str, RunOutcome]], *, concurrency: int | Slots, stop: StopToken
    ) -> None:
        """Leave out the items whose outcomes an unfinished run has stored."""
        del concurrency, stop
        self._known = frozenset(item_id for item_id, _ in stored)

    async def judge(self, item: Item, *, repeat: int = 0) -> Outcome:
        """Return the outcome of the next item."""
        del repeat  # the result is always the same
        if self._answers is None:
            self._answers = self._judged()
        return next(outcome for item_id, outcome in self._answers if item_id == item.id)

    async def aclose(self) -> None:
        """End the processes."""
        self._workers.close(at_once=True)

    def _judged(self) -> Iterator[tuple[str, Outcome]]:
        left = [item for item in self._items if item.id not in self._known]
        chunks = (left[start : start + _ITEMS_AT_ONCE] for start in range(0, len(left), _ITEMS_AT_ONCE))
        for found in self._workers.map(chunks):
            yield from found


def _prepare(
    given: tuple[Callable[[Any], ItemJudge], Any],
) -> Callable[[Sequence[Item]], list[tuple[str, Outcome]]]:
    make, setup = given
    judge = make(setup)

    def judged(items: Sequence[Item]) -> list[tuple[str, Outcome]]:
        return [(item.id, _outcome(judge, item)) for item in items]

    return judged


def _outcome(judge: ItemJudge, item: Item) -> Outcome:
    """Run a coroutine that never waits to its end: there is a loop already, or none is needed."""
    asked: Any = judge.judge(item)
    try:
        asked.send(None)
    except StopIteration as end:
        return end.value
    raise RuntimeError(f"the judge waits for something: {item.id}")
