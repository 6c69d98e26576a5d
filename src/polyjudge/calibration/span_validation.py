"""Measure a consensus of spans on texts that it was not learnt from, beside each judge alone and plain votes."""

from collections.abc import Callable, Hashable, Mapping, Sequence

import numpy as np
from msgspec import Struct

from polyjudge.errors import ConfigError
from polyjudge.records.calibration import Figure
from polyjudge.records.spans import ErrorSpan
from polyjudge.statistics.logistic import Aim
from polyjudge.statistics.span_agreement import SpanCounts, difference_figure, span_counts, span_figures
from polyjudge.statistics.span_matching import Mark

from .span_consensus import as_marks, consensus_spans, learn_consensus, voted_spans
from .span_pieces import AnnotatedText

Part = Callable[[AnnotatedText], Hashable]


class Validation(Struct, frozen=True, kw_only=True, rename="camel"):
    """How good a consensus is on texts that it was not learnt from."""

    texts: int
    parts: int
    """The texts of a part were judged by what was learnt from all others."""
    consensus: Mapping[str, Figure]
    single: Mapping[str, Mapping[str, Figure]]
    """By judge."""
    votes: Mapping[str, Mapping[str, Figure]]
    """By the number of judges that must mark a character."""
    best_single: str = ""
    """The judge with the highest F1 on these very texts."""
    gain: Figure = Figure()
    """The F1 of the consensus less that of this judge."""


def in_halves(texts: Sequence[AnnotatedText], seed: int = 0) -> Part:
    """Return the half of a text; the texts of a document are in the same one."""
    names = sorted({_document(text) for text in texts})
    order: list[int] = np.random.default_rng(seed).permutation(len(names)).tolist()
    half = {names[name]: int(place < len(names) / 2) for place, name in enumerate(order)}
    return lambda text: half[_document(text)]


def by_language(text: AnnotatedText) -> Hashable:
    """Return the language of a text, for leaving out each in turn."""
    return text.any_one.language


def validated(
    texts: Sequence[AnnotatedText],
    part: Part,
    *,
    aim: Aim = "f1",
    precision: float = 0.0,
    resamples: int = 1000,
    seed: int = 0,
) -> Validation:
    """Learn from all parts but one, combine the spans of that one, and compare them with those of people."""
    known = [text for text in texts if text.people and text.judges]
    parts = sorted({part(text) for text in known}, key=str)
    if len(parts) < 2:
        raise ConfigError("There is one part only, so nothing was left to learn from.")
    found: dict[int, tuple[ErrorSpan, ...]] = {}
    for left_out in parts:
        rest = [text for text in known if part(text) != left_out]
        consensus = learn_consensus(rest, aim=aim, precision=precision)
        found |= {place: consensus_spans(text, consensus) for place, text in enumerate(known) if part(text) == left_out}
    clusters = [_document(text) for text in known for _ in text.people]
    names = sorted({name for text in known for name in text.judges})

    def counts(marks_of: Callable[[int, AnnotatedText], Sequence[Mark]]) -> list[SpanCounts]:
        return [
            span_counts(marks, person.marks)
            for place, text in enumerate(known)
            for marks in (marks_of(place, text),)
            for person in text.people.values()
        ]

    def figures(given: list[SpanCounts]) -> Mapping[str, Figure]:
        return span_figures(given, clusters, resamples=resamples, seed=seed)

    combined = counts(lambda place, _: as_marks(found[place]))
    alone = {name: counts(lambda _, text, name=name: _marks(text, name)) for name in names}
    single = {name: figures(given) for name, given in alone.items()}
    best = max(single, key=lambda name: single[name]["char_f1_any_severity"].value or 0.0)
    return Validation(
        texts=len(known),
        parts=len(parts),
        consensus=figures(combined),
        single=single,
        votes={
            str(least): figures(counts(lambda _, text, least=least: as_marks(voted_spans(text, least))))
            for least in range(1, len(names) + 1)
        },
        best_single=best,
        gain=difference_figure(combined, alone[best], "char_f1_any_severity", clusters, resamples=resamples, seed=seed),
    )


def _document(text: AnnotatedText) -> str:
    return f"{text.any_one.language}|{text.any_one.cluster or text.any_one.unit}"


def _marks(text: AnnotatedText, name: str) -> Sequence[Mark]:
    return text.judges[name].marks if name in text.judges else ()
