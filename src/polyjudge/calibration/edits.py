"""Plan the edits of a perturbation, and apply as many of them as its severity asks for."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from math import ceil
from random import Random
from typing import NamedTuple, TypeVar

Chosen = TypeVar("Chosen")


@dataclass(frozen=True, slots=True)
class EditContext:
    """What a perturbation may use besides the text itself."""

    language: str = ""
    """A BCP 47 tag."""
    source: str = ""
    """The text that this one is a translation of."""
    neighbour: str = ""
    """The same content in a neighbouring language."""
    others: tuple[str, ...] = ()
    """Other reference texts in the same language."""


class SeededRandom:
    """Random choices that are the same on every machine: only `random()` of Python's generator is stable."""

    def __init__(self, *seeds: str | int) -> None:
        digest = sha256("\x1f".join(map(str, seeds)).encode("utf-8", "surrogatepass")).digest()
        self._random = Random(int.from_bytes(digest, "big"))

    def below(self, count: int) -> int:
        """Return a random integer from 0 to `count` - 1."""
        return int(self._random.random() * count)

    def pick(self, among: Sequence[Chosen]) -> Chosen:
        """Return a random element."""
        return among[self.below(len(among))]

    def shuffled(self, among: Sequence[Chosen]) -> list[Chosen]:
        """Return all elements in random order."""
        found = list(among)
        for index in range(len(found) - 1, 0, -1):
            other = self.below(index + 1)
            found[index], found[other] = found[other], found[index]
        return found


@dataclass(frozen=True, slots=True)
class Draft:
    """A text to perturb, with its source of randomness and its context."""

    text: str
    random: SeededRandom
    context: EditContext


class Edit(NamedTuple):
    """A span of the text and its replacement."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class EditPlan:
    """An ordered list of edits: `version(n)` is the text after the first `n` of `count` edits."""

    count: int
    version: Callable[[int], str]
    is_sure: bool = False
    """Whether all edits only delete or all only insert, so that the distance from the text never falls."""


NOTHING = EditPlan(0, lambda _: "")
"""The plan of a text that a perturbation does not apply to."""


def plan_edits(text: str, edits: Sequence[Edit], *, is_sure: bool = False) -> EditPlan:
    """Return the plan of edits that do not overlap, without those that change nothing."""
    wanted = [edit for edit in edits if text[edit.start : edit.end] != edit.text]
    return EditPlan(len(wanted), lambda count: edited(text, wanted[:count]), is_sure)


def edited(text: str, edits: Sequence[Edit]) -> str:
    """Apply edits that do not overlap."""
    parts: list[str] = []
    index = 0
    for edit in sorted(edits):
        parts += [text[index : edit.start], edit.text]
        index = edit.end
    return "".join((*parts, text[index:]))


def share(count: int, most: float) -> int:
    """Return the share `most` of `count`, rounded up: at least one, if there are any."""
    return min(count, max(1, ceil(count * most)))


def apart(edits: Sequence[Edit]) -> list[Edit]:
    """Drop the edits that overlap an earlier one."""
    taken: set[int] = set()
    found: list[Edit] = []
    for edit in edits:
        span = range(edit.start, max(edit.end, edit.start + 1))
        if taken.isdisjoint(span):
            taken.update(span)
            found.append(edit)
    return found
