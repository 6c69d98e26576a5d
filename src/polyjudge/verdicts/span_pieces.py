"""Cut texts into the pieces that the same annotators mark, and describe each piece by numbers."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from math import log, log1p
from typing import NamedTuple

import numpy as np
from msgspec import Struct, convert

from polyjudge.checks.checker import TextChecker
from polyjudge.files.text_files import read_toml
from polyjudge.languages.table import language_table
from polyjudge.statistics.resampling import Floats
from polyjudge.statistics.span_matching import IN_SOURCE, Mark, SpanAnnotation

_NEARLY_ALL = 0.8
_CHECKED_TEXTS = 8_192
"""Texts whose checks are kept, because each is described again for every part that is left out."""
_OF_TEXT = (
    "mean log length",
    "its square",
    "log length of the text",
    "annotators with errors",
    "log errors",
    "mean share marked",
    "log errors by length",
    "largest share of the text",
    "nearly the whole text",
    "a check fails",
    "a check warns",
)
_KINDS = "span_kinds.toml"


class AnnotatedText(Struct, frozen=True, kw_only=True):
    """One text with the annotations of all judges, and those of people."""

    judges: Mapping[str, SpanAnnotation]
    people: Mapping[str, SpanAnnotation] = {}

    @property
    def any_one(self) -> SpanAnnotation:
        """Any of the annotations: each has the text."""
        return next(iter((*self.judges.values(), *self.people.values())))


class Piece(NamedTuple):
    """A part of a text, and who marks it, each with the gravest of the spans that contain it."""

    start: int
    end: int
    marks: Mapping[str, Mark]

    @property
    def length(self) -> int:
        """The number of its characters."""
        return self.end - self.start


def pieces(annotations: Mapping[str, SpanAnnotation], *, also: Sequence[SpanAnnotation] = ()) -> Iterator[Piece]:
    """Yield the marked pieces of a text; it is cut where a span of an annotator, or of `also`, begins or ends."""
    events: list[tuple[int, int, str, Mark | None]] = []
    for name, annotation in annotations.items():
        for mark in annotation.marks:
            events += [(mark.start, 1, name, mark), (mark.end, -1, name, mark)]
    cuts = {place for each in also for mark in each.marks for place in mark[:2]}
    events += [(place, 0, "", None) for place in cuts]
    events.sort(key=lambda event: event[0])
    active: dict[str, list[Mark]] = {}
    last = 0
    for place, change, name, mark in events:
        if place > last and active:
            yield Piece(last, place, {who: max(marks, key=_gravity) for who, marks in active.items()})
        last = place
        if change > 0 and mark is not None:
            active.setdefault(name, []).append(mark)
        elif change < 0 and mark is not None:
            active[name].remove(mark)
            if not active[name]:
                del active[name]


def _gravity(mark: Mark) -> tuple[bool, int]:
    return mark.severity != "minor", mark.end - mark.start


def feature_names(annotators: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the numbers that describe a piece."""
    by_judge = (f"{name}{does}" for does in (" marks it", ": major") for name in annotators)
    return ("one", *by_judge, *_OF_TEXT, *(f"kind: {kind}" for kind in _kind_words()))


def features(text: AnnotatedText, marked: Sequence[Piece], annotators: Sequence[str]) -> Floats:
    """Return a row of numbers for each piece of a text."""
    about = _about_text(text, annotators)
    return np.array([_row(piece, about, annotators) for piece in marked]).reshape(
        len(marked), len(feature_names(annotators))
    )


class _About(NamedTuple):
    lengths: tuple[int, int]
    """Of the output and the source."""
    numbers: tuple[float, ...]
    checks: tuple[float, float]


def _row(piece: Piece, about: _About, annotators: Sequence[str]) -> list[float]:
    mine = [piece.marks.get(name) for name in annotators]
    spans = [mark.end - mark.start for mark in mine if mark is not None] or [1]
    typical, size = log(max(1.0, sum(spans) / len(spans))), about.lengths[piece.start >= IN_SOURCE]
    largest = max(spans) / max(size, *spans)
    kinds = {kind for mark in mine if mark is not None for kind in kinds_of(mark.category, mark.explanation)}
    return [
        1.0,
        *(float(mark is not None) for mark in mine),
        *(float(mark is not None and mark.severity != "minor") for mark in mine),
        typical,
        typical**2,
        log(max(size, 1)),
        *about.numbers,
        largest,
        float(largest > _NEARLY_ALL),
        *about.checks,
        *(float(kind in kinds) for kind in _kind_words()),
    ]


@lru_cache(maxsize=_CHECKED_TEXTS)
def kinds_of(category: str, explanation: str) -> frozenset[str]:
    """Return the kinds of errors that the words of a category and an explanation name."""
    words = f"{category} {explanation}".casefold()
    return frozenset(kind for kind, parts in _kind_words().items() if any(part in words for part in parts))


@lru_cache(maxsize=1)
def _kind_words() -> Mapping[str, Sequence[str]]:
    return convert(read_toml(files("polyjudge.verdicts") / _KINDS), dict[str, list[str]])


def _about_text(text: AnnotatedText, annotators: Sequence[str]) -> _About:
    given = [text.judges[name] for name in annotators if name in text.judges]
    ends = [mark.end % IN_SOURCE for each in given for mark in each.marks] or [1]
    candidate, source = text.any_one.candidate, text.any_one.source
    length = len(candidate) or max(ends)
    marks = [mark for each in given for mark in each.marks]
    share = sum(mark.end - mark.start for mark in marks) / length / max(len(annotators), 1)
    numbers = (
        float(sum(bool(each.marks) for each in given)),
        log1p(len(marks)),
        share,
        log1p(100 * len(marks) / length),
    )
    return _About((length, len(source) or length), numbers, _checked(candidate, source, text.any_one.language))


@lru_cache(maxsize=_CHECKED_TEXTS)
def _checked(candidate: str, source: str, tag: str) -> tuple[float, float]:
    """Return whether a check of our own fails or warns of a text, if its language is known."""
    language = language_table().find(tag) if tag else None
    if not candidate or language is None:
        return 0.0, 0.0
    found = {each.severity for each in TextChecker(language_table()).check(candidate, language, source=source).problems}
    return float("fail" in found), float("warn" in found)
