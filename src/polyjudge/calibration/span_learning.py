"""Learn from people how the error spans of several judges are combined."""

from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from polyjudge.errors import ConfigError
from polyjudge.records.spans import Aim, SpanConsensus
from polyjudge.statistics.logistic import fit_logistic, probabilities, threshold_for
from polyjudge.statistics.resampling import Floats
from polyjudge.verdicts.span_pieces import AnnotatedText, Piece, feature_names, features, pieces

PENALTY = 500.0
"""How strongly weights are drawn to 0; many texts share a document, so that it is high."""


class _Learnt(Struct, frozen=True):
    rows: Floats
    shares: Floats
    people: Floats
    lengths: Floats
    missed: float


def learn_consensus(
    texts: Sequence[AnnotatedText], *, aim: Aim = "f1", precision: float = 0.0, penalty: float = PENALTY
) -> SpanConsensus:
    """Learn which pieces people mark of those that judges mark, from texts that both annotated."""
    known = [text for text in texts if text.people and text.judges]
    annotators = tuple(sorted({name for text in known for name in text.judges}))
    learnt = _learnt(known, annotators)
    positive = float((learnt.shares * learnt.people).sum())
    if not positive or positive == float(learnt.people.sum()):
        raise ConfigError(
            "A consensus cannot be learnt: people marked either none or all of the spans that the judges marked. "
            "Give more texts."
        )
    model = fit_logistic(learnt.rows, learnt.shares, learnt.people, penalty=penalty)
    found = probabilities(model, learnt.rows)
    threshold = threshold_for(found, learnt.lengths, aim=aim, precision=precision, missed=learnt.missed)
    return SpanConsensus(
        annotators=annotators,
        features=feature_names(annotators),
        model=model,
        threshold=threshold,
        aim=aim,
        precision=precision,
        texts=len(known),
        clusters=len({text.any_one.cluster or text.any_one.unit for text in known}),
    )


def _learnt(texts: Sequence[AnnotatedText], annotators: Sequence[str]) -> _Learnt:
    """Return the pieces that judges mark, the share of people who mark each, and how much people mark elsewhere."""
    rows, shares, people, lengths = list[Floats](), list[float](), list[int](), list[int]()
    inside = outside = 0.0
    for text in texts:
        marked = list(pieces(text.judges, also=[*text.people.values()]))
        rows.append(features(text, marked, annotators))
        theirs = [_share(piece, text) for piece in marked]
        shares += theirs
        people += [len(text.people)] * len(marked)
        lengths += [piece.length for piece in marked]
        found = sum(piece.length * share for piece, share in zip(marked, theirs, strict=True))
        every = sum(piece.length * len(piece.marks) for piece in pieces(text.people)) / len(text.people)
        inside, outside = inside + found, outside + every - found
    table = np.concatenate(rows) if rows else np.empty((0, len(feature_names(annotators))))
    return _Learnt(
        table, np.array(shares), np.array(people, float), np.array(lengths, float), outside / inside if inside else 0.0
    )


def _share(piece: Piece, text: AnnotatedText) -> float:
    """Return the share of people who mark a piece, which no span of theirs divides."""
    marking = sum(
        any(mark.start <= piece.start and piece.end <= mark.end for mark in each.marks) for each in text.people.values()
    )
    return marking / len(text.people)
