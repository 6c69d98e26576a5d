"""Combine the error spans of several judges into spans with a probability, by weights that are learnt from people."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal, cast

import numpy as np
from msgspec import Struct

from polyjudge.errors import ConfigError, DataError, other_version
from polyjudge.formats.span_rows import IN_SOURCE
from polyjudge.records.codec import from_json
from polyjudge.records.spans import ErrorSpan, SpanSeverity
from polyjudge.statistics.logistic import Aim, LogisticModel, fit_logistic, threshold_for
from polyjudge.statistics.resampling import Floats
from polyjudge.statistics.span_matching import Mark
from polyjudge.text.quotes import whole_graphemes

from .span_pieces import AnnotatedText, Piece, feature_names, features, pieces

CONSENSUS_VERSION = 1
PENALTY = 500.0
"""How strongly weights are drawn to 0; many texts share a document, so that it is high."""
_SEVERITIES: tuple[SpanSeverity, ...] = ("minor", "major", "critical")


class SpanConsensus(Struct, frozen=True, kw_only=True, rename="camel"):
    """How spans of certain judges are combined: the content of a file."""

    schema_version: int = CONSENSUS_VERSION
    kind: Literal["span consensus"] = "span consensus"
    annotators: tuple[str, ...]
    features: tuple[str, ...]
    model: LogisticModel
    threshold: float
    """Pieces of a text with at least this probability are in a span."""
    aim: Aim = "f1"
    precision: float = 0.0
    """The wanted precision, if that is the aim."""
    texts: int = 0
    """Texts that it was learnt from."""
    clusters: int = 0
    """Documents that these are of."""


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
            "People marked none or all of what the judges marked, so there is nothing to learn. Give more texts."
        )
    model = fit_logistic(learnt.rows, learnt.shares, learnt.people, penalty=penalty)
    found = model.probabilities(learnt.rows)
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


def consensus_spans(text: AnnotatedText, consensus: SpanConsensus) -> tuple[ErrorSpan, ...]:
    """Return the spans of a text that are likely enough, each with its probability."""
    known = {name: each for name, each in text.judges.items() if name in consensus.annotators}
    marked = list(pieces(known))
    if not marked:
        return ()
    found = consensus.model.probabilities(features(text, marked, consensus.annotators))
    chosen = [
        (piece, float(probability))
        for piece, probability in zip(marked, found.tolist(), strict=True)
        if probability >= consensus.threshold
    ]
    return _joined(chosen, text)


def voted_spans(text: AnnotatedText, at_least: int) -> tuple[ErrorSpan, ...]:
    """Return the spans that at least so many judges mark, without a probability."""
    return _joined([(piece, None) for piece in pieces(text.judges) if len(piece.marks) >= at_least], text)


def _joined(chosen: Sequence[tuple[Piece, float | None]], text: AnnotatedText) -> tuple[ErrorSpan, ...]:
    """Return pieces that touch as one span each."""
    groups: list[list[tuple[Piece, float | None]]] = []
    for piece, probability in chosen:
        if groups and groups[-1][-1][0].end == piece.start:
            groups[-1].append((piece, probability))
        else:
            groups.append([(piece, probability)])
    return tuple(_span(group, text) for group in groups)


def _span(group: Sequence[tuple[Piece, float | None]], text: AnnotatedText) -> ErrorSpan:
    start, end = group[0][0].start, group[-1][0].end
    in_source = start >= IN_SOURCE
    first, last = (start - IN_SOURCE, end - IN_SOURCE) if in_source else (start, end)
    whole = text.any_one.source if in_source else text.any_one.candidate
    if last <= len(whole):
        first, last = whole_graphemes(whole, first, last)
    weighed = [(piece.length, probability) for piece, probability in group if probability is not None]
    size = sum(length for length, _ in weighed)
    marks = [mark for piece, _ in group for mark in piece.marks.values()]
    return ErrorSpan(
        text=whole[first:last],
        severity=_severity(group),
        start=first,
        end=last,
        side="source" if in_source else "output",
        category=_usual(mark.category for mark in marks),
        probability=round(sum(length * each for length, each in weighed) / size, 4) if size else None,
        annotators=tuple(sorted({name for piece, _ in group for name in piece.marks})),
    )


def _severity(group: Sequence[tuple[Piece, float | None]]) -> SpanSeverity:
    """Return the severity that the judges give to most of the marked characters; of two, the graver one."""
    counts: Counter[str] = Counter()
    for piece, _ in group:
        for mark in piece.marks.values():
            counts[mark.severity] += piece.length
    return max(_SEVERITIES, key=lambda name: (counts[name], _SEVERITIES.index(name)))


def _usual(categories: Iterable[str]) -> str:
    counts = Counter(filter(None, categories))
    return min(counts, key=lambda name: (-counts[name], name)) if counts else ""


def as_marks(spans: Iterable[ErrorSpan]) -> tuple[Mark, ...]:
    """Return spans as marks, for comparison."""
    return tuple(
        Mark(span.start + shift, span.end + shift, span.severity, span.category)
        for span in spans
        if span.start is not None and span.end is not None
        for shift in (IN_SOURCE if span.side == "source" else 0,)
    )


def read_consensus(path: Path) -> SpanConsensus:
    """Read what was saved; raise DataError for another file, or one that does not fit together."""
    try:
        given: object = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"cannot be read as a consensus of spans: {error}", path=path) from None
    if not isinstance(given, dict) or cast(dict[str, object], given).get("kind") != "span consensus":
        raise DataError("is not a consensus of error spans; learn one with calibrate consensus", path=path)
    version = cast(dict[str, object], given).get("schemaVersion")
    if version != CONSENSUS_VERSION:
        raise DataError(other_version(version, CONSENSUS_VERSION), path=path)
    consensus = from_json(SpanConsensus, cast(object, given))
    sizes = {len(each) for each in (consensus.model.weights, consensus.model.means, consensus.model.scales)}
    if consensus.features != feature_names(consensus.annotators) or sizes != {len(consensus.features)}:
        raise DataError("has other features than this version computes; learn it again", path=path)
    return consensus


def weights_of(consensus: SpanConsensus) -> Mapping[str, float]:
    """Return the weight of each feature, standardised, the greatest first."""
    pairs = zip(consensus.features, consensus.model.weights, strict=True)
    return dict(sorted(pairs, key=lambda pair: -abs(pair[1])))
