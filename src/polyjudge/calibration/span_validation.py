"""Measure a consensus of spans on texts that it was not learnt from, beside each judge alone and plain votes."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial

import numpy as np
from msgspec import Struct

from polyjudge.errors import ConfigError
from polyjudge.records.calibration import Figure
from polyjudge.records.spans import Aim
from polyjudge.statistics.span_agreement import SpanCounts, difference_figure, span_counts, span_figures
from polyjudge.statistics.span_matching import Mark
from polyjudge.verdicts.span_consensus import as_marks, consensus_spans, voted_spans
from polyjudge.verdicts.span_pieces import AnnotatedText

from .span_learning import learn_consensus

_DECIDES = "char_f1_any_severity"
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
        raise ConfigError(
            "The consensus cannot be validated: all texts are in one document, so that none is left to learn from. "
            "Give texts of several documents."
        )
    clusters = [_document(text) for text in known for _ in text.people]
    figures = partial(span_figures, clusters=clusters, resamples=resamples, seed=seed)
    combined = _counts(known, _left_out(known, [part(text) for text in known], aim, precision))
    names = sorted({name for text in known for name in text.judges})
    alone = {name: _counts(known, [_marks(text, name) for text in known]) for name in names}
    votes = {
        str(least): _counts(known, [as_marks(voted_spans(text, least)) for text in known])
        for least in range(1, len(names) + 1)
    }
    single = {name: figures(given) for name, given in alone.items()}
    best = max(single, key=lambda name: single[name][_DECIDES].value or 0.0)
    return Validation(
        texts=len(known),
        parts=len(parts),
        consensus=figures(combined),
        single=single,
        votes={least: figures(given) for least, given in votes.items()},
        best_single=best,
        gain=difference_figure(combined, alone[best], _DECIDES, clusters, resamples=resamples, seed=seed),
    )


def _left_out(
    texts: Sequence[AnnotatedText], parts: Sequence[Hashable], aim: Aim, precision: float
) -> list[Sequence[Mark]]:
    """Return the combined spans of each text, by what was learnt from the texts of all other parts."""
    learnt = {
        left_out: learn_consensus(
            [text for text, part in zip(texts, parts, strict=True) if part != left_out], aim=aim, precision=precision
        )
        for left_out in dict.fromkeys(parts)
    }
    return [as_marks(consensus_spans(text, learnt[part])) for text, part in zip(texts, parts, strict=True)]


def _counts(texts: Sequence[AnnotatedText], marks: Sequence[Sequence[Mark]]) -> list[SpanCounts]:
    """Compare the marks of each text with those of each of its people."""
    return [
        span_counts(ours, person.marks)
        for text, ours in zip(texts, marks, strict=True)
        for person in text.people.values()
    ]


def _document(text: AnnotatedText) -> str:
    return f"{text.any_one.language}|{text.any_one.cluster or text.any_one.unit}"


def _marks(text: AnnotatedText, name: str) -> Sequence[Mark]:
    return text.judges[name].marks if name in text.judges else ()
