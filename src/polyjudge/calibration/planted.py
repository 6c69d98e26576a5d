"""Say where a perturbation planted errors in a text, and measure how many of them a judge of spans finds."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from rapidfuzz.distance import Levenshtein

from polyjudge.records.calibration import Figure, PlantedResult
from polyjudge.records.outcomes import JudgeResult, Outcome
from polyjudge.records.spans import ErrorSpan
from polyjudge.statistics.resampling import resampled_mean
from polyjudge.statistics.span_agreement import covered, share_figure
from polyjudge.text.pieces import Piece, pieces
from polyjudge.text.quotes import locate, whole_graphemes
from polyjudge.verdicts.span_consensus import as_marks

from .perturbations import CONTROL_TYPES
from .trials import CLEAN, Trial, TrialPlan

_MOST_COMPARED = 5_000
"""Pieces of a text; in a longer one, one error reaches from the first difference to the last."""


class Planted(NamedTuple):
    """One changed place: `text[start:end]` stands where `removed` stood; a deletion has an empty place."""

    start: int
    end: int
    removed: str


def planted_errors(text: str, perturbed: str) -> tuple[Planted, ...]:
    """Return the places of a perturbed text that differ from the text, by words; `undone` gives the text back.

    Places with no unchanged word between them are one.
    """
    ours, theirs = pieces(text), pieces(perturbed)
    found: list[Planted] = []
    for a, b, c, d in _changed(ours, theirs):
        start, end = _offset(theirs, c, len(perturbed)), _offset(theirs, d, len(perturbed))
        removed = text[_offset(ours, a, len(text)) : _offset(ours, b, len(text))]
        if found and not any(piece.is_word for piece in theirs if found[-1].end <= piece.start < start):
            last = found.pop()
            found.append(Planted(last.start, end, last.removed + perturbed[last.end : start] + removed))
        else:
            found.append(Planted(start, end, removed))
    return tuple(found)


def undone(perturbed: str, planted: Iterable[Planted]) -> str:
    """Return the text before it was perturbed."""
    parts: list[str] = []
    last = 0
    for each in planted:
        parts += [perturbed[last : each.start], each.removed]
        last = each.end
    return "".join((*parts, perturbed[last:]))


def planted_spans(text: str, perturbed: str, *, kind: str = "", source: str = "") -> tuple[ErrorSpan, ...]:
    """Return the planted errors as spans of whole graphemes, with what stood there as the correction.

    Something left out is an omission: a span of the source if the same words are there, else without a place.
    """
    return tuple(_span(each, perturbed, kind, source) for each in planted_errors(text, perturbed))


def _span(each: Planted, perturbed: str, kind: str, source: str) -> ErrorSpan:
    if each.end > each.start:
        start, end = whole_graphemes(perturbed, each.start, each.end)
        marked = perturbed[start:end]
        return ErrorSpan(
            text=marked, severity="major", start=start, end=end, category=kind, correction=each.removed, method="given"
        )
    found = locate(each.removed.strip(), source)
    return ErrorSpan(
        text=each.removed if found.start is None else source[found.start : found.end],
        severity="major",
        start=found.start,
        end=found.end,
        side="source",
        category=kind,
        correction=each.removed,
        method=found.method,
        refusal=found.refusal,
    )


def _changed(ours: Sequence[Piece], theirs: Sequence[Piece]) -> list[tuple[int, int, int, int]]:
    first, second = [each.text for each in ours], [each.text for each in theirs]
    if max(len(first), len(second)) <= _MOST_COMPARED:
        opcodes = Levenshtein.opcodes(first, second)
        return [(o.src_start, o.src_end, o.dest_start, o.dest_end) for o in opcodes if o.tag != "equal"]
    start = next((place for place, pair in enumerate(zip(first, second, strict=False)) if pair[0] != pair[1]), None)
    if start is None:
        start = min(len(first), len(second))
    after = 0
    while after < min(len(first), len(second)) - start and first[-1 - after] == second[-1 - after]:
        after += 1
    same = len(first) == len(second) == start
    return [] if same else [(start, len(first) - after, start, len(second) - after)]


def _offset(found: Sequence[Piece], place: int, length: int) -> int:
    return found[place].start if place < len(found) else length


@dataclass(slots=True)
class _Tally:
    """What was found of the errors of one kind."""

    errors: list[float] = field(default_factory=list[float])
    error_texts: list[str] = field(default_factory=list[str])
    characters: list[tuple[float, float]] = field(default_factory=list[tuple[float, float]])
    marked: list[tuple[float, float]] = field(default_factory=list[tuple[float, float]])
    texts: list[str] = field(default_factory=list[str])


def measure_planted(plan: TrialPlan, outcomes: Mapping[str, Outcome]) -> dict[str, PlantedResult]:
    """Return by kind how many of the planted errors were marked; the empty kind has the clean texts.

    Of a clean text, and of a control, every mark is a false alarm. Languages have the weight of their texts.
    """
    tallies: defaultdict[str, _Tally] = defaultdict(_Tally)
    alarms: defaultdict[str, list[tuple[str, float]]] = defaultdict(list)
    for trial in plan.trials:
        outcome = outcomes.get(trial.id)
        if not isinstance(outcome, JudgeResult):
            continue
        if trial.kind == CLEAN or trial.kind in CONTROL_TYPES:
            alarms[trial.kind].append((_cluster(trial), float(bool(_counted(outcome.spans)))))
        else:
            _count(tallies[trial.kind], trial, outcome.spans)
    clean = {
        kind: PlantedResult(
            perturbation=kind,
            texts=len(found),
            false_alarms=resampled_mean([alarm for _, alarm in found], [name for name, _ in found]),
        )
        for kind, found in alarms.items()
    }
    return {**{kind: _result(kind, tally) for kind, tally in tallies.items()}, **clean}


def _cluster(trial: Trial) -> str:
    return f"{trial.text.language}|{trial.text.id}"


def _counted(spans: Iterable[ErrorSpan]) -> list[ErrorSpan]:
    return [span for span in spans if span.state in ("located", "confirmed")]


def _count(tally: _Tally, trial: Trial, spans: Sequence[ErrorSpan]) -> None:
    given = _counted(spans)
    expected = planted_spans(trial.text.text, trial.candidate, kind=trial.kind, source=trial.text.source)
    marks, theirs = as_marks(given), as_marks(expected)
    places = planted_errors(trial.text.text, trial.candidate)
    for place, span in zip(places, expected, strict=True):
        tally.errors.append(float(_is_found(place, span, given)))
        tally.error_texts.append(_cluster(trial))
    tally.texts.append(_cluster(trial))
    tally.characters.append(covered(theirs, marks))
    tally.marked.append(covered(marks, theirs))


def _is_found(place: Planted, span: ErrorSpan, given: Iterable[ErrorSpan]) -> bool:
    """Return whether a span overlaps a planted error; of an omission, whether it touches the place, or is there too."""
    for each in given:
        if each.side == "output" and each.start is not None and each.end is not None:
            if each.start < max(place.end, place.start + 1) and place.start < max(each.end, each.start + 1):
                return True
            if span.side == "source" and each.start <= place.start <= each.end:
                return True
        elif span.side == "source" and each.side == "source" and _overlap(each, span):
            return True
    return False


def _overlap(one: ErrorSpan, other: ErrorSpan) -> bool:
    if one.start is None or one.end is None or other.start is None or other.end is None:
        return False
    return one.start < other.end and other.start < one.end


def _result(kind: str, tally: _Tally) -> PlantedResult:
    return PlantedResult(
        perturbation=kind,
        texts=len(tally.texts),
        errors=len(tally.errors),
        found=resampled_mean(tally.errors, tally.error_texts) if tally.errors else Figure(),
        characters=share_figure(tally.characters, tally.texts),
        right=share_figure(tally.marked, tally.texts),
    )
