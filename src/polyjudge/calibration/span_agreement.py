"""Measure how far judges find the error spans that people mark, and how far people agree with one another."""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from msgspec import Struct

from polyjudge.records.calibration import Figure
from polyjudge.statistics.span_agreement import covered, share_figure, span_counts, span_figures
from polyjudge.statistics.span_matching import SpanAnnotation
from polyjudge.verdicts.span_pieces import AnnotatedText

from .agreement import NO_LANGUAGE

_MOST_CATEGORIES = 30


class SpanComparison(Struct, frozen=True, kw_only=True):
    """How far the spans of one annotator agree with those of others."""

    name: str
    texts: int
    """Comparisons: a text counts once for each annotator that it is compared with."""
    figures: Mapping[str, Figure]
    languages: Mapping[str, tuple[int, Mapping[str, Figure]]] = {}
    found: Mapping[str, Figure] = {}
    """By severity: the share of the characters that the others mark with it that this annotator marks too."""
    right: Mapping[str, Figure] = {}
    """By severity: the share of the characters that this annotator marks with it that the others mark too."""
    found_by_category: Mapping[str, Figure] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanAgreement:
    """The agreement of judges with people, and of people with one another."""

    judges: Sequence[SpanComparison]
    people: Sequence[SpanComparison] = ()
    """Each person, compared with all other people."""
    texts: int = 0
    """Texts that a judge and a person have annotated."""
    judges_only: int = 0
    people_only: int = 0
    repeated: int = 0
    """Annotations of a text that the same annotator annotated again; the last one counts."""
    names: Sequence[str] = ()
    """The people."""


@dataclass(frozen=True, slots=True)
class SpanOptions:
    """How the agreement of spans is measured."""

    resamples: int = 1000
    seed: int = 0
    other_severity: float = 0.5
    """What a character counts that both mark, with different severities."""
    settings: Mapping[str, int] = field(init=False)

    def __post_init__(self) -> None:
        """Keep what the drawing of resamples needs."""
        object.__setattr__(self, "settings", {"resamples": self.resamples, "seed": self.seed})


_Key = Callable[[SpanAnnotation], Hashable]
_KEYS: Sequence[_Key] = (
    lambda each: (each.unit, each.system) if each.unit else None,
    lambda each: (each.source, each.candidate) if each.candidate else None,
    lambda each: each.id or None,
    lambda each: (f"{each.id}/{each.system}" if each.system else each.id) if each.id else None,
)
"""What texts are recognised by, in turn: segment and system, their words, or their ids."""


def measure_span_agreement(
    judges: Sequence[SpanAnnotation], people: Sequence[SpanAnnotation], options: SpanOptions
) -> SpanAgreement:
    """Compare each judge with all people who annotated the same texts, and each person with the others."""
    texts, repeated = annotated_texts(judges, people)
    names = sorted({each.annotator for each in judges})
    persons = sorted({each.annotator for each in people})
    both = [text for text in texts if text.judges and text.people]
    return SpanAgreement(
        judges=[
            _compared(
                name,
                [(text.judges[name], each) for text in both if name in text.judges for each in text.people.values()],
                options,
            )
            for name in names
        ],
        people=[
            _compared(name, pairs, options)
            for name in persons
            if (
                pairs := [
                    (text.people[name], text.people[other])
                    for text in texts
                    if name in text.people
                    for other in text.people
                    if other != name
                ]
            )
        ],
        texts=len(both),
        judges_only=sum(not text.people for text in texts),
        people_only=sum(not text.judges for text in texts),
        repeated=repeated,
        names=persons,
    )


def annotated_texts(
    judges: Sequence[SpanAnnotation], people: Sequence[SpanAnnotation]
) -> tuple[list[AnnotatedText], int]:
    """Return the annotations by text, by the key under which most texts are of both sides; and how many are repeated.

    Without people it is the key under which most texts are of several judges. Of several by the same annotator of a
    text, the last one counts.
    """
    best: tuple[tuple[float, int], list[AnnotatedText], int] = ((float("-inf"), 0), [], 0)
    have_words = all(each.candidate for each in (*judges, *people))
    for key in _KEYS:
        texts: defaultdict[Hashable, tuple[dict[str, SpanAnnotation], dict[str, SpanAnnotation]]]
        texts = defaultdict(lambda: ({}, {}))
        placed = repeated = 0
        for place, given in enumerate((judges, people)):
            for annotation in given:
                name = key(annotation)
                if name is not None:
                    name = (name, annotation.candidate if have_words else "")  # other words are another text
                    placed += 1
                    repeated += annotation.annotator in texts[name][place]
                    texts[name][place][annotation.annotator] = annotation
        shared = sum(bool(theirs) if people else len(ours) > 1 for ours, theirs in texts.values() if ours)
        value = shared - repeated, 0 if people else placed
        if value > best[0]:
            found = [AnnotatedText(judges=ours, people=theirs) for ours, theirs in texts.values()]
            best = value, found, repeated
    return best[1], best[2]


Pairs = Sequence[tuple[SpanAnnotation, SpanAnnotation]]


def _compared(name: str, pairs: Pairs, options: SpanOptions) -> SpanComparison:
    counts = [span_counts(ours.marks, theirs.marks, other_severity=options.other_severity) for ours, theirs in pairs]
    clusters = [_cluster(ours, theirs) for ours, theirs in pairs]
    languages: defaultdict[str, list[int]] = defaultdict(list)
    for place, (ours, theirs) in enumerate(pairs):
        languages[ours.language or theirs.language or NO_LANGUAGE].append(place)

    def of(places: Sequence[int]) -> Mapping[str, Figure]:
        chosen = [counts[place] for place in places]
        return span_figures(chosen, [clusters[place] for place in places], **options.settings)

    by = partial(_shares, pairs=pairs, clusters=clusters, options=options)
    return SpanComparison(
        name=name,
        texts=len(pairs),
        figures=of(range(len(pairs))),
        languages={tag: (len(places), of(places)) for tag, places in sorted(languages.items())},
        found=by("severity", of_people=True),
        right=by("severity", of_people=False),
        found_by_category=by("category", of_people=True),
    )


def _cluster(ours: SpanAnnotation, theirs: SpanAnnotation) -> Hashable:
    given = ours.cluster or theirs.cluster or ours.unit or theirs.unit or ours.id
    return f"{ours.language or theirs.language}|{given}"


def _shares(
    field_name: str, *, of_people: bool, pairs: Pairs, clusters: Sequence[Hashable], options: SpanOptions
) -> dict[str, Figure]:
    """Return by severity or category the share of the marked characters that the other side marks too."""
    kinds: Counter[str] = Counter()
    sides = [(theirs.marks, ours.marks) if of_people else (ours.marks, theirs.marks) for ours, theirs in pairs]
    for marks, _ in sides:
        kinds.update(getattr(mark, field_name) for mark in marks)
    found: dict[str, Figure] = {}
    for kind, _ in kinds.most_common(_MOST_CATEGORIES):
        if kind:
            parts = [
                covered([mark for mark in marks if getattr(mark, field_name) == kind], others)
                if any(getattr(mark, field_name) == kind for mark in marks)
                else (0, 0)
                for marks, others in sides
            ]
            found[kind] = share_figure(parts, clusters, **options.settings)
    return dict(sorted(found.items()))
