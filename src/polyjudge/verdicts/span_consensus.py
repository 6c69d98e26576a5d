"""Combine the error spans of several judges: by votes, or with probabilities by weights learnt from people."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from polyjudge.errors import ConfigError
from polyjudge.records.spans import ErrorSpan, SpanConsensus, SpanSeverity
from polyjudge.statistics.logistic import probabilities
from polyjudge.statistics.span_matching import IN_SOURCE, Mark, SpanAnnotation
from polyjudge.text.quotes import whole_graphemes

from .span_pieces import AnnotatedText, Piece, feature_names, features, pieces

_SEVERITIES: tuple[SpanSeverity, ...] = ("minor", "major", "critical")
_Weighed = Sequence[tuple[Piece, float | None]]
"""Pieces of a text, each with its probability if there is one."""


def consensus_spans(text: AnnotatedText, consensus: SpanConsensus) -> tuple[ErrorSpan, ...]:
    """Return the spans of a text that are likely enough, each with its probability."""
    return _joined(_likely(_weighed(text, consensus), consensus), text)


def voted_spans(text: AnnotatedText, at_least: int) -> tuple[ErrorSpan, ...]:
    """Return the spans that at least so many judges mark, without a probability."""
    return _joined([(piece, None) for piece in pieces(text.judges) if len(piece.marks) >= at_least], text)


def majority_of(judges: int) -> int:
    """Return how many of so many judges are more than half."""
    return judges // 2 + 1


def joint_spans(
    members: Mapping[str, Sequence[ErrorSpan]],
    candidate: str,
    source: str = "",
    language: str = "",
    consensus: SpanConsensus | None = None,
) -> tuple[ErrorSpan, ...]:
    """Combine what the members of a jury proposed: what most of them mark, or what is likely by a learnt consensus.

    A joint span is confirmed if one of theirs was. Proposals that no joint span touches are kept as rejected, those
    without a place as proposed, each with the names of the members.
    """
    empty = SpanAnnotation(annotator="", source=source, candidate=candidate, language=language)
    counted = {name: as_marks(span for span in spans if span.counts) for name, spans in members.items()}
    text = AnnotatedText(judges={name: replace(empty, annotator=name, marks=marks) for name, marks in counted.items()})
    if consensus is not None:
        every = _weighed(text, consensus)
        chosen = _likely(every, consensus)
    else:
        needed = majority_of(len(members))
        every = [(piece, None) for piece in pieces(text.judges)]
        chosen = [(piece, None) for piece, _ in every if len(piece.marks) >= needed]
    accepted = _joined(chosen, text)
    taken = as_marks(accepted)
    left = [mark for marks in counted.values() for mark in marks if not _touches(mark, taken)]
    refused = [each for each in every if any(_is_within(each[0], mark) for mark in left)]
    given = [(name, span) for name, spans in members.items() for span in spans]
    located = [(name, span, mark) for name, span in given if span.counts for mark in as_marks([span])]
    spans = [_described(span, located) for span in accepted]
    spans += [_outvoted(_described(span, located), len(members), consensus) for span in _joined(refused, text)]
    spans += _others([pair for pair in given if not pair[1].counts], taken)
    return tuple(sorted(spans, key=lambda span: (span.start is None, span.side, span.start or 0, span.end or 0)))


def _described(span: ErrorSpan, located: Sequence[tuple[str, ErrorSpan, Mark]]) -> ErrorSpan:
    """Return a joint span with the words of the proposal that is closest to it, confirmed if one of them was."""
    [ours] = as_marks([span])
    alike = sorted(
        ((_closeness(ours, theirs), name, each) for name, each, theirs in located if _touches(theirs, [ours])),
        key=lambda found: (-found[0], found[2].category != span.category, not found[2].explanation, found[1]),
    )
    confirmed = next((each for _, _, each in alike if each.state == "confirmed"), None)
    explained = next((each.explanation for _, _, each in alike if each.explanation), "")
    corrected = next((each.correction for closeness, _, each in alike if closeness == 1 and each.correction), "")
    return replace(
        span,
        explanation=explained,
        correction=corrected,
        state="confirmed" if confirmed else "located",
        verification=confirmed.verification if confirmed else "",
    )


def _outvoted(span: ErrorSpan, members: int, consensus: SpanConsensus | None) -> ErrorSpan:
    if consensus is not None:
        why = f"consensus: the probability {span.probability or 0.0:.2f} is below {consensus.threshold:.2f}"
    else:
        why = f"jury: marked by {len(span.annotators)} of {members}, {majority_of(members)} are needed"
    return replace(span, state="rejected", verification=why)


def _others(given: Iterable[tuple[str, ErrorSpan]], taken: Sequence[Mark]) -> Iterator[ErrorSpan]:
    """Yield what members rejected, and what has no place, once each with the names of the members."""
    names: dict[object, list[str]] = {}
    first: dict[object, ErrorSpan] = {}
    for name, span in given:
        if not any(_touches(mark, taken) for mark in as_marks([span])):
            key = (span.side, span.start, span.end, span.text, span.category, span.refusal)
            first.setdefault(key, span)
            names.setdefault(key, []).append(name)
    yield from (replace(span, annotators=tuple(dict.fromkeys(names[key]))) for key, span in first.items())


def _closeness(first: Mark, second: Mark) -> float:
    """Return the F1 of the characters of two marks that touch."""
    shared = min(first.end, second.end) - max(first.start, second.start)
    return 2 * shared / (first.end - first.start + second.end - second.start)


def _touches(mark: Mark, others: Iterable[Mark]) -> bool:
    return any(mark.start < other.end and other.start < mark.end for other in others)


def _is_within(piece: Piece, mark: Mark) -> bool:
    return mark.start <= piece.start and piece.end <= mark.end


def _weighed(text: AnnotatedText, consensus: SpanConsensus) -> _Weighed:
    """Return the pieces that known judges mark, each with its probability."""
    marked = list(pieces({name: each for name, each in text.judges.items() if name in consensus.annotators}))
    if not marked:
        return []
    found = probabilities(consensus.model, features(text, marked, consensus.annotators))
    return list(zip(marked, found.tolist(), strict=True))


def _likely(weighed: _Weighed, consensus: SpanConsensus) -> _Weighed:
    return [each for each in weighed if each[1] is not None and each[1] >= consensus.threshold]


def _joined(chosen: _Weighed, text: AnnotatedText) -> tuple[ErrorSpan, ...]:
    """Return pieces that touch as one span each."""
    groups: list[list[tuple[Piece, float | None]]] = []
    for piece, probability in chosen:
        if groups and groups[-1][-1][0].end == piece.start:
            groups[-1].append((piece, probability))
        else:
            groups.append([(piece, probability)])
    return tuple(_span(group, text) for group in groups)


def _span(group: _Weighed, text: AnnotatedText) -> ErrorSpan:
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


def _severity(group: _Weighed) -> SpanSeverity:
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
        Mark(span.start + shift, span.end + shift, span.severity, span.category, span.explanation)
        for span in spans
        if span.start is not None and span.end is not None
        for shift in (IN_SOURCE if span.side == "source" else 0,)
    )


def check_consensus(consensus: SpanConsensus) -> None:
    """Raise a `ConfigError` for a consensus that does not fit together."""
    sizes = {len(each) for each in (consensus.model.weights, consensus.model.means, consensus.model.scales)}
    if consensus.features != feature_names(consensus.annotators) or sizes != {len(consensus.features)}:
        raise ConfigError("learnt by another version of polyjudge; learn it again")


def weights_of(consensus: SpanConsensus) -> Mapping[str, float]:
    """Return the weight of each feature, standardised, the greatest first."""
    pairs = zip(consensus.features, consensus.model.weights, strict=True)
    return dict(sorted(pairs, key=lambda pair: -abs(pair[1])))
