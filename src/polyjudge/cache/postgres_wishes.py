"""What those who use a shared cache wish for, and the questions that several of them may wait for together."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeAlias, TypeVar

from polyjudge.errors import DataError
from polyjudge.records import JudgeResult, Reply

from .entries import Kind, decode_kept
from .postgres_database import lock_number
from .stored_text import stored
from .waking import Waiting

Record = TypeVar("Record", Reply, JudgeResult)

_SHORTEST_PAUSE_S, _LONGEST_PAUSE_S = 0.002, 0.1


class Wish(Generic[Record]):
    """To know what is kept under a key; with `claims`, to ask the question oneself if nobody has answered it."""

    __slots__ = ("claims", "is_answered", "key", "kind", "problem", "record_type", "since", "waiting")

    def __init__(
        self,
        record_type: type[Record],
        key: str,
        since: str = "",
        *,
        loop: asyncio.AbstractEventLoop | None = None,
        claims: bool = False,
    ) -> None:
        self.record_type = record_type
        self.kind: Kind = "reply" if record_type is Reply else "result"
        self.key = stored(key)
        self.since = since
        self.claims = claims
        self.waiting: Waiting[Record | None] = Waiting(loop)
        """Is told what is kept, or None: there is nothing, and the question is the wisher's to ask if they claim it."""
        self.problem = ""
        """Why an entry that is there cannot be read."""
        self.is_answered = False
        """There is no need to answer: it was done, or the wisher is gone."""

    def read(self, row: Any) -> Record | None:
        """Return what a row holds, marked as cached, where that is what is wished for."""
        if row["created_at"] < self.since:
            return None
        try:
            return decode_kept(self.record_type, row["value"], row["checksum"])
        except DataError as error:
            self.problem = f"entry {self.key} cannot be read and counts as missing: {error}"
            return None


AnyWish: TypeAlias = Wish[Any]


@dataclass(frozen=True, slots=True)
class Over:
    """A wisher is through with asking, or wishes no more."""

    wish: AnyWish


@dataclass(frozen=True, slots=True)
class Again:
    """It is time to look whether a question that another process is asking has been answered."""

    key: str


@dataclass(slots=True, eq=False)
class Question:
    """One that nobody has answered, and who in this process waits for it."""

    key: str
    wishes: list[AnyWish] = field(default_factory=list[AnyWish])
    asker: AnyWish | None = None
    """Who in this process is asking it."""
    session: Any = None
    """The connection over which the claim is held."""
    number: int = 0
    """Of the lock that is the claim."""
    pause_s: float = _SHORTEST_PAUSE_S
    timer: asyncio.TimerHandle | None = None

    def __post_init__(self) -> None:
        self.number = lock_number(self.key)

    def look_again(self, loop: asyncio.AbstractEventLoop, hand_over: Callable[[Again], object]) -> None:
        """Wait for the process that is asking: each time longer, up to a point."""
        if self.timer is not None:
            self.timer.cancel()
        self.timer = loop.call_later(self.pause_s, hand_over, Again(self.key))
        self.pause_s = min(2 * self.pause_s, _LONGEST_PAUSE_S)

    def forget_answered(self) -> None:
        """Keep only those who still wait."""
        self.wishes = [wish for wish in self.wishes if not wish.is_answered]
