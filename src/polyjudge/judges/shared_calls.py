"""Calls about several items: the first item makes the call, and the others wait for it."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from typing import Generic, TypeVar

from polyjudge.concurrency.pool import Slots

Answer = TypeVar("Answer")


class SharedCalls(Generic[Answer]):
    """The answers of calls, by the number of the call; waiting items lend their slots to others."""

    def __init__(self, slots: Slots | None) -> None:
        self._slots = slots
        self._answers: dict[int, asyncio.Future[Answer]] = {}

    async def answer(self, number: int, ask: Callable[[], Awaitable[Answer]]) -> Answer:
        """Return the answer of a call; `ask` makes it for the first item."""
        if (known := self._answers.get(number)) is not None:
            with nullcontext() if self._slots is None or known.done() else self._slots.lent():
                return await asyncio.shield(known)
        answer = self._answers[number] = asyncio.get_running_loop().create_future()
        answer.add_done_callback(_retrieve_error)
        try:
            answer.set_result(await ask())
        except BaseException as error:
            if isinstance(error, asyncio.CancelledError):
                answer.cancel()
            else:
                answer.set_exception(error)
            raise
        return answer.result()


def _retrieve_error(answer: "asyncio.Future[Answer]") -> None:
    """Mark the error of a call as retrieved: the item that made the call raises it."""
    if not answer.cancelled():
        answer.exception()
