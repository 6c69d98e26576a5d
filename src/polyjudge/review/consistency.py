"""Compare the messages of one language with each other: one source with two translations, and the reverse."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

from polyjudge.records.findings import Finding, Severity
from polyjudge.records.messages import Message

from .accelerators import IN_BRACKETS, accelerator_mark, accelerator_places

_SHORT = 2
"""Words of a label whose translation may depend on where it is."""
_LONGEST_NAMED = 60
_MOST_PER_TRANSLATION = 8
"""More sources with one translation are names or symbols."""
_ENDING = re.compile(r"[\s.:…!?。：；;،؟]+\Z")
_NEGATION = {"not", "no", "never", "don't", "doesn't", "cannot", "can't", "isn't", "won't", "without"}


class Place(NamedTuple):
    """Where a message is."""

    file: str
    message: Message
    is_wanted: bool
    """Findings in it are reported."""


class Pair(NamedTuple):
    """A finding about a message in comparison with others."""

    place: Place
    finding: Finding


@dataclass(slots=True)
class Consistency:
    """What the messages of one language say, gathered file by file."""

    _by_source: dict[tuple[str, str], list[Place]] = field(
        default_factory=lambda: defaultdict[tuple[str, str], list[Place]](list)
    )

    def add(self, file: str, message: Message, *, is_wanted: bool) -> None:
        """Add a message that has a translation."""
        key = message.source.strip(), message.plural
        self._by_source[key].append(Place(file, message, is_wanted))

    def findings(self) -> Iterator[Pair]:
        """Yield the findings in messages that are wanted."""
        for places in self._by_source.values():
            if len(places) > 1:
                yield from _inconsistent(places)
        yield from self._same()

    def _same(self) -> Iterator[Pair]:
        """Find sources that say opposite things and have one translation."""
        by_translation = defaultdict[str, dict[str, Place]](dict)
        for (source, plural), places in self._by_source.items():
            if not plural or plural == "other":
                for place in places:
                    plain = _plain(source, source)
                    by_translation[_plain(place.message.translation, source)].setdefault(plain, place)
        for found in by_translation.values():
            if 1 < len(found) <= _MOST_PER_TRANSLATION:
                yield from _opposites(found)


def _plain(text: str, source: str) -> str:
    """Return a text without its shortcut, its case and the marks at its end."""
    mark = accelerator_mark(source)
    if mark and mark in text:
        text = IN_BRACKETS.sub("", text)
        left_out = set(accelerator_places(text, mark))
        text = "".join(char for place, char in enumerate(text) if place not in left_out)
    return " ".join(_ENDING.sub("", text).casefold().split())


def _inconsistent(places: Sequence[Place]) -> Iterator[Pair]:
    texts = [_plain(place.message.translation, place.message.source) for place in places]
    counted = Counter(texts)
    if len(counted) == 1:
        return
    first = dict(zip(reversed(texts), reversed(places), strict=True))
    usual = max(counted, key=lambda text: (counted[text], texts.index(text) == 0))
    is_short = len(places[0].message.source.split()) <= _SHORT
    seen = set[str]()
    for text, place in zip(texts, places, strict=True):
        # The usual translation is named only if none of the others is reported.
        is_other = text != usual or not any(
            each.is_wanted for own, each in zip(texts, places, strict=True) if own != usual
        )
        if not place.is_wanted or not is_other or text in seen:
            continue
        seen.add(text)
        other = first[usual if text != usual else next(each for each in counted if each != usual)]
        # Another context may well need another translation.
        severity: Severity = "info" if is_short or place.message.context != other.message.context else "warn"
        message = f"The same source is translated as {_quoted(other.message.translation)} at {_named(other)}."
        yield Pair(place, Finding("inconsistent", severity, message))


def _opposites(found: dict[str, Place]) -> Iterator[Pair]:
    for source, place in found.items():
        other = next((each for each in found if place.is_wanted and are_opposite(source, each)), None)
        if other is not None:
            message = (
                f"Ambiguous: {_quoted(found[other].message.source)} at {_named(found[other])} has the same translation."
            )
            yield Pair(place, Finding("same_translation", "warn", message))


def are_opposite(first: str, second: str) -> bool:
    """Say whether two English sources differ only by words that say opposite things, or by a negation."""
    ours, theirs = first.split(), second.split()
    if abs(len(ours) - len(theirs)) == 1:
        longer, shorter = (ours, theirs) if len(ours) > len(theirs) else (theirs, ours)
        added = Counter(longer) - Counter(shorter)
        return added.total() == 1 and next(iter(added)) in _NEGATION and len(shorter) > 1
    if len(ours) != len(theirs):
        return False
    differing = [pair for pair in zip(ours, theirs, strict=True) if pair[0] != pair[1]]
    return bool(differing) and len(differing) <= _SHORT and all(frozenset(pair) in _pairs() for pair in differing)


@lru_cache(maxsize=1)
def _pairs() -> frozenset[frozenset[str]]:
    lines = (files("polyjudge.review") / "opposites.txt").read_text(encoding="utf-8").splitlines()
    return frozenset(frozenset(line.split()) for line in lines if line and not line.startswith("#"))


def _named(place: Place) -> str:
    return f"{place.file}:{place.message.line}"


def _quoted(text: str) -> str:
    return repr(text if len(text) <= _LONGEST_NAMED else f"{text[:_LONGEST_NAMED]}…")
