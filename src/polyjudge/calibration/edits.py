"""EditPlan and apply edits of a given severity."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from math import ceil
from random import Random
from typing import NamedTuple, TypeVar

Chosen = TypeVar("Chosen")


@dataclass(frozen=True, slots=True)
class EditContext:
    """What a way of spoiling may draw on beside the text itself."""

    language: str = ""
    """A BCP 47 tag."""
    source: str = ""
    """What the text is a translation of."""
    neighbour: str = ""
    """The same content in a neighbouring language."""
    others: tuple[str, ...] = ()
    """Other good texts in the same language."""


class SeededRandom:
    """Chances that fall alike on every machine: of Python's generator only `random()` is promised to stay as it is."""

    def __init__(self, *seeds: str | int) -> None:
        digest = sha256("\x1f".join(map(str, seeds)).encode("utf-8", "surrogatepass")).digest()
        self._random = Random(int.from_bytes(digest, "big"))

    def below(self, count: int) -> int:
        """Return a whole number from 0 to one below `count`."""
        return int(self._random.random() * count)

    def pick(self, among: Sequence[Chosen]) -> Chosen:
        """Return one of several."""
        return among[self.below(len(among))]

    def shuffled(self, among: Sequence[Chosen]) -> list[Chosen]:
        """Return all of them in another order."""
        found = list(among)
        for place in range(len(found) - 1, 0, -1):
            other = self.below(place + 1)
            found[place], found[other] = found[other], found[place]
        return found


@dataclass(frozen=True, slots=True)
class Draft:
    """A text about to be spoiled."""

    text: str
    dice: SeededRandom
    surroundings: EditContext


class Edit(NamedTuple):
    """A stretch of the text and what comes in its place."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class EditPlan:
    """Edits in their order: the text with the first of them done, for any number up to `count`."""

    count: int
    version: Callable[[int], str]
    is_sure: bool = False
    """Whether each edit only deletes or each only inserts, so that more of them never change less."""


NOTHING = EditPlan(0, lambda _: "")
"""The plan of a text that cannot be spoiled so."""


def plan_edits(text: str, edits: Sequence[Edit], *, is_sure: bool = False) -> EditPlan:
    """Return the plan of edits that do not overlap; those that change nothing are left out."""
    wanted = [edit for edit in edits if text[edit.start : edit.end] != edit.text]
    return EditPlan(len(wanted), lambda count: edited(text, wanted[:count]), is_sure)


def edited(text: str, edits: Sequence[Edit]) -> str:
    """Return the text with edits made that do not overlap."""
    parts: list[str] = []
    place = 0
    for edit in sorted(edits):
        parts += [text[place : edit.start], edit.text]
        place = edit.end
    return "".join((*parts, text[place:]))


def share(count: int, most: float) -> int:
    """Return how many of `count` are `most` of them: at least one, if there are any."""
    return min(count, max(1, ceil(count * most)))


def apart(edits: Sequence[Edit]) -> list[Edit]:
    """Return the edits that overlap none before them in the order."""
    taken: set[int] = set()
    found: list[Edit] = []
    for edit in edits:
        span = range(edit.start, max(edit.end, edit.start + 1))
        if taken.isdisjoint(span):
            taken.update(span)
            found.append(edit)
    return found
